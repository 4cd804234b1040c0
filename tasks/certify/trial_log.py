"""Recorded trials of agents: files of tau-bench and tau2-bench, logs of Inspect with epochs, and tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from contrapose.tasks.certify.single_answers import NAMES as ANSWER_NAMES
from contrapose.tasks.certify.single_answers import is_empty, read_pass
from contrapose.tasks.certify.verdict_log import NAMES as PAIR_NAMES
from contrapose.tasks.certify.verdict_log import Row, every_column, find_columns, read_rows
from contrapose.tasks.core.errors import DataError
from contrapose.tasks.core.logs import read_inspect_samples, read_object
from contrapose.tasks.core.tool_calls import CALLERS, ToolCall, parse_json, read_calls

NAMES: Mapping[str, tuple[str, ...]] = {
    "task": ("task", "task_id", "task_name", "instance_id"),
    "outcome": ("passed", "success", "resolved", "reward", "score"),
    "trial": ("trial", "epoch", "attempt", "run", "repeat", "repetition"),
    "agent": ("agent", "agent_model", "model"),
    "cluster": ("cluster", "group", "user", "user_id", "domain", "category"),
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
    """Calls of tools, in order; empty where the file has none."""
    text: str
    """What the agent wrote."""


def read_trials(source: str) -> dict[str, list[AgentTrial]] | None:
    """Return the trials of each agent in a file; None for a file of something else.

    Raises DataError for a row without a task, a reward that is not from 0 to 1, or a trial that is there twice.
    """
    rows = _find_rows(source)
    if rows is None:
        return None
    usual, agents = PurePath(source).name.partition(".json")[0], dict[str, list[AgentTrial]]()
    columns, seen = find_columns(every_column(rows), source, NAMES, NEEDED), Counter[tuple[str, str]]()
    keys = set[tuple[str, str, str]]()
    for number, row in rows:
        values = {name: None if is_empty(row.get(column)) else row[column] for name, column in columns.items()}
        agent, task, where = str(values.get("agent", usual)), str(values["task"]), f"{source}, row {number}"
        if values["task"] is None:
            remedy = "Fill it in, or leave the row out."
            raise DataError("no task", expected="a name", remedy=remedy, where=f"{where}, column {columns['task']}")
        seen[agent, task] += 1
        trial = str(values.get("trial", seen[agent, task]))
        if (agent, task, trial) in keys:
            remedy = "Number the trials of a task, or name the agents in a column agent."
            observed = f"trial {trial} of task {task} a second time"
            raise DataError(observed, expected="each trial once", remedy=remedy, where=where)
        keys.add((agent, task, trial))
        messages = parse_json(values["messages"]) if isinstance(values.get("messages"), str) else values.get("messages")
        agents.setdefault(agent, []).append(
            AgentTrial(
                task=task,
                trial=trial,
                cluster=str(values.get("cluster", task)),
                passed=_read_outcome(values["outcome"], f"{where}, column {columns['outcome']}"),
                calls=tuple(read_calls(messages)),
                text=_read_text(messages),
            )
        )
    return agents


def _find_rows(source: str) -> list[tuple[int, Row]] | None:
    """Return the rows of a file of trials; None for a file of something else."""
    if source.lower().endswith(".eval"):
        return _convert_rows(read_inspect_samples(source), _inspect_row, source)
    document = read_object(source) or {}
    for key, convert in LAYOUTS.items():
        if document.get(key) and isinstance(document[key], list):
            return _convert_rows(document[key], convert, source)
    rows = read_rows(source)
    for number, row in rows:
        columns = {str(column).casefold() for column in row}
        if columns & OF_JUDGES or not all(columns & set(NAMES[name]) for name in NEEDED):
            return None
        every = [(number, row), *rows]
        return _convert_rows((row for _, row in every), _tau_row, source)
    return None


def _convert_rows(rows: Iterable[Any], convert: Callable[[Any], Row], source: str) -> list[tuple[int, Row]]:
    converted = []
    for number, row in enumerate(rows, start=1):
        try:
            converted.append((number, convert(row)))
        except (AttributeError, KeyError, TypeError) as error:
            raise DataError(
                "something that is built otherwise",
                expected="a trial as tau-bench, tau2-bench or Inspect write it",
                remedy="Correct the file.",
                where=f"{source}, trial {number}",
            ) from error
    return converted


def _tau_row(row: Row) -> Row:
    """Return a row of tau-bench, or of any table; tau-bench has several tasks of one user."""
    task = row["info"].get("task") if isinstance(row.get("info"), Mapping) else None
    return {**row, "user": task.get("user_id")} if isinstance(task, Mapping) else row


def _tau2_row(run: Row) -> Row:
    """Return a simulation of tau2-bench; like there, one that an infrastructure error ended is no trial."""
    reward = (run.get("reward_info") or run).get("reward")
    ended = run.get("termination_reason") != "infrastructure_error"
    own = {"task": run["task_id"], "trial": run.get("trial"), "reward": reward if ended else None}
    return {**own, "messages": run.get("messages")}


def _inspect_row(sample: Row) -> Row:
    """Return a sample of Inspect with its first score; None as score where the sample ended with an error."""
    score = next(iter((sample.get("scores") or {}).values()), {}).get("value")
    score = None if sample.get("error") else GRADES.get(score, score) if isinstance(score, str) else score
    return {"task": sample["id"], "trial": sample.get("epoch"), "messages": sample.get("messages"), "score": score}


LAYOUTS: Mapping[str, Callable[[Row], Row]] = {
    "simulations": _tau2_row,
    "simulation_index": _tau2_row,
    "samples": _inspect_row,
}
"""Keys of documents that hold a list of trials, to what makes a row of each."""


def _read_outcome(value: Any, where: str) -> bool | None:
    """Return whether a trial passed; None without a value."""
    if value is None:
        return None
    reward = read_pass(value)
    if not 0 <= reward <= 1 + SLACK:
        expected = "pass, fail, true, false, or a number from 0 to 1, where 1 is a success"
        remedy = "Write 1 for a trial that passed, and 0 for one that failed."
        raise DataError(f"the outcome {str(value)[:80]}", expected=expected, remedy=remedy, where=where)
    return reward >= 1 - SLACK


def _read_text(messages: Any) -> str:
    """Return what the agent wrote in messages, without its calls."""
    texts = list[str]()
    for message in messages if isinstance(messages, list) else ():
        if isinstance(message, Mapping) and message.get("role") in CALLERS:
            content = message.get("content")
            parts = content if isinstance(content, list) else [{"text": content}]
            texts += [str(part.get("text") or "").strip() for part in parts if isinstance(part, Mapping)]
    return "\n".join(filter(None, texts))
