"""Labels of people on some replies and verdicts on all: the mean, its interval, and what the verdicts are worth."""

from __future__ import annotations

import numpy as np
import pytest

from bench.simulated import labels as simulated
from contrapose.tasks.statistics.means import Mean
from contrapose.tasks.statistics.predicted import Predicted, count_deciding_labels, predict_mean
from contrapose.tasks.statistics.shares import Interval

ROWS, LABELS = 1_000, 120


def planted(*, right: float = 0.9, rate: float = 0.6, seed: int = 1, count: int = LABELS) -> simulated.Replies:
    return simulated.passes(np.random.default_rng(seed), count, rate, right, right)


def predicted(*parts: np.ndarray) -> Predicted:
    own = predict_mean(*parts)
    assert own is not None
    return own


def ends(mean: Mean) -> Interval:
    assert mean.interval is not None
    return mean.interval


def width(mean: Mean) -> float:
    return ends(mean).high - ends(mean).low


def test_two_verdicts_give_the_prediction_powered_mean_with_the_best_weight() -> None:
    replies = planted()
    known = np.isfinite(replies.label)
    label, own = replies.label[known], replies.verdict[known]
    slope = np.cov(label, own)[0, 1] / own.var(ddof=1)
    powered = label.mean() + slope * (replies.verdict.mean() - own.mean())
    assert predicted(*replies).mean.value == pytest.approx(powered)


def test_a_judge_that_always_says_the_same_adds_nothing() -> None:
    replies = planted()
    own = predicted(replies.label, np.ones(ROWS), replies.cluster)
    assert own.mean.value == pytest.approx(own.alone.value)
    assert ends(own.mean) == pytest.approx(ends(own.alone))
    assert own.saved == pytest.approx(0, abs=1e-6)


def test_a_judge_that_guesses_saves_nothing_and_a_good_one_much() -> None:
    guesses, good = (
        np.median([predicted(*planted(right=right, seed=seed)).saved for seed in range(40)]) for right in (0.5, 0.95)
    )
    assert guesses < 0.02
    assert good > 0.5


def test_a_judge_that_is_always_wrong_is_as_good_as_one_that_is_right() -> None:
    replies = planted()
    turned = predicted(replies.label, 1 - replies.verdict, replies.cluster)
    assert ends(turned.mean) == pytest.approx(ends(predicted(*replies).mean))


def test_labels_that_never_contradict_the_judge_do_not_prove_that_it_never_errs() -> None:
    replies = planted(right=1.0, count=30)
    own = predicted(*replies)
    assert width(own.mean) > 0.1
    assert width(own.mean) < width(own.alone)


def test_labels_picked_by_the_verdict_do_not_shift_the_mean() -> None:
    rng, values = np.random.default_rng(2), []
    for _ in range(60):
        replies = simulated.passes(rng, ROWS, 0.7, 0.85, 0.85)
        drawn = rng.random(ROWS) < np.where(replies.verdict == 1, 0.05, 0.4)
        own = predicted(np.where(drawn, replies.label, np.nan), replies.verdict, replies.cluster)
        values.append((own.mean.value, own.alone.value))
    implied, alone = np.mean(values, axis=0)
    assert implied == pytest.approx(0.7, abs=0.02)
    assert alone < 0.6


def test_rows_in_copies_count_as_their_clusters() -> None:
    replies = planted(count=100)
    once = predicted(*replies)
    copies = predicted(*(np.repeat(part, 4) for part in replies))
    assert copies.mean.value == pytest.approx(once.mean.value)
    assert width(copies.mean) == pytest.approx(width(once.mean), rel=0.05)


def test_labels_of_one_cluster_have_no_interval() -> None:
    own = predict_mean([1, 0, 1, np.nan], [1, 0, 1, 1], ["a", "a", "a", "b"])
    assert own.mean.interval is None
    assert count_deciding_labels(own, 0.5) is None


def test_no_label_gives_nothing() -> None:
    assert predict_mean([np.nan, np.nan], [1, 0], [0, 1]) is None


def test_unread_verdicts_and_scores_are_taken() -> None:
    replies = planted()
    verdict = np.where(np.arange(ROWS) % 10 == 0, np.nan, 7 * replies.verdict + np.arange(ROWS) % 3)
    own = predicted(replies.label, verdict, replies.cluster)
    assert own.mean.rows == ROWS
    assert ends(own.mean).low <= 0.6 <= ends(own.mean).high
    assert own.saved > 0.2


def test_as_many_further_labels_as_advised_decide_and_one_fewer_does_not() -> None:
    own = predicted(*planted())
    gate = own.mean.value - 0.05
    more = count_deciding_labels(own, gate)
    assert more
    assert own.strata.interval((LABELS + more) / LABELS).low >= gate
    assert own.strata.interval((LABELS + more - 1) / LABELS).low < gate
    assert count_deciding_labels(own, 0.1) == 0
    assert count_deciding_labels(own, own.mean.value) is None


def test_a_few_cells_of_the_simulation_hold() -> None:
    rng = np.random.default_rng(7)
    for count, rate, right in ((30, 0.9, 0.95), (100, 0.3, 0.8)):

        def draw(own: np.random.Generator, labels: int, rate: float = rate, right: float = right) -> simulated.Replies:
            return simulated.passes(own, labels, rate, right, right)

        held = simulated.coverage(rng, draw, count, rate, 250)
        assert held["ours"] > 0.92
        if count == 30:
            assert held["plug-in"] < 0.9
