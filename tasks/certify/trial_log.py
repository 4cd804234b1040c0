"""Read recorded trials of agents from tau-bench, tau2-bench, Inspect logs with epochs, and tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

from contrapose.tasks.certify.single_answers import NAMES as ANSWER_NAMES
from contrapose.tasks.certify.single_answers import is_empty, parse_verdict
from contrapose.tasks.certify.verdict_log import NAMES as PAIR_NAMES
from contrapose.tasks.certify.verdict_log import Row, find_columns, list_columns, read_rows
from contrapose.tasks.core.bounds import SURROGATE
from contrapose.tasks.core.errors import DataError
from contrapose.tasks.core.logs import read_inspect_samples, read_object
from contrapose.tasks.core.tool_calls import CALLERS, ToolCall, parse_json, read_calls

NAMES: Mapping[str, tuple[str, ...]] = {
    "task": ("task", "task_id", "task_name", "instance_id"),
    "outcome": ("passed", "success", "resolved", "reward", "score"),
    "trial": ("trial", "epoch", "attempt", "run", "repeat", "repetition"),
    "agent": ("agent", "agent_model", "model"),
    "cluster": ("cluster", "group", "user", "user_id", "domain"),
    "messages": ("messages", "traj", "trajectory", "calls", "tool_calls"),
}
"""Our names of the parts of a row, to the usual names of their columns."""
NEEDED = ("task", "outcome")
OF_JUDGES = {*PAIR_NAMES["first"], *PAIR_NAMES["second"], *ANSWER_NAMES["label"]}
"""Columns of verdicts of judges, which may have tasks and scores, too."""
SLACK = 1e-6
"""A reward that is less than 1 by no more is a success, as in tau-bench."""
GRADES: Mapping[str, float] = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Scores of Inspect: correct, partly correct, incorrect, no answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTrial:
    """One trial of an agent on a task."""

    task: str
    trial: str
    """Its number, or another name."""
    cluster: str
    """The task, or the group of tasks that are not independent."""
    passed: bool | None
    """None where nothing was scored."""
    calls: tuple[ToolCall, ...]
    """Calls of tools, in order; empty if the file has none."""
    text: str
    """What the agent wrote."""


def read_trials(source: str) -> dict[str, list[AgentTrial]] | None:
    """Return the trials of each agent in a file, or None for a file of something else.

    Raises DataError for a row without a task, a reward that is not from 0 to 1, or a trial that is there twice.
    """
    rows = _find_rows(source)
    if rows is None:
        return None
    usual, columns = PurePath(source).stem, find_columns(list_columns(rows), source, NAMES, NEEDED) if rows else {}
    agents, counts = dict[str, dict[tuple[str, str], AgentTrial]](), Counter[tuple[str, str]]()
    for number, row in rows:
        values = {name: row[column] for name, column in columns.items() if not is_empty(row.get(column))}
        agent, task = _clean_name(values.get("agent", usual)), _clean_name(values.get("task", ""))
        counts[agent, task] += 1
        trial, own = _clean_name(values.get("trial", counts[agent, task])), agents.setdefault(agent, {})
        if not task or (task, trial) in own:
            raise DataError(
                f"trial {trial} of task {task} a second time" if task else "no task",
                expected="a name for each task, and each of its trials once",
                remedy="Fill in the columns task and trial, or name several agents in a column agent.",
                where=f"{source}, row {number}",
            )
        messages = values.get("messages")
        messages = parse_json(messages) if isinstance(messages, str) else messages
        own[task, trial] = AgentTrial(
            task=task,
            trial=trial,
            cluster=_clean_name(values.get("cluster", task)),
            passed=_read_outcome(values.get("outcome"), f"{source}, row {number}, column {columns['outcome']}"),
            calls=tuple(read_calls(messages)),
            text=_read_text(messages),
        )
    trials = {agent: _drop_single_group([*own.values()]) for agent, own in agents.items()}
    if bare := [agent for agent, own in (trials or {usual: []}).items() if all(one.passed is None for one in own)]:
        raise DataError(
            f"no trial of {', '.join(bare)} has a reward",
            expected="at least one",
            remedy="Name a file of trials that were scored.",
            where=source,
        )
    return trials


def _clean_name(value: Any) -> str:
    """Return a value as a name that files can store: lone surrogates are replaced."""
    return SURROGATE.sub("?", str(value))


def _drop_single_group(trials: list[AgentTrial]) -> list[AgentTrial]:
    """Make each task its own group if all trials are in one group."""
    is_one = len({trial.cluster for trial in trials}) == 1
    return [replace(trial, cluster=trial.task) for trial in trials] if is_one else trials


def _find_rows(source: str) -> list[tuple[int, Row]] | None:
    """Return the rows of a file of trials, or None for a file of something else."""
    if source.lower().endswith(".eval"):
        return [*enumerate(map(_parse_inspect_row, read_inspect_samples(source)), start=1)]
    document = read_object(source) or {}
    for key, convert in LAYOUTS.items():
        if isinstance(document.get(key), list) and document[key]:
            return [*enumerate(map(convert, document[key]), start=1)]
    rows = read_rows(source)
    for first in rows:
        columns = {str(column).casefold() for column in first[1]}
        if columns & OF_JUDGES or not all(columns & set(NAMES[name]) for name in NEEDED):
            return None
        return [(number, _parse_tau_row(row)) for number, row in (first, *rows)]
    return None


def _follow(value: Any, *keys: str) -> Any:
    """Return the value under nested keys, or None if a key is missing."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _parse_tau_row(row: Row) -> Row:
    """Return a row of tau-bench, which has several tasks of one user, or of any table."""
    user = _follow(row, "info", "task", "user_id")
    return row if user is None else {"user": user, **row}


def _parse_tau2_row(run: Any) -> Row:
    """Return a simulation of tau2-bench; like there, one that an infrastructure error ended has no reward."""
    row = {name: _follow(run, name) for name in ("task_id", "trial", "messages")}
    broken = _follow(run, "termination_reason") == "infrastructure_error"
    return {**row, "reward": None if broken else _follow(run, "reward_info", "reward")}


def _parse_inspect_row(sample: Any) -> Row:
    """Return a sample of Inspect with its first score; without one where the sample ended with an error."""
    scores = _follow(sample, "scores")
    score = _follow(next(iter(scores.values()), None) if isinstance(scores, dict) else None, "value")
    row = {"task": _follow(sample, "id"), "trial": _follow(sample, "epoch"), "messages": _follow(sample, "messages")}
    return {**row, "score": None if _follow(sample, "error") else GRADES.get(str(score), score)}


LAYOUTS: Mapping[str, Callable[[Any], Row]] = {"simulations": _parse_tau2_row, "samples": _parse_inspect_row}
"""Keys of documents that hold a list of trials, to what makes a row of each."""


def _read_outcome(value: Any, where: str) -> bool | None:
    """Return whether a trial passed; None without a value."""
    reward = 0.0 if value is None else parse_verdict(value)
    if not 0 <= reward <= 1 + SLACK:
        expected = "pass, fail, true, false, or a number from 0 to 1, where 1 is a success"
        remedy = "Write 1 for a trial that passed, and 0 for one that failed."
        raise DataError(f"the outcome {str(value)[:80]}", expected=expected, remedy=remedy, where=where)
    return None if value is None else reward >= 1 - SLACK


def _read_text(messages: Any) -> str:
    """Return what the agent wrote in messages, without its calls."""
    own = [one for one in messages if _follow(one, "role") in CALLERS] if isinstance(messages, list) else []
    contents = [content if isinstance(content := _follow(one, "content"), list) else [{"text": content}] for one in own]
    return "\n".join(str(text).strip() for parts in contents for part in parts if (text := _follow(part, "text")))
