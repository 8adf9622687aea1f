"""``trialbox card schema``: the published JSON schema of cards."""

from __future__ import annotations

import sys

from harness.errors import ExitCode
from trialbox.arguments import Command, Options


def schema(options: Options) -> ExitCode:
    """Print the JSON schema (2020-12) of the cards that this version writes and reads."""
    from scoring.schema import published_schema

    del options  # it is JSON either way
    sys.stdout.write(published_schema().decode())
    return ExitCode.DONE


COMMAND = Command("schema", schema, Options)
