"""A repository in a folder that is a submodule by git's index, with filters and hooks of its own."""

from collections.abc import Iterator

from tests.attacks.pair import Engine, Pair, Solve, Stage
from tests.attacks.planted import script
from tests.attacks.workshop import Workshop


def _work(workshop: Workshop) -> Iterator[str]:
    folder = workshop.folder / "marks-submodule"
    folder.mkdir(exist_ok=True)
    inner = script(folder, "fsmonitor", "hooks", "clean")
    record = workshop.solve(
        f"fix; git init -q sub; cd sub\n{inner}\ngit add -A; git commit -qm x; cd ..; git add sub\n"
    )
    yield from workshop.facts(record)
    ran = sorted(one.name for one in folder.iterdir())
    yield f"host: {', '.join(ran)}" if ran else "host: no trace"


PAIR = Pair(
    stage=Stage.CAPTURE,
    attack=Engine(_work),
    verdict=("rejected: nested_repository", "host: no trace"),
    honest="puts sources of another project into a folder",
    control=Solve("fix; mkdir sub; echo 'x = 1' > sub/other.py; git add sub"),
)
