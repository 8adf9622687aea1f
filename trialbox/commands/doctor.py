"""``trialbox doctor``: what works here, what doesn't, and the remedy."""

from __future__ import annotations

from harness.errors import ExitCode
from trialbox.arguments import Command, Options
from trialbox.guard import line, say


def doctor(options: Options) -> ExitCode:
    """What works here, what doesn't, and the remedy: engine, meters, tracer, disk, keys of model providers."""
    import os

    from harness.doctor import survey
    from harness.energy import survey as meters
    from harness.gateway.providers import credential
    from harness.records import to_value
    from trialbox import places
    from trialbox.settings import providers, watts

    state = places.state()
    keys = [credential(one, os.environ) for one in providers(state).values()]
    report = survey(state.root, meters=meters(watts(None, state)), keys=keys)
    if options.as_json:
        say({"usable": report.usable, **to_value(report)})
    else:
        for one in report.lines:
            remedy = f"; {one.remedy}" if one.remedy else ""
            line(f"{one.state.value:<8} {one.part}: {one.detail}{remedy}")
    return ExitCode.DONE if report.usable else ExitCode.INFRA


COMMAND = Command("doctor", doctor, Options)
