"""Controls: every test has a twin that keeps the meaning, and passes when the answer stayed."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

from contrapose.tasks.core import registry
from contrapose.tasks.core.records import (
    AnswerPair,
    Case,
    Completion,
    ItemSample,
    Likelihoods,
    Score,
    SummaryPair,
    TextSample,
    Trial,
)
from contrapose.tasks.probes.base import Probe, rng_for
from contrapose.tasks.probes.negation.control import ADVERBS, IN_QUESTIONS, control_text
from contrapose.tasks.probes.order_bias import OrderBias
from contrapose.tasks.probes.toxic_words.count import count_toxic
from contrapose.tasks.probes.toxic_words.probe import AFTER, BEFORE, polite

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
    twin = probe.control(case, sample, settings, rng=rng_for(0, "1", f"{test}/control"))
    assert twin is not None
    return case, twin


def scored(twin: Case, before: Completion, after: Completion) -> Score:
    probe = registry.probe(twin.probe)
    trial = Trial(case=twin, expected=before, actual=after)
    return probe.score([trial], probe.settings_type(), embed=lambda texts: np.eye(len(texts), dtype=np.float32))[0]


def says(text: str) -> Completion:
    return Completion(text=text)


JUDGED = AnswerPair(id="1", instruction="Say yes.", better="Yes.", worse="No.")
SAMPLES = dict.fromkeys(registry.PROBES, TEXT) | {"order_bias": PAIR, "judge_order": JUDGED, "option_order": CHOICE}
SAMPLES |= {
    "antonym": TextSample(id="1", text="Iron is heavy."),
    "change_number": TextSample(id="1", text="Iron has 26 protons."),
    "swap_roles": TextSample(id="1", text="The dog chased the cat."),
    "item_order": ItemSample(id="1", text="Which one barks?", items=("A dog barks.", "A cat purrs.")),
}


@pytest.mark.parametrize("test", registry.PROBES)
def test_a_control_shares_sample_original_and_scorer_with_its_case(test: str) -> None:
    case, twin = pair_of(test, SAMPLES[test])
    assert twin.control
    assert not case.control
    assert twin.id == f"{test}/1/control"
    assert (twin.original_prompt, twin.scorer, twin.options) == (case.original_prompt, case.scorer, case.options)
    assert twin.perturbed_prompt not in (case.original_prompt, case.perturbed_prompt)
    assert twin.perturbed not in (twin.original, case.perturbed)


@pytest.mark.parametrize(
    ("original", "negated", "twin"),
    [
        ("Iron is hard.", "Iron is not hard.", "Iron is {} hard."),
        ("Cows eat grass.", "Cows do not eat grass.", "Cows do {} eat grass."),
        ("She wrote it.", "She did not write it.", "She did {} write it."),
        ("It can fly.", "It cannot fly.", "It can {} fly."),
        ("They'll come.", "They won't come.", "They will {} come."),
        ("They can swim.", "They can't swim.", "They can {} swim."),
        ("We shall go.", "We shan't go.", "We shall {} go."),
        ("It may rain.", "It cannot rain.", "It may {} rain."),
        ("It must rain.", "It need not rain.", "It must {} rain."),
        ("The offspring are", "The offspring are not", "The offspring are {}"),
        ("He has some cars.", "He does not have any cars.", "He does {} have some cars."),
        ("There is some ice.", "There is not any ice.", "There is {} some ice."),
        ("It's cold, isn't it?", "It's not cold, is it?", "It's {} cold, isn't it?"),
        ("All birds fly.", "Not all birds fly.", "{} all birds fly."),
        ("Some birds swim.", "No birds swim.", "{} some birds swim."),
        ("ICE IS COLD.", "ICE IS NOT COLD.", "ICE IS {} COLD."),
        ("It is not here.", "It is here.", "It is {} not here."),
    ],
)
def test_an_adverb_stands_where_the_negation_went(original: str, negated: str, twin: str) -> None:
    found = {control_text(original, negated, rng=random.Random(seed))[0].lower() for seed in range(12)}
    assert found == {twin.format(adverb).lower() for adverb in (IN_QUESTIONS if "?" in original else ADVERBS)}


@pytest.mark.parametrize(
    ("original", "changed"),
    [("SOME BIRDS FLY.", "NO BIRDS FLY."), ("ALL BIRDS FLY.", "NOT ALL BIRDS FLY."), ("DO NOT RUN HERE.", "RUN HERE.")],
)
def test_a_text_in_capitals_keeps_them(original: str, changed: str) -> None:
    found = {
        control_text(original, changed, rng=random.Random(seed))[0].removeprefix("To begin: ") for seed in range(9)
    }
    assert all(each.isupper() for each in found)


def test_the_adverb_begins_a_sentence_with_a_capital() -> None:
    found, _ = control_text("All birds fly.", "Not all birds fly.", rng=random.Random(0))
    assert found[0].isupper()
    assert " all birds fly." in found


@pytest.mark.parametrize(
    ("original", "negated", "twin"),
    [
        ("Close the door.", "Do not close the door.", "Do close the door."),
        ("Please sit.", "Please do not sit.", "Please do sit."),
        ("When it rings, run.", "When it rings, don't run.", "When it rings, do run."),
    ],
)
def test_a_request_gets_an_emphatic_do(original: str, negated: str, twin: str) -> None:
    assert control_text(original, negated, rng=random.Random(0)) == (twin, "high")


@pytest.mark.parametrize(
    ("original", "negated"),
    [("Do not go.", "Go."), ("Don't go.", "Go."), ("A.", "A."), ("It is hot.", "It is not never hot.")],
)
def test_without_a_place_for_an_adverb_the_text_gets_an_opening(original: str, negated: str) -> None:
    assert control_text(original, negated, rng=random.Random(0)) == (f"To begin: {original}", "medium")


def test_a_long_text_costs_no_square_of_its_length() -> None:
    text = "word " * 4_000 + "is here."
    found, _ = control_text(text, text.replace("is here", "is not here"), rng=random.Random(0))
    assert found in {text.replace("is here", f"is {adverb} here") for adverb in ADVERBS}
    assert control_text(text, text.upper().replace("IS HERE", "IS NOT HERE"), rng=random.Random(0))[1] == "medium"


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
        assert len(polite("x " * count, phrases, rng=random.Random(count)).split()) == count


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
    assert twin.perturbed_prompt is not None
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
