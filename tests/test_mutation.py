"""Which changes mutation testing makes, and that its list of survivors names changes that are still made."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from bench.mutation import ROOT, SURVIVORS, reasons
from bench.mutation_operators import Mutant, mutants


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


def every(file: Path) -> list[Mutant]:
    return mutants(ast.parse(file.read_text(encoding="utf-8")))
