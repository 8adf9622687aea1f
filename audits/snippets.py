"""Python given on a command line (``python -c``, here-documents): which files, addresses and commands it names.
Parsed only.

Constants are followed through names, ``+``, ``%``, f-strings, ``join``, ``bytes.fromhex`` and ``base64.b64decode`` as
far as they stand there in full.
"""

from __future__ import annotations

import ast
import base64
import binascii
import codecs
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field

MAX_TEXT = 1 << 20
_MAX_NODES = 200_000
_MAX_NESTED = 4
_SHELLS = frozenset(
    """
    os.system os.popen subprocess.getoutput subprocess.getstatusoutput commands.getoutput pty.spawn
    """.split()  # noqa: SIM905 - words read best as words
)
_PROGRAMS = frozenset(
    """
    subprocess.run subprocess.call subprocess.check_call subprocess.check_output subprocess.Popen os.execv
    os.execvp os.spawnv os.posix_spawn asyncio.create_subprocess_shell asyncio.create_subprocess_exec
    """.split()  # noqa: SIM905 - words read best as words
)
_FILES = frozenset(
    """
    open io.open os.open os.listdir os.scandir os.walk os.stat os.path.exists os.readlink glob.glob glob.iglob
    shutil.copy shutil.copyfile shutil.copytree Path pathlib.Path pathlib.PosixPath codecs.open
    linecache.getlines runpy.run_path
    """.split()  # noqa: SIM905 - words read best as words
)
_NAMES = {"file", "path", "args", "src", "pathname", "filename", "command", "cmd", "address"}
"""Keywords by which the first argument may be given."""
_ENVIRONMENT = {"os.environ", "os.environb", "os.getenv", "environ"}
_BYTES = {"base64", "base_64", "hex", "hex_codec"}
_URL = re.compile(r"^(?:https?|ftp|git|ssh)://", re.IGNORECASE)


@dataclass
class Snippet:
    """What a program names. ``shells`` are texts for a shell, ``argvs`` programs with their arguments."""

    paths: list[str] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    urls: list[str] = field(default_factory=list)
    shells: list[str] = field(default_factory=list)
    argvs: list[tuple[str, ...]] = field(default_factory=list)
    decoded: bool = False
    """Whether it runs code that an encoding hid."""
    environment: bool = False
    partial: str = ""


def read_python(code: str) -> Snippet:
    """Look into a program. Never raises for what it holds."""
    found = Snippet()
    _read(code, found, 0)
    return found


def _read(code: str, found: Snippet, nested: int) -> None:
    if len(code) > MAX_TEXT or nested > _MAX_NESTED:
        found.partial = "a Python program was not parsed"
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(code)
        nodes = list(_walk(tree))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        found.partial = "a Python program was not parsed"
        _by_text(code, found)
        return
    names: dict[str, str | bytes] = {}
    aliases: dict[str, str] = {}
    for node in nodes:
        match node:
            case ast.Import(names=imported):
                aliases |= {one.asname: one.name for one in imported if one.asname}
            case ast.ImportFrom(module=str(module), names=imported):
                aliases |= {one.asname or one.name: f"{module}.{one.name}" for one in imported}
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                text = _constant(value, names)
                if text is not None:
                    names[name] = text
    for node in nodes:
        match node:
            case ast.Call(func=func, args=args):
                _call(_resolved(_dotted(func), aliases), func, args, node, names, found, nested)
            case ast.Attribute() | ast.Name() if _resolved(_dotted(node), aliases) in _ENVIRONMENT:
                found.environment = True
            case ast.Constant(value=str(text)) if _URL.match(text):
                found.urls.append(text)


def _walk(tree: ast.AST) -> Iterator[ast.AST]:
    for number, node in enumerate(ast.walk(tree)):
        if number > _MAX_NODES:
            return
        yield node


def _call(
    name: str,
    func: ast.expr,
    args: list[ast.expr],
    node: ast.Call,
    names: dict[str, str | bytes],
    found: Snippet,
    nested: int,
) -> None:
    args = args or [one.value for one in node.keywords if one.arg in _NAMES]
    first = _constant(args[0], names) if args else None
    last = name.rsplit(".", maxsplit=1)[-1]
    text = first.decode("utf-8", "replace") if isinstance(first, bytes) else first
    if name in _SHELLS and text is not None:
        found.shells.append(text)
    elif name in _PROGRAMS and args:
        if text is not None:
            found.shells.append(text)
        elif isinstance(args[0], ast.List | ast.Tuple):
            words = [_constant(one, names) for one in args[0].elts]
            found.argvs.append(tuple(one if isinstance(one, str) else "*" for one in words))
    elif last in {"HTTPSConnection", "HTTPConnection"} and text is not None:
        found.urls.append(f"https://{text}/")
    elif last in {"create_connection", "connect", "connect_ex"} and args and isinstance(args[0], ast.Tuple):
        host = _constant(args[0].elts[0], names) if args[0].elts else None
        if isinstance(host, str):
            found.urls.append(f"https://{host}/")
    elif name in {"pip.main", "pip._internal.main", "pip._internal.cli.main.main"} and args:
        words = [_constant(one, names) for one in args[0].elts] if isinstance(args[0], ast.List) else []
        found.argvs.append(("pip", *(one if isinstance(one, str) else "*" for one in words)))
    elif last in {"glob", "rglob", "joinpath"} and isinstance(func, ast.Attribute) and name not in _FILES:
        base = _constant(func.value, names)
        if isinstance(base, str) and text is not None:
            found.paths.append(f"{base.rstrip('/')}/{text}")
    elif (name in _FILES or last in {"read_text", "read_bytes"}) and text is not None:
        mode = (
            _constant(args[1], names)
            if len(args) > 1
            else next((_constant(one.value, names) for one in node.keywords if one.arg == "mode"), None)
        )
        writes = last == "open" and isinstance(mode, str) and bool(set(mode) & set("wax+"))
        (found.written if writes else found.paths).append(text)
    elif name in {"exec", "eval", "compile"} and text is not None:
        found.decoded |= not isinstance(args[0], ast.Constant)
        _read(text, found, nested + 1)
    if isinstance(func, ast.Attribute) and func.attr in {"write_text", "write_bytes"}:
        inner = func.value
        if isinstance(inner, ast.Call) and inner.args:
            path = _constant(inner.args[0], names)
            if isinstance(path, str):
                found.written.append(path)


def _constant(node: ast.expr, names: dict[str, str | bytes], depth: int = 0) -> str | bytes | None:
    """The text that an expression gives, where that stands there in full."""
    if depth > 40:
        return None
    match node:
        case ast.Constant(value=str() | bytes() as value):
            return value
        case ast.Name(id=name):
            return names.get(name)
        case ast.Attribute(attr="executable"):
            return "python3"
        case ast.BinOp(left=left, op=ast.Add() | ast.Div(), right=right):
            one, other = _constant(left, names, depth + 1), _constant(right, names, depth + 1)
            if isinstance(one, str) and isinstance(other, str):
                return f"{one.rstrip('/')}/{other}" if isinstance(node.op, ast.Div) else one + other
            return one + other if isinstance(one, bytes) and isinstance(other, bytes) else None
        case ast.JoinedStr(values=values):
            return "".join(_part(one, names, depth) for one in values)
        case ast.Subscript(
            value=inner, slice=ast.Slice(lower=None, upper=None, step=ast.UnaryOp(operand=ast.Constant(value=1)))
        ):
            turned = _constant(inner, names, depth + 1)
            return turned[::-1] if turned is not None else None
        case ast.Call(func=func, args=args):
            return _made(func, args, names, depth)
    return None


def _part(node: ast.expr, names: dict[str, str | bytes], depth: int) -> str:
    value = _constant(node.value if isinstance(node, ast.FormattedValue) else node, names, depth + 1)
    return value if isinstance(value, str) else "*"


def _made(func: ast.expr, args: list[ast.expr], names: dict[str, str | bytes], depth: int) -> str | bytes | None:
    """What a call of a few decoders gives."""
    name = _dotted(func)
    first = _constant(args[0], names, depth + 1) if args else None
    try:
        match name.split(".")[-1]:
            case "b64decode" | "urlsafe_b64decode" | "decodebytes" if first is not None:
                raw = first.encode() if isinstance(first, str) else first
                return base64.b64decode(raw.replace(b"-", b"+").replace(b"_", b"/") + b"==")
            case "decode" if name == "codecs.decode" and first is not None:
                how = _constant(args[1], names, depth + 1) if len(args) > 1 else "utf-8"
                return _by_codec(first, how) if isinstance(how, str) else None
            case "fromhex" | "unhexlify" if first is not None:
                return bytes.fromhex(first if isinstance(first, str) else first.decode())
            case "decode" | "encode" | "strip" if isinstance(func, ast.Attribute):
                value = _constant(func.value, names, depth + 1)
                return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
            case "join" if isinstance(func, ast.Attribute) and args and isinstance(args[0], ast.List | ast.Tuple):
                between = _constant(func.value, names, depth + 1)
                parts = [_constant(one, names, depth + 1) for one in args[0].elts]
                if isinstance(between, str):
                    return between.join(one if isinstance(one, str) else "*" for one in parts)
            case "Path" | "PosixPath" | "str" if isinstance(first, str):
                return first
            case "join" if name == "os.path.join":
                parts = [_constant(one, names, depth + 1) for one in args]
                return "/".join(one.rstrip("/") if isinstance(one, str) else "*" for one in parts)
            case "chr" if isinstance(args[0], ast.Constant) and isinstance(args[0].value, int):
                return chr(args[0].value)
    except (ValueError, LookupError, binascii.Error, OverflowError):
        return None
    return None


def _by_codec(value: str | bytes, how: str) -> str | bytes | None:
    if how in {"rot13", "rot_13"}:
        return codecs.decode(value, "rot13") if isinstance(value, str) else None
    raw = value.encode() if isinstance(value, str) else value
    made: str | bytes = codecs.decode(raw, how) if how in _BYTES else raw.decode(how, "replace")
    return made


def _dotted(node: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        return ".".join(reversed([*parts, node.id]))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "__import__" and node.args:
        module = node.args[0]
        if isinstance(module, ast.Constant) and isinstance(module.value, str):
            return ".".join(reversed([*parts, module.value]))
    return ".".join(reversed([*parts, ""])) if parts else ""


def _resolved(name: str, aliases: dict[str, str]) -> str:
    first, dot, rest = name.partition(".")
    return f"{aliases[first]}{dot}{rest}" if first in aliases else name


def _by_text(code: str, found: Snippet) -> None:
    """What a program that can't be parsed still shows: its quoted paths and addresses."""
    for one in re.findall(r"['\"]((?:https?://|/)[^'\"\n]{1,400})['\"]", code)[:200]:
        (found.paths if one.startswith("/") else found.urls).append(one)
