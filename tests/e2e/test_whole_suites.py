"""Complete suites and files: `full` with controls, `langtest`, edits that are off by default, real data, letters."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from fake_endpoint import Endpoint, serving
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
