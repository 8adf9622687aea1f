"""Attributes by which git would write other bytes than it compared: line ends, encodings, keywords."""

from tests.attacks.pair import Pair, Solve, Stage

PAIR = Pair(
    stage=Stage.CAPTURE,
    attack=Solve(
        r"""
        printf '*.py eol=crlf working-tree-encoding=ISO-8859-1 ident\n' > .gitattributes
        fix; printf '# \303\251 $Id$\r\n' >> pkg/words.py; git add -A; git commit -qm x
        """,
    ),
    verdict=("solved", "same bytes graded"),
    honest="adds attributes for line ends",
    control=Solve("fix; echo '*.py text eol=lf' > .gitattributes"),
)
