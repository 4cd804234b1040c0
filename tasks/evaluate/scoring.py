"""Trials into result rows: thresholds taken from the controls' noise, and replies left to be asked about."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from contrapose.tasks.config.plan import Plan
from contrapose.tasks.core.records import FollowUp, Trial
from contrapose.tasks.core.registry import probe
from contrapose.tasks.core.reply_outcomes import EXPLAINED
from contrapose.tasks.probes.answers.settings import DOCUMENTED, LEAST_CONTROLS, Thresholds
from contrapose.tasks.probes.base import AsksBack, Embed, Probe, ScoresUnread, letters, unscored
from contrapose.tasks.probes.reading_checks import CHECKS, made_up, share_of
from contrapose.tasks.tables.columnar import from_arrow, uncollected
from contrapose.tasks.tables.results import result_table
from contrapose.tasks.tables.table import Table, batches


def score_trials(trials: Sequence[Trial], plan: Plan, *, model: str, embed: Embed, passages: bool = False) -> pa.Table:
    """One row for each trial of a test, in order: the common columns, then the probe's own.

    Args:
        trials: of one test.
        plan: the selected test.
        model: id of the model, for the `model` column.
        embed: texts to unit vectors, called only by scorers that need it.
        passages: whether some trial of the test came with passages, of which further columns tell then.
    """
    chosen = probe(plan.test)
    reasons = [_why_unread(trial, chosen) for trial in trials]
    with uncollected():
        scores = iter(chosen.score(_read(trials, chosen), plan.probe_settings, embed=embed))
        every = [unscored(reason) if reason else next(scores) for reason in reasons]
        return result_table(trials, every, probe=chosen, model=model, passages=passages)


def _read(trials: Iterable[Trial], chosen: Probe) -> list[Trial]:
    """The trials that a probe may score."""
    return [trial for trial in trials if _why_unread(trial, chosen) is None]


def _why_unread(trial: Trial, chosen: Probe) -> str | None:
    """Why a trial has no replies to score; None where it has. Some probes score also what was withheld."""
    if error := trial.expected.error or trial.actual.error:
        return f"The model gave no answer: {error}"
    if isinstance(chosen, ScoresUnread):
        return None
    unread = next((reply for reply in (trial.expected, trial.actual) if reply.is_unread), None)
    return None if unread is None else EXPLAINED[unread.outcome].reason


CENTRAL = 0.95
"""Share of the controls' scores that a band holds."""

DISTANCES = ("choice", "embedding")
"""Scorers whose scores are never negative: what is large is noise, what is small is not."""

ROUNDING = 1e-6
"""Scores nearer to zero are round-off: a band holds them even where no control moves at all."""


@dataclass(slots=True)
class _Scores:
    """Scores of one scorer's controls."""

    values: list[float] = field(default_factory=list)
    samples: set[str] = field(default_factory=set)

    def add(self, sample: str, value: float) -> None:
        self.values.append(value)
        if len(self.samples) < LEAST_CONTROLS:
            self.samples.add(sample)


def calibrated(plan: Plan, controls: Iterable[Sequence[Trial]], *, embed: Embed) -> Plan:
    """The plan with a band for each scorer in place of `threshold: auto`; any other plan as it is.

    Scorers have a band of which at least 20 samples have a scored control. Controls come a portion at a time, and are
    not touched where nothing is calibrated.
    """
    if not plan.probe_settings.calibrated:
        return plan
    by_scorer: dict[str, _Scores] = {}
    for portion in controls:
        _gather(portion, plan, embed, into=by_scorer)
    bands = {
        scorer: band(scorer, scores.values)
        for scorer, scores in by_scorer.items()
        if len(scores.samples) >= LEAST_CONTROLS
    }
    thresholds = {scorer: bands.get(scorer) for scorer in Thresholds.model_fields}
    return plan.model_copy(update={"settings": {**plan.settings, "threshold": thresholds}})


def band(scorer: str, values: Sequence[float]) -> tuple[float, float]:
    """The central 95 % of the controls' scores, and no change at all; of a distance, the lowest 95 %."""
    if scorer in DISTANCES:
        return 0.0, max(float(np.quantile(values, CENTRAL)), ROUNDING)
    low, high = np.quantile(values, ((1 - CENTRAL) / 2, (1 + CENTRAL) / 2))
    return min(float(low), -ROUNDING), max(float(high), ROUNDING)


def controls_in(tables: Iterable[Table]) -> Iterator[list[Trial]]:
    """The control trials of a test, a row group at a time."""
    for table in tables:
        for part in batches(table):
            yield from_arrow(part.filter(pc.struct_field(part["case"], "control")), Trial)


def _gather(portion: Sequence[Trial], plan: Plan, embed: Embed, *, into: dict[str, _Scores]) -> None:
    """Add the scores of controls, which do not depend on the threshold; a pair of any width will do for them."""
    chosen = probe(plan.test)
    read = _read(portion, chosen)
    settings = plan.probe_settings.model_copy(update={"threshold": DOCUMENTED, "documents_scores": False})
    for trial, score in zip(read, chosen.score(read, settings, embed=embed), strict=True):
        if score.value is not None:
            into.setdefault(trial.case.scorer, _Scores()).add(trial.case.sample_id, score.value)


def follow_ups(portions: Iterable[Sequence[Trial]], plan: Plan, *, embed: Embed) -> Iterator[FollowUp]:
    """Questions about the replies of trials that were answered; a failed call and a withheld reply are none.

    All about replies that could not be read, then of those that rules read, and of made-up ones, as many as a test may
    need. Texts are embedded only where a reply may be read so.
    """
    chosen, settings = probe(plan.test), plan.probe_settings
    known: list[FollowUp] = []
    invented: list[FollowUp] = []
    for portion in portions:
        trials = _read(portion, chosen)
        questions = cast(AsksBack, chosen).follow_ups(trials, settings, embed=embed)
        yield from (question for question in questions if question.known is None)
        checks = [question for question in questions if question.known is not None]
        known = drawn([*known, *checks], CHECKS)
        invented = drawn([*invented, *_made_up(trials, chosen, checks)], share_of(CHECKS))
    yield from known
    yield from invented


def _made_up(trials: Iterable[Trial], chosen: Probe, checks: Iterable[FollowUp]) -> Iterator[FollowUp]:
    """Questions about made-up replies, which choose no right option.

    Where none is known to be right, they do not choose what the model's own reply was read to choose.
    """
    read = {check.case_id: check.known for check in checks if check.side == "expected"}
    for trial in trials:
        case = trial.case
        if case.control or case.asks != "generate" or not case.options:
            continue
        by_letter = dict(zip(letters(len(case.options)), case.options, strict=True))
        own = by_letter.get(read.get(case.id) or "", "")
        right = case.options[:1] if getattr(chosen, "right_first", False) else case.answers
        if (question := made_up(case, avoided=right or (own,))) is not None:
            yield question


def drawn(questions: Iterable[FollowUp], most: int) -> list[FollowUp]:
    """Those with the least hashes, each prompt once: the draw depends on no order, and on no other question."""
    by_prompt: dict[str, FollowUp] = {}
    for question in questions:
        by_prompt.setdefault(question.prompt, question)
    return [by_prompt[prompt] for prompt in sorted(by_prompt, key=_hash)[:most]]


def _hash(prompt: str) -> bytes:
    return hashlib.sha256(prompt.encode("utf-8", "surrogatepass")).digest()
