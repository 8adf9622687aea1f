"""Deeds on the network: fetches, questions after names, and package indexes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from audits import hosts
from audits.commands.deed import Aim, Deed
from audits.records import Axis, Kind
from audits.shell import Command

PYTHON = re.compile(r"^(?:python|python[23](?:\.\d+)?|pypy3?|ipython|uv)$")
FETCHERS = frozenset(
    """
    curl wget http https httpie xh aria2c lynx w3m links elinks axel fetch rsync scp sftp ftp nc ncat telnet
    openssl socat youtube-dl
    """.split()  # noqa: SIM905 - words read best as words
)
LOOKUPS = {"dig", "nslookup", "host", "drill", "getent", "resolvectl"}
_INDEXES = {
    line.split()[0]: frozenset(line.split()[1:])
    for line in """
    pip install download index search wheel view
    pip3 install download index search wheel
    pipx install run
    poetry add install update search
    pdm add install
    conda install search create update
    mamba install search create
    easy_install
    npm install i view info pack add ci search show
    pnpm install add view dlx
    yarn add install info
    npx
    bunx
    uvx
    bun add install
    cargo install add search fetch update info
    gem install fetch search specification
    go get install mod
    composer require install show
    mvn
    apt install download source update show search
    apt-get install download source update
    apk add fetch search
    dnf install download
    yum install download
    brew install
    """.strip().splitlines()
}
"""A program that asks an index, and the verbs with which it does; without any, always."""
_LOCAL_INSTALL = re.compile(r"^(?:\.|\./|/|~|-e$|--editable$|.*\.(?:whl|tar\.gz|zip)$|-r$|--requirement)")


def fetch(url: hosts.Url) -> Deed:
    """What asking for an address is after."""
    kind = hosts.kind_of(url.host)
    return Deed(Axis.WEB, kind, Aim.CONTENT, f"{url.scheme}://{url.host}{url.path}")


def fetches(command: Command) -> Iterator[Deed]:
    """What a program that fetches is after."""
    words = [*command.args, command.stdin or ""]
    seen = [one for word in words for one in hosts.urls_in(word) if not hosts.is_local(one.host)]
    if not seen and command.name in {"curl", "wget", "http", "nc", "ncat", "telnet"}:
        for word in command.args:
            if re.fullmatch(r"(?:[a-z0-9-]+\.)+(?:[a-z]{2,}|\d+)(?::\d+)?(?:/\S*)?", word, re.IGNORECASE):
                host, slash, rest = word.partition("/")
                if not hosts.is_local(hosts.bare_host(host)):
                    seen.append(hosts.Url("http", hosts.bare_host(host), slash + rest or "/"))
    yield from map(fetch, seen)


def index(command: Command) -> Iterator[Deed]:
    """What a package manager asks an index; an installation of local files asks none."""
    name, args = command.name, list(command.args)
    if PYTHON.match(name) and args[:2] == ["-m", "pip"]:
        name, args = "pip", args[2:]
    elif name == "uv" and args[:1] in (["pip"], ["add"], ["tool"]):
        name, args = "pip", args[1:] if args[0] == "pip" else ["install", *args[1:]]
    verbs = _INDEXES.get(name)
    if verbs is None:
        return
    words = [one for one in args if not one.startswith("-")]
    if verbs and (not words or words[0] not in verbs):
        return
    wanted = words[1:] if verbs else words
    if "--no-index" in args or "--offline" in args or ("--no-build-isolation" in args and "--no-deps" in args):
        return
    if (
        name in {"pip", "pip3"}
        and args[:1] == ["install"]
        and args[1:]
        and all(_LOCAL_INSTALL.match(one) or one.startswith("-") for one in args[1:])
        and not {"-r", "--requirement"} & set(args)
    ):
        return
    aim = (
        Aim.LISTING if words[:1] and words[0] in {"index", "search", "view", "info", "show", "update"} else Aim.CONTENT
    )
    yield Deed(Axis.WEB, Kind.PACKAGE_INDEX, aim, f"{name} {' '.join(words[:1] + wanted[:4])}".strip())
