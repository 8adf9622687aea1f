"""What stands in for a project's build backend while pip downloads its source distribution.

pip asks the backend for a source distribution's name and version, and so would run code of the project's on this host
and fetch what it needs for that. This one answers from ``PKG-INFO``, a stranger's text. ``redirect.py`` makes pip's
helper process import it; it must stand alone.
"""

import email.parser
import re
from pathlib import Path


def prepare_metadata_for_build_wheel(metadata_directory: str, _config_settings: object = None) -> str:
    """PEP 517; the current folder is the unpacked distribution."""
    text = Path("PKG-INFO").read_text(encoding="utf-8", errors="replace")
    fields = email.parser.HeaderParser().parsestr(text)
    name, version = str(fields["Name"]), str(fields["Version"])
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name) or not re.fullmatch(
        r"[A-Za-z0-9][A-Za-z0-9.!+_-]*", version
    ):
        raise SystemExit("PKG-INFO names no project and version")
    folder = f"{re.sub(r'[-_.]+', '_', name)}-{version}.dist-info"
    made = Path(metadata_directory, folder)
    made.mkdir()
    head = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    made.joinpath("METADATA").write_text(head, encoding="utf-8")
    return folder


def get_requires_for_build_wheel(_config_settings: object = None) -> list[str]:
    """PEP 517: nothing, since nothing is built."""
    return []
