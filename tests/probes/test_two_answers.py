"""What two answers are compared by."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from contrapose.tasks.core.records import Case, Completion, Likelihoods, TextSample, Trial
from contrapose.tasks.probes.answers.scores import EmbeddedPair, compute_choice_divergence, pair_with_next_sample
from contrapose.tasks.probes.answers.settings import AnswerSettings, Thresholds
from contrapose.tasks.probes.choices import Choice, read_choice
from contrapose.tasks.probes.negation import AddNegation, AddNegationSettings
from contrapose.tasks.probes.reader_questions import is_askable, write_question

OPTIONS = ("dry", "liquid", "solid")


def case(
    *, options: tuple[str, ...] = (), likelihoods: Likelihoods = "none", answer: str = "", **given: object
) -> Case:
    """A case of add_negation under some settings, whose prompts do not matter."""
    sample = TextSample(id="1", text="Water is cold.", options=options, answers=(answer,) if answer else ())
    settings = AddNegationSettings.model_validate(given)
    return AddNegation().cases(sample, settings, rng=random.Random(0), likelihoods=likelihoods)[0]


def trial(*, control: bool = False, scorer: str = "embedding") -> Trial:
    made = replace(case(), control=control, scorer=scorer)
    return Trial(case=made, expected=Completion(text="x"), actual=Completion(text="y"))


def axes(texts: Sequence[str]) -> np.ndarray:
    return np.eye(len(texts), 16, dtype=np.float32)


def pairs(*names: str) -> list[EmbeddedPair | None]:
    return [EmbeddedPair(f"{name} before", f"{name} after") if name else None for name in names]


def test_controls_are_dealt_the_replies_of_controls() -> None:
    trials = [trial(), trial(control=True), trial(), trial(control=True)]
    assert pair_with_next_sample(trials, pairs("a", "A", "b", "B")) == [
        EmbeddedPair("a before", "b after"),
        EmbeddedPair("A before", "B after"),
        EmbeddedPair("b before", "a after"),
        EmbeddedPair("B before", "A after"),
    ]


def test_who_stands_alone_is_dealt_nothing_and_nobody_what_tells_nothing() -> None:
    assert pair_with_next_sample([trial(), trial(control=True)], pairs("a", "A")) == [None, None]
    trials = [trial(), trial(), trial(scorer="choice"), trial()]
    assert pair_with_next_sample(trials, pairs("a", "", "c", "d")) == [
        EmbeddedPair("a before", "d after"),
        None,
        None,
        EmbeddedPair("d before", "a after"),
    ]


@pytest.mark.parametrize(("control", "chances"), [(False, [1.0, 1.0]), (True, [0.0, 0.0])])
def test_the_chance_of_an_embedded_pair_is_whether_it_passes_with_anothers_reply(
    control: bool, chances: list[float]
) -> None:
    trials = [
        replace(trial(control=control), expected=Completion(text=f"x{n}"), actual=Completion(text=f"x{n}"))
        for n in range(2)
    ]
    scores = AddNegation().score(trials, AddNegationSettings(), embed=axes)
    assert [each.chance for each in scores] == chances
    assert [each.passed for each in scores] == [control, control]


def shares(*values: float) -> Choice:
    return Choice(int(np.argmax(values)), values, "likelihood")


def test_divergences_are_in_bits_whatever_the_number_of_options() -> None:
    pairs = [
        (shares(1.0, 0.0), shares(0.0, 1.0)),
        (None, shares(1.0, 0.0)),
        (shares(0.5, 0.5, 0.0), shares(0.5, 0.5, 0.0)),
        (shares(1.0, 0.0), None),
        (shares(0.5, 0.5), shares(1.0, 0.0)),
    ]
    found = [compute_choice_divergence(*pair) for pair in pairs]
    # Between (1/2, 1/2) and (1, 0): 3/2 - 3/4 log2(3).
    assert found == [1.0, None, 0.0, None, pytest.approx(1.5 - 0.75 * math.log2(3))]


def test_nearly_equal_choices_are_never_further_apart_than_equal_ones_by_rounding() -> None:
    rng = np.random.default_rng(0)
    drawn = [tuple(float(x) for x in rng.dirichlet(np.ones(4))) for _ in range(200)]
    near = [(shares(*each), shares(*(value * (1 + 1e-16) for value in each))) for each in drawn]
    assert all(
        value is not None and 0 <= value < 1e-12 for value in (compute_choice_divergence(*pair) for pair in near)
    )


def test_the_chance_of_a_choice_is_known_before_its_band_is() -> None:
    assert case(options=OPTIONS, likelihoods="all", threshold="auto").chance == pytest.approx(2 / 3)
    narrow = case(options=OPTIONS, likelihoods="all").chance
    assert narrow > 2 / 3
    assert case(likelihoods="all").chance is None


@pytest.mark.parametrize(
    ("reply", "asked"),
    [
        (Completion(text="It depends."), True),
        (Completion(text="…"), False),
        (Completion(text=None), False),
        (Completion(text="It depends.", error="it broke"), False),
        (Completion(text="It depends.", constrained=True), False),
        (Completion(text="It depends.", option_loglikelihoods=(-1.0, -2.0)), False),
    ],
)
def test_only_a_reply_in_words_can_be_asked_about(reply: Completion, asked: bool) -> None:
    assert is_askable(reply) is asked


@pytest.mark.parametrize(
    ("completion", "index", "step"),
    [
        (Completion(text="C", constrained=True), 2, "constrained"),
        (Completion(text="It depends.", asked_back="B"), 1, "asked"),
        (Completion(text="A", asked_back="B"), 0, "letter"),
        (Completion(text="A", option_loglikelihoods=(-3.0, -1.0, -2.0)), 1, "likelihood"),
    ],
)
def test_a_choice_says_what_told_it(completion: Completion, index: int, step: str) -> None:
    found = read_choice(completion, labels=("A", "B", "C"), options=OPTIONS)
    assert (found.index, found.step) == (index, step)
    assert math.fsum(found.shares) == pytest.approx(1)
    assert found.shares[index] == max(found.shares)


@pytest.mark.parametrize("values", [(math.nan, -1.0), (math.inf, -1.0), (-math.inf, -math.inf), ()])
def test_likelihoods_that_are_no_numbers_choose_nothing(values: tuple[float, ...]) -> None:
    assert read_choice(Completion(option_loglikelihoods=values), labels=("A", "B"), options=("x", "y")) is None


def test_an_impossible_option_has_no_share() -> None:
    found = read_choice(Completion(option_loglikelihoods=(-1.0, -math.inf)), labels=("A", "B"), options=("x", "y"))
    assert found.shares == (1.0, 0.0)


def test_a_band_is_that_of_its_scorer() -> None:
    settings = AnswerSettings(threshold=Thresholds(loss=(-1.0, 2.0), choice=None))
    assert (settings.band("loss"), settings.band("choice"), settings.band("embedding")) == ((-1, 2), None, (-0.2, 0.2))
    assert AnswerSettings(threshold=(0.0, 0.5)).band("loss") == (0.0, 0.5)
    automatic = AnswerSettings(threshold="auto")
    assert (automatic.band("loss"), automatic.calibrated) == (None, True)


@pytest.mark.parametrize("band", [(0.2, 0.2), (0.3, 0.2)])
def test_a_band_has_a_width(band: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="reversed"):
        AnswerSettings.model_validate({"threshold": band})


def test_a_reply_with_half_a_character_can_be_asked_about() -> None:
    assert "Which one does this reply choose?" in write_question("It depends \ud800.", OPTIONS)
