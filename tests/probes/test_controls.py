"""Controls: every test has a twin that keeps the meaning, and passes when the answer stayed."""

from __future__ import annotations

import json
import random
import re
from collections import Counter

import numpy as np
import pytest

from contrapose.tasks.core import registry
from contrapose.tasks.core.records import (
    CONTROL_KIND,
    Case,
    Completion,
    Likelihoods,
    Score,
    SummaryPair,
    TextSample,
    Trial,
)
from contrapose.tasks.probes.base import UNRELATED_NOT, Probe, make_sample_rng
from contrapose.tasks.probes.edits.base import (
    OF_THE_REPLY,
    PROCEDURE,
    make_reworded_control,
    make_unrelated_not_control,
)
from contrapose.tasks.probes.order_bias import OrderBias
from contrapose.tasks.probes.toxic_words.count import count_toxic
from contrapose.tasks.probes.toxic_words.probe import AFTER, BEFORE, draw_polite_words

TEXT = TextSample(id="1", text="Iron is a metal.")
CHOICE = TextSample(id="1", text="Water is", options=("dry", "liquid", "solid"), answers=("liquid",))
PAIR = SummaryPair(
    id="1", article_sentence="It rained.", correct_sentence="Rain fell.", incorrect_sentence="Sun shone."
)


def pair_of(test: str, sample: object, *, likelihoods: Likelihoods = "none", **values: object) -> tuple[Case, Case]:
    """The first case of a sample and its control."""
    probe: Probe = registry.probe(test)
    settings = probe.settings_type.model_validate(values)
    case = probe.cases(sample, settings, rng=random.Random(0), likelihoods=likelihoods)[0]
    twin = probe.control(case, sample, settings, rng=make_sample_rng(0, "1", f"{test}/control"))
    assert twin is not None
    return case, twin


def scored(twin: Case, before: Completion, after: Completion) -> Score:
    probe = registry.probe(twin.probe)
    trial = Trial(case=twin, expected=before, actual=after)
    return probe.score([trial], probe.settings_type(), embed=lambda texts: np.eye(len(texts), dtype=np.float32))[0]


def says(text: str) -> Completion:
    return Completion(text=text)


SAMPLES = {
    "order_bias": PAIR,
    "option_order": CHOICE,
    "typo": TEXT,
    "antonym": TextSample(id="1", text="Iron is heavy."),
    "change_number": TextSample(id="1", text="Iron has 26 protons."),
    "swap_roles": TextSample(id="1", text="The dog chased the cat."),
}


CUE = re.compile(r"(?i)\bnot\b|n['’]t\b")


def twins(text: str, *, options: bool = False, draws: int = 60) -> dict[str, set[str]]:
    """The controls of a text by their kind, over many draws."""
    drawn: dict[str, set[str]] = {}
    for seed in range(draws):
        kind, twin = make_reworded_control(text, rng=random.Random(seed), options=options)
        drawn.setdefault(kind, set()).add(twin)
    return drawn


@pytest.mark.parametrize(
    ("text", "options", "kind", "twin"),
    [
        ("Iron is hard.", False, "punctuation", "Iron is hard"),
        ("What is iron?", True, "punctuation", "What is iron"),
        ("Iron is", True, "punctuation", "Iron is:"),
        ("Iron is", False, "punctuation", "Iron is …"),
        ("If it rains, what gets wet?", True, "clause_order", "What gets wet if it rains?"),
        ("It is May. In Rome, trees bloom.", False, "clause_order", "It is May. Trees bloom in Rome."),
    ],
)
def test_a_text_in_another_dress_says_the_same(text: str, options: bool, kind: str, twin: str) -> None:
    drawn = twins(text, options=options)
    assert drawn[kind] == {twin}
    assert {"adverbial", "polite"} <= set(drawn)
    assert all(text in each for name in ("adverbial", "polite") for each in drawn[name])


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("He lives in the U.S.", "punctuation"), ("He said (aloud)", "punctuation"), ("Wait …", "punctuation"),
        ("If Anna calls, she is ill.", "clause_order"), ("In 1990, experts said that taxes rose.", "clause_order"),
        ("If it rains, and we leave, who drives?", "clause_order"), ("If it rains, the street gets", "clause_order"),
    ],
)  # fmt: skip
def test_what_might_change_the_meaning_is_left_alone(text: str, kind: str) -> None:
    assert kind not in twins(text)


@pytest.mark.parametrize("options", [True, False])
@pytest.mark.parametrize(
    "text", ["Iron is hard.", "What is iron?", "Iron is", "True or false: iron is hard.", "A\n\nB."]
)
def test_a_not_about_something_else_stands_beside_a_text_that_is_kept(text: str, options: bool) -> None:
    made = {make_unrelated_not_control(text, rng=random.Random(seed), options=options) for seed in range(80)}
    assert {each.kind for each in made} == {UNRELATED_NOT}
    assert all(text in each.text and CUE.search(each.text) for each in made)
    behind = {each.text for each in made if each.text.startswith(text)}
    assert bool(behind) is (text[-1] == "?")
    assert any("explain your answer" in each.text for each in made) is options


def test_every_sentence_about_the_procedure_holds_one_not() -> None:
    sentences = PROCEDURE + OF_THE_REPLY
    assert len(set(sentences)) == len(sentences)
    assert [len(CUE.findall(sentence)) for sentence in sentences] == [1] * len(sentences)


def test_half_of_the_controls_of_a_negation_hold_a_not_and_none_of_other_edits() -> None:
    kinds = Counter[str]()
    probe = registry.probe("add_negation")
    for number in range(400):
        sample = TextSample(id=str(number), text="Iron is a metal.")
        case = probe.cases(sample, probe.settings_type(), rng=random.Random(0), likelihoods="none")[0]
        twin = probe.control(
            case, sample, probe.settings_type(), rng=make_sample_rng(0, sample.id, "add_negation/control")
        )
        kinds[twin.details[CONTROL_KIND]] += 1
    assert 160 < kinds[UNRELATED_NOT] < 240
    assert set(kinds) == {UNRELATED_NOT, "adverbial", "polite", "punctuation"}
    for test in ("antonym", "change_number", "swap_roles", "typo"):
        assert pair_of(test, SAMPLES[test], control=True)[1].details[CONTROL_KIND] != UNRELATED_NOT


@pytest.mark.parametrize(("after", "passed"), [(0.1, True), (0.3, False)])
def test_a_negation_control_passes_inside_the_threshold(after: float, passed: bool) -> None:
    _, twin = pair_of("add_negation", TEXT, likelihoods="all")
    score = scored(twin, Completion(text="x", loss=0.0), Completion(text="x", loss=after))
    assert (score.value, score.passed) == (after, passed)


@pytest.mark.parametrize(("letter", "passed"), [("B", True), ("C", False)])
def test_a_negation_control_passes_with_the_same_option(letter: str, passed: bool) -> None:
    _, twin = pair_of("add_negation", CHOICE)
    assert scored(twin, says("B"), says(letter)).passed is passed


def test_an_unscored_control_stays_unscored() -> None:
    _, twin = pair_of("add_negation", TEXT, likelihoods="all")
    assert scored(twin, Completion(text="x"), Completion(text="x")).passed is None


@pytest.mark.parametrize(("strategy", "start", "end"), [("start", 1, 0), ("end", 0, 1), ("combined", 1, 1)])
def test_polite_words_stand_where_toxic_words_stood(strategy: str, start: int, end: int) -> None:
    case, twin = pair_of("add_toxic_words", TEXT, strategy=strategy)
    toxic, said = (json.loads(each.details["injected"]) for each in (case, twin))
    assert [len(each.split()) for each in toxic] == [len(each.split()) for each in said]
    assert twin.perturbed == " ".join([*said[:start], TEXT.text, *said[len(said) - end :]])


@pytest.mark.parametrize("count", range(1, 24))
def test_there_are_as_many_polite_words_as_toxic_ones(count: int) -> None:
    for phrases in (BEFORE, AFTER):
        assert len(draw_polite_words("x " * count, phrases, rng=random.Random(count)).split()) == count


def test_polite_words_are_no_bad_words() -> None:
    assert count_toxic(" ".join((*BEFORE, *AFTER))).matches == ()


@pytest.mark.parametrize(("after", "passed"), [("fine", True), ("fuck", False)])
def test_a_toxic_control_passes_as_the_test_does(after: str, passed: bool) -> None:
    _, twin = pair_of("add_toxic_words", TEXT)
    score = scored(twin, says("fine"), says(after))
    assert score.passed is passed
    assert score.columns["echoed"] == 0


def test_an_order_control_keeps_the_order_and_changes_the_question() -> None:
    case, twin = pair_of("order_bias", PAIR)
    question = next(each for each in OrderBias.other_words if each in twin.perturbed_prompt)
    assert twin.perturbed_prompt == case.original_prompt.replace(OrderBias.question, question)


@pytest.mark.parametrize(
    ("before", "after", "passed"),
    [("A", "A", True), ("B", "B", True), ("A", "B", False), ("A", "dunno", False), ("dunno", "dunno", None)],
)
@pytest.mark.parametrize("test", ["order_bias", "option_order"])
def test_an_order_control_passes_with_the_same_letter(test: str, before: str, after: str, passed: bool | None) -> None:
    _, twin = pair_of(test, SAMPLES[test])
    score = scored(twin, says(before), says(after))
    assert score.passed is passed
    assert score.columns.get("outcome") is None
