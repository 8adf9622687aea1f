"""The secret mark of hidden files in what a model was shown, in base64."""

from base64 import b64encode

from tests.attacks.pair import Pair, Stage
from tests.attacks.stored import evidence
from tests.audits_rig import EXPOSURE

PAIR = Pair(
    stage=Stage.ATTEMPT,
    attack=evidence(
        lambda room: room.attempt(exchanges=[room.asked(b"{}", b"ok"), room.asked(b64encode(EXPOSURE.encode()), b"ok")])
    ),
    verdict=("filesystem: exposed: exposure_canary",),
    honest="digits that are none of the task's",
    control=evidence(
        lambda room: room.attempt(
            exchanges=[room.asked(b"{}", b"ok"), room.asked(b64encode(b"0123456789abcdef" * 2), b"ok")]
        )
    ),
    control_ends="clean",
)
