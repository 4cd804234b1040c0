"""Whole runs at endpoints that refuse parameters: they have a verdict or name the setting, and ask nothing twice."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fake_endpoint import serving_this
from newest_run import asking, newest, setting
from places import REPOSITORY
from refusing import GREEDY, NEWER, NO_LOGPROBS, Refusing, Rule

from contrapose.flows.cli import main

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("prefect_server", "own_store")]

CASES = REPOSITORY.parent / "shared" / "data" / "cases"
TESTS = ("--test", "add_negation", "--test", "option_order", "--limit", "6", "--exit-zero")


@pytest.fixture
def server() -> Iterator[Refusing]:
    with serving_this(Refusing()) as endpoint:
        endpoint.logprobs = {"A": -0.1, "B": -3.0}
        endpoint.reply_text = "The answer is A."
        yield endpoint


def run(server: Refusing, out: Path, *more: str) -> dict[str, Any]:
    """What a run leaves in its manifest and its summary; it takes less than a minute."""
    start = time.monotonic()
    assert main(["run", *asking(server.port), *TESTS, "--out", str(out), *more]) == 0
    assert time.monotonic() - start < 60
    return {name: json.loads(newest(out, f"{name}.json").read_text()) for name in ("manifest", "summary")}


@pytest.mark.parametrize(
    ("rules", "more", "refused", "warned"),
    [([NEWER], (), 1, ""), ([NEWER, GREEDY, NO_LOGPROBS], ("model_args.logprobs=true",), 3, "refuses temperature")],
    ids=["max_tokens", "three"],
)
def test_a_refused_parameter_costs_one_request_and_a_second_run_none(
    rules: list[Rule], more: tuple[str, ...], refused: int, warned: str, server: Refusing, tmp_path: Path
) -> None:
    server.rules = rules
    settings = setting(*more)
    one = run(server, tmp_path / "one", *settings)
    asked = len(server.bodies)
    two = run(server, tmp_path / "two", *settings)
    assert (len(server.refused), len(server.bodies)) == (refused, asked)
    assert len({json.dumps(body, sort_keys=True) for body in server.bodies}) == asked
    for found in (one["summary"], two["summary"]):
        assert found["verdict"] != "incomplete"
        assert [test["errors"] for test in found["tests"]] == [0, 0]
        assert [text for text in found["warnings"] if "endpoint refuses" in text and warned in text] or not warned
    assert two["summary"]["usage"]["requests"] == 0
    assert [test["reason"] for test in one["summary"]["tests"]] == [test["reason"] for test in two["summary"]["tests"]]
    assert "changed_settings" in one["manifest"]["inference"]["option_order"]


@pytest.mark.skipif(not CASES.is_dir(), reason="../shared/data is not beside this checkout")
@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("K18-parameter-refused", "model_args.max_tokens_field"),
        ("K18-parameter-refused-v2", "gen_kwargs.temperature: null"),
    ],
)
def test_an_endpoint_that_refuses_everything_names_the_setting(
    name: str, setting: str, server: Refusing, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    body = json.loads((CASES / f"{name}.body.json").read_text())
    server.rules = [Rule(when=lambda _: True, told=body["body"], status=body["status"])]
    assert main(["run", *asking(server.port), *TESTS, "--out", str(tmp_path)]) == 2
    told = capfd.readouterr()
    assert setting in told.err
    assert "resume" not in told.err + told.out
    assert len(server.bodies) <= 4


def test_a_reader_that_refuses_the_temperature_reads_all_the_same(server: Refusing, tmp_path: Path) -> None:
    server.reply_text = "Well, that depends."
    with serving_this(Refusing(rules=[GREEDY, NEWER])) as reader:
        reader.reply_text = "A"
        address = f"reader_args.base_url=http://127.0.0.1:{reader.port}/v1"
        more = setting("reader=openai/reader", address, "model_args.constrained=off")
        found = run(server, tmp_path / "one", *more)["summary"]
        asked = len(reader.bodies)
        run(server, tmp_path / "two", *more)
    assert len(reader.refused) == 2
    assert asked == len(reader.bodies)
    assert any("openai/reader: The endpoint refuses temperature" in text for text in found["warnings"])
