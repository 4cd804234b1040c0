"""All that is wrong is told in one answer: each problem in a line with its place, expectation and remedy."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import pytest

from contrapose.flows.cli import main

GOOD = {"text": "The sky is blue."}


class Wrong(NamedTuple):
    """A command with mistakes: the files it reads, and what its lines must say, in their order."""

    name: str
    arguments: list[str]
    says: list[str]
    files: Mapping[str, str] = MappingProxyType({})


def rows(*values: object) -> dict[str, str]:
    """A data file."""
    return {"rows.jsonl": "".join(json.dumps(value) + "\n" for value in values)}


def suite(content: str) -> dict[str, str]:
    """A suite file."""
    return {"suite.yaml": content}


def model(name: str, *more: str) -> list[str]:
    """Arguments that name a model."""
    return ["--model", name, "--test", "add_negation", "--limit", "1", *more]


OWN_ROWS = ["--model", "mock", "--test", "add_negation", "--data", "rows.jsonl"]
SUITE = ["--suite", "suite.yaml"]
URL = "http://127.0.0.1:{port}"

WRONG = [
    # Names of models.
    Wrong("an OpenAI model without its provider", model("gpt-4o"), ["Did you mean 'openai/gpt-4o'?"]),
    Wrong("a reasoning model without its provider", model("o3-mini"), ["Did you mean 'openai/o3-mini'?"]),
    Wrong("a model folder that is there", model("my-model"), ["Did you mean 'hf/my-model'"], {"my-model/x": ""}),
    Wrong("a path without its provider", model("./my-model"), ["Did you mean 'hf/./my-model'"]),
    Wrong("an absolute path", model("/no/model"), ["Did you mean 'hf//no/model'"]),
    Wrong("a model of the hub without its provider", model("org/name"), ["Did you mean 'hf/org/name', of the Hugging"]),
    Wrong(
        "a model of Ollama without its provider", model("llama3:8b"), ["'openai/llama3:8b' with model_args.base_url"]
    ),
    Wrong("a provider with a slip", model("opnai/gpt-4o"), ["Did you mean 'openai'?"]),
    Wrong(
        "an address without /v1", model("openai/x", "--set", f"model_args.base_url={URL}"), [f"Did you mean {URL}/v1?"]
    ),
    Wrong(
        "another API below an address",
        model("openai/x", "--set", f"model_args.base_url={URL}/else/v1"),
        ["the server has no /chat/completions there (status 404)"],
    ),
    # Several mistakes of a suite.
    Wrong(
        "two unknown keys", SUITE, ["Did you mean 'model'?", "Did you mean 'limit'?"], suite("modle: mock\nlimti: 3\n")
    ),
    Wrong(
        "values of several tests",
        SUITE,
        [
            "limit: 0; expected greater than or equal to 1. Correct the value.",
            "add_negation.threshold: threshold (0.2, -0.2) is reversed",
            "add_negation.treshold: unknown key 'treshold'",
            "order_bias.margin: 7; expected less than or equal to 1",
        ],
        suite(
            "limit: 0\ntests:\n  sensitivity:\n    add_negation: {threshold: [0.2, -0.2], treshold: 1}\n"
            "  factuality:\n    order_bias: {margin: 7}\n"
        ),
    ),
    Wrong(
        "a key and the model",
        SUITE,
        ["unknown key 'sed'", "Did you mean 'openai/gpt-4o'?"],
        suite("model: gpt-4o\nsed: 1\n"),
    ),
    Wrong(
        "a key and the data of a test",
        SUITE,
        ["unknown key 'sed'", "data: colums: unknown key 'colums'"],
        suite("model: mock\nsed: 1\ntests:\n  sensitivity:\n    add_negation: {data: {source: a.csv, colums: {}}}\n"),
    ),
    Wrong(
        "data of two tests",
        SUITE,
        ["add_negation.data: colums: unknown key", "order_bias.data: splitt: unknown key"],
        suite(
            "model: mock\ntests:\n  sensitivity:\n    add_negation: {data: {source: a.csv, colums: {}}}\n"
            "  factuality:\n    order_bias: {data: {source: a.csv, splitt: x}}\n"
        ),
    ),
    Wrong(
        "two prompt files and a value",
        SUITE,
        ["no.txt cannot be read", "not.txt cannot be read", "seed: -1; expected"],
        suite(
            "model: mock\nseed: -1\ntests:\n  sensitivity:\n    add_negation: {prompt_file: no.txt}\n"
            "  factuality:\n    order_bias: {prompt_file: not.txt}\n"
        ),
    ),
    Wrong(
        "two secrets and a password",
        model("openai/x", "--set", "model_args.api_key=sk-1", "--set", "output=s3://me:sk-1@host/x"),
        ["model_args.api_key looks like a secret", "output holds a password"],
    ),
    Wrong(
        "two assignments", ["--set", "seed", "--set", "limit"], ["--set 'seed'; expected", "--set 'limit'; expected"]
    ),
    Wrong(
        "two values that are set",
        ["--model", "mock", "--set", "seed=x", "--set", "repeats=0"],
        ["repeats: 0; expected greater", "seed: 'x'; expected a valid integer"],
    ),
    Wrong(
        "two unknown tests",
        ["--model", "mock", "--test", "add_negatoin", "--test", "order_bais"],
        ["Did you mean 'add_negation'?", "Did you mean 'order_bias'?"],
    ),
    Wrong("an unknown test", SUITE, ["unknown key 'lowercase'"], suite("tests: {robustness: {lowercase: {}}}\n")),
    Wrong("an unknown category", SUITE, ["unknown key 'bias'"], suite("tests: {bias: {replace: {}}}\n")),
    Wrong("an unknown test alone", SUITE, ["unknown key 'lowercase'"], suite("tests: {lowercase: {}}\n")),
    Wrong(
        "more keys than an answer describes",
        SUITE,
        [*["unknown key"] * 20, "…and 5 more such problems."],
        suite("".join(f"key_{number}: 1\n" for number in range(25))),
    ),
    # Several mistakes of data, and of data beside something else.
    Wrong(
        "two rows",
        OWN_ROWS,
        [
            "2 rows cannot be used",
            "row 2: column 'text': null; expected a text.",
            "row 3: column 'text': 5 is a number",
        ],
        rows(GOOD, {"text": None}, {"text": 5}),
    ),
    Wrong(
        "three cells of a row",
        OWN_ROWS,
        ["row 2: column 'text': null", "row 2: column 'options': 1 option"],
        rows({"text": "What melts?", "options": ["ice", "sand"]}, {"text": None, "options": ["a"]}),
    ),
    Wrong(
        "more rows than an answer describes",
        OWN_ROWS,
        ["30 rows cannot be used", *["column 'text': null"] * 19, "…and 11 more such problems."],
        rows(GOOD, *[{"text": None}] * 30),
    ),
    Wrong(
        "texts for a pair test",
        ["--model", "mock", "--test", "order_bias", "--data", "rows.jsonl"],
        ["no column 'article_sentence'", "no column 'correct_sentence'", "no column 'incorrect_sentence'"],
        rows(GOOD),
    ),
    Wrong(
        "columns that settings name",
        [*OWN_ROWS, "--set", "data={source: rows.jsonl, slice_by: topci, cluster_by: grupo}"],
        ["slice_by names column 'topci'", "cluster_by names column 'grupo'"],
        rows({**GOOD, "topic": "x"}),
    ),
    Wrong(
        "a model argument and a row",
        ["--model", "embedded", *OWN_ROWS[2:], "--set", "model_args.dtpye=x"],
        ["unknown argument 'dtpye'", "row 1: column 'text': null"],
        rows({"text": None}),
    ),
    Wrong(
        "data of two tests that are not there",
        ["--model", "mock", "--test", "add_negation", "--test", "typo", "--data", "no.jsonl"],
        ["no.jsonl: there is no such file"],
    ),
]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.name)
def test_every_problem_has_a_line(
    wrong: Wrong, in_tmp: Path, endpoint: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    monkeypatch.setenv("CONTRAPOSE_KEY_HOSTS", "127.0.0.1")
    for name, content in wrong.files.items():
        (in_tmp / name).parent.mkdir(exist_ok=True)
        (in_tmp / name).write_text(content)
    code = main(["validate", *(word.replace("{port}", str(endpoint)) for word in wrong.arguments)])
    error = capsys.readouterr().err
    lines = error.splitlines()
    assert code == 2
    assert len(lines) == len(wrong.says), error
    for line, says in zip(lines, wrong.says, strict=True):
        assert says.replace("{port}", str(endpoint)) in line
        assert line.startswith("contrapose: ")
        assert "; expected " in line or "more such problems" in line
        assert line.endswith((".", "?", ")"))
    assert "sk-1" not in error
    assert "Traceback" not in error


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
