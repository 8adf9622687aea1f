"""``trialbox provider``: the scripted provider by itself, for whoever writes a solver."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.errors import ExitCode, UserError
from trialbox.arguments import Command, Options, Parser, whole
from trialbox.guard import line, say

if TYPE_CHECKING:
    from harness.gateway.scripted.provider import ScriptedProvider
    from harness.gateway.scripted.served import Served


class ProviderOptions(Options):
    """What ``provider`` takes."""

    script: str
    port: int
    log: bool


def declare(parser: Parser) -> None:
    """Its arguments."""
    add = parser.add_argument
    add("script", metavar="SCRIPT", help="a YAML file; docs/scripted-provider.md documents it")
    add("--port", metavar="N", type=whole, default=0, help="the port on 127.0.0.1 (default: any free one)")
    add("--log", action="store_true", help="tell of each request on stderr as it ends")


def provider(options: ProviderOptions) -> ExitCode:
    """Serve a script as a model provider on 127.0.0.1, until interrupted, then tell what was served.

    It speaks Anthropic Messages, OpenAI Responses and Chat Completions, and Gemini generateContent, and spends nothing.
    Its URL and the key are the first two lines, on stderr where --json is given.
    """
    import sys
    from pathlib import Path

    from harness.gateway.scripted.provider import ScriptedProvider
    from harness.gateway.scripted.read import load_script

    if not 0 <= options.port < 1 << 16:
        raise UserError("--port", f"{options.port} is no port", "name one below 65536, or none for any free one")
    script = load_script(Path(options.script))
    out = sys.stderr if options.as_json else sys.stdout
    log = (lambda text: print(text, file=sys.stderr, flush=True)) if options.log else None
    with ScriptedProvider(options.port, log) as server:
        key = server.add(script)
        out.write(f"url {server.url}\nkey {key}\n")
        out.flush()
        _wait()
        served, others = server.truth(key), server.others
    if options.as_json:
        say(_value(server, key, served, others))
        return ExitCode.DONE
    for one in served:
        line(str(one))
    for other in others:
        line(other)
    for text in _sums(served):
        line(text)
    return ExitCode.DONE


def _wait() -> None:
    """Until the process is interrupted or told to end, which is how this command ends well."""
    import signal
    import threading

    told = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: told.set())
    told.wait()


def _value(server: ScriptedProvider, key: str, served: tuple[Served, ...], others: tuple[str, ...]) -> dict[str, Any]:
    from harness.records import to_value

    return {"url": server.url, "key": key, "served": [to_value(one) for one in served], "others": list(others)}


def _sums(served: tuple[Served, ...]) -> list[str]:
    """The tokens of each bucket, over what was used."""
    from harness.gateway.records import Bucket
    from harness.gateway.usage import total

    used = [(one.request_id, one.usage) for one in served if one.usage is not None]
    sums = total(used)
    counts = (f"{bucket.value} {sums.of(bucket)}" for bucket in Bucket if sums.of(bucket) is not None)
    return [f"{len(served)} requests, {len(used)} answered with tokens: {', '.join(counts)}"]


COMMAND = Command("provider", provider, ProviderOptions, declare)
