"""Figures and chart of judge_order: what verdicts follow, agreement with people, and what may sway the judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pandas as pd

from contrapose.tasks.core.outcome import Outcome
from contrapose.tasks.probes.base import Criterion, Measure
from contrapose.tasks.probes.choices import RIGHT_RATE
from contrapose.tasks.probes.orders import two_figures
from contrapose.tasks.probes.orders.two_figures import TwoOrderFigures
from contrapose.tasks.probes.panels import Grid, Heading, Panel, PanelShare, Picture, Sheet, get_quantity, state_pattern
from contrapose.tasks.probes.values import GuessedRate, compute_gate_above, keep_if_any, numbers, where

FOLLOWS: Mapping[str, tuple[str, ...]] = {
    "follows_the_content": ("AB", "BA"),
    "follows_the_first_position": ("AA",),
    "follows_the_second_position": ("BB",),
    "tied_in_both_orders": ("tied",),
    "tied_in_one_order": ("tied_once",),
}
"""Shares of the pairs with a verdict in both orders, by their outcomes: they add up to 1."""
VERDICTS = tuple(outcome for outcomes in FOLLOWS.values() for outcome in outcomes)
"""Outcomes of the pairs with a verdict in both orders."""
LEAST_RIGHT = 0.7
"""The default gate of the right rate, unless guessing reaches it."""

PREFERENCES: Mapping[str, str] = {"right_is_longer": "length_preference_p", "right_is_own": "self_preference_p"}
"""Tests of what may sway a judge, by the column that says whether it speaks for the better answer."""

EXPLANATIONS: Mapping[str, str] = {
    **two_figures.EXPLANATIONS,
    "AB": "Pairs in which the better answer is chosen in both orders; without a label, the first one of the row.",
    "BA": "Pairs in which the worse answer is chosen in both orders; without a label, the second one of the row.",
    "tied": "Pairs in which the judge calls a tie in both orders: its verdict stays.",
    "tied_once": "Pairs in which the judge calls a tie in one order only: the order changed its verdict.",
    "refused": "Pairs in which the judge declines to choose in one order or both.",
    "labelled": "Pairs with a label: people say which answer is better, or that neither is.",
    "labelled_a_tie": "Pairs that people call a tie. They count in the right rate where the judge can call a tie.",
    "unlabelled": "Pairs without a label: they count for the position, and not for the right rate.",
    "follows_the_content": "Share of the pairs with a verdict in both orders that chose the same answer both times.",
    "follows_the_first_position": "Share of these pairs that chose the first position both times.",
    "follows_the_second_position": "Share of these pairs that chose the second position both times.",
    "follows_the_position": "Share of these pairs that chose the same position both times.",
    "tied_in_both_orders": "Share of these pairs with a tie in both orders: the verdict stays.",
    "tied_in_one_order": "Share of these pairs with a tie in one order only: the order changed the verdict.",
    RIGHT_RATE: "Share of the labelled pairs with the right verdict in both orders: the better answer, or a tie where "
    "people call one.",
    "length_preference_p": "Probability of so great a difference between pairs whose better answer is longer and "
    "shorter if length did not matter. Below 0.05 the judge is hardly indifferent to length.",
    "self_preference_p": "Probability of so great a difference between pairs whose better answer is the judge's own "
    "and another's if that did not matter. Below 0.05 the judge is hardly indifferent to its own answers.",
    "tied_share": "Share of all pairs that the judge calls a tie, in one order or both.",
    "refused_share": "Share of all pairs that the judge declines to judge.",
    "accuracy_where_own": "Accuracy where the judge wrote the better answer. Far above that where another did, it "
    "prefers its own.",
    "accuracy_where_anothers": "Accuracy where the judge wrote the worse answer. Far below that where it wrote the "
    "better one, it prefers its own.",
}

FOLLOWED: Mapping[str, str] = {
    "follows_the_content": "the same answer in both orders",
    "follows_the_first_position": "the first position in both orders",
    "follows_the_second_position": "the second position in both orders",
    "tied_in_both_orders": "a tie in both orders",
    "tied_in_one_order": "a tie in one order only",
}
"""What the two verdicts on a pair are, in words."""
ASPECTS: Mapping[str, str] = {
    "choice_changed": "another choice once the answers are swapped",
    "changed_when_asked_again": "another choice when asked again",
    "accuracy_where_longer": "right where the better answer is longer",
    "accuracy_where_shorter": "right where it is shorter",
    "accuracy_where_own": "right where the judge wrote it",
    "accuracy_where_anothers": "right where the judge wrote the worse one",
}
"""Figures of what may sway a judge, in words."""
OF_THE_RIGHT = (
    *("accuracy", "accuracy_original", "accuracy_swapped", "consistent_and_right", "consistent_and_wrong"),
    *("content_score", "debiased_accuracy", "debiased_tied", "pride_accuracy", "pride_gain"),
)
"""Measures that count only the pairs of which people prefer one answer."""

SENTENCES: Mapping[str, str] = {
    "AB": "picks the better answer in both orders: it agrees with people.",
    "AA": "picks A in both orders: the position decides, not the answer.",
    "BB": "picks B in both orders: the position decides, not the answer.",
    "BA": "picks the worse answer in both orders: it disagrees with people.",
    "tied": "calls a tie in both orders: it prefers neither answer.",
    "tied_once": "calls a tie in one order only: the order changes its verdict.",
}
SAME_ANSWER = "picks the same answer in both orders: the content decides, not the position."


class JudgeFigures(TwoOrderFigures):
    """Figures of a judge that compares two answers in both orders, with or without the preference of people."""

    explanations: ClassVar[Mapping[str, str]] = EXPLANATIONS
    unpaired: ClassVar[tuple[str, ...]] = ("tied", "tied_once", "refused", "unparsed")
    choices_read: ClassVar[tuple[str, ...]] = ("A", "B", "tie")
    order_decides: ClassVar[tuple[str, ...]] = ("AA", "BB", "tied_once")
    sentences: ClassVar[Mapping[str, str]] = SENTENCES

    def summarise(self, results: pd.DataFrame) -> Mapping[str, float | int | None]:
        """Return counts of outcomes and labels, and p values of what the judge prefers."""
        known = results["answer_known"].eq(True)
        labels = {"labelled": int(known.sum()), "unlabelled": int((~known).sum())}
        if "preferred" in results:
            labels["labelled_a_tie"] = int(results["preferred"].eq("tie").sum())
        counts = {name: count for name, count in labels.items() if count or name == "labelled"}
        return {**super().summarise(results), **counts, **compute_preference_tests(results)}

    def picture(self) -> Picture:
        """Return a counter for the grid of verdicts, and for tables of what they follow and what may sway the judge."""
        return VerdictCounts()

    def guessed_rate(self, results: pd.DataFrame) -> GuessedRate | None:
        """Return how often random verdicts with the judge's own shares of letters and ties stay in both orders."""
        habits = _compute_habits(results)
        return None if habits is None else GuessedRate(2 * habits["A"] * habits["B"] + habits["tie"] ** 2)

    def right_rate(self, results: pd.DataFrame, *, wanted: float | None, takes_tie: bool) -> Sequence[Criterion]:
        """Return the gate on right verdicts in both orders, over the labelled pairs; empty if no pair counts.

        A pair that people call a tie counts if the judge can call one: the prompt offers it, or the judge did. Chance
        is the larger rate of two kinds of guessing: with equal shares of the verdicts, and with the judge's own shares.
        A gate of 0 means no gate.
        """
        case = ~results["control"].to_numpy(dtype=bool)
        tie, outcome = results["preferred"].eq("tie").to_numpy(), results["outcome"]
        # Of a pair without a readable reply only its label is known: it may have gone either way.
        applies = case & results["answer_known"].eq(True).to_numpy()
        if not (takes_tie or _is_tie_reply(results[case])):
            applies &= ~tie
        if wanted == 0 or not applies.any():
            return []
        even = float((numbers(results["chance"])[applies] ** 2).mean())
        habits, own = _compute_habits(results), 0.0
        if habits is not None:
            own = float(np.where(tie, habits["tie"] ** 2, habits["A"] * habits["B"])[applies].mean())
        chance = max(even, own)
        known = outcome.notna() & outcome.ne("unparsed")
        met = where(known, np.where(tie, outcome.eq("tied"), outcome.eq("AB")))
        gate = max(LEAST_RIGHT, compute_gate_above(chance)) if wanted is None else wanted
        return [Criterion(name=RIGHT_RATE, wanted=gate, met=met, applies=applies, chance=chance)]

    def measures(self, results: pd.DataFrame) -> Iterator[Measure]:
        """Yield what the verdicts follow, agreement with people and what it depends on, and how steady the judge is.

        What is right counts only the pairs of which people prefer one answer.
        """
        if "outcome" not in results:
            yield from super().measures(results)
            return
        outcome, better = results["outcome"], results["preferred"].eq("better") if "preferred" in results else True
        said = outcome.isin(VERDICTS)
        for measure in super().measures(results):
            if measure.name == "follows_the_position":
                measure = replace(measure, values=where(said, outcome.isin(("AA", "BB"))))
            if measure.name in OF_THE_RIGHT:
                measure = replace(measure, values=np.where(better, measure.values, np.nan))
            yield measure
        for name, outcomes in FOLLOWS.items():
            yield Measure(name=name, share=True, values=where(said, outcome.isin(outcomes)))
        judged, read = outcome.notna(), outcome.notna() & outcome.ne("unparsed")
        tied = outcome.isin(("tied", "tied_once"))
        yield Measure(name="tied_share", share=True, values=keep_if_any(read, where(judged, tied)))
        yield Measure(name="refused_share", share=True, values=keep_if_any(read, where(judged, outcome.eq("refused"))))
        if "right_is_own" in results:
            right = (results["result"].eq("A") * 1.0 + results["swapped_result"].eq("B")) / 2
            for name, own in (("accuracy_where_own", True), ("accuracy_where_anothers", False)):
                values = keep_if_any(read, where(judged & results["right_is_own"].eq(own), right))
                yield Measure(name=name, values=values, bounds=(0, 1))


def compute_preference_tests(results: pd.DataFrame) -> Mapping[str, float]:
    """Return two-sided exact p values for "length sways the judge" and "the author sways the judge".

    Fisher's exact test of the pairs with the same choice in both orders, which the position cannot have decided: is the
    better answer chosen as often if it is the longer one (or the judge's own) as if it is not? It assumes independent
    pairs. A value is missing if one side has no pairs.
    """
    from scipy.stats import fisher_exact

    figures = {}
    for column, name in PREFERENCES.items():
        if column not in results or "outcome" not in results:
            continue
        sides, outcomes = (results[column].eq(side) for side in (True, False)), results["outcome"]
        table = np.array([[int((side & outcomes.eq(outcome)).sum()) for outcome in ("AB", "BA")] for side in sides])
        if table.sum(axis=1).all():
            figures[name] = float(fisher_exact(table).pvalue)
    return figures


def _is_tie_reply(cases: pd.DataFrame) -> bool:
    """Return whether any reply to these cases calls a tie."""
    return any(bool(cases[name].eq("tie").any()) for name in ("result", "swapped_result") if name in cases)


def _compute_habits(results: pd.DataFrame) -> Mapping[str, float] | None:
    """Return the shares of A, B and ties among the verdicts in both orders; None without a verdict."""
    if not {"result", "swapped_result"} <= set(results.columns):
        return None
    cases = results[~results["control"].to_numpy(dtype=bool)]
    counts = Counter[str]()
    for name in ("result", "swapped_result"):
        counts.update(cases.loc[cases[name].isin(JudgeFigures.choices_read), name])
    total = counts.total()
    return {name: counts[name] / total for name in JudgeFigures.choices_read} if total else None


class VerdictCounts:
    """Counts of the pairs by their two verdicts, for the panels of the judge's card."""

    def __init__(self) -> None:
        self._verdicts: Counter[tuple[str, str]] = Counter()
        self._outcomes: Counter[str] = Counter()
        self._labels: Counter[str] = Counter()

    def add(self, rows: pd.DataFrame) -> None:
        """Count the scored pairs; pairs in error have no second result."""
        scored = rows[rows["swapped_result"].notna() & rows["outcome"].notna()]
        self._outcomes.update(scored["outcome"])
        read = scored[scored["outcome"].isin(VERDICTS)]
        self._verdicts.update(zip(read["result"], read["swapped_result"], strict=True))
        self._labels.update(scored["preferred"].fillna("none") if "preferred" in scored else ())

    def panels(self, outcome: Outcome) -> Sequence[Panel]:
        """Return the grid of verdicts and the tables; empty if no pair was scored."""
        if not self._outcomes:
            return []
        sheets = (
            ("What the verdicts follow", "verdicts in both orders", FOLLOWED),
            ("What may sway the judge", "choices over both orders", ASPECTS),
        )
        tables = []
        for caption, over, words in sheets:
            known = {text: get_quantity(outcome, name) for name, text in words.items()}
            rows = tuple((text, (quantity,)) for text, quantity in known.items() if quantity is not None)
            header = (over, "share (95 %)")
            tables.append(Sheet(caption=caption, header=header, rows=rows, figures=frozenset(words)))
        return [self._make_grid(), *(table for table in tables if table.rows)]

    def _make_grid(self) -> Grid:
        """Return the grid of both verdicts, with a row and a column for ties if there are any."""
        all_ranked = set(self._labels) == {"better"}
        first, second = ("right", "wrong") if all_ranked else ("first answer", "second answer")
        ties = ("tie",) if any("tie" in pair for pair in self._verdicts) else ()
        notes = {"A": (first, second), "B": (second, first), "tie": ("", "")}
        total = sum(self._verdicts.values())

        def cell(before: str, after: str) -> PanelShare:
            name = "both tie" if before == after == "tie" else f"{before}{after}" if before != "tie" != after else ""
            return PanelShare(name=name or f"{before}, {after}", count=self._verdicts[before, after], total=total)

        columns, rows = ("B", "A", *ties), ("A", "B", *ties)
        return Grid(
            caption="Choices in both orders",
            columns=tuple(Heading(name=f"swapped: {name}", note=notes[name][1]) for name in columns),
            rows=tuple(
                (Heading(name=f"original: {name}", note=notes[name][0]), tuple(cell(name, other) for other in columns))
                for name in rows
            ),
            sentence=self._describe(all_ranked=all_ranked),
            note=self._describe_rest(),
            figures=frozenset({*VERDICTS, "refused", "unparsed"}),
        )

    def _describe(self, *, all_ranked: bool) -> str:
        """Return a sentence on what the judge does most; without "right" if some pairs have no better answer."""
        counts, sentences = {name: self._outcomes[name] for name in SENTENCES}, dict(SENTENCES)
        if not all_ranked:
            counts["AB"] += counts.pop("BA")
            sentences = {name: SAME_ANSWER if name == "AB" else sentences[name] for name in counts}
        return state_pattern(counts, sentences, without_choice=self._outcomes["refused"] + self._outcomes["unparsed"])

    def _describe_rest(self) -> str:
        """Return sentences on the pairs that the grid leaves out, and on pairs without a label."""
        names = {"refused": "Refused", "unparsed": "Unreadable"}
        note = [f"{words}: {self._outcomes[name]:,}." for name, words in names.items()]
        pairs, without = sum(self._labels.values()), self._labels["none"]
        if without == pairs:
            note.append("No pair has a label: the verdict is about the position alone.")
        elif without:
            note.append(f"{without:,} of {pairs:,} pairs have no label: they count for the position alone.")
        return " ".join(note)
