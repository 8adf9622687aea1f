"""What a host is for, by its name: code, packages, benchmarks, or any other. Pure text; nothing is asked.

Lists of names are never whole. A host on none of them is still a host that was asked for (``denied_host``).
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

from audits.records import Kind

_NAMES: dict[Kind, str] = {
    Kind.BENCHMARK_HOST: """
        huggingface.co hf.co hf-mirror.com swebench.com swe-bench.github.io tbench.ai terminal-bench.com swe-rebench.com
        paperswithcode.com kaggle.com evalplus.github.io livecodebench.github.io
    """,
    Kind.UPSTREAM_LOOKUP: """
        github.com githubusercontent.com github.io gitlab.com bitbucket.org codeberg.org sourceforge.net sr.ht gitee.com
        googlesource.com git.kernel.org salsa.debian.org sources.debian.org sourcegraph.com grep.app stackoverflow.com
        softwareheritage.org archive.org readthedocs.io readthedocs.org gitea.com launchpad.net deepwiki.com
    """,
    Kind.WEB_SEARCH: """
        google.com bing.com duckduckgo.com brave.com serpapi.com tavily.com exa.ai perplexity.ai kagi.com serper.dev
        yandex.com baidu.com
    """,
}
_BY_NAME = {name: kind for kind, names in _NAMES.items() for name in names.split()}
_INDEXES = frozenset(
    """
    pypi pythonhosted npm npmjs npmmirror yarnpkg unpkg jsdelivr esm jsr crates rubygems packagist nuget maven sonatype
    anaconda conda golang goproxy debian ubuntu alpinelinux archlinux fedoraproject docker ghcr quay hex cpan metacpan
    cran hackage registry mirror mirrors artifactory nexus
    """.split()  # noqa: SIM905 - words read best as words
)
"""What a package index is called: any label of its name, or a part of one."""
_METADATA = {"169.254.169.254", "metadata.google.internal", "100.100.100.200", "fd00:ec2::254"}
_LOCAL = {"localhost", "gateway", ""}


@dataclass(frozen=True)
class Url:
    """A URL in words: ``host`` in lower case, ``path`` with its slash."""

    scheme: str
    host: str
    path: str


_URL = re.compile(r"\b(https?|git|ssh|ftp)(?:\+[a-z]+)?://([^\s/'\"<>)\]}|;,\\]+)([^\s'\"<>)\]}|;\\]*)", re.IGNORECASE)
_SCP = re.compile(r"^(?:[\w.-]+@)([\w.-]+):(?!/)(\S+)$")


def urls_in(text: str, most: int = 100) -> list[Url]:
    """The URLs of a text, at most so many."""
    found = []
    for one in _URL.finditer(text):
        found.append(Url(one[1].lower(), bare_host(one[2]), one[3] or "/"))
        if len(found) >= most:
            break
    return found


def git_remote(word: str) -> Url | None:
    """A remote as git has it, ``user@host:path`` included."""
    found = _SCP.match(word)
    return Url("ssh", bare_host(found[1]), "/" + found[2]) if found else next(iter(urls_in(word)), None)


def bare_host(name: str) -> str:
    """A host without user, port and brackets."""
    name = name.rpartition("@")[2].lower().rstrip(".")
    if name.startswith("["):
        return name[1:].partition("]")[0]
    return name.rpartition(":")[0] if name.count(":") == 1 else name


def is_local(name: str) -> bool:
    """Whether a host is the machine itself."""
    try:
        return ipaddress.ip_address(name).is_loopback or ipaddress.ip_address(name).is_unspecified
    except ValueError:
        return name in _LOCAL or name.endswith(".localhost")


def kind_of(name: str) -> Kind:
    """What somebody who asks for a host is after."""
    name = bare_host(name)
    if name in _METADATA:
        return Kind.HOST_PROBE
    parts = name.split(".")
    for start in range(len(parts)):
        found = _BY_NAME.get(".".join(parts[start:]))
        if found is not None:
            return found
    labels = {part for label in parts for part in (label, *label.split("-"))}
    return Kind.PACKAGE_INDEX if labels & _INDEXES else Kind.DENIED_HOST
