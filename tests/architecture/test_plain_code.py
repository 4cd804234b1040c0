"""Names and docstrings that a stranger understands, and imports that go one way, as shares of the complete tree."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from places import REPOSITORY

FOLDERS = ("flows", "tasks", "data", "deployments")
MOST_BARE_NAMES, MOST_INDIRECT_DOCSTRINGS = 0.03, 0.04
LEAST_DOCUMENTED = 0.95
INDIRECT = re.compile(
    r"(What|Whether|How|Where|Which|Who|Whoever|Whose|When|Why|Those|That|Of|Same|The same|In|By|As|At|Up|From|For"
    r"|Beside|So|Every|All|Each|One|None|Two|Several)\b"
)
"""Openings of a docstring that do not say what the function returns, does or is."""
BARE = re.compile(
    r"(above|again|ahead|alone|apart|bare|before|below|beside|cut|drawn|due|even|fit|flat|foreign|full|gone|held|home"
    r"|in_words|kept|known|least|left|like|lost|made|meant|met|most|near|now|of|open|over|plain|put|read|ready|said|seen"
    r"|sent|set|set_apart|short|shown|sound|spent|split|taken|together|unfit|valid|whole|written|[a-z]*ed)\Z"
)
"""Participles and adverbs that say neither what a function does nor what it returns."""
VERBS = frozenset(["embed", "speed", "need", "feed", "seed", "read", "exceed", "proceed", "red"])


@cache
def functions() -> list[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """All functions of the product, with the file that each is in."""
    files = [path for folder in FOLDERS for path in sorted((REPOSITORY / folder).rglob("*.py"))]
    return [
        (str(path.relative_to(REPOSITORY)), node)
        for path in files
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("__")
    ]


def test_few_functions_are_named_by_a_bare_participle_or_adverb() -> None:
    bare = []
    for file, node in functions():
        name = node.name.strip("_")
        if name not in VERBS and BARE.match(name):
            bare.append(f"{file}:{node.lineno} {node.name}")
    assert len(bare) <= MOST_BARE_NAMES * len(functions()), "\n".join(bare)


def test_few_docstrings_open_with_an_indirect_clause() -> None:
    texts = [(f"{file}:{node.lineno} {node.name}", ast.get_docstring(node)) for file, node in functions()]
    documented = [(place, text) for place, text in texts if text]
    indirect = [f"{place}: {text.splitlines()[0]}" for place, text in documented if INDIRECT.match(text)]
    assert len(indirect) <= MOST_INDIRECT_DOCSTRINGS * len(documented), "\n".join(indirect)


def test_public_functions_have_docstrings() -> None:
    public = [(file, node) for file, node in functions() if not node.name.startswith("_") and node.col_offset == 0]
    bare = [f"{file}:{node.lineno} {node.name}" for file, node in public if not ast.get_docstring(node)]
    assert len(bare) <= (1 - LEAST_DOCUMENTED) * len(public), "\n".join(bare)


def _imports(path: Path, names: dict[str, Path]) -> Iterator[str]:
    """Modules of ours that a file imports anywhere, except for type checkers."""
    tree = ast.parse(path.read_text("utf-8"))
    typing = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in typing:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in names)
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                if full in names or node.module in names:
                    yield full if full in names else node.module


def test_no_import_leads_back_to_where_it_began_not_even_inside_functions() -> None:
    names: dict[str, Path] = {}
    for folder in ("flows", "tasks"):
        for path in (REPOSITORY / folder).rglob("*.py"):
            parts = ("contrapose", *path.relative_to(REPOSITORY).with_suffix("").parts)
            names[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    graph: dict[str, set[str]] = defaultdict(set)
    for name, path in names.items():
        graph[name] |= {other for other in _imports(path, names) if other != name}
    TopologicalSorter(graph).prepare()
