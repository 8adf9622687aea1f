"""A diff that writes above the tree."""

from tests.attacks.pair import Pair, Patch, Stage
from tests.attacks.workshop import ADD

PAIR = Pair(
    stage=Stage.CAPTURE,
    attack=Patch(
        diff=b"diff --git a/../evil b/../evil\nnew file mode 100644\n--- /dev/null\n+++ b/../evil\n@@ -0,0 +1 @@\n+x\n"
    ),
    verdict=("failed: apply",),
    honest="a diff with names that need quotes",
    control=Patch({"pkg/core.py": ADD, "docs/a b.md": "x\n", "docs/ü.md": "x\n"}),
)
