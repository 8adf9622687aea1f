"""A diff that writes a hook into the git store."""

from tests.attacks.pair import Pair, Patch, Stage
from tests.attacks.workshop import ADD

PAIR = Pair(
    stage=Stage.CAPTURE,
    attack=Patch(
        diff=b"diff --git a/.git/hooks/post-index-change b/.git/hooks/post-index-change\nnew file mode 100755\n--- /dev/null\n+++ b/.git/hooks/post-index-change\n@@ -0,0 +1 @@\n+x\n"
    ),
    verdict=("failed: apply",),
    honest="a diff that adds a hook's sample to the documentation",
    control=Patch({"pkg/core.py": ADD, "docs/hooks/pre-commit": "#!/bin/sh\n"}),
)
