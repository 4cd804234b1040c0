"""Score your own tests by known answers, or by your function."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from contrapose.tasks.core.records import Case, Score, Trial
from contrapose.tasks.core.user_functions import find_function
from contrapose.tasks.probes.answers.scores import (
    Columns,
    ReadTrial,
    interpret_trials,
    is_right_reply,
    make_choice_columns,
    make_right_columns,
)
from contrapose.tasks.probes.answers.settings import Band
from contrapose.tasks.probes.base import Embed, unscored_score
from contrapose.tasks.probes.relation.settings import Expectation, RelationSettings

RIGHT = "right"
"""Scorer by known answers."""
FUNCTION = "function"
"""Scorer by a function of the user's own."""
_TRUTH = re.compile(
    r"(?:\A|[.!?:\n]|\banswer\s+is\b|\banswer:)[\s\"'“”*_(]*(?P<leading>yes|no)\b"
    r"(?=[\s\"'“”*_)]*(?:[.,;:!\n–—-]|\Z))|\A[\s\"'“”*_(]*(?P<first>yes|no)\b",
    re.IGNORECASE,
)
"""A separate "yes" or "no": the first word of a reply, or a word that is a clause by itself."""


def score_by_answers(trials: Sequence[Trial], settings: RelationSettings, *, embed: Embed) -> list[Score]:
    """Score trials by known right answers; a control passes if the answer stays."""
    return [
        _score_answers(reading, settings.expectation)
        for reading in interpret_trials(trials, embed, own=settings.own_labels)
    ]


def _score_answers(reading: ReadTrial, expectation: Expectation) -> Score:
    case, index = reading.trial.case, None if reading.before is None else reading.before.index
    before, after = is_right(case, reading.trial.expected.text, index), _is_right_after(reading)
    changed = _has_changed(reading, before, after)
    if case.control:
        return _score_case(reading, before, after, passed=None if changed is None else not changed, changed=changed)
    lost = None if before is None and after is None else before is not False and after is False
    if expectation == "not_worse":
        # A wrong answer before cannot get worse, and a right one after is none that was lost.
        known = before is False or after is True or None not in (before, after)
        return _score_case(reading, before, after, passed=not lost if known else None, changed=changed)
    return _score_case(reading, before, after, passed=after, changed=changed)


def _has_changed(reading: ReadTrial, before: bool | None, after: bool | None) -> bool | None:
    """Return whether the answer changed: the option, or without options whether it is right; None if unknown."""
    case = reading.trial.case
    if case.options:
        chosen = reading.before, reading.after
        return None if chosen[0] is None or chosen[1] is None else chosen[0].index != chosen[1].index
    if before is None or after is None or not (before or after):
        return None
    if case.control or case.answers_after in ((), case.answers):
        return before != after
    return True if before and after else None


def _score_case(
    reading: ReadTrial, before: bool | None, after: bool | None, *, passed: bool | None, changed: bool | None
) -> Score:
    case = reading.trial.case
    columns: Columns = {**make_choice_columns(reading), **make_right_columns(reading), "right_before": before}
    columns |= {"right_after": after, "answer_changed": changed}
    if case.answers_after and not case.control:
        # The right answer of before is not the one that is wanted after.
        columns |= {"gold_lost": None, "right_logprob_change": None}
    if before is not None and after is not None:
        columns["right_both"] = before and after
    said = {True: "right", False: "wrong", None: "unreadable"}
    reason = f"the reply to the original prompt is {said[before]}, that to the changed one {said[after]}"
    if case.control:
        reason = {True: "the answer changed", False: "the answer stayed", None: "a reply is unreadable"}[changed]
    elif before is None and not case.answers:
        reason = f"the reply to the changed prompt is {said[after]}"
    return Score(value=None if passed is None else float(passed), passed=passed, reason=reason, columns=columns)


def _is_right_after(reading: ReadTrial) -> bool | None:
    """Return whether the reply to the changed prompt is right, by the answers after the change if there are any."""
    case, index = reading.trial.case, None if reading.after is None else reading.after.index
    if case.answers_after and not case.control:
        case = replace(case, answers=case.answers_after, options=case.options_after or case.options)
    return is_right(case, reading.trial.actual.text, index)


def is_right(case: Case, reply: str | None, chosen: int | None) -> bool | None:
    """Return whether a reply gives an accepted answer; None if no answer is known or the reply is unreadable."""
    if not case.answers or not (reply or "").strip() or (case.options and chosen is None):
        return None
    accepted = {answer.strip().casefold() for answer in case.answers}
    if not case.options and accepted <= {"yes", "no"}:
        said = read_truth(reply or "")
        return None if said is None else said in accepted
    return is_right_reply(case, reply, chosen)


def read_truth(reply: str) -> str | None:
    """Return the `yes` or `no` in a reply; None if it says neither or both."""
    said = [(match["leading"] or match["first"]).casefold() for match in _TRUTH.finditer(reply)]
    return said[0] if len(set(said)) == 1 else None


def score_by_function(trials: Sequence[Trial], settings: RelationSettings, band: Band, *, where: str) -> list[Score]:
    """Score trials by the user's function; replies that it cannot compare get no score, with the reason."""
    function = find_function(settings.score or "", where=where)
    return [_score_by_result(trial, settings.expectation, function, band) for trial in trials]


def _score_by_result(trial: Trial, expectation: Expectation, function: Callable[[str, str], Any], band: Band) -> Score:
    case, first, second = trial.case, trial.expected.text or "", trial.actual.text or ""
    if expectation == "becomes":
        if case.control:
            return unscored_score("the function compares a reply with an answer, and a control has none of its own")
        returned = [_call_function(function, second, answer) for answer in case.answers_after]
        result: Any = next((one for one in returned if one is True), returned[0])
        known = isinstance(result, bool)
    else:
        result = _call_function(function, first, second)
        known = isinstance(result, bool) or (isinstance(result, int | float) and math.isfinite(result))
    if not known:
        wanted = "true or false" if expectation == "becomes" else "true, false or a finite number"
        shown = result if isinstance(result, _CallError) else f"it returned {type(result).__name__} instead of {wanted}"
        return unscored_score(f"the function could not compare the replies: {shown}")
    value = float(not result) if isinstance(result, bool) else float(result)
    if expectation in ("becomes", "not_worse") and not case.control:
        passed = bool(result) if isinstance(result, bool) else value >= band[0]
        said = "right" if expectation == "becomes" else "no worse"
        reason = f"the function says that the reply to the changed prompt is {'' if passed else 'not '}{said}"
        return Score(value=float(passed), passed=passed, reason=reason, columns={})
    changed = not result if isinstance(result, bool) else not band[0] <= value <= band[1]
    keeps = case.control or expectation != "changes"
    said = "differ" if changed else "say the same"
    reason = f"the function says that the replies {said}"
    if not isinstance(result, bool):
        reason = (
            f"the function's difference {value:g} is {'outside' if changed else 'inside'} [{band[0]:g}, {band[1]:g}]"
        )
    passed = changed != keeps
    return Score(value=value, passed=passed, reason=reason, columns={"answer_changed": changed})


class _CallError(str):
    """The error that the user's function raised, as text."""


def _call_function(function: Callable[[str, str], Any], first: str, second: str) -> Any:
    try:
        result = function(first, second)
    except Exception as error:
        return _CallError(f"it raised {type(error).__name__}: {error}"[:300])
    # A number of numpy is a number, too.
    return result.item() if type(result).__module__ == "numpy" and hasattr(result, "item") else result
