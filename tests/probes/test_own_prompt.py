"""A prompt of one's own: what comes of a template, how its labels are read, and what is refused before anything is."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from contrapose.tasks.config.data_settings import DataSettings
from contrapose.tasks.config.plan import plans
from contrapose.tasks.config.suite_files import load_config
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.records import Case, Completion, SummaryPair, Trial
from contrapose.tasks.load.samples import load_samples
from contrapose.tasks.probes.order_bias import OrderBias, OrderBiasSettings
from contrapose.tasks.probes.own_prompt import OwnLabels

PAIR = SummaryPair(
    id="1",
    article_sentence="What is 2 + 2?",
    correct_sentence="It is\n4.",
    incorrect_sentence="It is {{ 5 }} & <b>more</b>.",
)
TEMPLATE = """
Instruction: {{ article }}
[Answer 1]
{{ first }}
[Answer 2]
{{ second }}
{% if question %}{{ question|upper }}{% endif %}
Say [[1]] or [[2]].
"""
JUDGE = {"prompt": TEMPLATE, "labels": ("1", "2"), "pattern": r"\[\[(\d)\]\]"}


def cases(**settings: Any) -> tuple[Case, Case | None]:
    """The case of the pair, and its control."""
    probe, read = OrderBias(), OrderBiasSettings(**settings)
    [case] = probe.cases(PAIR, read, rng=random.Random(0), likelihoods="all")
    return case, probe.control(case, PAIR, read, rng=random.Random(0))


def scored(expected: str, actual: str, *, control: bool = False, **settings: Any) -> Any:
    case, twin = cases(**settings)
    chosen = twin if control else case
    assert chosen is not None
    trial = Trial(case=chosen, expected=Completion(text=expected), actual=Completion(text=actual))
    [score] = OrderBias().score([trial], OrderBiasSettings(**settings), embed=lambda texts: pytest.fail("embedded"))
    return score


def test_the_answers_stand_in_their_places_as_they_are() -> None:
    case, _ = cases(**JUDGE)
    assert case.original_prompt.startswith(
        "Instruction: What is 2 + 2?\n[Answer 1]\nIt is\n4.\n[Answer 2]\nIt is {{ 5 }} & <b>more</b>.\n"
    )
    assert case.original_prompt.endswith("Say [[1]] or [[2]].")
    first, second = "It is\n4.", "It is {{ 5 }} & <b>more</b>."
    swapped = case.original_prompt.replace(first, "\0").replace(second, first).replace("\0", second)
    assert case.perturbed_prompt == swapped
    assert (case.asks, case.scorer) == ("generate", "label")


def test_letters_are_read_as_ever_where_the_labels_are_none_of_ones_own() -> None:
    case, _ = cases(prompt="{{ first }} or {{ second }}: A or B?")
    assert (case.asks, case.scorer, case.labels) == ("choose", "likelihood", ("A", "B"))


@pytest.mark.parametrize(
    ("replies", "outcome", "passed", "undecided"),
    [
        (("I say [[1]].", "[[2]]"), "AB", True, False), (("[[1]]", "[[1]]"), "AA", False, False),
        (("[[2]]", "[[2]]"), "BB", False, False), (("[[2]]", "[[1]]"), "BA", False, False),
        (("[[1]]", "1 is better"), "unparsed", False, True), (("[[1]] or [[2]]", "[[2]]"), "unparsed", False, True),
        (("[[1]], yes [[1]]", "[[2]]"), "AB", True, False), (("[[3]]", ""), "unparsed", False, True),
    ],
)  # fmt: skip
def test_labels_decide(replies: tuple[str, str], outcome: str, passed: bool, undecided: bool) -> None:
    score = scored(*replies, **JUDGE)
    assert (score.columns["outcome"], score.passed, score.undecided) == (outcome, passed, undecided)
    steps = {score.columns["result_step"], score.columns["swapped_step"]}
    assert steps <= {"label", "unparsed"}


@pytest.mark.parametrize(
    ("reply", "labels", "pattern", "place"),
    [
        ("Output (a) is better.", ("Output (a)", "Output (b)"), None, 0),
        ("**output (B)**", ("Output (a)", "Output (b)"), None, 1),
        ("Output (a) is worse than Output (b).", ("Output (a)", "Output (b)"), None, None),
        ("Neither.", ("Output (a)", "Output (b)"), None, None),
        ("left", ("left", "right"), None, 0),
        ("The bright one", ("left", "right"), None, None),
        ("12", ("1", "2"), None, None),
        ('{"winner": "model_b"}', ("model_a", "model_b"), r'"winner"\s*:\s*"(\w+)"', 1),
        ('{"winner": "tie"}', ("model_a", "model_b"), r'"winner"\s*:\s*"(\w+)"', None),
        ("x" * 30_000 + " [[A]]", ("A", "B"), r"\[\[(.)\]\]", 0),
    ],
)
def test_a_label_is_found_or_none(reply: str, labels: Sequence[str], pattern: str | None, place: int | None) -> None:
    assert OwnLabels(labels=tuple(labels), pattern=pattern).find_place(reply, count=len(labels)) == place


def test_a_pattern_that_takes_forever_reads_nothing() -> None:
    start = time.monotonic()
    assert OwnLabels(labels=("A", "B"), pattern=r"(?:a|aa|a+)+$(c)").find_place("a" * 5_000 + "b", count=2) is None
    assert time.monotonic() - start < 30


def test_controls_are_in_other_words_where_there_are_some() -> None:
    case, control = cases(**JUDGE)
    assert control.perturbed_prompt != case.original_prompt
    assert "Say [[1]] or [[2]]." in control.perturbed_prompt
    plain = "{{ first }} | {{ second }}"
    assert cases(prompt=plain, labels=("1", "2"))[1] is None
    _, reworded = cases(prompt=plain, labels=("1", "2"), reworded="Compare: {{ first }} | {{ second }}")
    assert reworded.perturbed_prompt == "Compare: It is\n4. | It is {{ 5 }} & <b>more</b>."
    assert (reworded.original, reworded.perturbed) == (reworded.original_prompt, reworded.perturbed_prompt)
    score = scored("[[1]]", "[[1]]", control=True, **JUDGE)
    assert (score.passed, score.undecided) == (True, False)


def test_parts_that_depend_on_the_data() -> None:
    prompt = "{% if article == 'x' %}never{% else %}{{ first|trim }}/{{ second|lower }}{% endif %}"
    assert cases(prompt=prompt)[0].original_prompt == "It is\n4./it is {{ 5 }} & <b>more</b>."


BOTH = "{{ first }} {{ second }}"
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "a name too few": ({"prompt": "{{ first }}"}, "{{ second }}"),
    "no name": ({"prompt": "Which one?"}, "{{ first }}"),
    "nothing": ({"prompt": ""}, "{{ first }}"),
    "a sum": ({"prompt": BOTH + "\n{{ 'x' ~ first }}"}, "Concat in line 2"),
    "a variable": ({"prompt": "{% set a = first %}" + BOTH}, "Assign in line 1"),
    "an item": ({"prompt": BOTH + "{{ first['x'] }}"}, "Getitem in line 1"),
    "a call": ({"prompt": BOTH + "{{ range(9) }}"}, "Call in line 1"),
    "a pattern with two groups": ({"prompt": BOTH, "pattern": "(A)|(B)"}, "2 groups"),
    "three labels": ({"prompt": BOTH, "labels": ["a", "b", "c"]}, "labels"),
    "likelihoods": ({"prompt": BOTH, "labels": ["1", "2"], "read_with": "likelihood"}, "read_with likelihood"),
}


def suite(tmp_path: Path, settings: dict[str, Any]) -> str:
    values = {"suite": "s", "model": "mock", "tests": {"factuality": {"order_bias": settings}}}
    path = tmp_path / "suite.yaml"
    path.write_text(yaml.safe_dump(values))
    return str(path)


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_told_in_one_line(name: str, tmp_path: Path) -> None:
    settings, told = WRONG[name]
    with pytest.raises(ConfigError) as caught:
        load_config(suite(tmp_path, settings))
    assert told in str(caught.value)
    assert "tests.factuality.order_bias" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 700


def test_a_file_is_looked_for_beside_the_suite_and_its_content_is_the_setting(tmp_path: Path) -> None:
    (tmp_path / "judge.j2").write_text(TEMPLATE)
    config, _ = load_config(suite(tmp_path, {"prompt_file": "judge.j2"}))
    [plan] = plans(config)
    assert plan.settings["prompt"] == TEMPLATE


def test_a_form_can_name_no_file(tmp_path: Path) -> None:
    from contrapose.tasks.config.suite_files import validate

    with pytest.raises(ConfigError, match="prompt_file"):
        validate({"tests": {"factuality": {"order_bias": {"prompt_file": "/etc/passwd"}}}}, where="form")


@pytest.mark.parametrize(
    "names", [("instruction", "better", "worse"), ("prompt", "chosen", "rejected"), ("article_sent", "better", "worse")]
)
def test_pairs_under_the_names_that_judges_have_are_known(names: tuple[str, str, str], tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text(json.dumps(dict(zip(names, ("Say yes.", "Yes.", "No."), strict=True))) + "\n")
    [pair] = load_samples(DataSettings(source=str(path)), SummaryPair, limit=None, seed=0).samples
    assert isinstance(pair, SummaryPair)
    assert (pair.article_sentence, pair.correct_sentence, pair.incorrect_sentence) == ("Say yes.", "Yes.", "No.")
