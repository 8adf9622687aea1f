"""A script's tree, walked: its commands in order, its words as they would be, and what those hide."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from posixpath import basename
from typing import TYPE_CHECKING

from audits.shell.command import SHELLS, Command, Redirect, Script, fed, hidden_in, roots, run_from, unwrapped
from audits.shell.printed import ansi, printed

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Tree

MAX_TEXT = 1 << 20
"""Bytes of one script; of a longer one nothing is parsed."""
MAX_COMMANDS = 20_000
_MAX_DEPTH = 120
_MAX_NESTED = 8
_PLAIN = bytes(range(128)) + b"." * 128
_MAX_LINES = 5_000
_MAX_PARSED = 4 << 20
"""Bytes of a script and all scripts within it: one that is short may run another very often."""
_MAX_TURNS = 8
_NO_WORDS = {"file_descriptor", "ERROR"}
"""Of a redirection; what is an error is the second half of ``<>``."""
_SOURCES = {*SHELLS, "source", "."}
_UNKNOWN = "*"


@lru_cache(maxsize=1)
def _parser() -> Parser:
    import tree_sitter_bash  # slow to load
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


def _tree(raw: bytes) -> Tree:
    """The tree of a script, by places in its bytes.

    The grammar's scanner looks letters up in C's tables of 256 and reads beyond them for any further one, which ends
    the process. To bash such bytes are parts of words like others, so the parser gets a dot for each.
    """
    return _parser().parse(raw.translate(_PLAIN))


class Reader:
    """Walks one script's tree; what it hides is read by another."""

    def __init__(self, script: Script, via: tuple[str, ...], nested: int) -> None:
        self._script = script
        self._via = via
        self._nested = nested
        self._known: dict[str, str] = {}
        self._listed: tuple[str, ...] = ()
        self._turning = False

    def read(self, text: str) -> None:
        """Take the commands of a script."""
        raw = text.encode("utf-8", "replace")
        self._script.parsed += len(raw)
        if len(raw) > MAX_TEXT:
            self._script.partial = f"a script of {len(raw)} bytes was not parsed"
        if self._spent() or len(raw) > MAX_TEXT:
            return
        tree = _tree(raw)
        self._raw = raw
        self._walk(tree.root_node, 0, None)
        if tree.root_node.has_error:
            self._script.partial = self._script.partial or "a script was not parsed whole"
            self._by_line(text)

    def _spent(self) -> bool:
        """Whether there was more to look at than is looked at: a short script may say a long word very often."""
        spent = self._script.parsed > _MAX_PARSED
        if spent:
            self._script.partial = self._script.partial or "a script is too long as it would be run"
        return spent

    def _by_line(self, text: str) -> None:
        """What a parser that lost its way may have passed over: each line by itself, as an interpreter reads it."""
        before = {(one.argv, one.redirects) for one in self._script.commands}
        for line in text.splitlines()[:_MAX_LINES]:
            again = Script()
            reader = Reader(again, self._via, self._nested)
            reader._known = dict(self._known)
            raw = line.encode("utf-8", "replace")
            reader._raw = raw
            reader._walk(_tree(raw).root_node, 0, None)
            self._known |= reader._known
            self._script.commands += [one for one in again.commands if (one.argv, one.redirects) not in before]

    # ------------------------------------------------------------------------------------------------------- statements

    def _walk(self, node: Node, depth: int, stdin: str | None) -> str | None:
        """Take what a node holds; returns what it prints, where that is known."""
        if depth > _MAX_DEPTH or len(self._script.commands) > MAX_COMMANDS:
            self._script.partial = self._script.partial or "a script is too deep or too long"
            return None
        match node.type:
            case "command":
                return self._command(node, depth, (), stdin)
            case "redirected_statement":
                return self._redirected(node, depth, stdin)
            case "pipeline":
                return self._pipeline(node.named_children, depth, stdin)
            case "variable_assignment":
                self._assign(node, depth)
                return None
            case "for_statement":
                self._for(node, depth)
                return None
            case "file_redirect":  # by itself in a substitution: the file's content
                self.take(Command(argv=("{",), redirects=(self._redirect(node, depth),), via=self._via))
                return None
            case "test_command":
                words = [self._text(one, depth + 1)[0] for one in _leaves(node)]
                self.take(Command(argv=("[", *words), via=self._via))
                return None
            case "declaration_command" | "unset_command":
                words = [
                    self._assign(one, depth) if one.type == "variable_assignment" else self._text(one, depth + 1)[0]
                    for one in node.named_children
                ]
                name = self._source(node).split(None, 1)[0] if self._source(node).split() else "declare"
                self.take(Command(argv=(name, *words), via=self._via))
                return None
            case "comment" | "heredoc_body":
                return None
            case _:
                printed: list[str | None] = []
                for one in node.named_children:
                    printed.append(self._walk(one, depth + 1, stdin if len(printed) == 0 else None))
                known = [one for one in printed if one is not None]
                return "".join(known) if known and len(known) == len(printed) else None

    def _for(self, node: Node, depth: int) -> None:
        """A loop over words: its body as it would be with each of the first of them, of the outermost loop."""
        body = node.child_by_field_name("body")
        name = node.child_by_field_name("variable")
        words = [self._text(one, depth + 1) for one in node.children_by_field_name("value")]
        if body is None or name is None:
            return
        turns = [text for text, known in words[: 1 if self._turning else _MAX_TURNS] if known]
        self.take(Command(argv=("for", *(text for text, _ in words)), via=self._via))
        outer, self._turning = self._turning, True
        for text in turns or [_UNKNOWN]:
            self._known[self._source(name)] = text
            self._walk(body, depth + 1, None)
        self._known.pop(self._source(name), None)
        self._turning = outer

    def _pipeline(self, parts: Sequence[Node], depth: int, stdin: str | None, *, piped: bool = False) -> str | None:
        said = stdin
        for number, one in enumerate(parts):
            if one.type == "comment":
                continue
            said = self._piece(one, depth + 1, said, piped=piped or number > 0)
        return said

    def _piece(self, node: Node, depth: int, stdin: str | None, *, piped: bool) -> str | None:
        if node.type == "command":
            return self._command(node, depth, (), stdin, piped=piped)
        if node.type == "redirected_statement":
            return self._redirected(node, depth, stdin, piped=piped)
        return self._walk(node, depth, stdin)

    def _redirected(self, node: Node, depth: int, stdin: str | None, *, piped: bool = False) -> str | None:
        redirects: list[Redirect] = []
        body: Node | None = None
        rest: list[Node] = []
        for one in node.named_children:
            match one.type:
                case "file_redirect":
                    inner = next((part for part in one.named_children if part.type == "process_substitution"), None)
                    given = None if inner is None else self._substituted(inner, depth)
                    stdin = stdin if given is None else given
                    redirects += [self._redirect(one, depth)] if inner is None else []
                case "herestring_redirect":
                    stdin = "".join(self._text(part, depth + 1)[0] for part in one.named_children)
                case "heredoc_redirect":
                    stdin = self._heredoc(one, depth, redirects, rest)
                case _:
                    body = one if body is None else body
        if body is None:
            return None
        if body.type == "command":
            said = self._command(body, depth + 1, tuple(redirects), stdin, piped=piped)
        else:
            said = self._walk(body, depth + 1, stdin)
            if redirects:  # of the last of a list: in the folder where that is
                self.take(Command(argv=("{",), redirects=tuple(redirects), via=self._via))
        return self._pipeline(rest, depth + 1, said, piped=True) if rest else said

    def _heredoc(self, node: Node, depth: int, redirects: list[Redirect], rest: list[Node]) -> str | None:
        stdin: str | None = None
        for one in node.named_children:
            match one.type:
                case "heredoc_body":
                    stdin = self._source(one)
                    for part in one.named_children:
                        self._text(part, depth + 1)  # what it substitutes is run
                case "file_redirect":
                    redirects.append(self._redirect(one, depth))
                case "heredoc_start" | "heredoc_end":
                    continue
                case "pipeline":
                    rest += one.named_children
                case _:
                    rest.append(one)
        return stdin

    def _redirect(self, node: Node, depth: int) -> Redirect:
        operator = "".join(self._source(one) for one in node.children if not one.is_named)
        words = [self._text(one, depth + 1)[0] for one in node.named_children if one.type not in _NO_WORDS]
        return Redirect(operator, "".join(words))

    def _assign(self, node: Node, depth: int) -> str:
        parts = node.named_children
        name = self._source(parts[0]) if parts else ""
        text, known = self._text(parts[1], depth + 1) if len(parts) > 1 else ("", True)
        if known and len(text) <= MAX_TEXT and len(self._known) < 1000:
            self._known[name] = text
        else:
            self._known.pop(name, None)
        return f"{name}={text}"

    def _command(
        self, node: Node, depth: int, redirects: tuple[Redirect, ...], stdin: str | None, *, piped: bool = False
    ) -> str | None:
        words: list[str] = []
        env: list[str] = []
        own = list(redirects)
        known = True
        for one in node.named_children:
            match one.type:
                case "variable_assignment":
                    env.append(self._assign(one, depth))
                case "file_redirect":
                    own.append(self._redirect(one, depth))
                case "herestring_redirect":
                    stdin = "".join(self._text(part, depth + 1)[0] for part in one.named_children)
                case "heredoc_redirect":
                    stdin = self._heredoc(one, depth, own, [])
                case "command_name":
                    text, sure = self._text(one.named_children[0] if one.named_children else one, depth + 1)
                    words.append(text)
                    known &= sure
                case "comment":
                    continue
                case "process_substitution" if words and basename(words[0]) in _SOURCES:
                    stdin = self._substituted(one, depth)  # the file that it would read
                case _:
                    text, sure = self._text(one, depth + 1)
                    self._script.parsed += len(text)
                    if self._spent():
                        text, sure = _UNKNOWN, False
                    words.append(text)
                    known &= sure
        command = Command(tuple(words), tuple(own), stdin, tuple(env), self._via, piped)
        self.take(command)
        self._wrote(command, known=known)
        return printed(command) if known and not any(one.operator.startswith((">", "&>")) for one in own) else None

    def _substituted(self, node: Node, depth: int) -> str | None:
        """What a process substitution gives to read, where that is known."""
        said = [self._walk(one, depth + 1, None) for one in node.named_children]
        whole = self._source(node).startswith("<") and None not in said
        return "".join(one for one in said if one is not None) if whole else None

    def _wrote(self, command: Command, *, known: bool) -> None:
        """Keep what a command wrote into a file, where that is known: it may be run from there."""
        targets = [one.target for one in command.redirects if one.operator in {">", ">|", "&>"}]
        text = printed(command) if known else None
        if unwrapped(command).name == "tee":
            targets, text = [one for one in unwrapped(command).args if not one.startswith("-")], command.stdin
        for target in targets:
            self._script.files.put(target, text)

    # ------------------------------------------------------------------------------------------------------------ words

    def _text(self, node: Node, depth: int) -> tuple[str, bool]:
        """A word as it would be, and whether that is known in full. What a substitution runs is taken on the way."""
        if depth > _MAX_DEPTH:
            return _UNKNOWN, False
        match node.type:
            case "word":
                return re.sub(r"\\\n", "", re.sub(r"\\([^\n])", r"\1", self._source(node))), True
            case "string_content" | "number" | "extglob_pattern" | "regex" | "test_operator" | "file_descriptor":
                return self._source(node), True
            case "raw_string":
                return self._source(node)[1:-1], True
            case "ansi_c_string":
                return ansi(self._source(node)[2:-1]), True
            case "command_substitution" | "process_substitution":
                said = [self._walk(one, depth + 1, None) for one in node.named_children]
                known = [one for one in said if one is not None]
                if node.type == "process_substitution" or len(known) != len(said):
                    return _UNKNOWN, False
                return "".join(known).rstrip("\n"), True
            case "simple_expansion" | "expansion":
                name = next((self._source(one) for one in node.named_children if one.type == "variable_name"), "")
                plain = len(node.named_children) == 1
                if plain and name in self._known:
                    return self._known[name], True
                for one in node.named_children[1:]:
                    self._text(one, depth + 1)
                return _UNKNOWN, False
            case "string":
                return self._string(node, depth)
            case "concatenation":
                parts = [self._text(one, depth + 1) for one in node.named_children]
                if sum(len(text) for text, _ in parts) > MAX_TEXT:
                    return _UNKNOWN, False
                return "".join(text for text, _ in parts), all(known for _, known in parts)
            case _:
                if node.named_children:
                    for one in node.named_children:
                        self._text(one, depth + 1)
                return (self._source(node), False) if node.type in {"array", "subscript"} else (_UNKNOWN, False)

    def _string(self, node: Node, depth: int) -> tuple[str, bool]:
        """A string in double quotes. The bytes between its parts (line breaks, spaces) are its own too."""
        pieces: list[str] = []
        known = True
        at = node.start_byte + 1
        for one in node.named_children:
            pieces.append(self._raw[at : one.start_byte].decode("utf-8", "replace"))
            text, sure = self._text(one, depth + 1)
            pieces.append(re.sub(r"\\([$`\"\\])", r"\1", text) if one.type == "string_content" else text)
            known &= sure
            at = one.end_byte
        pieces.append(self._raw[at : max(at, node.end_byte - 1)].decode("utf-8", "replace"))
        if sum(map(len, pieces)) > MAX_TEXT:
            return _UNKNOWN, False
        return "".join(pieces), known

    def _source(self, node: Node) -> str:
        return self._raw[node.start_byte : node.end_byte].decode("utf-8", "replace")

    # ----------------------------------------------------------------------------------------------------------- hidden

    def take(self, command: Command) -> None:
        """Keep a command, and read what it would run in its turn."""
        if len(self._script.commands) > MAX_COMMANDS:
            return
        command = unwrapped(fed(command, self._listed))
        command = run_from(command, self._script.files)
        if not command.piped:
            self._listed = roots(command) if command.name == "find" else ()
        self._script.commands.append(command)
        if self._nested >= _MAX_NESTED:
            self._script.partial = self._script.partial or "scripts within scripts, too deep"
            return
        for how, text in hidden_in(command):
            via = (*self._via, *how) if how else self._via
            Reader(self._script, via, self._nested + 1).read(text)


def _leaves(node: Node) -> Iterator[Node]:
    """The words of a test, however its operators nest."""
    stack = list(reversed(node.named_children))
    while stack:
        one = stack.pop()
        if one.type.endswith("_expression"):
            stack += reversed(one.named_children)
        else:
            yield one
