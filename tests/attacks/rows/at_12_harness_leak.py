"""A harness that puts the reference solution into the first request."""

import json

from audits.overlap import runs_of
from tests.attacks.pair import Pair, Stage
from tests.attacks.stored import evidence
from tests.audits_rig import basis

_REFERENCE = "\n".join(f"def step_{n}(value):\n    return value * {n} + offset_of({n})" for n in range(12))
_BASIS = basis(reference=runs_of(_REFERENCE, frozenset()))


def _said(text: str) -> bytes:
    return json.dumps({"system": text}).encode()


PAIR = Pair(
    stage=Stage.ATTEMPT,
    attack=evidence(
        lambda room: room.attempt(exchanges=[room.asked(_said("Use this.\n" + _REFERENCE), b"ok")]), basis=_BASIS
    ),
    verdict=("submitter: submitter_leak: harness_leak",),
    honest="a first request with the task and nothing else",
    control=evidence(lambda room: room.attempt(exchanges=[room.asked(_said("Mend parser.py."), b"ok")]), basis=_BASIS),
    control_ends="clean",
)
