"""Every reason for which a probe skips a sample has words that people understand without the code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from inspect import getfile, getsource
from pathlib import Path
from typing import Any

import pytest

from contrapose.tasks.core import registry
from contrapose.tasks.core.records import TextSample
from contrapose.tasks.core.registry import PROBES, find, names
from contrapose.tasks.probes.base import Probe, make_sample_rng
from contrapose.tasks.probes.edits.base import TextEdit
from contrapose.tasks.text import wording

ALL = sorted({*PROBES, *names("probes")} & {*PROBES, "swap_roles"})
CODE = re.compile(r"[a-z]+(_[a-z]+)*")
RENAMED = {"no_word"}
"""What reading a text may refuse, and most tests call by another name."""


def probe_of(test: str) -> Any:
    return find("probes", test)


def codes_in(source: str) -> Iterator[str]:
    """Skip reasons that a source gives: in errors, in edits and cases, and where a function finds them."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("Skip", "Unreadable"), 0, -5):
            yield from texts(*node.args)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("Edited", "Case", "Negation", "CuedText"):
            yield from texts(*(keyword.value for keyword in node.keywords if keyword.arg in ("reason", "skip_reason")))
        elif isinstance(node, ast.FunctionDef) and node.name == "_skip_reason":
            yield from texts(*(part.value for part in ast.walk(node) if isinstance(part, ast.Return) and part.value))
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in ("reason", "skipped"):
            yield from texts(node.value)


def texts(*nodes: ast.expr) -> Iterator[str]:
    """The codes that an expression may have as its value; what it compares with is none."""
    for node in nodes:
        if isinstance(node, ast.IfExp):
            yield from texts(node.body, node.orelse)
        elif isinstance(node, ast.BoolOp):
            yield from texts(*node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and CODE.fullmatch(node.value):
            yield node.value


@cache
def sources(probe: type) -> set[str]:
    """The files of a probe and of the classes that it extends; its package, where it has one of its own."""
    texts: set[str] = set()
    for parent in probe.__mro__:
        if not parent.__module__.startswith("contrapose"):
            continue
        if function := vars(parent).get("rewrite"):
            texts.add(getsource(function.__func__))
            continue
        path = Path(getfile(parent))
        shared = path.parent.name in ("edits", "orders", "probes")
        paths = [path] if shared else path.parent.glob("*.py")
        own = path.stem == "preserving"
        texts |= {getsource(parent)} if own else {path.read_text("utf-8") for path in paths}
    return texts


@cache
def given(probe: type) -> set[str]:
    codes = {code for source in sources(probe) for code in codes_in(source)}
    reads = any(re.search(r"language\.reading import .*\bread_sentence\b", source) for source in sources(probe))
    refused = {"empty", "options_in_text", "unbalanced_quotes"} if reads else set()
    return codes | refused


@pytest.mark.parametrize("test", ALL)
def test_every_reason_that_the_sources_give_has_words(test: str) -> None:
    probe = probe_of(test)
    english = issubclass(probe, TextEdit) and probe.edits_english
    codes = given(probe) - (set() if english or not issubclass(probe, TextEdit) else {"not_english"})
    assert codes - set(probe.skip_reasons) == set()
    assert codes, "the sources of a probe that skips nothing need no test"


def test_no_words_are_left_of_a_reason_that_no_source_gives() -> None:
    tables = [set(probe_of(test).skip_reasons) for test in ALL]
    codes = set().union(*(given(probe_of(test)) for test in ALL), RENAMED)
    assert set().union(*tables) - codes == set()


@pytest.mark.parametrize("test", ALL)
def test_words_hold_no_code_and_follow_a_count(test: str) -> None:
    table = probe_of(test).skip_reasons
    for words in table.values():
        assert not any(re.search(rf"\b{code}\b", words) for code in table), words
        assert "_" not in words
        assert words[0].islower(), words
        assert not words.endswith("."), words
        assert len(words) <= 70, f"{words} does not fit beside its count in a terminal of 80 columns"


def test_tests_of_orders_never_skip_a_language() -> None:
    orders = [test for test in ALL if "order" in test]
    assert len(orders) == 5
    assert not any("not_english" in probe_of(test).skip_reasons for test in orders)


GERMAN = "Der alte Hafen liegt 3 Kilometer im Norden und ist sehr sauber."
ENGLISH = "The old harbour lies 3 miles in the north and is very clean."


def reason(test: str, text: str, options: tuple[str, ...] = ()) -> str | None:
    probe, sample = registry.probe(test), TextSample(id="1", text=text, options=options)
    settings = probe.settings_type.model_validate({"scorer": "choice"} if test != "option_order" else {})
    return probe.cases(sample, settings, rng=make_sample_rng(0, "1", test), likelihoods="all")[0].skip_reason


@pytest.mark.parametrize(
    "test", ["add_negation", "antonym", "change_number", "typo", "swap_roles", "contractions", "gender"]
)
def test_row_in_another_language_is_skipped_for_it_before_any_other_reason(test: str) -> None:
    assert [reason(test, text) for text in (GERMAN, "Ist der Hafen nicht sauber?", "Keine Ahnung")] == [
        *("not_english", "not_english", "not_english")
    ]
    assert reason(test, ENGLISH) == "no_options"
    assert reason(test, "", ("a", "b")) != "not_english"


@pytest.mark.parametrize("test", ["casing", "spacing", "option_order"])
def test_edits_of_letters_spaces_and_orders_take_every_language(test: str) -> None:
    assert reason(test, GERMAN, ("ja", "nein")) is None


def test_probe_of_another_package_without_words_shows_its_code_with_spaces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wording, "probe", lambda name: Probe)
    assert wording.skip_words("typo", "no_long_word") == "no long word"
    assert wording.skip_words("a_test_that_is_not_installed", "without_options") == "without options"


def test_reasons_with_the_same_words_are_counted_together() -> None:
    assert wording.count_skips("antonym", {"empty": 2, "no_word": 1, "no_antonym": 4}) == {
        "without an adjective whose opposite is known": 4,
        "without a word": 3,
    }


@pytest.mark.parametrize(
    ("count", "rows", "text"),
    [
        (17, 20, "17 of 20 rows are not in English"), (10, 20, "10 of 20 rows are not in English"),
        (1, 1, "1 of 1 row is not in English"), (1_700, 2_000, "1,700 of 2,000 rows are not in English"), (9, 20, ""),
        (0, 20, ""), (0, 0, ""),
    ],
)  # fmt: skip
def test_half_of_the_rows_in_another_language_are_said_first(count: int, rows: int, text: str) -> None:
    codes = {"not_english": count, "empty": 1}
    assert wording.foreign_text(codes, rows) == text
    assert wording.describe_skips("typo", {"no_long_word": 2, "not_english": count}, rows).startswith(text)


def test_skips_in_a_line_name_the_other_language_once() -> None:
    codes = {"no_number": 2, "not_english": 17, "number_left_alone": 1}
    assert wording.describe_skips("change_number", codes, 20) == (
        "17 of 20 rows are not in English; 2 without a number in the last sentence; "
        "1 without a number that can be changed safely"
    )
    assert wording.describe_skips("change_number", codes).startswith("17 not in English; 2 without a number")
