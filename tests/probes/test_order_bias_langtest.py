"""What LangTest would have said for the same replies of order_bias."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from contrapose.tasks.core.records import Case, Completion, SummaryPair, Trial
from contrapose.tasks.probes.base import Embed
from contrapose.tasks.probes.order_bias import OrderBias, OrderBiasSettings
from contrapose.tasks.probes.order_bias.score import Letter, passes, taken

PAIR = SummaryPair(
    id="pond",
    article_sentence="two swans and a heron live on the pond all year.",
    correct_sentence="swans live on the pond.",
    incorrect_sentence="no swans live on the pond.",
)


def case(**changes: object) -> Case:
    (made,) = OrderBias().cases(PAIR, OrderBiasSettings(), rng=random.Random(0), likelihoods="none")
    return replace(made, **changes)


def never(texts: Sequence[str]) -> np.ndarray:
    raise AssertionError(f"nothing needs embedding: {texts}")


def columns(first: str, second: str, *, embed: Embed = never, of: Case | None = None) -> dict[str, object]:
    asked = of or case()
    trial = Trial(case=asked, expected=Completion(text=first), actual=Completion(text=second))
    (score,) = OrderBias().score([trial], OrderBiasSettings(), embed=embed)
    return dict(score.columns)


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("A", "A"),
        (" B\n", "B"),
        ("B.", "B"),
        ("A) swans live on the pond.", "A"),
        ("A is right", "A"),
        ("B2", "B"),
        ("Answer: B", None),
        ("Both", None),
        ("Überall", None),
        ("Aß", None),
        ("b", None),
        ("", None),
    ],
)
def test_a_reply_is_a_letter_when_it_begins_with_it(reply: str, letter: str | None) -> None:
    assert taken(reply) == letter


def test_any_other_reply_is_the_nearer_sentence() -> None:
    assert taken("The swans one", nearer="B") == "B"
    assert taken("A", nearer="B") == "A"


def test_its_table_is_true_for_a_then_b_alone() -> None:
    assert passes("A", "B") is True
    assert [passes(*pair) for pair in (("A", "A"), ("B", "B"), ("B", "A"))] == [False] * 3


@pytest.mark.parametrize("known", ["A", "B"])
def test_one_unknown_letter_leaves_it_open_whether_the_other_is_right_or_wrong(known: Letter) -> None:
    assert passes(known, None) is passes(None, known) is passes(None, None) is None


@pytest.mark.parametrize("letter", ["A", "B"])
def test_a_reply_that_only_one_side_can_read_counts_for_neither_verdict(letter: str) -> None:
    found = columns(letter, "**B**")
    assert (found["outcome"], found["langtest_pass"]) == (f"{letter}B", None)


def test_what_it_cannot_read_without_embeddings_is_open_though_ours_is_read() -> None:
    found = columns("Answer: A", "Answer: B")
    assert (found["outcome"], found["langtest_pass"]) == ("AB", None)


def test_where_cosines_were_computed_the_nearer_sentence_counts_though_ours_stays_unparsed() -> None:
    def embed(texts: Sequence[str]) -> np.ndarray:
        place = {"swans live on the pond.": (1.0, 0.0), "no swans live on the pond.": (0.0, 1.0)}
        return np.array([place.get(text, (0.6, 0.5)) for text in texts], dtype=np.float32)

    found = columns("the pond with its swans", "the pond with its swans", embed=embed)
    assert (found["outcome"], found["langtest_pass"]) == ("unparsed", True)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [((0.6, 0.5), (0.5, 0.6), False), ((0.5, 0.6), (0.6, 0.5), False), ((0.6, 0.5), (0.6, 0.5), True)],
)
def test_the_nearer_sentence_is_that_of_the_larger_cosine(
    first: tuple[float, float], second: tuple[float, float], expected: bool
) -> None:
    """Cosines to the right and to the wrong sentence; in the second order the right one stands under B."""
    found = columns("a first reply", "a second reply", embed=lies({"a first reply": first, "a second reply": second}))
    assert found["langtest_pass"] is expected


@pytest.mark.parametrize("tied", ["a first reply", "a second reply"])
def test_a_reply_as_near_to_the_one_as_to_the_other_means_neither(tied: str) -> None:
    where = {"a first reply": (0.6, 0.5), "a second reply": (0.6, 0.5), tied: (0.5, 0.5)}
    assert columns("a first reply", "a second reply", embed=lies(where))["langtest_pass"] is None


def lies(where: dict[str, tuple[float, float]]) -> Embed:
    """Where replies lie, with the two sentences along the axes."""
    axes = {PAIR.correct_sentence: (1.0, 0.0), PAIR.incorrect_sentence: (0.0, 1.0)}

    def embed(texts: Sequence[str]) -> np.ndarray:
        return np.array([{**axes, **where}[text] for text in texts], dtype=np.float32)

    return embed


def test_a_letter_chosen_by_likelihood_is_the_reply() -> None:
    trial = Trial(
        case=case(scorer="likelihood", asks="choose"),
        expected=Completion(text="A", option_loglikelihoods=(-1.0, -2.0)),
        actual=Completion(text="A", option_loglikelihoods=(-1.0, -1.5)),
    )
    (score,) = OrderBias().score([trial], OrderBiasSettings(), embed=never)
    assert score.columns["langtest_pass"] is False


def test_controls_have_no_such_verdict() -> None:
    assert "langtest_pass" not in columns("A", "B", of=case(control=True))
