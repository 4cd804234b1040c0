"""Prompts as batch files, results into the store, and the round trip with a batch endpoint: nothing is paid twice."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from batch_server import BatchServer, asked_in
from databases import sqlite
from fake_endpoint import Endpoint, serving, serving_this

from contrapose.flows import batching
from contrapose.flows.cli import main
from contrapose.tasks.infer.openai import batches
from contrapose.tasks.store import Store

pytestmark = pytest.mark.usefixtures("own_store", "in_tmp")

TESTS = ("--suite", "full", "--test", "order_bias", "--test", "option_order", "--limit", "8")


@pytest.fixture
def server() -> Iterator[BatchServer]:
    with serving_this(BatchServer()) as endpoint:
        yield endpoint


class Asked(NamedTuple):
    """A run that asks everything one by one: its results, and what it asked."""

    rows: pa.Table
    prompts: set[str]


@pytest.fixture(scope="module")
def asked(prefect_server: None, tmp_path_factory: pytest.TempPathFactory) -> Asked:
    here = tmp_path_factory.mktemp("asked")
    with serving() as endpoint, pytest.MonkeyPatch.context() as patch:
        patch.chdir(here)
        patch.setenv("CONTRAPOSE_STORE", sqlite(here))
        return Asked(rows_of_run(endpoint, "asked"), set(endpoint.asked))


@pytest.fixture(autouse=True)
def no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "TRIES", 0)


def arguments(server: Endpoint, *options: str) -> list[str]:
    url = f"model_args.base_url=http://127.0.0.1:{server.port}/v1"
    return [*TESTS, "--model", "openai/any", "--set", url, "--set", "noise=0", *options]


def written(server: Endpoint, *options: str) -> list[dict[str, Any]]:
    """The lines that `prompts` writes."""
    assert main(["batch", "prompts", *arguments(server, *options)]) == 0
    return [json.loads(line) for line in Path("batch.jsonl").read_text().splitlines()]


def results(requests: list[dict[str, Any]], says: str = "A", **body: Any) -> Path:
    """A file of results in which every request is answered alike."""
    usage = {"prompt_tokens": 10, "completion_tokens": 1}
    reply = {"model": "any", "choices": [{"message": {"role": "assistant", "content": says}}], "usage": usage, **body}
    response = {"status_code": 200, "request_id": "q", "body": reply}
    lines = [{"id": "r", "custom_id": line["custom_id"], "response": response, "error": None} for line in requests]
    Path("results.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return Path("results.jsonl")


def rows_of_run(server: Endpoint, out: str, *options: str) -> pa.Table:
    code = main(["run", *arguments(server, "--out", out, "--exit-zero", *options)])
    assert code == 0
    (folder,) = Path(out).glob("[!.]*")
    return pq.read_table(folder / "results.parquet").replace_schema_metadata()


def test_prompts_are_the_requests_of_a_run_and_nobody_is_asked(server: BatchServer) -> None:
    lines = written(server)
    assert server.asked == {}
    assert len({line["custom_id"] for line in lines}) == len(lines) > 0
    assert {(line["method"], line["url"]) for line in lines} == {("POST", "/v1/chat/completions")}
    assert {line["body"]["model"] for line in lines} == {"any"}


@pytest.mark.slow
@pytest.mark.usefixtures("prefect_server")
def test_imported_answers_give_the_results_of_a_run_that_asks(server: BatchServer, asked: Asked) -> None:
    assert main(["batch", "answers", str(results(written(server)))]) == 0
    offline = rows_of_run(server, "offline", "--set", "model_args.offline=true")
    assert server.asked == {}
    assert offline.equals(asked.rows)


def test_files_hold_no_more_than_they_may(server: BatchServer, capsys: pytest.CaptureFixture[str]) -> None:
    whole = written(server)
    assert main(["batch", "prompts", *arguments(server, "--max-lines", "10", "--out", "new/part.jsonl")]) == 0
    parts = sorted(Path("new").glob("part-*.jsonl"), key=lambda path: int(path.stem.split("-")[1]))
    lines = [path.read_text().splitlines() for path in parts]
    assert [len(own) for own in lines[:-1]] == [10] * (len(parts) - 1)
    assert [json.loads(line) for own in lines for line in own] == whole
    assert f"{len(whole)} prompts written: new/part-1.jsonl" in capsys.readouterr().out
    sizes = [len(part) for part in batches.split_files([b"x" * 40] * 9, most_bytes=100)]
    assert sizes == [80, 80, 80, 80, 40]


def test_what_is_answered_is_not_written_again(server: BatchServer, capsys: pytest.CaptureFixture[str]) -> None:
    lines = written(server)
    assert main(["batch", "answers", str(results(lines[:-5]))]) == 4
    assert "5 prompts written with them have no answer" in capsys.readouterr().out
    assert written(server) == lines[-5:]
    assert main(["batch", "answers", str(results(lines))]) == 0
    assert f"{len(lines) - 5} answers there already" in capsys.readouterr().out
    assert main(["batch", "prompts", *arguments(server)]) == 0
    assert "nothing to ask" in capsys.readouterr().out


def test_results_of_other_settings_are_refused(server: BatchServer, capsys: pytest.CaptureFixture[str]) -> None:
    lines = written(server)
    foreign = [{**line, "custom_id": "0" * 64} for line in lines[:1]]
    assert main(["batch", "answers", str(results([*foreign, *lines[1:]]))]) == 4
    told = capsys.readouterr()
    assert "1 refused" in told.out
    assert "results.jsonl, row 1: no prompt that was written here has this custom_id" in told.err
    # What was asked with other settings has other keys: nothing of it is taken for these.
    assert len(written(server, "--set", "system_instruction=Be brief.")) == len(lines)
    shown = written(server, "--set", "few_shot=[{user: x, assistant: y}]")
    assert len(shown) == len(lines)
    assert [message["content"] for message in shown[0]["body"]["messages"]][:2] == ["x", "y"]


@pytest.mark.parametrize(("served", "code"), [("any", 0), ("any-2026-01-01", 0), ("another", 4), ("anyone", 4)])
def test_replies_of_another_model_are_refused(server: BatchServer, served: str, code: int) -> None:
    path = results(written(server), model=served)
    assert main(["batch", "answers", str(path)]) == code
    assert main(["batch", "answers", "--any-model", str(path)]) == 0


def test_lines_that_are_no_results_are_told_by_row(server: BatchServer, capsys: pytest.CaptureFixture[str]) -> None:
    lines = written(server)
    path = results(lines)
    good = path.read_text().splitlines()
    failed = {"id": "r", "custom_id": lines[2]["custom_id"], "response": {"status_code": 429, "body": None}}
    bad = [good[0][:40], "[]", json.dumps(failed), json.dumps({"custom_id": lines[3]["custom_id"], "error": "late"})]
    path.write_text("\n".join([*bad, *good[4:]]))
    assert main(["batch", "answers", str(path)]) == 4
    told = capsys.readouterr()
    assert "4 failed" in told.out
    assert "4 prompts written with them have no answer" in told.out
    assert [line.split(": ")[1] for line in told.err.splitlines()[-4:]] == [f"{path}, row {row}" for row in range(1, 5)]


def test_what_a_filter_refused_is_answered_for_good(server: BatchServer, capsys: pytest.CaptureFixture[str]) -> None:
    lines = written(server)
    path = results(lines)
    good = path.read_text().splitlines()
    refusal = {"error": {"code": "content_filter", "message": "Filtered."}}
    moderated = {"custom_id": lines[0]["custom_id"], "response": {"status_code": 400, "body": refusal}}
    broken = {"custom_id": lines[1]["custom_id"], "response": {"status_code": 200, "body": {"error": "upstream died"}}}
    path.write_text("\n".join([json.dumps(moderated), json.dumps(broken), *good[2:]]))
    assert main(["batch", "answers", str(path)]) == 4
    told = capsys.readouterr()
    assert "1 failed" in told.out
    assert "upstream died" in told.err
    assert Store().answers.find([lines[0]["custom_id"]])[lines[0]["custom_id"]].outcome == "moderated"
    assert [line["custom_id"] for line in written(server)] == [lines[1]["custom_id"]]


def test_a_file_of_requests_is_not_taken_for_results(server: BatchServer, capsys: pytest.CaptureFixture[str]) -> None:
    written(server)
    assert main(["batch", "answers", "batch.jsonl"]) == 2
    assert "batch.jsonl, row 1: a request, and not its result" in capsys.readouterr().err
    assert main(["batch", "answers", "nowhere.jsonl"]) == 2
    assert "nowhere.jsonl" in capsys.readouterr().err


def test_a_model_without_batches_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["batch", "prompts", "--model", "mock"]) == 2
    assert "mock is asked by no batch endpoint" in capsys.readouterr().err


@pytest.mark.usefixtures("prefect_server")
def test_a_round_trip_gives_the_results_of_a_run_that_asks(server: BatchServer, asked: Asked) -> None:
    server.looks = 2
    assert main(["batch", "submit", *arguments(server)]) == 0
    assert main(["batch", "collect"]) == 4
    assert main(["batch", "collect", "--wait", "--every", "0.01"]) == 0
    assert set(server.paid.values()) == {1}
    collected = rows_of_run(server, "collected")
    in_batch = {asked_in(json.loads(line)["body"]) for line in server.files["file-0"].splitlines()}
    # Only what depends on replies is asked one by one.
    assert not in_batch & set(server.asked)
    assert asked.rows.equals(collected)
    assert in_batch <= asked.prompts


@pytest.mark.usefixtures("prefect_server")
def test_a_run_that_is_interrupted_while_it_waits_goes_on_with_its_batch_and_asks_what_that_did_not_answer(
    server: BatchServer, asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: float) -> None:
        raise KeyboardInterrupt

    server.looks, server.failing = 3, 0.1
    with monkeypatch.context() as patch:
        patch.setattr("contrapose.flows.batching.time.sleep", interrupted)
        assert main(["run", *arguments(server, "--set", "batch_api=true")]) == 130
    assert server.asked == {}
    monkeypatch.setattr(batching, "LOOK_SECONDS", 0.01)
    waited = rows_of_run(server, "waited", "--set", "batch_api=true")
    requests = [json.loads(line) for line in server.files["file-0"].splitlines()]
    failed = {json.loads(line)["custom_id"] for line in server.files["file-2"].splitlines()}
    asked_one_by_one = {asked_in(line["body"]) for line in requests} & set(server.asked)
    assert 0 < len(failed) < len(requests)
    assert asked_one_by_one == {asked_in(line["body"]) for line in requests if line["custom_id"] in failed}
    assert set(server.asked.values()) == set(server.paid.values()) == {1}
    assert len(server.batches) == 1
    assert asked.rows.equals(waited)


@pytest.mark.usefixtures("prefect_server")
def test_a_budget_holds_over_a_batch_and_the_run_that_waits_for_it(
    server: BatchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batching, "LOOK_SECONDS", 0.01)
    assert main(["run", *arguments(server, "--set", "batch_api=true", "--max-calls", "9")]) == 4
    assert sum(server.paid.values()) + sum(server.asked.values()) == 9


def test_what_failed_is_submitted_again_and_nothing_else(server: BatchServer) -> None:
    server.failing = 0.3
    assert main(["batch", "submit", *arguments(server)]) == 0
    while main(["batch", "collect"]) != 0:
        assert main(["batch", "submit", *arguments(server)]) == 0
    assert max(server.paid.values()) > 1
    requests = [json.loads(line) for name, file in server.files.items() for line in file.splitlines() if name]
    answered = [line["custom_id"] for line in requests if line.get("response", {}).get("status_code") == 200]
    assert len(set(answered)) == len(answered) == len(server.paid)


def test_while_a_batch_is_under_way_nothing_of_it_is_submitted_or_written(
    server: BatchServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.looks = 100
    assert main(["batch", "submit", *arguments(server)]) == 0
    assert main(["batch", "submit", *arguments(server)]) == 0
    assert "nothing to submit" in capsys.readouterr().out
    assert main(["batch", "prompts", *arguments(server)]) == 0
    told = capsys.readouterr()
    assert "nothing to ask" in told.out
    assert "in a batch that was submitted, left out" in told.err
    assert len(server.batches) == 1
    assert main(["batch", "status"]) == 0
    assert "batch_0: in_progress" in capsys.readouterr().out


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_submission_that_breaks_off_goes_on_with_the_same_batch(
    server: BatchServer, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if when == "after":
        server.breaks_off = True
        assert main(["batch", "submit", *arguments(server)]) == 2
    else:
        with monkeypatch.context() as patch:
            patch.setattr(batching, "submit_prepared", lambda: iter(()))
            assert main(["batch", "submit", *arguments(server)]) == 0
    assert len(server.batches) == (when == "after")
    assert main(["batch", "submit", *arguments(server)]) == 0
    assert len(server.batches) == 1
    assert main(["batch", "collect"]) == 0
    assert set(server.paid.values()) == {1}


def test_a_batch_that_is_given_up_frees_its_prompts(server: BatchServer, capsys: pytest.CaptureFixture[str]) -> None:
    server.looks = 100
    assert main(["batch", "submit", *arguments(server)]) == 0
    assert main(["batch", "cancel", "batch_0"]) == 0
    assert main(["batch", "collect"]) == 4
    assert "batch_0: cancelled\nbatch_0: no results" in capsys.readouterr().out
    assert main(["batch", "submit", *arguments(server)]) == 0
    assert len(server.batches) == 2
    assert main(["batch", "cancel", "batch_7"]) == 2
    assert "batch_7: no such batch is under way" in capsys.readouterr().err


def test_an_endpoint_that_is_gone_keeps_no_other_batch_waiting(
    server: BatchServer, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving_this(BatchServer(breaks_off=True)) as gone:
        assert main(["batch", "submit", *arguments(gone)]) == 2
    assert main(["batch", "submit", *arguments(server)]) == 2
    assert len(server.batches) == 1
    capsys.readouterr()
    assert main(["batch", "collect"]) == 4
    told = capsys.readouterr()
    assert "batch_0: completed" in told.out
    assert f"http://127.0.0.1:{gone.port}/v1" in told.err
    assert main(["batch", "status"]) == 0
    (left,) = capsys.readouterr().out.splitlines()
    assert "prepared, not submitted" in left
    assert main(["batch", "prompts", *arguments(gone)]) == 0
    told = capsys.readouterr()
    assert "in a batch that is prepared, left out; `contrapose batch collect` submits it" in told.err
    assert "was submitted" not in told.err
    assert main(["batch", "cancel", left.partition(":")[0]]) == 0
    assert Store().prompts.batches() == []


def test_after_a_refused_key_a_batch_is_prepared_for_every_command(
    server: BatchServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.refuses_key = True
    for _ in range(2):
        assert main(["batch", "submit", *arguments(server)]) == 2
        shown = capsys.readouterr()
        assert "submitted, left out" not in shown.out + shown.err
    assert "in a batch that is prepared, left out" in shown.err
    assert main(["batch", "status"]) == 0
    assert "prepared, not submitted" in capsys.readouterr().out
    server.refuses_key = False
    assert main(["batch", "submit", *arguments(server)]) == 0
    assert len(server.batches) == 1


def test_a_batch_that_fails_may_be_submitted_again(server: BatchServer, capsys: pytest.CaptureFixture[str]) -> None:
    server.ends_as = "failed"
    assert main(["batch", "submit", *arguments(server)]) == 0
    assert main(["batch", "collect"]) == 4
    told = capsys.readouterr()
    assert "batch_0: no such model" in told.out
    assert "batch_0: no results" in told.out
    server.ends_as = "completed"
    assert main(["batch", "submit", *arguments(server)]) == 0
    assert main(["batch", "collect"]) == 0


def test_a_budget_holds_for_a_batch(server: BatchServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["batch", "submit", *arguments(server, "--max-calls", "7")]) == 0
    told = capsys.readouterr()
    assert "the budget max_calls = 7 does not allow another request" in told.out
    assert "7 prompts submitted" in told.out
    assert main(["batch", "collect"]) == 0
    assert len(server.paid) == 7
    assert Store().prompts.batches() == []
