"""Whatever a user gets wrong is told in one answer: each problem in a line with its place, expectation and remedy."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import pytest

from contrapose.flows.cli import main

PAIR = {"article_sent": "It rained on Monday.", "correct_sent": "It rained.", "incorrect_sent": "It snowed."}
GOOD = {"text": "The sky is blue."}


class Wrong(NamedTuple):
    """A command with mistakes: the files it reads, and what its lines must say, in their order."""

    name: str
    arguments: list[str]
    says: list[str]
    files: Mapping[str, str | bytes] = MappingProxyType({})


def rows(*values: object) -> dict[str, str | bytes]:
    """A data file."""
    return {"rows.jsonl": "".join(json.dumps(value) + "\n" for value in values)}


def wrong_data(name: str, content: str | bytes | dict[str, str | bytes], says: str, *more: str) -> Wrong:
    """A file of data with a mistake."""
    files = content if isinstance(content, dict) else {"rows.jsonl": content}
    return Wrong(name, [*NEGATION, "--data", *files, *more], [says], files)


def wrong_suite(name: str, content: str, *says: str) -> Wrong:
    """A suite with mistakes."""
    return Wrong(name, ["--suite", "suite.yaml"], [*says], {"suite.yaml": content})


def wrong_model(name: str, model: str, says: str, *settings: str, files: Mapping[str, str] = {}) -> Wrong:
    """A model, or its settings, with a mistake."""
    words = [word for each in settings for word in ("--set", each)]
    return Wrong(name, ["--model", model, "--test", "add_negation", "--limit", "1", *words], [says], files)


NEGATION = ["--model", "mock", "--test", "add_negation"]
OWN_ROWS = [*NEGATION, "--data", "rows.jsonl"]
URL = "http://127.0.0.1:{port}"
TESTS = "tests:\n  sensitivity:\n    add_negation: "

ONE = [
    wrong_data("5 MB cell", rows({"text": "a" * 5_000_000}), "5,000,000 characters; expected at most 1,000,000"),
    wrong_data(
        "column mapping to nothing", rows(GOOD), "txt", "--set", "data={source: rows.jsonl, columns: {text: txt}}"
    ),
    Wrong(
        "every row refused",
        ["--model", "mock", "--test", "order_bias", "--data", "rows.jsonl"],
        ["two equal texts"],
        rows({**PAIR, "incorrect_sent": PAIR["correct_sent"]}),
    ),
    Wrong("folder as file", [*NEGATION, "--data", "d.jsonl"], ["d.jsonl"], {"d.jsonl/x": ""}),
    wrong_suite("NaN threshold", TESTS + "{threshold: [.nan, 0.2]}\n", "finite"),
    wrong_suite("an unknown test of a category", "tests: {robustness: {lowercase: {}}}\n", "unknown key 'lowercase'"),
    wrong_suite("an unknown test without category", "tests: {lowercase: {}}\n", "unknown key 'lowercase'"),
    wrong_model("base_url that is none", "openai/x", "base_url", "model_args.base_url=localhost:8000"),
    wrong_model("a model folder that is there", "my-model", "Did you mean 'hf/my-model'", files={"my-model/x": ""}),
    wrong_model("an absolute path", "/no/model", "Did you mean 'hf//no/model'"),
    wrong_model(
        "another API below an address",
        "openai/x",
        "the server has no /chat/completions there (status 404)",
        f"model_args.base_url={URL}/else/v1",
    ),
]
SEVERAL = [
    wrong_suite(
        "values of several tests",
        "limit: 0\ntests:\n  sensitivity:\n    add_negation: {threshold: [0.2, -0.2], treshold: 1}\n"
        "  factuality:\n    order_bias: {margin: 7}\n",
        "limit: 0; expected greater than or equal to 1. Correct the value.",
        "add_negation.threshold: threshold (0.2, -0.2) is reversed",
        "add_negation.treshold: unknown key 'treshold'",
        "order_bias.margin: 7; expected less than or equal to 1",
    ),
    wrong_suite("a key and the model", "model: gpt-4o\nsed: 1\n", "unknown key 'sed'", "Did you mean 'openai/gpt-4o'?"),
    wrong_suite(
        "more keys than an answer describes",
        "".join(f"key_{number}: 1\n" for number in range(25)),
        *["unknown key"] * 20,
        "…and 5 more such problems.",
    ),
    Wrong(
        "two secrets and a password",
        ["--model", "openai/x", "--set", "model_args.api_key=sk-1", "--set", "output=s3://me:sk-1@host/x"],
        ["model_args.api_key looks like a secret", "output holds a password"],
    ),
    Wrong(
        "two assignments", ["--set", "seed", "--set", "limit"], ["--set 'seed'; expected", "--set 'limit'; expected"]
    ),
    Wrong(
        "two unknown tests",
        ["--model", "mock", "--test", "add_negatoin", "--test", "order_bais"],
        ["Did you mean 'add_negation'?", "Did you mean 'order_bias'?"],
    ),
    Wrong(
        "more rows than an answer describes",
        OWN_ROWS,
        ["30 rows cannot be used", *["column 'text': null"] * 19, "…and 11 more such problems."],
        rows(GOOD, *[{"text": None}] * 30),
    ),
    Wrong(
        "a model argument and a row",
        ["--model", "embedded", *OWN_ROWS[2:], "--set", "model_args.dtpye=x"],
        ["unknown argument 'dtpye'", "row 1: column 'text': null"],
        rows({"text": None}),
    ),
]


@pytest.mark.parametrize("wrong", [*ONE, *SEVERAL], ids=lambda wrong: wrong.name)
def test_every_problem_has_a_line(
    wrong: Wrong, in_tmp: Path, endpoint: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    monkeypatch.setenv("CONTRAPOSE_KEY_HOSTS", "127.0.0.1")
    for name, content in wrong.files.items():
        (in_tmp / name).parent.mkdir(exist_ok=True)
        (in_tmp / name).write_bytes(content if isinstance(content, bytes) else content.encode())

    def filled(text: str) -> str:
        return text.replace("{port}", str(endpoint))

    code = main(["validate", *map(filled, wrong.arguments)])
    out, error = capsys.readouterr()
    lines = error.splitlines()
    assert code == 2
    assert len(lines) == len(wrong.says), error
    for line, says in zip(lines, wrong.says, strict=True):
        assert filled(says) in line
        assert line.startswith("contrapose: ")
        assert "; expected " in line or "more such problems" in line
        assert line.endswith((".", "?", ")"))
        assert len(line) < 700
    assert "sk-1" not in error
    assert "Traceback" not in error + out


ACCEPTED = [
    "tests: {add_negation: {min_pass_rate: 0.5}}",
    "tests: {negation: }",
    "tests: {robustness: {add_negation: {min_pass_rate: 0.5}}}",
    "tests: {bias: {add_negation: }, defaults: {min_pass_rate: 0.5}}",
]


@pytest.mark.parametrize("tests", ACCEPTED)
def test_a_test_outside_its_category_is_taken_and_told(
    tests: str, in_tmp: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (in_tmp / "suite.yaml").write_text(f"model: mock\nlimit: 2\n{tests}\n")
    assert main(["validate", "--suite", "suite.yaml"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("add_negation on 2 of ")
    assert "it was read as a test of sensitivity" in err
