"""Structured logs on stderr: readable lines, or JSON lines with ``TRIALBOX_LOG=json``."""

from __future__ import annotations

import os
import sys

import structlog

VARIABLE = "TRIALBOX_LOG"


def logger() -> structlog.typing.FilteringBoundLogger:
    """A logger that writes to stderr as this process's environment asks."""
    as_json = os.environ.get(VARIABLE) == "json"
    renderer: structlog.typing.Processor = (
        structlog.processors.JSONRenderer()
        if as_json
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), pad_event_to=0)
    )
    made: structlog.typing.FilteringBoundLogger = structlog.wrap_logger(
        structlog.PrintLogger(sys.stderr),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso" if as_json else "%H:%M:%S", utc=as_json),
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(20),
    )
    return made
