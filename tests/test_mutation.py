"""Which changes mutation testing makes, and that its list of survivors names changes that are still made."""

from __future__ import annotations

import ast
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from bench.mutation import ROOT, SURVIVORS, reasons
from bench.mutation_operators import Mutant, mutants
from bench.mutation_worker import Covered, starts_a_server, users


def changes(source: str) -> set[str]:
    """What each change makes of the changed statement."""
    return {each.after for each in mutants(ast.parse(source))}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = a < b", {"x = a <= b", "x = a >= b"}),
        ("x = a - 1", {"x = a + 1", "x = a - 2"}),
        ("x = a and b", {"x = a or b", "x = a", "x = b"}),
        ("x = not a", {"x = a"}),
        ("x = 1 if a else b", {"x = 2 if a else b", "x = 1 if not a else b"}),
        ("if a: pass", {"if not a:"}),
        ("f(a, b)", {"pass", "f(b, a)"}),
        ("x = max(a, b)", {"x = min(a, b)"}),
        ("x = [a for a in b if a]", {"x = [a for a in b if True]"}),
        ("x = 'word'", {"x = 'XXwordXX'"}),
        ("x += 2", {"x -= 2", "x += 3"}),
        ("def f():\n    return a", {"return None"}),
        ("def f(a=True): pass", {"def f(a=False):"}),
        ("def f():\n    raise E('word', 0)", {"pass", "raise E(0, 'word')", "raise E('word', 1)"}),
        ("for a in b:\n    continue", {"break"}),
    ],
)
def test_a_statement_is_changed_in_each_small_way(source: str, expected: set[str]) -> None:
    assert changes(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        '"""A docstring."""',
        "from a import b",
        "x: Literal['a', 'b']",
        "x = f'{a} words'",
        "x = 'words that people read'",
        "x = ('a', 'b', 'c', 'd', 'e', 'f', 'g')",
        "x = zip(*a, strict=True)",
        "@f(1)\ndef g(): pass",
        "if TYPE_CHECKING:\n    x = 1",
        "x = os.kill(a, 0)",
    ],
)
def test_what_is_no_behaviour_is_left_alone(source: str) -> None:
    assert changes(source) == set()


def test_looking_for_changes_changes_nothing_and_making_one_does() -> None:
    tree = ast.parse("def f(a):\n    if a > 1:\n        return g(a, 2) or 3\n")
    before = ast.unparse(tree)
    found = mutants(tree)
    assert ast.unparse(tree) == before
    found[0].put()
    assert ast.unparse(tree) != before


def test_every_survivor_with_a_reason_is_a_change_that_is_still_made() -> None:
    listed = reasons(SURVIVORS.read_text(encoding="utf-8"))
    made = {(file, each.name, each.after) for file in {key[0] for key in listed} for each in every(ROOT / file)}
    assert {key for key in listed if key not in made} == set()


def test_what_is_set_at_import_is_tried_by_the_tests_of_those_that_import_it() -> None:
    covered = Covered(
        seconds={"test_a.py::one": 0.1, "test_a.py::two": 0.2, "test_b.py::three": 0.3},
        lines={"test_a.py::one": {"engine.py": {5}}, "test_a.py::two": {}, "test_b.py::three": {"other.py": {1}}},
        users={"schema.py": {"engine.py"}},
    )
    tried = covered.noticing("schema.py", range(1, 2), everywhere=True, most=60)
    assert list(tried) == ["test_a.py::one", "test_a.py::two"]


def test_the_files_that_import_one_in_a_function_are_among_its_users() -> None:
    assert "tasks/store/engine.py" in users(ROOT, "tasks/store")["tasks/store/schema.py"]


def every(file: Path) -> list[Mutant]:
    return mutants(ast.parse(file.read_text(encoding="utf-8")))


@pytest.mark.parametrize(("value", "starts"), [("postgres", True), ("sqlite", False), (np.array([1, 2]), False)])
def test_a_test_of_a_database_server_is_known_among_any_parameters(value: object, starts: bool) -> None:
    item = SimpleNamespace(callspec=SimpleNamespace(params={"value": value}), fixturenames=())
    assert starts_a_server(item) is starts  # type: ignore[arg-type]
