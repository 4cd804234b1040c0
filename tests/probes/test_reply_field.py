"""A label in a field of JSON: what a reply is read as, whatever stands around it, and what leaves it open."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from contrapose.tasks.probes.own_prompt import LONGEST_REPLY, OwnLabels, read_field

NUMBERS = ("1", "2", "3", "4")


def read_label(reply: str, labels: tuple[str, ...], *, field: str) -> int | None:
    return OwnLabels(labels=labels, field=field).find_place(reply, count=len(labels))


PATH = "result.winner"


@pytest.mark.parametrize(
    ("reply", "field", "place"),
    [
        ('{"verdict": "2"}', "verdict", 1), ('{"verdict": 2, "why": "of 1 and 2"}', "verdict", 1),
        ('{"verdict": " 3 "}', "verdict", 2), ('```json\n{"verdict": 4}\n```', "verdict", 3),
        ('Between 1 and 2:\n```json\n{\n  "verdict": "1",\n}\n```', "verdict", None),
        ('I see 1, 2 and 3 { so }:\n\n{"verdict": 1}\nThat is all.', "verdict", 0),
        ('The form is {"verdict": "1"}. Mine: {"verdict": "2"}.', "verdict", 1),
        ('{"verdict": "1"} {"confidence": 0.9}', "verdict", 0),
        ('{"result": {"winner": "3"}, "winner": "1"}', PATH, 2),
        ('{"why": "a line\nand {another} \\" one", "verdict": "2"}', "verdict", 1),
        ('{"verdict": "5"}', "verdict", None), ('{"verdict": 1.0}', "verdict", None),
        ('{"verdict": null}', "verdict", None), ('{"verdict": ["1"]}', "verdict", None),
        ('{"verdict": {"1": "2"}}', "verdict", None), ('{"verdict": "1 or 2"}', "verdict", None),
        ('{"verdict": "1", "verdict": "2"}', "verdict", None),
        ('[{"verdict": "1"}, {"verdict": "2"}]', "verdict", None),
        ('[{"verdict": "2"}, {"verdict": "2"}]', "verdict", 1),
        ('{"verdict": "1"}\n{"verdict": "2"}', "verdict", None),
        ('{"scores": {"verdict": "1"}, "verdict": "2",}', "verdict", None),
        ('{"verdict": "1"} and then {"scores": {"verdict": "1"}, "verd', "verdict", None),
        ("{'verdict': '1'}", "verdict", None), ('{"result": "winner"}', PATH, None),
        ("The verdict is 1.", "verdict", None), ("", "verdict", None),
    ],
)  # fmt: skip
def test_the_last_object_with_the_field_decides(reply: str, field: str, place: int | None) -> None:
    assert read_label(reply, NUMBERS, field=field) == place


def test_truth_and_letters_are_labels_too() -> None:
    assert read_label('{"same": true}', ("true", "false"), field="same") == 0
    assert read_label('{"best": "b"}', ("A", "B"), field="best") == 1


@pytest.mark.parametrize("part", ['{"a":', "[", '{"', "{'", '{"a": 1} ', '{"a":"', "}", '"', "\\", '{"v":{"v":'])
def test_odd_replies_take_no_time(part: str) -> None:
    reply = (part * LONGEST_REPLY)[:LONGEST_REPLY]
    start = time.process_time()
    read_label(reply, NUMBERS, field="v")
    assert time.process_time() - start < 2
    assert read_field(" " * LONGEST_REPLY + '{"v": "1"}', "v") is None


LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner))
PIECES = st.sampled_from(['{"v": "1"}', '{"v": 2}', '"v"', "{", "}", "[", ":", ",", "1", "\\", "```json\n", "```", '"'])


@settings(max_examples=40)
@given(reply=st.text() | st.lists(PIECES, max_size=12).map("".join), field=st.text(min_size=1, max_size=12))
def test_whatever_a_reply_holds_it_is_read_or_open(reply: str, field: str) -> None:
    assert read_label(reply, NUMBERS, field=field) in (None, 0, 1, 2, 3)
    assert read_label(reply, NUMBERS, field="v") in (None, 0, 1)


@settings(max_examples=40)
@given(label=st.sampled_from(NUMBERS), others=st.dictionaries(st.text(max_size=6), VALUES, max_size=4), text=st.text())
def test_a_label_is_read_as_itself_beside_whatever_else(label: str, others: dict[str, Any], text: str) -> None:
    reply = json.dumps({**others, "v": label})
    # What stands in a model's thoughts is no answer, and thoughts that never end leave none.
    assume("think>" not in text + reply)
    # "Answer with {…}" repeats how one is to answer, and answers nothing.
    assume("with" not in (text + reply).lower())
    assert read_label(reply, NUMBERS, field="v") == NUMBERS.index(label)
    before = "".join(sign for sign in text if sign not in "{}")
    assert read_label(f"{before} {reply}", NUMBERS, field="v") == NUMBERS.index(label)


@settings(max_examples=40)
@given(value=VALUES)
def test_only_a_label_is_read_as_a_label(value: Any) -> None:
    place = read_label(json.dumps({"v": value}), NUMBERS, field="v")
    assert place is None or str(value).strip() == NUMBERS[place]


@settings(max_examples=40)
@given(first=st.sampled_from(NUMBERS), second=st.sampled_from(NUMBERS))
def test_two_labels_at_once_are_none(first: str, second: str) -> None:
    one = NUMBERS.index(first) if first == second else None
    assert read_label(f'[{{"v": {first}}}, {{"v": "{second}"}}]', NUMBERS, field="v") == one
    assert read_label(f'{{"v": {first}, "v": "{second}"}}', NUMBERS, field="v") is None


@pytest.mark.parametrize(
    ("labels", "pattern", "field", "observed"),
    [
        (("1", "2"), None, " ", "path ' ' with an empty name"),
        (("1", "2"), None, ".winner", "path '.winner' with an empty name"),
        (("1", "2"), None, ".".join("abcdefghijkl"), "12 names"),
        (("1", "2"), None, "x" * 300, "300 characters"),
        (("1", "2", "2"), None, "verdict", "expected 3 that differ"),
    ],
)
def test_fields_that_cannot_be_there_are_refused(
    labels: tuple[str, ...], pattern: str | None, field: str, observed: str
) -> None:
    with pytest.raises(ValueError, match=observed.replace(".", r"\.")):
        OwnLabels(labels=labels, pattern=pattern, field=field).check()


def test_letters_need_no_pattern_beside_a_field() -> None:
    OwnLabels(labels=("a", "b", "c"), field="choice.letter").check()
