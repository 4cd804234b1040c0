"""How the house is cut: no file too long, no name that stands for two things, no fragment with one reader."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import cache

from places import REPOSITORY

MOST_LINES, LONG_FUNCTION, MOST_LONG_FUNCTIONS = 400, 50, 2
FRAGMENT, MOST_FRAGMENTS = 40, 15
"""Lines under which a module with a single importer is a fragment of that one."""


@cache
def sources() -> Mapping[str, str]:
    """The text of every module by its name."""
    files = [path for top in ("flows", "tasks") for path in (REPOSITORY / top).rglob("*.py")]
    named = {("contrapose", *path.relative_to(REPOSITORY).with_suffix("").parts): path for path in files}
    return {
        ".".join(parts[:-1] if parts[-1] == "__init__" else parts): path.read_text("utf-8")
        for parts, path in named.items()
    }


def lines(text: str) -> int:
    return text.count("\n")


def imported(tree: ast.Module) -> Iterator[str]:
    """Modules that one imports, wherever it does."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full in sources() else node.module


def test_no_file_is_too_long() -> None:
    assert [name for name, text in sources().items() if lines(text) > MOST_LINES] == []


def _begin(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The line before its code: what its help says of many arguments is no part of that."""
    documented = ast.get_docstring(node, clean=False) is not None
    return (node.body[0].end_lineno or 0) if documented else node.lineno


def test_hardly_a_function_is_long() -> None:
    long = [
        f"{name}.{node.name}"
        for name, text in sources().items()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - _begin(node) >= LONG_FUNCTION
    ]
    assert len(long) <= MOST_LONG_FUNCTIONS, long


def test_a_class_name_stands_for_one_thing() -> None:
    counted = Counter(
        node.name for text in sources().values() for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ClassDef)
    )
    assert [name for name, count in counted.items() if count > 1] == []


def test_a_fragment_belongs_to_its_importer() -> None:
    importers: dict[str, set[str]] = defaultdict(set)
    for name, text in sources().items():
        for found in imported(ast.parse(text)):
            importers[found].add(name)
    fragments = [name for name in sources() if len(importers[name]) == 1 and lines(sources()[name]) < FRAGMENT]
    assert len(fragments) <= MOST_FRAGMENTS, fragments


def test_functions_are_verbs_or_name_what_they_return() -> None:
    riddles = {"told", "found", "each", "given", "apart", "there", "ahead", "saying", "showing", "past", "mishap"}
    named = [
        f"{name}.{node.name}"
        for name, text in sources().items()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.lstrip("_") in riddles
    ]
    assert named == []


def test_variables_say_what_their_value_is() -> None:
    riddles = {"told", "found", "each", "given"}
    named = [
        f"{name}.{function.name}: {getattr(node, 'id', None) or getattr(node, 'arg', None)}"
        for name, text in sources().items()
        for function in ast.walk(ast.parse(text))
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
        if (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in riddles)
        or (isinstance(node, ast.arg) and node.arg in riddles)
    ]
    assert named == []
