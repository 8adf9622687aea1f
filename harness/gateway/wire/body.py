"""A request's body: read strictly, and cut down to what runs at the client.

Tools are kept by what they are, not dropped by what they are called: a kind that nobody knows is taken out too, since
the next provider-side tool has a name that no list has yet. A client's own tool named ``web_search`` stays.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from harness import digest
from harness.gateway.decode import bounded_text, text
from harness.gateway.records import Provided, Stripped

MAX_REQUEST = 32 * 1024 * 1024

_KINDS = (
    ("websearch", Provided.WEB_SEARCH),
    ("googlesearch", Provided.WEB_SEARCH),
    ("enterprisewebsearch", Provided.WEB_SEARCH),
    ("googlemaps", Provided.WEB_SEARCH),
    ("webfetch", Provided.WEB_FETCH),
    ("urlcontext", Provided.WEB_FETCH),
    ("codeexecution", Provided.CODE_EXECUTION),
    ("codeinterpreter", Provided.CODE_EXECUTION),
    ("shell", Provided.CODE_EXECUTION),
    ("mcp", Provided.HOSTED_MCP),
    ("computer", Provided.COMPUTER_USE),
    ("filesearch", Provided.FILE_SEARCH),
    ("retrieval", Provided.FILE_SEARCH),
    ("imagegeneration", Provided.IMAGE_GENERATION),
)
"""By the start of the name, without underscores and case: providers date their tools (``web_search_20250305``)."""

_BESIDE = {
    # What OpenAI, xAI, Perplexity's, Qwen's and Groq's APIs and OpenRouter call a search at the provider.
    "web_search_options": Provided.WEB_SEARCH,
    "search_parameters": Provided.WEB_SEARCH,
    "search_options": Provided.WEB_SEARCH,
    "search_settings": Provided.WEB_SEARCH,
    "enable_search": Provided.WEB_SEARCH,
    "plugins": Provided.WEB_SEARCH,
    "data_sources": Provided.FILE_SEARCH,
    "mcp_servers": Provided.HOSTED_MCP,
    # An answer that is fetched later, at xAI.
    "deferred": Provided.BACKGROUND,
    # Another format's fields, within this one.
    "extra_body": Provided.UNKNOWN_TOOL,
}
_USUAL = {"auto", "default", "standard", "standard_only"}


class BodyError(ValueError):
    """A body that can't be read one way only, so that nothing can be said about it."""


class Prepared(NamedTuple):
    """A request as it may go out, as bytes and as the value that they hold.

    ``drop_usage``: the client did not ask for the stream's usage chunk.
    """

    body: bytes
    stripped: tuple[Stripped, ...]
    value: Mapping[str, Any]
    drop_usage: bool = False


def load(body: bytes) -> dict[str, Any]:
    """A request's JSON object.

    Raises:
        BodyError: it is no JSON object in UTF-8, is too large, or has a duplicate key, which two parsers may read
            as two different requests.
    """
    if len(body) > MAX_REQUEST:
        raise BodyError(f"is over {MAX_REQUEST >> 20} MiB")
    try:
        value = digest.loads(bounded_text(body))
    except ValueError as error:
        raise BodyError(f"is not plain JSON: {text(str(error))}") from error
    if not isinstance(value, dict):
        raise BodyError("is not a JSON object")
    if not isinstance(value.get("stream"), bool | None):
        # Some servers take 1 and "true" for true: a stream that is not known as one would not be asked for its usage.
        raise BodyError("has a stream that is neither true nor false")
    read_one_way(value)
    return value


def lower_case(value: Mapping[str, Any]) -> None:
    """Of a format whose names are all in lower case.

    Raises:
        BodyError: one is not. Servers written in Go take ``Model`` for ``model``, and the last of both counts.
    """
    for name in value:
        if name.casefold() != name:
            raise BodyError(f"has a name that is not in lower case: {text(name)}")


def read_one_way(value: Mapping[str, Any]) -> None:
    """An object whose names decide what may go through.

    Raises:
        BodyError: a parser that does not look at the case of names, as Go's, may read another one.
    """
    folded = {name.casefold() for name in value}
    if len(folded) < len(value) or ("type" in folded and "type" not in value):
        raise BodyError("has a name that differs from another in case alone")


def dump(value: Mapping[str, Any]) -> bytes:
    """The bytes of a changed body.

    Raises:
        BodyError: a number in it is no JSON number (1e999).
    """
    try:
        return json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii")
    except (ValueError, RecursionError) as error:
        raise BodyError("holds what JSON cannot") from error


def kind_of(name: str) -> Provided:
    """Which provider-side service a tool's type stands for."""
    plain = name.replace("_", "").replace("-", "").lower()
    return next((kind for start, kind in _KINDS if plain.startswith(start)), Provided.UNKNOWN_TOOL)


class Cuts:
    """What was taken out of one body so far."""

    def __init__(self) -> None:
        self.made: list[Stripped] = []
        self.tools_cut = False
        self.names: set[str] = set()
        """Types and names of the tools taken out: what a tool choice can no longer ask for."""

    def note(self, kind: Provided, name: object, where: str) -> str:
        """Record one cut; what to put in its place where a text must stand."""
        known = text(name if isinstance(name, str) else type(name).__name__) or "unnamed"
        self.made.append(Stripped(kind=kind, name=known, where=where[:200]))
        return f"[taken out by the gateway: {kind.value}]"

    def key(self, body: dict[str, Any], name: str, kind: Provided) -> None:
        """Take a key out of an object, if it is there and says something."""
        if name in body and body.pop(name) not in (None, False, [], {}):
            self.note(kind, name, name)

    def terms(self, body: dict[str, Any], *names: str) -> None:
        """Take out what asks for other terms than those that the price table is for."""
        for name in names:
            said = body.get(name)
            if not (isinstance(said, str) and said.lower() in _USUAL):
                self.key(body, name, Provided.OTHER_TERMS)

    def beside(self, body: dict[str, Any]) -> None:
        """Take out of a body in lower case what some provider or router takes beside the format's own fields."""
        lower_case(body)
        for name, kind in _BESIDE.items():
            self.key(body, name, kind)
        self.terms(body, "service_tier", "speed", "inference_geo")

    def tools(self, holder: dict[str, Any], where: str, is_client: Callable[[Mapping[str, Any]], bool]) -> None:
        """Keep a list's client tools; without any left the list goes."""
        tools = holder.get("tools")
        if tools is None:
            return
        listed = tools if isinstance(tools, list) else [tools]
        kept = [tool for at, tool in enumerate(listed) if self._keeps(tool, f"{where}[{at}]", is_client)]
        if len(kept) == len(listed):
            return
        self.tools_cut = True
        if kept:
            holder["tools"] = kept
        else:
            del holder["tools"]

    def _keeps(self, tool: object, where: str, is_client: Callable[[Mapping[str, Any]], bool]) -> bool:
        inner = tool if isinstance(tool, dict) else {}
        read_one_way(inner)
        if isinstance(tool, dict) and is_client(tool):
            return True
        kind = inner.get("type")
        label = text(inner.get("server_label")) or text(inner.get("mcp_server_name"))
        name = f"{kind}:{label}" if isinstance(kind, str) and label else kind
        self.note(kind_of(kind) if isinstance(kind, str) else Provided.UNKNOWN_TOOL, name or "tool without type", where)
        self.names |= {word for word in (kind, inner.get("name")) if isinstance(word, str)}
        return False

    def choice(self, body: dict[str, Any]) -> None:
        """Take out a tool choice that nothing is left for."""
        choice = body.get("tool_choice")
        if not self.tools_cut or choice is None:
            return
        wanted = (choice.get("type"), choice.get("name")) if isinstance(choice, dict) else ()
        if "tools" not in body or self.names & {word for word in wanted if isinstance(word, str)}:
            del body["tool_choice"]

    def blocks(
        self,
        holder: dict[str, Any],
        name: str,
        where: str,
        foreign: Callable[[Mapping[str, Any]], Provided | None],
        instead: Callable[[str], Any],
    ) -> list[dict[str, Any]]:
        """Replace the foreign ones of a list of content blocks by a note; the blocks that stay."""
        blocks = holder.get(name)
        listed = [blocks] if isinstance(blocks, dict) else blocks if isinstance(blocks, list) else []
        stay = []
        for at, block in enumerate(listed):
            if not isinstance(block, dict):
                continue
            read_one_way(block)
            kind = foreign(block)
            if kind is None:
                stay.append(block)
                continue
            note = instead(self.note(kind, block.get("type") or next(iter(block), ""), f"{where}.{name}[{at}]"))
            if isinstance(blocks, list):
                blocks[at] = note
            else:
                holder[name] = note
        return stay


def objects(value: object) -> list[tuple[int, dict[str, Any]]]:
    """The objects of a list, with their positions; of a single object, that one."""
    listed = value if isinstance(value, list) else [value]
    return [(at, item) for at, item in enumerate(listed) if isinstance(item, dict)]


_INLINE = ("data", "file_data", "audio", "image", "images", "video", "videos", "frames")
"""Where a provider takes bytes, some take an address as well, or a list of them."""
_URL = re.compile(r"\s*(?!data:)[a-z][a-z0-9+.-]*:/", re.IGNORECASE)


def openai_foreign(block: Mapping[str, Any]) -> Provided | None:
    """What an OpenAI content block would have the provider fetch: a URL other than ``data:``, or a stored file."""
    for holder in (block, *(value for value in block.values() if isinstance(value, dict))):
        if holder.get("file_id") is not None:
            return Provided.FILE_ID
        for name in ("url", "image_url", "file_url", "video_url", "audio_url"):
            address = holder.get(name)
            if isinstance(address, str) and not address.lower().startswith("data:"):
                return Provided.REMOTE_MEDIA
        for name in _INLINE:
            held = holder.get(name)
            if any(isinstance(one, str) and _URL.match(one) for one in (held if isinstance(held, list) else [held])):
                return Provided.REMOTE_MEDIA
    return None
