"""Write inspect.eval, a log of the run for Inspect. Each case is two samples, one for each prompt.

Source: version 2 of the log format of Inspect, `inspect_ai.log.EvalLog`.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from contrapose.tasks.core.chats import Message, parse_chat
from contrapose.tasks.core.outcome import Outcome
from contrapose.tasks.core.tool_calls import parse_json
from contrapose.tasks.report.base import Report, SentPrompts
from contrapose.tasks.text.cleaning import replace_surrogates

MOST = 10_000
"""Rows of the largest run that is written: Inspect holds all samples in memory."""
OURS = "contrapose"
"""Key of what only Contrapose knows of a sample, by which it reads its own logs."""
STOPS: Mapping[str, str] = {
    "answered": "stop",
    "cut_off": "max_tokens",
    "moderated": "content_filter",
    "refused": "content_filter",
    "tool_call": "tool_calls",
}
"""Why a reply ended, in Inspect's words."""
SIDES = (("original", "expected"), ("perturbed", "actual"))
"""Names of the sides of a case, and how the columns of their replies begin."""
LEFT_OUT = ("expected_result", "actual_result", "expected_passages", "actual_passages", "model")
"""Columns that stand elsewhere in a sample."""

Json = dict[str, Any]


def render(report: Report) -> bytes | None:
    """Return the log with raw texts, or None if the run is too large or its prompts are gone."""
    if len(report.results.figures) > MOST:
        return None
    prompts = {sent.case_id: sent for sent in report.prompts()}
    replies = report.replies()
    rows = [{**row, **_find_raw(replies, row)} for part in report.results.parts() for row in _drop_empty(part)]
    samples = [sample for row in rows if row["case_id"] in prompts for sample in _make_samples(row, prompts, report)]
    if not samples:
        return None
    files = {f"samples/{sample['id']}_epoch_{sample['epoch']}.json": sample for sample in samples}
    return _pack(
        {"header.json": _make_header(report, samples), "summaries.json": [*map(_sum_up, samples)], **files}, report
    )


def _drop_empty(part: Any) -> Iterator[Json]:
    """Yield rows without the columns that are empty."""
    for row in part.astype(object).where(part.notna(), None).to_dict("records"):
        yield {name: value for name, value in row.items() if value is not None}


def _find_raw(replies: Mapping[str, tuple[str | None, str | None]], row: Json) -> Json:
    """Return the raw replies of a row, as far as they are known."""
    texts = zip(LEFT_OUT, replies.get(row["case_id"], ()), strict=False)
    return {name: text for name, text in texts if text is not None}


def _pack(files: Mapping[str, Any], report: Report) -> bytes:
    """Return the log as a zip file; runs with equal replies differ only in their times."""
    content, started = io.BytesIO(), datetime.fromisoformat(report.summary["started"])
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as log:
        for name, value in files.items():
            entry = zipfile.ZipInfo(name, started.timetuple()[:6])
            text = replace_surrogates(json.dumps(value, ensure_ascii=False, default=str))
            log.writestr(entry, text.encode(), zipfile.ZIP_DEFLATED, 1)
    return content.getvalue()


def _make_samples(row: Json, prompts: Mapping[str, SentPrompts], report: Report) -> Iterator[Json]:
    """Yield the samples of a case: its score is that of the sample with the changed prompt."""
    sent, repeat = prompts[row["case_id"]], int(row.get("repeat") or 0)
    case = row["case_id"].rpartition("#")[0] if repeat else row["case_id"]
    common = {name: value for name, value in row.items() if name not in LEFT_OUT}
    before = [{"role": role, "content": text} for role, text in report.before_prompts]
    for (side, prefix), prompt in zip(SIDES, (sent.original, sent.changed), strict=True):
        asked = [*before, *_make_messages(prompt)]
        outcome = row.get(f"{prefix}_outcome") or "answered"
        error = row.get("error") if outcome in ("error", "malformed") else None
        own = {**common, "side": side, "outcome": "answered" if outcome == "error" else outcome}
        if passages := row.get(f"{prefix}_passages"):
            own["passages"] = json.loads(passages)
        sample = {
            "id": f"{case}/{side}",
            "epoch": repeat + 1,
            "input": asked,
            "target": "",
            "messages": asked,
            "output": {"model": row["model"], "choices": []},
            "scores": _make_score(row) if side == "perturbed" else {},
            "metadata": {OURS: own},
        }
        if error is not None:
            sample["error"] = {"message": error, "traceback": "", "traceback_ansi": ""}
        elif f"{prefix}_result" in row:
            reply = {
                "role": "assistant",
                "content": row[f"{prefix}_result"],
                "source": "generate",
                "model": row["model"],
            }
            choice = {"message": reply, "stop_reason": STOPS.get(outcome, "unknown")}
            sample |= {"messages": [*asked, reply], "output": {"model": row["model"], "choices": [choice]}}
        yield sample


def _make_messages(prompt: str) -> Iterator[Json]:
    """Yield the messages of a prompt as Inspect has them."""
    chat = parse_chat(prompt)
    for message in chat.messages if chat else [Message(role="user", content=prompt)]:
        calls = [
            {"id": call["id"], "type": "function", "function": call["function"]["name"],
             "arguments": parse_json(call["function"]["arguments"])}
            for call in message.get("tool_calls", [])
        ]  # fmt: skip
        yield {**message, **({"tool_calls": calls} if calls else {})}


def _make_score(row: Json) -> Json:
    """Return the score of a case, empty if it has no result."""
    if "pass" not in row or row.get("undecided"):
        return {}
    score = {
        "value": "C" if row["pass"] else "I",
        "answer": row.get("actual_result"),
        "explanation": row.get("reason"),
        "metadata": {name: row[name] for name in ("eval_score", "scorer") if name in row},
    }
    return {f"{row['test_type']}_control" if row.get("control") else row["test_type"]: score}


def _sum_up(sample: Json) -> Json:
    """Return the summary of a sample for Inspect's lists."""
    names = ("id", "epoch", "input", "target", "scores")
    error = {"error": sample["error"]["message"]} if "error" in sample else {}
    return {
        **{name: sample[name] for name in names},
        **error,
        "completed": True,
        "message_count": len(sample["messages"]),
    }


def _make_header(report: Report, samples: list[Json]) -> Json:
    """Return the log without its samples."""
    summary = report.summary
    tests, model, usage = summary["tests"], summary["model"], summary["usage"]
    tokens = {"input_tokens": usage["prompt_tokens"], "output_tokens": usage["completion_tokens"]}
    ids = list(dict.fromkeys(sample["id"] for sample in samples))
    ended = datetime.fromisoformat(summary["started"]) + timedelta(seconds=summary["seconds"])
    facts = {name: summary[name] for name in ("verdict", "reason", "seed")}
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "eval_id": summary["run_id"],
            "run_id": summary["run_id"],
            "created": summary["started"],
            "task": f"contrapose/{summary['suite']}",
            "task_id": summary["suite"],
            "dataset": {
                "name": ", ".join(dict.fromkeys(test["data"]["source"] for test in tests)),
                "samples": len(ids),
                "sample_ids": ids,
            },
            "model": model["id"],
            "config": {"epochs": max(sample["epoch"] for sample in samples)},
            "packages": {"contrapose": summary["contrapose"]},
            "metadata": {OURS: {**facts, "revision": model["revision"]}},
            "scorers": [{"name": test["test_type"]} for test in tests],
        },
        "plan": {"steps": [{"solver": "generate"}]},
        "results": {
            "total_samples": len(samples),
            "completed_samples": sum("error" not in sample for sample in samples),
            "scores": [*map(_make_results, tests)],
        },
        "stats": {
            "started_at": summary["started"],
            "completed_at": ended.isoformat(timespec="seconds"),
            "model_usage": {model["id"]: {**tokens, "total_tokens": sum(tokens.values())}},
        },
    }


def _make_results(test: Outcome) -> Json:
    """Return the figures of a test."""
    low, high = test["interval"] or (None, None)
    figures = {"pass_rate": test["pass_rate"], "low_95": low, "high_95": high, "min_pass_rate": test["min_pass_rate"]}
    return {
        "name": test["test_type"],
        "scorer": test["test_type"],
        "scored_samples": test["scored"],
        "unscored_samples": test["unscored"] + test["errors"],
        "metrics": {name: {"name": name, "value": value} for name, value in figures.items() if value is not None},
        "metadata": {name: test[name] for name in ("verdict", "reason", "probe_version")},
    }
