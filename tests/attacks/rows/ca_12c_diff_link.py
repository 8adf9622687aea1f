"""A diff with a link to a file of the host."""

from tests.attacks.pair import Pair, Patch, Stage
from tests.attacks.workshop import ADD

PAIR = Pair(
    stage=Stage.CAPTURE,
    attack=Patch(
        diff=b"diff --git a/out b/out\nnew file mode 120000\n--- /dev/null\n+++ b/out\n@@ -0,0 +1 @@\n+/etc/hostname\n\\ No newline at end of file\n"
    ),
    verdict=("rejected: symlink_escape",),
    honest="a diff with names that need quotes",
    control=Patch({"pkg/core.py": ADD, "docs/a b.md": "x\n", "docs/ü.md": "x\n"}),
)
