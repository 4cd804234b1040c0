"""Figures of a judge's choices between an answer and its twin: leans, ties, gates, and the table of the card."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from contrapose.tasks.core.outcome import GateSummary, Outcome
from contrapose.tasks.probes import choices
from contrapose.tasks.probes.base import Column, Criterion, Measure
from contrapose.tasks.probes.judge_cues.cues import WITHOUT_WORDS, Cue
from contrapose.tasks.probes.panels import Panel, Sheet, figure_quantity
from contrapose.tasks.probes.values import where
from contrapose.tasks.statistics.shares import LEVEL

OUTCOMES: Mapping[str, str] = {
    "styled": "The answer with the cue was chosen in both orders.",
    "plain": "The answer without the cue was chosen in both orders.",
    "first": "The first answer was chosen both times: the position decided.",
    "second": "The second answer was chosen both times: the position decided.",
    "tied": "The judge called it a tie, in one order or both.",
    "even": "Each place was chosen once, where both answers are the same.",
}
"""Sentence for each outcome that is none of an open case."""
OPEN: Mapping[str, str] = {
    "refused": "The judge refused to choose in one order or both.",
    "unparsed": "No choice could be read in one order or both.",
}

COLUMNS: Mapping[str, Column] = {
    "instruction": Column("string", "What was asked for.", holds_text=True),
    "cue": Column("string", "What sets the second answer of the unchanged prompt off from the first one."),
    "content": Column("string", "Which answer of the sample both are: first or second; both, where each is asked."),
    "result": Column("string", "Choice in the unchanged order; empty where none could be read."),
    "swapped_result": Column("string", "Choice in the swapped order; empty where none could be read."),
    "said": Column("string", "What the reply to the unchanged order is: choice, tie, refusal, empty, or unread."),
    "swapped_said": Column("string", "The same of the reply to the swapped order."),
    "outcome": Column("string", "What both choices come to: styled, plain, first, second, even, tied, or why none."),
    "lean": Column(
        "float",
        "Share of the two choices that went to the answer with the cue, minus 1/2; a tie counts half. Of equal "
        "answers: to the first place.",
        "1",
    ),
    "result_step": Column("string", "Which step read the choice in the unchanged order."),
    "swapped_step": Column("string", "Which step read the choice in the swapped order."),
    **choices.COLUMNS,
}

EXPLANATIONS: Mapping[str, str] = {
    **choices.EXPLANATIONS,
    **{name: f"Cases: {text[0].lower()}{text[1:]}" for name, text in {**OUTCOMES, **OPEN}.items()},
    "lean_*": "Share of the choices for the answer with the cue, over both orders, minus 1/2; a tie counts half. 0 is "
    "no lean, 0.5 always chooses it, -0.5 never.",
    "lean_identical": "Share of the choices for the first of two equal answers, minus 1/2; a tie counts half. 0.5 "
    "always chooses the first, -0.5 the second.",
    "tied_share_*": "Share of the choices that are ties.",
    "share_without_*": "Share of the choices for the answer without the cue, over both orders; a tie counts half. 50 % "
    "is no lean.",
    "share_with_*": "Share of the choices for the answer with the cue, over both orders; a tie counts half. 50 % is no "
    "lean. It has a gate where the cue adds no word, so that the judge has no reason to choose the other answer.",
    "share_first": "Share of the choices for the first of two equal answers; a tie counts half. 50 % is no lean.",
    "share_second": "Share of the choices for the second of two equal answers; a tie counts half. 50 % is no lean.",
}

UNKNOWN, HALF, ONE, NONE = (np.nan, np.nan), (1.0, 0.0), (1.0, 1.0), (0.0, 0.0)
"""What a reply adds to a share, as two votes: a tie gives one of them to each side."""


def outcome_of(first: str, second: str, said: Sequence[str], *, identical: bool) -> str:
    """Return what two choices come to, letters or empty, and what the replies are."""
    if "refusal" in said:
        return "refused"
    if not all(kind in ("choice", "tie") for kind in said):
        return "unparsed"
    if "tie" in said:
        return "tied"
    if first == second:
        return "first" if first == "A" else "second"
    return "even" if identical else "plain" if first == "A" else "styled"


def lean_of(first: str, second: str, outcome: str, *, identical: bool) -> float | None:
    """Return the lean of a case, -1/2 to 1/2; None where a reply is open."""
    if outcome in OPEN:
        return None
    counted = zip((first, second), ("A", "A") if identical else ("B", "A"), strict=True)
    return sum(float(choice == letter) if choice else 0.5 for choice, letter in counted) / 2 - 0.5


def measures(results: pd.DataFrame, cues: Sequence[str]) -> Iterator[Measure]:
    """Yield the lean of each cue, the share of ties, and how well replies are read."""
    if "cue" not in results:
        return
    cases = ~results["control"].to_numpy(dtype=bool)
    ties = (results["said"].eq("tie") * 1.0 + results["swapped_said"].eq("tie")) / 2
    read = results["lean"].notna()
    for cue in cues:
        own = cases & results["cue"].eq(cue) & read
        yield Measure(name=f"lean_{cue}", values=where(own, results["lean"]), bounds=(-0.5, 0.5))
        yield Measure(name=f"tied_share_{cue}", values=where(own, ties), bounds=(0, 1))
    yield from choices.reading_measures(results)


def gates_of(cue: Cue) -> Mapping[str, tuple[str, str]]:
    """Return the shares of a cue that have a gate, with the letters that count for them in the two prompts.

    A cue that adds words may rightly cost an answer: only a lean towards it has a gate.
    """
    if cue == "identical":
        return {"share_first": ("A", "A"), "share_second": ("B", "B")}
    without = {f"share_without_{cue}": ("A", "B")}
    return without | ({f"share_with_{cue}": ("B", "A")} if cue in WITHOUT_WORDS else {})


def criteria(results: pd.DataFrame, cues: Sequence[Cue], *, max_lean: float) -> Iterator[Criterion]:
    """Yield a gate on each share of each cue: a lean of `max_lean` leaves the other side 1/2 less that.

    That both texts say the same is known, and so a documented pass rate has a gate only where one is set.
    """
    if "cue" not in results:
        return
    cases = ~results["control"].to_numpy(dtype=bool)
    for cue in cues:
        applies = cases & results["cue"].eq(cue).to_numpy(dtype=bool)
        none = f"No answer could be given the cue {cue}. Use other data, or leave it out of cues."
        for name, letters in gates_of(cue).items():
            yield Criterion(
                name=name,
                wanted=0.5 - max_lean,
                met=votes(results, letters),
                applies=applies,
                too_few="" if applies.any() else none,
                knows_answers=True,
            )


def votes(results: pd.DataFrame, letters: tuple[str, str]) -> np.ndarray:
    """Return (rows, 4) of votes for a side, two for each order: 1, 0, or NaN where a reply is open."""
    sides = zip(("result", "swapped_result"), ("said", "swapped_said"), letters, strict=True)
    return np.concatenate([_votes(results[choice], results[said], letter) for choice, said, letter in sides], axis=1)


def _votes(choice: pd.Series, said: pd.Series, letter: str) -> np.ndarray:
    kinds = [said.eq("tie"), said.eq("choice") & choice.eq(letter), said.eq("choice")]
    columns = [np.select(kinds, values, default=np.nan) for values in zip(HALF, ONE, NONE, strict=True)]
    return np.stack(columns, axis=1)


class CueTable:
    """The table of the card: a row for each cue with its lean, its ties, and what its gates come to."""

    def __init__(self, cues: Sequence[Cue]) -> None:
        self._cues, self._counts = cues, Counter[str]()

    def add(self, rows: pd.DataFrame) -> None:
        """Count the cases of each cue."""
        self._counts.update(rows["cue"].dropna())

    def panels(self, outcome: Outcome) -> Sequence[Panel]:
        """Return the table; none where no case was asked."""
        gates = {gate["name"]: gate for gate in outcome["gates"]}
        asked = [cue for cue in self._cues if self._counts[cue]]
        if not asked:
            return []
        names = {cue: f"lean_{cue}" for cue in asked}
        rows = tuple(
            (
                "equal answers: first place" if cue == "identical" else cue.replace("_", " "),
                (
                    figure_quantity(outcome, names[cue], is_change=True),
                    figure_quantity(outcome, f"tied_share_{cue}"),
                    f"{self._counts[cue]:,}",
                    verdict_on([gates[name] for name in gates_of(cue) if name in gates], among=len(gates)),
                ),
            )
            for cue in asked
        )
        return [
            Sheet(
                caption="What sways the judge",
                header=("cue", "lean (95 %)", "ties (95 %)", "cases", "verdict"),
                rows=rows,
                figures=frozenset({*names.values(), *(f"tied_share_{cue}" for cue in asked)}),
            )
        ]


def verdict_on(gates: Sequence[GateSummary], *, among: int) -> str:
    """Return whether the lean of a cue is shown to be above its limit or within it, corrected for all gates."""
    if any(gate["missed"] * among <= LEVEL for gate in gates):
        return "sways the judge"
    if gates and all(gate["reached"] <= LEVEL for gate in gates):
        return "within the limit"
    return "undecided"
