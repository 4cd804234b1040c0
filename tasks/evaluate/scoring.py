"""Score trials into result rows, calibrate thresholds by the controls, and list unread replies for the reader model."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, groupby
from typing import Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from contrapose.tasks.config.plan import Plan
from contrapose.tasks.core.records import Completion, FollowUp, Score, Side, Trial
from contrapose.tasks.core.registry import probe
from contrapose.tasks.core.reply_outcomes import EXPLAINED
from contrapose.tasks.language.replies.cut_off import is_thought_alone
from contrapose.tasks.probes.answers.settings import DOCUMENTED, LEAST_CONTROLS, Thresholds
from contrapose.tasks.probes.base import Embed, Probe, letters, unscored_score
from contrapose.tasks.probes.reader_questions import CHECKS, count_made_up, make_up_reply
from contrapose.tasks.tables.columnar import from_arrow, garbage_collection_paused
from contrapose.tasks.tables.results import make_result_table
from contrapose.tasks.tables.table import Table, batches


def score_trials(trials: Sequence[Trial], plan: Plan, *, model: str, embed: Embed, passages: bool = False) -> pa.Table:
    """Score the trials of one test: a row for each, in order, with the common columns, then the probe's own.

    Only scorers that need it call `embed`. With `passages`, some trial came with some, and further columns hold them.
    """
    chosen = probe(plan.test)
    reasons = [_explain_unscored(trial, chosen) for trial in trials]
    read = [trial for trial, reason in zip(trials, reasons, strict=True) if reason is None]
    with garbage_collection_paused():
        scores = iter(chosen.score(read, plan.probe_settings, embed=embed))
        every = [unscored_score(reason) if reason else next(scores) for reason in reasons]
        pairs = count_pairs(trials, plan, embed=embed)
        return make_result_table(trials, every, probe=chosen, model=model, pairs=pairs, passages=passages)


def _explain_unscored(trial: Trial, chosen: Probe) -> str | None:
    """Return the reason why a trial has no replies to score, or None. Some probes also score withheld replies."""
    if error := trial.expected.error or trial.actual.error:
        return f"The model gave no answer: {error}"
    if any(is_thought_alone(reply.text or "") for reply in (trial.expected, trial.actual)):
        return EXPLAINED["thought"].reason
    if chosen.scores_unread:
        return None
    unread = next((reply for reply in (trial.expected, trial.actual) if reply.is_unread), None)
    return None if unread is None else EXPLAINED[unread.outcome].reason


CENTRAL = 0.95
"""Share of the controls' scores that a band holds."""

DISTANCES = ("choice", "embedding")
"""Scorers whose scores are never negative: a large one is noise, a small one is not."""

ROUNDING = 1e-6
"""Scores nearer to zero are round-off: a band holds them even where no control moves at all."""


def calibrate_plan(plan: Plan, controls: Iterable[Sequence[Trial]], *, embed: Embed) -> Plan:
    """Return the plan with a band for each scorer in place of `threshold: auto`; any other plan as it is.

    A scorer gets a band if at least 20 samples have a scored control. Controls come a portion at a time, and are
    not touched where nothing is calibrated.
    """
    if not plan.probe_settings.calibrated:
        return plan
    # Scores of controls do not depend on the threshold: a pair of any width will do for them.
    settings = plan.probe_settings.model_copy(update={"threshold": DOCUMENTED, "documents_scores": False})
    chosen, by_scorer = probe(plan.test), dict[str, list[tuple[str, float]]]()
    for portion in controls:
        read = [trial for trial in portion if _explain_unscored(trial, chosen) is None]
        for trial, score in zip(read, chosen.score(read, settings, embed=embed), strict=True):
            if score.value is not None:
                by_scorer.setdefault(trial.case.scorer, []).append((trial.case.sample_id, score.value))
    bands = {
        scorer: compute_band(scorer, [value for _, value in scores])
        for scorer, scores in by_scorer.items()
        if len({sample for sample, _ in scores}) >= LEAST_CONTROLS
    }
    thresholds = {scorer: bands.get(scorer) for scorer in Thresholds.model_fields}
    return plan.model_copy(update={"settings": {**plan.settings, "threshold": thresholds}})


def compute_band(scorer: str, values: Sequence[float]) -> tuple[float, float]:
    """Return the band of the controls' central 95 % of scores, widened to include 0; of a distance, the lowest 95 %."""
    if scorer in DISTANCES:
        return 0.0, max(float(np.quantile(values, CENTRAL)), ROUNDING)
    low, high = np.quantile(values, ((1 - CENTRAL) / 2, (1 + CENTRAL) / 2))
    return min(float(low), -ROUNDING), max(float(high), ROUNDING)


def read_controls(tables: Iterable[Table]) -> Iterator[list[Trial]]:
    """Yield the control trials of a test, one row group at a time."""
    for table in tables:
        for part in batches(table):
            yield from_arrow(part.filter(pc.struct_field(part["case"], "control")), Trial)


def yield_follow_ups(portions: Iterable[Sequence[Trial]], plan: Plan, *, embed: Embed) -> Iterator[FollowUp]:
    """Yield questions to the reader model about replies; failed calls and withheld replies raise none.

    First about replies that could not be read, then of those that rules read, and of made-up ones, as many as a test
    may need. Texts are embedded only where a reply may be read so.
    """
    chosen, settings = probe(plan.test), plan.probe_settings
    known: list[FollowUp] = []
    invented: list[FollowUp] = []
    for portion in portions:
        trials = [trial for trial in portion if _explain_unscored(trial, chosen) is None]
        questions = chosen.follow_ups(trials, settings, embed=embed)
        yield from (question for question in questions if question.known is None)
        checks = [question for question in questions if question.known is not None]
        known = sample_questions([*known, *checks], CHECKS)
        invented = sample_questions([*invented, *_yield_made_up(trials, chosen, checks)], count_made_up(CHECKS))
    yield from known
    yield from invented


def _yield_made_up(trials: Iterable[Trial], chosen: Probe, checks: Iterable[FollowUp]) -> Iterator[FollowUp]:
    """Yield questions about made-up replies, which never choose a right option.

    If no right option is known, they avoid the option that the model's own reply chose.
    """
    read = {check.case_id: check.known for check in checks if check.side == "expected"}
    for trial in trials:
        case = trial.case
        if case.control or case.asks != "generate" or not case.options:
            continue
        by_letter = dict(zip(letters(len(case.options)), case.options, strict=True))
        own = by_letter.get(read.get(case.id) or "", "")
        right = case.options[:1] if chosen.right_first else case.answers
        if (question := make_up_reply(case, avoided=right or (own,))) is not None:
            yield question


def sample_questions(questions: Iterable[FollowUp], most: int) -> list[FollowUp]:
    """Sample questions with the smallest hashes, one per prompt, so that the order does not matter."""
    by_prompt: dict[str, FollowUp] = {}
    for question in questions:
        by_prompt.setdefault(question.prompt, question)
    order = sorted(by_prompt, key=lambda prompt: hashlib.sha256(prompt.encode("utf-8", "surrogatepass")).digest())
    return [by_prompt[prompt] for prompt in order[:most]]


MOST_ASKINGS = 6
"""Askings of a case whose pairs are compared: 15 pairs of each prompt, and 36 of both."""

PairKind = Literal["before", "after", "across"]
PAIR_COLUMNS = tuple(f"{kind}_{part}" for kind in get_args(PairKind) for part in ("pairs", "changed"))
"""Of each kind the pairs of answers of a case that could be compared, and those of them that differ."""


def count_pairs(trials: Sequence[Trial], plan: Plan, *, embed: Embed) -> list[Mapping[str, int]]:
    """Return pair counts for each trial in order; a case's counts are at its first asking, the rest are empty.

    Every pair of replies is scored by the test itself: two to the same prompt as a control in which nothing changed,
    one to each prompt as the case.
    """
    if not any(trial.case.repeat or trial.expected.again or trial.actual.again for trial in trials):
        return [{}] * len(trials)
    columns: list[Mapping[str, int]] = []
    chosen = probe(plan.test)
    for _, askings in groupby(trials, key=_name_case):
        group = list(askings)
        pairs = list(_yield_pairs(group, chosen)) if not group[0].case.control else []
        counts = dict.fromkeys(PAIR_COLUMNS, 0)
        scores = chosen.score([trial for _, trial in pairs], plan.probe_settings, embed=embed) if pairs else []
        for (kind, _), score in zip(pairs, scores, strict=True):
            changed = chosen.has_changed(score) if kind == "across" else _differs(score)
            # A pair of which a reply could not be read counts nowhere.
            if changed is not None:
                counts[f"{kind}_pairs"] += 1
                counts[f"{kind}_changed"] += changed
        columns += [counts if pairs else {}, *({} for _ in group[1:])]
    return columns


def _name_case(trial: Trial) -> tuple[str, str]:
    """Return the id that all askings of a case share."""
    case = trial.case
    return case.sample_id, case.id.rpartition("#")[0] if case.repeat else case.id


def _differs(score: Score) -> bool | None:
    """Return whether two replies to one prompt differ, from the score of their control, which passes if not."""
    return None if score.passed is None or score.undecided else not score.passed


def _yield_pairs(askings: Sequence[Trial], chosen: Probe) -> Iterator[tuple[PairKind, Trial]]:
    """Yield the trials that compare two replies of a case; none if it was asked once."""
    case = askings[0].case
    replies = {side: _list_replies(askings, side)[:MOST_ASKINGS] for side in ("expected", "actual")}
    if case.asks != "generate" or all(len(texts) < 2 for texts in replies.values()):
        return
    sides: tuple[tuple[PairKind, Side], ...] = (("before", "expected"), ("after", "actual"))
    for kind, side in sides:
        control = chosen.same_prompt(case, side)
        for first, second in combinations(replies[side], 2):
            yield kind, Trial(case=control, expected=first, actual=second)
    for before in replies["expected"]:
        for after in replies["actual"]:
            yield "across", Trial(case=case, expected=before, actual=after)


def _list_replies(askings: Sequence[Trial], side: Side) -> list[Completion]:
    """Return all readable replies to one prompt of a case, in the order of the askings."""
    replies: list[Completion] = [getattr(trial, side) for trial in askings]
    again = [
        replace(reply, text=reply.again, again=None, asked_back=None, passages=None, loss=None)
        for reply in replies
        if reply.again is not None
    ]
    return [reply for reply in (*replies, *again) if not reply.is_unread]
