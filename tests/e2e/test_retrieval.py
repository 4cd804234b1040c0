"""Passages in whole runs: rows that have one, and an application that retrieves."""

from __future__ import annotations

import inspect
import json
import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest
import retriever
from aiohttp import web
from app_server import AppServer
from fake_endpoint import Endpoint, serving, serving_this
from newest_run import asking, newest, setting, summary_of, write_rows
from tiny_model import save_tiny_model

from contrapose.flows.cli import main

pytestmark = pytest.mark.usefixtures("prefect_server", "own_store", "in_tmp")

PLACES = ("model_args.reply=answer.text", "model_args.context=documents.*.text")
PLANTED = {"same": {"cases": 8, "hits": 3}, "reordered": {"cases": 3, "hits": 1}, "other": {"cases": 5, "hits": 4}}
"""By its passages: how many statements the retriever of tests knows, and of how many a denial changes what it says."""
TOLD = (
    "8 of 16 answers changed: 4 with other passages and 1 with the same ones in another order (retrieval may be the "
    "cause) and 3 with the same passages (retrieval is not the cause)."
)


class Retriever(AppServer):
    """The application behind an address, which waits a little with each answer."""

    seconds: float = 0.0

    async def ask(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.bodies.append(body)
        time.sleep(self.seconds)
        answer = retriever.answer(body["prompt"])
        documents = [{"text": text, "id": retriever.BASE.index(text)} for text in answer["context"]]
        return web.json_response({"answer": {"text": answer["reply"]}, "documents": documents})


@pytest.fixture
def server(in_tmp: Path) -> Iterator[Retriever]:
    """The application, and a suite of its statements."""
    retriever.written(Path("statements.jsonl"))
    Path("suite.yaml").write_text(
        "suite: rag\nlimit: null\ntests: {sensitivity: {add_negation: {data: statements.jsonl}}}\n"
    )
    with serving_this(Retriever()) as started:
        yield started


def arguments(model: str, *places: str, out: str = "out") -> list[str]:
    words = ["run", "--suite", "suite.yaml", "--model", model, "--out", out]
    return [*words, *setting(*places)]


def outcome(out: str = "out") -> dict[str, Any]:
    [test] = summary_of(out)["tests"]
    return dict(test)


def planted(test: dict[str, Any]) -> dict[str, dict[str, int]]:
    groups = test["passages"]["cases"]["groups"]
    return {group["passages"]: {name: group[name] for name in ("cases", "hits")} for group in groups}


def test_what_is_planted_is_told_by_every_report(server: Retriever, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments(f"app/{server.url}", *PLACES)) in {0, 1, 3}
    test = outcome()
    assert test["passages"]["hit"] == "changed"
    assert planted(test) == PLANTED
    shares = {group["passages"]: group["share"] for group in test["passages"]["cases"]["groups"]}
    assert shares == {"same": 3 / 8, "reordered": 1 / 8, "other": 1 / 2}
    page, comment = newest(file="report.html").read_text(), newest(file="report.md").read_text()
    for text in (page, comment, " ".join(capsys.readouterr().out.split())):
        assert TOLD in re.sub(r"&#\d+;", "", text)
    frame = pd.read_parquet(newest(file="results.parquet"))
    denied = frame[(frame["sample_id"] == "slate-hard") & ~frame["control"]].iloc[0]
    assert (denied["passages"], denied["passages_kept"]) == ("other", 0.5)
    assert json.loads(denied["actual_passages"]) == [retriever.BASE[10], retriever.DENIED]
    assert frame["passages"].notna().all()
    # Controls show the noise of retrieval.
    controls = frame[frame["control"]]
    counted = {group["passages"]: group for group in test["passages"]["control"]["groups"]}
    for alike, rows in controls.groupby("passages"):
        assert counted[alike]["cases"] == len(rows)
        assert counted[alike]["hits"] == int((~rows["pass"].astype(bool)).sum())
    # A "not" about the procedure leads to the passage that denies, and the answer changes with it.
    assert counted["other"]["hits"] >= 1


@pytest.mark.slow
def test_a_callable_and_a_recording_tell_the_same(server: Retriever) -> None:
    Path("retriever_of_run.py").write_text(inspect.getsource(retriever))
    main(arguments("app/retriever_of_run:answer"))
    assert planted(outcome()) == PLANTED
    asked = pd.read_parquet(newest(file="results.parquet"))
    prompts = [text for name in ("original_prompt", "perturbed_prompt") for text in _prompts(name)]
    rows = [{"prompt": prompt, **retriever.answer(prompt)} for prompt in dict.fromkeys(prompts)]
    main(arguments(f"recorded/{write_rows('recorded.jsonl', rows)}", out="recorded"))
    columns = ["case_id", "passages", "passages_kept", "expected_passages", "actual_passages", "pass"]
    judged = pd.read_parquet(newest("recorded", "results.parquet"))
    pd.testing.assert_frame_equal(judged[columns], asked[columns])


def _prompts(name: str) -> list[str]:
    return list(pd.read_parquet(newest(file="cases.parquet"))[name].dropna())


PASSAGE = "Vell lies at the mouth of the Arn. Its harbour is deep, and its market is open on six days."
ROWS = [
    {"passage": PASSAGE, "question": "Is the harbour of Vell deep?", "answer": True, "note": "n1"},
    {"passage": PASSAGE, "question": "Is the market of Vell open?", "answer": True, "note": "n2"},
    {"passage": "Tarr is an island.", "question": "Is Tarr a town?", "answer": False, "note": "n3"},
]
LONG = {**ROWS[0], "passage": f"{PASSAGE} " * 40}


def run(*arguments: str) -> tuple[Path, Mapping[str, Any]]:
    """The folder of a run of add_negation on rows.jsonl, and its summary."""
    main(["run", "--data", "rows.jsonl", "--test", "add_negation", "--out", "out", *arguments])
    return newest(), summary_of()


def test_passage_is_asked_shown_and_kept_apart_from_the_text(capsys: pytest.CaptureFixture[str]) -> None:
    write_rows("rows.jsonl", ROWS)
    folder, summary = run("--model", "mock")
    results = pq.read_table(folder / "results.parquet").to_pandas()
    cases = pq.read_table(folder / "cases.parquet").to_pandas()
    assert set(results["context"]) == {PASSAGE, "Tarr is an island."}
    assert not results["original"].str.contains("mouth of the Arn").any()
    assert cases["original_prompt"].str.startswith((f"{PASSAGE}\n\n", "Tarr is an island.\n\n")).all()
    assert results["cluster"].nunique() == 2
    (outcome,) = summary["tests"]
    assert outcome["data"]["columns"] == {
        "layout": None,
        "fields": {"text": ["question"], "context": ["passage"], "answer": ["answer"]},
        "unread": ["note"],
    }
    line = "question as text, passage as context, answer as answer; not read: note"
    assert line in " ".join(capsys.readouterr().out.split())
    assert line in (folder / "report.html").read_text()
    assert line in (folder / "report.md").read_text()
    assert PASSAGE in (folder / "report.html").read_text()


def too_long(summary: Mapping[str, Any]) -> tuple[int, int, dict[str, int]]:
    """How many samples a run judged, how many failed, and why others were skipped."""
    (outcome,) = summary["tests"]
    return outcome["scored"] + outcome["unscored"], outcome["errors"], outcome["skip_reasons"]


def test_prompt_beyond_the_window_of_a_local_model_is_skipped(capsys: pytest.CaptureFixture[str]) -> None:
    write_rows("rows.jsonl", [*ROWS, LONG])
    save_tiny_model(Path("tiny"), context=128)
    _, summary = run("--model", "hf/./tiny", "--set", "gen_kwargs.max_new_tokens=8")
    assert too_long(summary) == (3, 0, {"context_too_long": 1})
    assert summary["verdict"] != "incomplete"
    assert "1 too long for the model's context window" in " ".join(capsys.readouterr().out.split())


def test_prompt_that_an_endpoint_refuses_as_too_long_is_skipped() -> None:
    write_rows("rows.jsonl", [*ROWS, LONG])
    with serving(Endpoint(window=1_000)) as endpoint:
        _, summary = run(*asking(endpoint.port))
    assert too_long(summary) == (3, 0, {"context_too_long": 1})
    assert summary["verdict"] != "incomplete"


def test_replies_without_the_passages_are_told_fresh_or_stored(
    server: Retriever, capsys: pytest.CaptureFixture[str]
) -> None:
    for why in ("nothing at nowhere.*.text", "they came without"):
        assert main(arguments(f"app/{server.url}", PLACES[0], "model_args.context=nowhere.*.text")) in {0, 1, 3}
        out = " ".join(capsys.readouterr().out.split())
        assert out.count("Of some replies the passages are not known") == 1
        assert why in out
    assert "passages" not in outcome()


def test_stored_answers_keep_their_passages_and_others_are_not_served(server: Retriever) -> None:
    main(arguments(f"app/{server.url}", PLACES[0]))
    asked = len(server.bodies)
    assert "passages" not in outcome()
    assert not [name for name in pd.read_parquet(newest(file="results.parquet")) if "passage" in name]
    main(arguments(f"app/{server.url}", *PLACES))
    assert len(server.bodies) == 2 * asked
    first = newest(file="results.parquet").read_bytes()
    main(arguments(f"app/{server.url}", *PLACES, out="again"))
    assert len(server.bodies) == 2 * asked
    assert newest("again", "results.parquet").read_bytes() == first
    main(arguments(f"app/{server.url}", PLACES[0]))
    assert len(server.bodies) == 2 * asked
