"""Planted judges of pairs without labels, and nine recorded ones: the verdict is about the position alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from planted_judges import drawn
from played import config_of, judged, prepared

from contrapose.tasks.core.outcome import Outcome
from contrapose.tasks.core.records import AnswerPair, Completion, Trial, Verdict
from contrapose.tasks.evaluate.scoring import score_trials

PAIRS = 120
ORIGINAL, SWAPPED = 0, 1
Judge = Callable[[int, int], str]
"""What a judge says about a pair of a number in an order. The answer that it likes is drawn for each pair."""


def liked(number: int, order: int) -> str:
    """The letter of the answer that is good in this pair."""
    return "AB"[(drawn("good", str(number)).random() < 0.5) != (order == SWAPPED)]


def draw(number: int, order: int, verdicts: str) -> str:
    return drawn("noise", str(number), str(order)).choice(verdicts)


JUDGES: dict[str, tuple[Judge, str]] = {
    "content": (liked, "pass"),
    "content, tie in half": (lambda number, order: "C" if number % 2 else liked(number, order), "pass"),
    "always tie": (lambda number, order: "C", "inconclusive"),
    "always tie in words": (lambda number, order: "Both answers are equally good.", "inconclusive"),
    "tie when swapped": (lambda number, order: "C" if order == SWAPPED else "A", "fail"),
    "first position": (lambda number, order: "A", "fail"),
    "second position": (lambda number, order: "B", "fail"),
    "noise": (lambda number, order: draw(number, order, "AB"), "fail"),
    "noise with ties": (lambda number, order: draw(number, order, "ABC"), "fail"),
    "noise, nearly all ties": (lambda number, order: draw(number, order, "ABCCCCCCCCCCCCCCCCCC"), "no pass"),
    "silent": (lambda number, order: "", "inconclusive"),
    "unreadable": (lambda number, order: "Let us look at each of them before we", "inconclusive"),
}


def played(judge: Judge, label: Callable[[int], Verdict | None] = lambda number: None, **settings: object) -> Outcome:
    """The outcome of a judge of pairs with these labels."""
    test = prepared(
        config_of("judge_order", control=False, **settings),
        [
            AnswerPair(id=str(n), instruction=f"Say {n}.", first=f"{n}!", second=f"{n}, as you wish.", winner=label(n))
            for n in range(PAIRS)
        ],
    )
    trials = []
    for case in test.cases:
        number = int(case.sample_id)
        flip = label(number) == "second"
        replies = [Completion(text=judge(number, order != flip)) for order in (ORIGINAL, SWAPPED)]
        trials.append(Trial(case=case, expected=replies[0], actual=replies[1]))
    return judged(score_trials(trials, test.plan, model="planted", embed=no_meaning).to_pandas(), test)


def no_meaning(texts: Sequence[str]) -> np.ndarray:
    return np.zeros((len(texts), 2), dtype=np.float32)


def gates_of(outcome: Outcome) -> dict[str, float | None]:
    return {gate["name"]: gate["rate"] for gate in outcome["gates"]}


@pytest.mark.parametrize("tie", [None, "C"])
@pytest.mark.parametrize("name", JUDGES)
def test_a_judge_of_pairs_without_labels_gets_its_verdict(name: str, tie: str | None) -> None:
    judge, verdict = JUDGES[name]
    outcome = played(judge, **({"tie": tie} if tie else {}))
    assert outcome["verdict"] != "pass" if verdict == "no pass" else outcome["verdict"] == verdict
    assert set(gates_of(outcome)) <= {"pass_rate"}


def test_a_judge_that_always_calls_a_tie_proves_nothing() -> None:
    outcome = played(JUDGES["always tie"][0])
    assert (outcome["pass_rate"], outcome["chance"]) == (1, 1)
    assert "Every reply says the same" in outcome["reason"]


def test_guesses_among_three_verdicts_reach_what_chance_says() -> None:
    outcome = played(JUDGES["noise with ties"][0], tie="C")
    assert outcome["pass_rate"] == pytest.approx(outcome["chance"], abs=0.1)
    assert outcome["chance"] == pytest.approx(1 / 3, abs=0.02)


def good(number: int) -> Verdict:
    return "first" if liked(number, ORIGINAL) == "A" else "second"


@pytest.mark.parametrize(
    ("judge", "label", "verdict"),
    [
        ("content", good, "pass"),
        ("always tie", good, "fail"),
        ("content, tie in half", good, "fail"),
        ("first position", good, "fail"),
        ("content, tie in half", lambda number: "tie" if number % 2 else good(number), "pass"),
        ("always tie", lambda number: "tie", "inconclusive"),
        ("content", lambda number: "tie", "fail"),
        ("content", lambda number: "second" if good(number) == "first" else "first", "fail"),
    ],
)
def test_labels_have_a_gate_of_their_own(judge: str, label: Callable[[int], Verdict], verdict: str) -> None:
    outcome = played(JUDGES[judge][0], label, tie="C")
    assert outcome["verdict"] == verdict
    assert set(gates_of(outcome)) == {"pass_rate", "right_rate"}


def test_pairs_without_a_label_count_for_the_position_alone() -> None:
    outcome = played(JUDGES["content"][0], lambda number: good(number) if number < 80 else None)
    assert outcome["verdict"] == "pass"
    rows = {gate["name"]: gate["rows"] for gate in outcome["gates"]}
    assert rows == {"pass_rate": PAIRS, "right_rate": 80}
    assert (outcome["figures"]["labelled"], outcome["figures"]["unlabelled"]) == (80, 40)


FILE = "position_bias_mtbench.jsonl.gz"
MARK = re.compile(r"\[\[([ABC])\]\]")


@pytest.fixture(scope="module")
def recorded(shared_data: Path) -> pd.DataFrame:
    """A row for each asking of a judge about a pair: its replies in both orders, and the one mark of each."""
    if not (shared_data / FILE).is_file():
        pytest.skip(f"{FILE} not beside this checkout")
    rows = pd.read_json(shared_data / FILE, lines=True)
    marks = rows["reply"].map(lambda reply: set(MARK.findall(reply)))
    rows["mark"] = marks.map(lambda named: min(named) if len(named) == 1 else None)
    rows["order"] = np.where(rows["pair"].str.split("|").str[1].eq(rows["first"]), "original", "swapped")
    return rows.pivot(index=["judge", "pair", "repetition"], columns="order", values=["reply", "mark"])


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{}, {"pattern": r"\[\[(A|B|C)\]\]"}], ids=["rules", "pattern"])
def test_nine_recorded_judges_are_as_steady_as_a_count_says(
    recorded: pd.DataFrame, settings: dict[str, object]
) -> None:
    before, after = recorded["mark", "original"], recorded["mark", "swapped"]
    marked = before.notna() & after.notna()
    steady = (before + after).isin(["AB", "BA", "CC"])
    judges = recorded.index.get_level_values("judge")
    assert judges.nunique() == 9
    for judge in judges.unique():
        own = recorded[judges == judge]
        outcome = of_recording(own, settings)
        known = marked & (judges == judge)
        share = float(steady[known].mean())
        read = abs(outcome["scored"] - int(known.sum()))
        assert read <= 25, judge
        # The rules may also read, or leave unread, replies without exactly one mark.
        assert outcome["pass_rate"] == pytest.approx(share, abs=0.001 if settings else 0.01), judge
        assert [gate["name"] for gate in outcome["gates"]] == ["pass_rate"]
        ties = int(((before == "C") & (after == "C"))[known].sum())
        assert abs((outcome["figures"]["tied"] or 0) - ties) <= 1, judge


def of_recording(own: pd.DataFrame, settings: dict[str, object]) -> Outcome:
    """The outcome of one judge; the file names the writers of the answers, and does not hold their texts."""
    samples, replies = [], {}
    for (_, pair, repetition), row in own.iterrows():
        _, first, second = pair.split("|")
        samples.append(AnswerPair(id=f"{pair}#{repetition}", first=first, second=second, cluster=pair))
        replies[samples[-1].id] = [Completion(text=row["reply", order]) for order in ("original", "swapped")]
    test = prepared(config_of("judge_order", control=False, **settings), samples)
    trials = [
        Trial(case=case, expected=replies[case.sample_id][0], actual=replies[case.sample_id][1]) for case in test.cases
    ]
    return judged(score_trials(trials, test.plan, model="recorded", embed=no_meaning).to_pandas(), test)
