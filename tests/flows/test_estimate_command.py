"""The command `estimate`: figures before anything is spent, as text and as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from past_runs import past_run, past_test

from contrapose.flows.cli import main
from contrapose.flows.cli.estimate import estimate
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.config.suite_files import load_config
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.core.questions import Answer
from contrapose.tasks.core.records import Usage
from contrapose.tasks.infer.ask import list_questions
from contrapose.tasks.infer.keys import Keys
from contrapose.tasks.infer.mock import Mock, MockModel
from contrapose.tasks.store import Store
from contrapose.tasks.store.answers import AnswerRow, build_batch

MADE_UP = 25
"""Made-up replies that a test asks about, at most."""
OPTIONS = ["--model", "mock", "--test", "add_negation", "--test", "order_bias", "--limit", "30"]


pytestmark = pytest.mark.usefixtures("own_store")


def figures(capsys: pytest.CaptureFixture[str], *options: str) -> Any:
    assert main(["estimate", *OPTIONS, *options, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def answer_everything(config: RunConfig) -> int:
    """Answers of the mock model to all questions but losses, put in the store as a run does."""
    from contrapose.flows.cli.preview import load_previews

    cases = [case for each in load_previews(config) for own in each.cases() for case in own if case.skip_reason is None]
    keys, model = Keys(config.model_spec(), Mock().identity(config.model_spec())), MockModel()
    answers = [
        AnswerRow(
            key=keys.make_key(each), answer=Answer(question=each, completion=model.completion(each), seconds=0.01)
        )
        for each in list_questions(cases)
    ]
    run = Store().runs.begin("run", config=config.model_dump_json(), folder="/")
    Store().answers.keep(build_batch(answers, run=run, model=config.model, spent=Usage(), failures=0, again=False))
    return len(answers)


def configured() -> RunConfig:
    config, _ = load_config("quickstart", {"model": "mock", "limit": 30})
    return config


def test_it_counts_calls_per_test_and_in_all(capsys: pytest.CaptureFixture[str]) -> None:
    found = figures(capsys)
    assert set(found["tests"]) == {"add_negation", "order_bias"}
    assert found["tests"]["order_bias"] == {"prompts": 60, "answered": 0, "calls": 60}
    assert found["total"]["calls"] == sum(test["calls"] for test in found["tests"].values())


def test_it_opens_no_model(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a model was opened")

    monkeypatch.setattr(Mock, "open", refuse)
    assert figures(capsys)["total"]["calls"] > 0


def test_answers_that_are_there_are_not_counted_again_and_tell_tokens_and_time() -> None:
    config = configured()
    before = estimate(config).total
    there = answer_everything(config)
    after = estimate(config).total
    assert after.answered == there > 0
    assert after.calls < before.calls
    anew = estimate(config.model_copy(update={"refresh": True}))
    assert anew.total.answered == 0
    assert "earlier answers" in anew.forecast.prompt_tokens.because
    assert anew.forecast.seconds.value is not None


def test_a_known_price_gives_a_cost(capsys: pytest.CaptureFixture[str]) -> None:
    found = figures(capsys, "--set", "price.input=1", "--set", "price.output=2")
    tokens = found["prompt_tokens"]["value"] + 2 * found["completion_tokens"]["value"]
    assert found["cost"]["value"] == pytest.approx(tokens / 1e6)


def test_a_budget_that_is_too_small_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert figures(capsys, "--max-calls", "10")["stops_at"] == ["max_calls"]
    assert figures(capsys, "--max-calls", "100000")["stops_at"] == []
    assert main(["estimate", *OPTIONS, "--max-tokens", "10"]) == 0
    assert "The run will stop early: max_tokens is 10." in capsys.readouterr().out


def test_of_a_model_that_is_not_reached_every_prompt_counts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object) -> None:
        raise ModelError("no answer from the endpoint", expected="a server", remedy="Start it.")

    answer_everything(configured())
    monkeypatch.setattr(Mock, "identity", refuse)
    assert main(["estimate", *OPTIONS]) == 0
    assert "Every prompt counts as unanswered: no answer from the endpoint" in capsys.readouterr().out
    assert figures(capsys)["total"]["answered"] == 0


def test_an_api_model_is_estimated_without_a_key(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["estimate", "--model", "openai/gpt-4.1-mini", "--test", "order_bias", "--limit", "5"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "cost $0.00" in out
    assert "OPENAI_API_KEY is not set" in out


def test_repeats_are_asked_and_counted(capsys: pytest.CaptureFixture[str]) -> None:
    sampled = ("--test", "add_toxic_words", "--set", "gen_kwargs.temperature=0.7", "--set", "noise=0")
    once, thrice = figures(capsys, *sampled), figures(capsys, *sampled, "--set", "repeats=3")
    assert thrice["tests"]["add_toxic_words"]["calls"] == 3 * once["tests"]["add_toxic_words"]["calls"]
    assert thrice["power"]["tests"]["add_toxic_words"]["cases"] == 90


def test_it_tells_which_pass_rates_are_decided(capsys: pytest.CaptureFixture[str]) -> None:
    power = figures(capsys)["power"]
    assert set(power["tests"]) == {"add_negation", "order_bias"}
    assert power["level"] == 0.025
    found = power["tests"]["order_bias"]
    assert found["reach"]["fails_up_to"] < found["gate"] < found["reach"]["passes_from"]


@pytest.mark.parametrize(
    ("gate", "warning"),
    [
        (0.95, "add_negation: no result can pass the gate 95.0%: even 30 of 30 prove at most 8"),
        (1, "No number of samples is enough."),
    ],
)
def test_gate_that_no_result_passes_is_warned_of(gate: float, warning: str, capsys: pytest.CaptureFixture[str]) -> None:
    changed = ("--set", f"tests.sensitivity.add_negation.min_pass_rate={gate}")
    assert warning in figures(capsys, *changed)["power"]["warnings"][0]


def test_where_bare_rates_are_compared_power_means_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert figures(capsys, "--set", "tests.defaults.gate=rate")["power"] is None
    assert main(["estimate", *OPTIONS, "--set", "tests.defaults.gate=rate"]) == 0
    assert "passes from" not in capsys.readouterr().out


def test_the_text_tells_cost_time_and_rates_in_80_columns(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["estimate", *OPTIONS, "--set", "price.input=1", "--set", "price.output=2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert any(line.startswith("cost") and "as you set" in line for line in lines)
    assert any(line.startswith("time") and "a first run measures it" in line for line in lines)
    out = " ".join(" ".join(lines).split())
    assert "fails up to passes from models apart" in out
    assert "0.05 over 2 tests: the strictest step of Holm's correction" in out
    assert "order_bias: true pass rates between" in out


def test_what_may_be_asked_back_is_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    nothing = {"tests": {}, "total": 0, "model": "mock", "prompt_tokens": 0, "completion_tokens": 0, "cost": 0}
    assert figures(capsys)["asked_back_at_most"] == nothing
    found = figures(capsys, "--set", "tests.factuality.order_bias.read_with=ask")
    assert found["asked_back_at_most"] | {"prompt_tokens": 0, "completion_tokens": 0} == {
        **nothing,
        "tests": {"order_bias": 60 + MADE_UP},
        "total": 60 + MADE_UP,
    }
    assert found["tests"]["order_bias"]["calls"] == 60
    assert main(["estimate", *OPTIONS, "--set", "tests.factuality.order_bias.read_with=ask"]) == 0
    assert f"Up to {60 + MADE_UP} further calls" in " ".join(capsys.readouterr().out.split())


def test_replies_that_may_be_read_instead_of_likelihoods_are_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    found = figures(capsys)
    calls = found["read_instead_at_most"]["tests"]
    # Some prompts are answered in words anyway; the model may be asked about each reply.
    assert calls["order_bias"] == 2 * 60 + MADE_UP
    assert found["read_instead_at_most"]["total"] == sum(calls.values())
    assert found["read_instead_at_most"]["cost"] == 0
    assert main(["estimate", *OPTIONS]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "written replies where the letters have less than 5% of the probability" in out
    answer_everything(configured())
    assert figures(capsys)["read_instead_at_most"]["total"] == 0


def early(capsys: pytest.CaptureFixture[str], *options: str) -> Any:
    return figures(capsys, "--stop", "early", "--set", "runner_args.portion=8", *options)


def test_of_a_run_that_may_stop_early_it_tells_what_is_expected(capsys: pytest.CaptureFixture[str]) -> None:
    priced = ("--set", "price.input=1", "--set", "price.output=2")
    whole, found = figures(capsys, *priced), early(capsys, *priced)
    # What may be asked at most is the same.
    assert {**found, "stop_early": None} == whole
    expected = found["stop_early"]
    assert (expected["runs"], expected["level"]) == (1000, 0.025)
    assert set(expected["tests"]) == {"add_negation", "order_bias"}
    for test, rates in expected["tests"].items():
        gate, calls = found["power"]["tests"][test]["gate"], found["tests"][test]["calls"]
        off = [round(100 * (one["true_rate"] - gate)) for one in rates]
        possible = [points for points in (-30, -20, -10, 0, 10, 20, 30) if gate + points / 100 <= 1]
        assert off in (possible, [*possible, round(100 * (1 - gate))])
        assert all(0 < one["calls"] <= calls for one in rates)
        assert all(0 < one["cost"] <= found["cost"]["value"] for one in rates)
        assert rates[0]["calls"] < rates[1]["calls"] < rates[2]["calls"] < rates[3]["calls"]


def test_the_key_of_the_suite_does_what_the_option_does(capsys: pytest.CaptureFixture[str]) -> None:
    portion = ("--set", "runner_args.portion=8")
    assert figures(capsys, "--set", "stop=early", *portion) == early(capsys) == early(capsys)


def test_what_is_answered_already_is_not_expected_to_be_asked(capsys: pytest.CaptureFixture[str]) -> None:
    before = early(capsys)["stop_early"]["tests"]
    answer_everything(configured())
    after = early(capsys)["stop_early"]["tests"]
    for test in before:
        assert all(now["calls"] < then["calls"] for now, then in zip(after[test], before[test], strict=True))
        assert all(now["fails"] == then["fails"] for now, then in zip(after[test], before[test], strict=True))


def test_what_is_expected_fits_80_columns(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    priced = ("--set", "price.input=1", "--set", "price.output=2", "--max-calls", "10")
    assert main(["estimate", "--model", "mock", "--suite", "full", "--limit", "40", "--stop", "early", *priced]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    lines = [line.split() for line in out.splitlines()]
    assert ["true", "rate", "calls", "of", "all", "9", "in", "10", "cost", "passes", "fails", "open"] in lines
    assert ["add_toxic_words"] in lines
    plain = " ".join(out.split())
    assert "stop: early never asks more" in plain
    assert "The run will stop early, unless its tests are decided before: max_calls is 10." in plain


def test_where_nothing_is_judged_nothing_is_expected(in_tmp: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (in_tmp / "texts.jsonl").write_text(json.dumps({"id": "one", "text": "Never say that this is not so."}))
    options = ("--model", "mock", "--test", "add_negation", "--data", "texts.jsonl", "--stop", "early")
    assert main(["estimate", *options]) == 0
    assert "stop: early" not in capsys.readouterr().out
    assert main(["estimate", *options, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["stop_early"]["tests"] == {}


def test_skipped_rows_are_told_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = ["Der alte Hafen liegt im Norden.", "No bird sings.", "The sky is blue.", "Die Katze schläft auf dem Sofa."]
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    assert main(["estimate", "--model", "mock", "--test", "add_negation", "--data", str(rows)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "add_negation skips rows: 2 of 4 rows are not in English; 1 negated already." in said


WORDED = ["estimate", "--model", "mock", "--test", "order_bias", "--limit", "30", "--set", "wordings=6"]


def test_several_wordings_are_counted_and_a_design_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*WORDED, "--half-width", "15", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    # Thirty samples, each in two wordings and two orders.
    assert found["tests"]["order_bias"]["prompts"] == 120
    own = found["wordings"]["order_bias"]
    assert own["design"] == {"samples": 30, "wordings": 6, "per_sample": 2}
    assert own["run"] is None
    assert own["half_width"] > own["wanted"] == 0.15
    assert main(WORDED) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "order_bias asks each sample in 2 of 6 wordings. Expected interval:" in shown
    assert "no design has an interval of 5.0 points to either side" in shown


def test_variances_come_from_the_last_run_of_the_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from contrapose.tasks.history.dataset import append_run, find_place

    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CONTRAPOSE_HISTORY", raising=False)
    variances = {"samples": 0.01, "wordings": 0.0, "askings": 0.0, "rest": 0.02}
    for name, own in (("run-1", {"variances": None}), ("run-2", {"variances": variances}), ("run-3", None)):
        told = {"test_type": "order_bias", **({"wordings": own} if own else {})}
        folder = tmp_path / "runs" / name
        folder.mkdir(parents=True)
        (folder / "summary.json").write_text(json.dumps({"tests": [told]}), encoding="utf-8")
        append_run(
            find_place(None, "runs"),
            past_run(int(name[-1]), run_id=name, tests=[past_test(test_type="order_bias")]),
            key=name,
        )
    assert main([*WORDED, "--json"]) == 0
    own = json.loads(capsys.readouterr().out)["wordings"]["order_bias"]
    assert (own["run"], own["variances"]) == ("run-2", variances)


@pytest.mark.parametrize("points", ["0", "60", "x"])
def test_a_length_that_is_none_is_refused(points: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*WORDED, "--half-width", points])
    assert ended.value.code == 2
