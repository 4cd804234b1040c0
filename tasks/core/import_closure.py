"""The code that a module rests on: found by following its imports, so that no list of files can fall behind."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, TypedDict, cast

from contrapose.tasks.core.damage import private_folder

OURS = "contrapose"
"""Name below which every import is followed; of another package's module, its own package's name, too."""

REMEMBERED = 5_000
"""Modules of which the notes are kept; beyond them those of earlier versions are dropped."""

HOLDERS = ("body", "orelse", "finalbody", "handlers", "cases")
"""Fields of a node in which statements stand."""


class Notes(TypedDict):
    """What one version of a module says, by the hash of its bytes."""

    code: str
    """Hash of its code without comments, docstrings and layout."""
    imports: list[str]
    """Modules that it imports, and names that may be modules."""
    resources: list[list[str]]
    """Files and folders that it reads from packages: the package, then the steps of the path, as far as they are
    written in the code."""


class ModuleFile(NamedTuple):
    """Where the code of a module lies."""

    file: Path
    """The file."""
    package: str
    """From which its relative imports start."""


def code_sha256(*modules: str, memo: Path | None = None) -> str:
    """Hash of the code and data that some modules rest on: their own, and that of all they import, however far away.

    Imports are found by the syntax tree, those inside functions too, but not what only a type checker is told.
    Followed are those below `contrapose`, and below the top package of each module that is asked for. Comments,
    docstrings and layout are no part of it. What is read through `importlib.resources.files` is. What is imported by
    a name that is put together is not seen, and must be among `modules`.

    Args:
        modules: names, as they are imported.
        memo: file that remembers what was found in each version of a module; None: nothing is remembered.

    Raises:
        ModuleNotFoundError: one of the modules is not installed.
    """
    for module in modules:
        if _place(module) is None:
            raise ModuleNotFoundError(f"No module named {module!r}", name=module)
    notes = _Notebook(memo)
    roots = {OURS, *(module.partition(".")[0] for module in modules)}
    closure = _closure(modules, roots, notes)
    notes.keep()
    digest = hashlib.sha256(f"{sys.version_info.major}.{sys.version_info.minor}".encode())
    for name in sorted(closure):
        digest.update(f"{name}={closure[name]['code']}\n".encode())
    resources = {tuple(resource) for module in closure.values() for resource in module["resources"]}
    for package, *steps in sorted(resources):
        for path, content in _files(_folder(package).joinpath(*steps)):
            digest.update(f"{package}:{path}={hashlib.sha256(content).hexdigest()}\n".encode())
    return digest.hexdigest()


def _closure(modules: tuple[str, ...], roots: set[str], notes: _Notebook) -> dict[str, Notes]:
    closure: dict[str, Notes] = {}
    ahead = list(modules)
    while ahead:
        name = ahead.pop()
        if name in closure or name.partition(".")[0] not in roots or (place := _place(name)) is None:
            continue
        closure[name] = notes.of(place)
        # Importing a module runs the packages above it first.
        ahead += [*closure[name]["imports"], name.rpartition(".")[0]]
    return closure


class _Notebook:
    """Notes on modules by the hash of their bytes, so that unchanged ones are parsed once."""

    def __init__(self, memo: Path | None) -> None:
        self.memo, self.new = memo, False
        self.known: dict[str, Notes] = {}
        # Nothing is lost without it but time.
        with suppress(OSError, ValueError):
            self.known = dict(json.loads(memo.read_bytes())) if memo else {}

    def of(self, place: ModuleFile) -> Notes:
        """What a module says."""
        content = place.file.read_bytes()
        key = hashlib.sha256(f"{sys.hexversion}:{place.package}:".encode() + content).hexdigest()
        if key not in self.known:
            self.known[key], self.new = _read(content, place), True
        return self.known[key]

    def keep(self) -> None:
        """Write down what was found anew; a folder that takes nothing costs time only."""
        if self.memo is None or not self.new:
            return
        part = self.memo.with_name(f".{self.memo.name}.{os.getpid()}.part")
        kept = dict(list(self.known.items())[-REMEMBERED:])
        try:
            private_folder(self.memo.parent)
            part.write_text(json.dumps(kept), encoding="utf-8")
            part.replace(self.memo)
        except OSError:
            part.unlink(missing_ok=True)


@lru_cache(maxsize=REMEMBERED)
def _read(content: bytes, place: ModuleFile) -> Notes:
    tree = ast.parse(content)
    imports = sorted({name for node in _run(tree) for name in _imports(node, place.package)})
    # Few modules read anything.
    resources = sorted({tuple(resource) for resource in _resources(tree, place.package)}) if b"files" in content else []
    return Notes(code=_code(tree), imports=imports, resources=[list(resource) for resource in resources])


def _run(tree: ast.AST) -> Iterator[ast.AST]:
    """The statements of a tree, but for what type checkers alone are told."""
    ahead = [tree]
    while ahead:
        for child in _inside(ahead.pop()):
            if isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
                yield from child.orelse
                ahead += child.orelse
            else:
                yield child
                ahead.append(child)


def _inside(node: ast.AST) -> Iterator[ast.AST]:
    """The statements that a node holds, and the handlers and cases, which hold others."""
    for name in HOLDERS:
        yield from getattr(node, name, None) or ()


def _imports(node: ast.AST, package: str) -> Iterator[str]:
    """Names that an import statement may load."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
        base = ".".join([*above, *([node.module] if node.module else [])])
        yield base
        yield from (f"{base}.{alias.name}" for alias in node.names)


def _resources(tree: ast.AST, package: str) -> Iterator[tuple[str, ...]]:
    """What `files("package")` leads to, with the steps of a `joinpath` that are written out."""
    inner: set[int] = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Attribute) and node.func.attr == "joinpath" and _is_files(node.func.value):
            inner.add(id(node.func.value))
            yield (_package(cast(ast.Call, node.func.value), package), *_written(node.args))
        elif _is_files(node) and id(node) not in inner:
            yield (_package(node, package),)


def _is_files(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and bool(node.args) and ast.unparse(node.func).rpartition(".")[2] == "files"


def _package(call: ast.Call, package: str) -> str:
    """The package that is named; the module's own where it is put together, as by `__package__`."""
    first = call.args[0]
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else package


def _written(args: list[ast.expr]) -> Iterator[str]:
    for arg in args:
        if not (isinstance(arg, ast.Constant) and isinstance(arg.value, str)):
            return
        yield arg.value


def _code(tree: ast.Module) -> str:
    """Hash of what a module does: its tree without strings that stand alone, which are documentation."""
    ahead: list[Any] = [tree]
    while ahead:
        node = ahead.pop()
        if hasattr(node, "body"):
            node.body = [statement for statement in node.body if not _is_documentation(statement)]
        ahead += _inside(node)
    return hashlib.sha256(ast.dump(tree).encode("utf-8", "surrogatepass")).hexdigest()


def _is_documentation(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


@cache
def _place(name: str) -> ModuleFile | None:
    """Where a module lies; None where the name is none, as that of a function."""
    steps = name.split(".")
    # `contrapose` itself is no package: the folders below it are.
    depth = 2 if steps[0] == OURS else 1
    spec = find_spec(".".join(steps[:depth])) if len(steps) >= depth else None
    if spec is None:
        return None
    if spec.submodule_search_locations is None:
        return ModuleFile(Path(spec.origin), "") if spec.origin and len(steps) == depth else None
    places = (_below(Path(folder), steps[depth:], name) for folder in spec.submodule_search_locations)
    return next((place for place in places if place is not None), None)


def _below(folder: Path, steps: list[str], name: str) -> ModuleFile | None:
    path = folder.joinpath(*steps)
    if (path / "__init__.py").is_file():
        return ModuleFile(path / "__init__.py", name)
    file = path.with_name(f"{path.name}.py")
    return ModuleFile(file, name.rpartition(".")[0]) if steps and file.is_file() else None


@cache
def _folder(package: str) -> Path:
    """Folder of a package."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"No module named {package!r}", name=package)
    return Path(spec.origin).parent


def _files(path: Path) -> Iterator[tuple[str, bytes]]:
    """Every file of a folder and below, or the one file; in order."""
    paths = sorted(path.rglob("*")) if path.is_dir() else [path]
    for file in paths:
        if file.is_file() and file.suffix not in (".py", ".pyc"):
            yield (file.relative_to(path).as_posix() if path.is_dir() else file.name), file.read_bytes()
