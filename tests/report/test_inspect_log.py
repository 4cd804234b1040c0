"""inspect.eval: every reply of a run comes back from it, and it has what Inspect shows."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from asked_case import case
from report.factories import Held, report, row

from contrapose.tasks.core.records import Case, Completion, Score, Trial
from contrapose.tasks.core.registry import probe
from contrapose.tasks.infer.recorded import RecordedModel
from contrapose.tasks.infer.recordings import Selection, read_recording
from contrapose.tasks.report import inspect_log
from contrapose.tasks.report.base import Report, SentPrompts
from contrapose.tasks.report.publish import collect_replies
from contrapose.tasks.tables.results import make_result_table
from contrapose.tasks.tables.table import write

PROBE = "add_negation"
REPLIES = {
    "answered": Completion(text=" It is “so”.\n"),
    "with passages": Completion(text="Yes.", passages=("One.", "Two.")),
    "empty": Completion(text=""),
    "cut_off": Completion(text="It is", outcome="cut_off"),
    "moderated": Completion(text="", outcome="moderated"),
    "refused": Completion(text="I won't.", outcome="refused"),
    "tool_call": Completion(text="", outcome="tool_call"),
    "failed": Completion(error="status 400: away"),
    "malformed": Completion(error="no text", outcome="malformed"),
}


def asked_cases() -> Iterator[tuple[Case, Completion, Completion]]:
    """A case for each kind of reply, twice, all with the same unchanged prompt."""
    for name, reply in REPLIES.items():
        for repeat in (0, 1):
            more = {"id": f"{PROBE}/{name}#2" if repeat else f"{PROBE}/{name}", "probe": PROBE, "repeat": repeat}
            after = reply if reply.text is None else replace(reply, text=f"{reply.text}{'again' * repeat}")
            before = Completion(text=f"Before {repeat}.")
            yield case(name, perturbed_prompt=f"Prompt {name}?", **more), before, after


def written() -> Report:
    """The report of these cases, of which every other one passed."""
    trials = [Trial(case=each, expected=before, actual=after) for each, before, after in asked_cases()]
    scores = [Score(value=1.0, passed=number % 2 == 0, reason="So.") for number in range(len(trials))]
    table = make_result_table(trials, scores, probe=probe(PROBE), model="openai/m", passages=True)
    sent = [
        SentPrompts(case_id=each.id, original="It is.", changed=str(each.perturbed_prompt))
        for each, *_ in asked_cases()
    ]
    before = (("system", "Be brief."), ("user", "Example?"), ("assistant", "Reply."))
    return replace(report(), results=Held(table.to_pandas()), prompts=lambda: iter(sent), before_prompts=before)


def log_of(shown: Report) -> dict[str, object]:
    content = inspect_log.render(shown)
    assert content is not None
    with zipfile.ZipFile(io.BytesIO(content)) as log:
        return {name: json.loads(log.read(name)) for name in log.namelist()}


def test_every_reply_comes_back(tmp_path: Path) -> None:
    (tmp_path / "any name").write_bytes(inspect_log.render(written()) or b"")
    found = read_recording(Selection(source=str(tmp_path / "any name")))
    assert not found.by_id
    model = RecordedModel(found, "log")
    for each, before, after in asked_cases():
        assert model.has_replies(each)
        for prompt, reply in (("It is.", before), (each.perturbed_prompt, after)):
            [back] = [kept[each.repeat] for key, kept in found.replies.items() if key.prompt == prompt]
            assert (back.text, back.outcome, back.error) == (reply.text, reply.outcome, reply.error)
            assert back.passages == reply.passages
    assert {len(kept) for kept in found.replies.values()} == {2}


def test_samples_have_messages_scores_and_what_is_known_of_the_case() -> None:
    log = log_of(written())
    sample, header = log["samples/add_negation/answered/perturbed_epoch_1.json"], log["header.json"]
    assert [message["role"] for message in sample["input"]] == ["system", "user", "assistant", "user"]
    assert sample["messages"][-1]["content"] == " It is “so”.\n"
    assert sample["scores"][PROBE] | {"metadata": None} == {
        "value": "C",
        "answer": " It is “so”.\n",
        "explanation": "So.",
        "metadata": None,
    }
    own = sample["metadata"]["contrapose"]
    assert (own["test_type"], own["side"], own["original"], own["test_case"]) == (
        PROBE,
        "perturbed",
        "It is.",
        "It is not.",
    )
    assert log["samples/add_negation/answered/original_epoch_1.json"]["scores"] == {}
    assert log["samples/add_negation/failed/perturbed_epoch_2.json"]["error"]["message"] == "status 400: away"
    assert header["results"]["scores"][0]["metrics"]["pass_rate"]["value"] == 0.75
    assert header["eval"]["dataset"]["samples"] == len(header["eval"]["dataset"]["sample_ids"]) == 2 * len(REPLIES)
    assert len(log["summaries.json"]) == 4 * len(REPLIES)


def test_replies_are_those_that_came_and_not_the_choices_that_results_show() -> None:
    replies = {f"{PROBE}/answered": ("Before 0.", "B, I am sure.")}
    log = log_of(replace(written(), replies=lambda: replies))
    assert log["samples/add_negation/answered/perturbed_epoch_1.json"]["messages"][-1]["content"] == "B, I am sure."


@pytest.mark.parametrize("why", ["too many rows", "no prompts"])
def test_runs_that_do_not_fit_have_no_log(why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = report() if why == "no prompts" else written()
    monkeypatch.setattr(inspect_log, "MOST", 3 if why == "too many rows" else 10_000)
    assert inspect_log.render(shown) is None


def test_undecided_cases_have_no_score() -> None:
    rows = [row(case_id="a/1", undecided=True), row(case_id="a/2", **{"pass": None}), row(case_id="a/3", control=True)]
    sent = [SentPrompts(case_id=f"a/{number}", original="A?", changed="B?") for number in (1, 2, 3)]
    log = log_of(replace(report(), results=Held(pd.DataFrame(rows)), prompts=lambda: iter(sent)))
    scores = [each["scores"] for name, each in log.items() if name.endswith("perturbed_epoch_1.json")]
    assert [list(names) for names in scores] == [[], [], [f"{rows[2]['test_type']}_control"]]


@pytest.mark.usefixtures("in_tmp")
def test_replies_are_read_from_stored_trials() -> None:
    trials = [Trial(case=asked, expected=before, actual=after) for asked, before, after in asked_cases()]
    replies = collect_replies([write(trials[:5], Trial), write(trials[5:], Trial)])
    assert replies == {trial.case.id: (trial.expected.text, trial.actual.text) for trial in trials}
