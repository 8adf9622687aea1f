"""A diff that makes a link and then writes through it."""

from tests.attacks.pair import Pair, Patch, Stage
from tests.attacks.workshop import ADD

PAIR = Pair(
    stage=Stage.CAPTURE,
    attack=Patch(
        diff=b"diff --git a/d b/d\nnew file mode 120000\n--- /dev/null\n+++ b/d\n@@ -0,0 +1 @@\n+/tmp\n\\ No newline at end of file\ndiff --git a/d/evil b/d/evil\nnew file mode 100644\n--- /dev/null\n+++ b/d/evil\n@@ -0,0 +1 @@\n+x\n"
    ),
    verdict=("failed: apply",),
    honest="a diff that makes a folder and files in it",
    control=Patch({"pkg/core.py": ADD, "d/one.md": "x\n", "d/two.md": "x\n"}),
)
