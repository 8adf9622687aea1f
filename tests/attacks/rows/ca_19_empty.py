"""A patch of nothing but white space."""

from tests.attacks.pair import Pair, Patch, Stage

PAIR = Pair(
    stage=Stage.CAPTURE,
    attack=Patch(diff=b" \n\n\t\n"),
    verdict=("extract_failed: empty",),
    honest="a patch of one line",
    control=Patch(diff=b"--- a/pkg/core.py\n+++ b/pkg/core.py\n@@ -2 +2 @@\n-    return a - b\n+    return a + b\n"),
)
