"""The suite `langtest` judges a model behind an API, and replies that were recorded, with LangTest's figures."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from fake_endpoint import Endpoint, serving

from contrapose.flows.cli import main

pytestmark = pytest.mark.usefixtures("prefect_server", "own_store", "in_tmp")

ARGUMENTS = ["run", "--suite", "langtest", "--limit", "12", "--out", "out"]


def reply(prompt: str) -> str:
    if "Summary A" in prompt:
        return ("A", "Summary B", "It is the first one.")[len(prompt) % 3]
    return ("A skull.", "The river rises, damn it.", "No sexual content here.")[len(prompt) % 3]


def results() -> pd.DataFrame:
    newest = max(Path("out").glob("[!.]*/results.parquet"), key=lambda path: path.stat().st_mtime_ns)
    return pd.read_parquet(newest).drop(columns=["model"])


def test_an_api_model_and_its_recorded_replies_get_the_same_figures() -> None:
    with serving(Endpoint(says=reply)) as endpoint:
        address = ["--model", "openai/m", "--set", f"model_args.base_url=http://127.0.0.1:{endpoint.port}/v1"]
        assert main([*ARGUMENTS, *address]) in {0, 1, 3}
        asked = {request.prompt for request in endpoint.requests}
    live = results()
    cases = live[~live["control"]]
    assert set(cases["scorer"]) == {"embedding", "count", "reply"}
    assert cases["langtest_pass"].notna().all()
    assert cases.loc[cases["test_type"] != "order_bias", "langtest_score"].notna().all()
    replies = "".join(f"{json.dumps({'prompt': prompt, 'reply': reply(prompt)})}\n" for prompt in sorted(asked))
    Path("replies.jsonl").write_text(replies)
    assert main([*ARGUMENTS, "--model", "recorded/replies.jsonl"]) in {0, 1, 3}
    recorded = results()
    shown = ["test_type", "sample_id", "eval_score", "pass", "langtest_score", "langtest_pass"]
    pd.testing.assert_frame_equal(recorded[shown], live[shown])
