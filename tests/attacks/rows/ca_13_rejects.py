"""A diff whose hunks do not fit, in the hope of fuzz, of a merge or of files with rejects."""

from tests.attacks.pair import Pair, Patch, Stage

PAIR = Pair(
    stage=Stage.CAPTURE,
    attack=Patch(
        diff=b"--- a/pkg/core.py\n+++ b/pkg/core.py\n@@ -1,2 +1,2 @@\n def plus(a, b):\n-    return a - b\n+    return a + b\n"
    ),
    verdict=("failed: apply",),
    honest="the same diff with its right context",
    control=Patch(
        diff=b"--- a/pkg/core.py\n+++ b/pkg/core.py\n@@ -1,2 +1,2 @@\n def add(a, b):\n-    return a - b\n+    return a + b\n"
    ),
)
