"""Logs of four tools are read as these tools sent and received: kept ones, and (slow) ones that they write now."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from infer.interchange.make_logs import WRITERS, Tools, make_logs, run
from report.test_inspect_log import written

from contrapose.tasks.core.records import Completion
from contrapose.tasks.infer.formats.files import read_records
from contrapose.tasks.infer.recordings import Selection, read_recording
from contrapose.tasks.report import inspect_log

LOGS = Path(__file__).parent / "logs"
OUTCOMES = {"stop": "answered", "length": "cut_off", "content_filter": "moderated", "tool_calls": "tool_call"}
"""What a reply is, by why the server says that it ended."""
NO_FINISH = ("lm-eval-chat", "lm-eval-shots", "lm-eval-text", "lm-eval-repeats", "promptfoo-table")
"""Logs whose tools do not write why a reply ended."""
NO_ERRORS = ("otel-old-events",)
"""Logs of events, of which a failed call has none but its prompt."""

Replies = Mapping[str, Counter[tuple[str, str | None]]]
"""Outcomes and texts by prompts; a text that nobody reads is None."""


def read_reply(completion: Completion) -> tuple[str, str | None]:
    if completion.error is not None:
        return "error", None
    is_read = completion.outcome in ("answered", "cut_off")
    return completion.outcome, completion.text if is_read else None


def replies_of(path: Path) -> Replies:
    recording = read_recording(Selection(source=str(path)))
    return {key.prompt: Counter(map(read_reply, each)) for key, each in recording.replies.items()}


def exchanged(path: Path) -> Replies:
    """What the server received and sent; a call that was answered with what a tool returned goes on."""
    name = path.name.partition(".")[0]
    exchanges: list[dict[str, Any]] = json.loads((path.parent / f"{name}.exchanges.json").read_text())
    went_on = [each["messages"][:1] for each in exchanges if each["messages"][-1]["role"] == "tool"]
    replies: dict[str, Counter[tuple[str, str | None]]] = {}
    for exchange in exchanges:
        kept = replies.setdefault(exchange["prompt"].strip(), Counter())
        if "error" in exchange and name not in NO_ERRORS:
            kept["error", None] += 1
        for reply in exchange.get("replies", ()):
            outcome = "answered" if name in NO_FINISH else OUTCOMES[reply["finish"]]
            if outcome != "tool_call" or exchange["messages"] not in went_on:
                kept[outcome, reply["text"] if outcome in ("answered", "cut_off") else None] += 1
    return {prompt: kept for prompt, kept in replies.items() if kept}


def logs_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_file() and ".exchanges." not in path.name)


@pytest.mark.parametrize("name", [path.name for path in logs_in(LOGS)])
def test_kept_log_has_what_was_exchanged_whatever_it_is_called(name: str, tmp_path: Path) -> None:
    renamed = tmp_path / "replies of November"
    shutil.copy(LOGS / name, renamed)
    found = replies_of(renamed)
    assert found == exchanged(LOGS / name)
    assert found


def test_epochs_come_in_their_order() -> None:
    samples = [sample for _, sample in read_records(Selection(source=str(LOGS / "inspect-epochs.eval")))]
    assert [sample["epoch"] for sample in samples] == list(range(1, 12))


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Tools:
    """The tools, installed aside."""
    installed = Tools(folder=tmp_path_factory.mktemp("tools"))
    try:
        installed.install()
    except (OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"the tools cannot be installed here: {error}; {str(getattr(error, 'stderr', ''))[-300:]}")
    return installed


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("tool", WRITERS)
def test_logs_that_tools_write_now_have_what_was_exchanged(tool: str, tools: Tools, tmp_path: Path) -> None:
    make_logs(tool, tools, tmp_path / "logs")
    paths = logs_in(tmp_path / "logs")
    assert [path.name for path in paths] == [path.name for path in logs_in(LOGS) if path.name.startswith(tool)]
    for path in paths:
        assert replies_of(path) == exchanged(path), path.name


READ = """
import sys
from inspect_ai.log import list_eval_logs, read_eval_log, write_eval_log

[listed] = list_eval_logs(sys.argv[1])
log = read_eval_log(listed)
assert log.status == "success" and log.results.scores and not log.samples[0].error
write_eval_log(log, sys.argv[1] + "/again.json")
"""


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_inspect_reads_our_log_and_writes_it_again_without_loss(tools: Tools, tmp_path: Path) -> None:
    ours = tmp_path / "inspect.eval"
    ours.write_bytes(inspect_log.render(written()) or b"")
    run([str(tools.python), "-c", READ, str(tmp_path)])
    first, again = (read_recording(Selection(source=str(path))) for path in (ours, tmp_path / "again.json"))
    assert first == again
