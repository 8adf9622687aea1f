"""A .pth file that runs code at every start of the interpreter."""

from tests.attacks.pair import Pair, Patch, Stage
from tests.attacks.workshop import ADD

PAIR = Pair(
    stage=Stage.GRADE,
    attack=Patch(
        {
            "pkg/zz.pth": "import os; os._exit(0)\n",
            "pkg/core.py": ADD,
        },
    ),
    verdict=("rejected: interpreter_hook",),
    honest="adds notes on paths",
    control=Patch(
        {
            "pkg/core.py": ADD,
            "docs/paths.txt": "import os\n",
        },
    ),
)
