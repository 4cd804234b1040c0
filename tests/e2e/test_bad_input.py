"""Whatever a user gets wrong is answered by one clear line, the right exit code, and no traceback."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from contrapose.flows.cli import main

PAIR = {"article_sent": "It rained on Monday.", "correct_sent": "It rained.", "incorrect_sent": "It snowed."}
QUESTION = {"question": "The sky is", "options": "A. blue\nB. green", "answer": "A. blue"}


class Bad(NamedTuple):
    """One mistake: how to make it, and what the line must name."""

    name: str
    arguments: Callable[[Path], list[str]]
    says: str


def data(content: str | bytes, name: str = "rows.jsonl", test: str = "add_negation") -> Callable[[Path], list[str]]:
    """Arguments that load a file with this content."""

    def arguments(folder: Path) -> list[str]:
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return ["--model", "mock", "--test", test, "--data", name]

    return arguments


def suite(content: str) -> Callable[[Path], list[str]]:
    """Arguments that load a suite with this content."""

    def arguments(folder: Path) -> list[str]:
        (folder / "suite.yaml").write_text(content)
        return ["--suite", "suite.yaml"]

    return arguments


def plain(*words: str) -> Callable[[Path], list[str]]:
    """Arguments as they are."""
    return lambda _: list(words)


def folder_model(*files: str) -> Callable[[Path], list[str]]:
    """Arguments that name a model folder holding these files."""

    def arguments(folder: Path) -> list[str]:
        (folder / "model").mkdir()
        for file in files:
            (folder / "model" / file).write_text("{}")
        return ["--model", "hf/model"]

    return arguments


def refused_endpoint(_: Path) -> list[str]:
    """Arguments that point to a port where nothing listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    return ["--model", "openai/any", "--set", f"model_args.base_url=http://127.0.0.1:{port}/v1"]


def lines(*rows: object) -> str:
    """Rows as JSON lines."""
    return "".join(json.dumps(row) + "\n" for row in rows)


NEGATION = "tests:\n  sensitivity:\n    add_negation: "

BAD = [
    Bad(
        "missing file",
        plain("--model", "mock", "--test", "add_negation", "--data", "nope.jsonl"),
        "nope.jsonl",
    ),
    Bad(
        "folder as file",
        lambda f: (
            (f / "d.jsonl").mkdir(),
            ["--model", "mock", "--test", "add_negation", "--data", "d.jsonl"],
        )[1],
        "d.jsonl",
    ),
    Bad("empty file", data(""), "empty"),
    Bad("header only", data("question,options\n", "rows.csv"), "rows.csv"),
    Bad("no column of questions", data(lines({"price": 5.5})), "price"),
    Bad(
        "duplicated ids",
        data(lines(*({"id": name, "text": f"It is {place}."} for place, name in enumerate("xyx")))),
        "id 'x'",
    ),
    Bad("null cell", data(lines({"text": None})), "text"),
    Bad("blank cell", data(lines({"text": "  "})), "text"),
    Bad("5 MB cell", data(lines({"text": "a" * 5_000_000})), "1,000,000"),
    Bad("bad UTF-8", data(b'{"text": "caf\xe9 is open"}\n'), "UTF-8"),
    Bad("invalid JSON", data('{"text": "It is."\n'), "JSON"),
    Bad("JSON that is no list of rows", data('"text"', "rows.json"), "rows.json"),
    Bad("number for text", data(lines({"text": 5})), "text"),
    Bad("unknown suffix", data("x", "rows.docx"), "docx"),
    Bad(
        "unknown protocol",
        plain("--model", "mock", "--test", "add_negation", "--data", "nope://a/b.jsonl"),
        "nope",
    ),
    Bad("too many fields in a row", data("text\nIt is,really,so\n", "rows.csv"), "rows.csv"),
    Bad("a single option", data(lines({**QUESTION, "options": ["blue"]})), "options"),
    Bad("answer that is no option", data(lines({**QUESTION, "answer": "red"})), "red"),
    Bad(
        "unknown bundled data",
        plain("--model", "mock", "--test", "add_negation", "--data", "negatoin"),
        "negatoin",
    ),
    Bad(
        "column mapping to nothing",
        lambda f: [
            *data(lines({"text": "It is."}))(f),
            "--set",
            "data={source: rows.jsonl, columns: {text: txt}}",
        ],
        "txt",
    ),
    Bad(
        "slice_by of nothing",
        lambda f: [
            *data(lines({"text": "It is."}))(f),
            "--set",
            "data={source: rows.jsonl, slice_by: topic}",
        ],
        "topic",
    ),
    Bad("pairs for a text test", data(lines(PAIR)), "article_sent"),
    Bad(
        "every row refused",
        data(lines({**PAIR, "incorrect_sent": PAIR["correct_sent"]}), test="order_bias"),
        "two equal texts",
    ),
    Bad("unknown suite", plain("--suite", "quickstrat"), "quickstart"),
    Bad("missing suite file", plain("--suite", "nope.yaml"), "nope.yaml"),
    Bad("YAML with a mistake", suite("tests: [\n"), "line"),
    Bad("empty YAML", suite(""), "empty"),
    Bad("unknown key", suite("modle: mock\n"), "'model'"),
    Bad("unknown nested key", suite(NEGATION + "{treshold: [0, 1]}\n"), "'threshold'"),
    Bad("threshold reversed", suite(NEGATION + "{threshold: [0.2, -0.2]}\n"), "reversed"),
    Bad("NaN threshold", suite(NEGATION + "{threshold: [.nan, 0.2]}\n"), "finite"),
    Bad("pass rate over 1", suite("tests: {defaults: {min_pass_rate: 65}}\n"), "65"),
    Bad("unknown category", suite("tests: {robustness: {lowercase: {}}}\n"), "robustness"),
    Bad("no test selected", suite("tests: {defaults: {min_pass_rate: 0.5}}\n"), "no test"),
    Bad("unknown test", plain("--model", "mock", "--test", "add_negatoin"), "add_negatoin"),
    Bad("unknown provider", plain("--model", "gpt/4"), "gpt"),
    Bad("no API key", plain("--model", "openai/gpt-4.1-mini"), "OPENAI_API_KEY"),
    Bad("endpoint refused", refused_endpoint, "127.0.0.1"),
    Bad(
        "base_url that is none",
        plain("--model", "openai/x", "--set", "model_args.base_url=localhost:8000"),
        "base_url",
    ),
    Bad("API model without a name", plain("--model", "openai"), "openai/<model>"),
    Bad("model folder without weights", folder_model("config.json"), "without weights"),
    Bad("folder that is no model", folder_model("readme.txt"), "config.json"),
    Bad("hub id out of reach", plain("--model", "hf/nobody/nothing"), "hf/nobody/nothing"),
    Bad("unknown model argument", plain("--model", "embedded", "--set", "model_args.dtpye=float32"), "dtpye"),
    Bad("unknown dtype", plain("--model", "embedded", "--set", "model_args.dtype=int3"), "int3"),
    Bad("unknown device", plain("--model", "embedded", "--set", "model_args.device=cuda:99"), "cuda:99"),
    Bad("repeats of greedy replies", plain("--model", "embedded", "--set", "repeats=3"), "temperature above 0"),
    Bad(
        "secret in the configuration",
        plain("--model", "openai/x", "--set", "model_args.api_key=sk-1"),
        "environment",
    ),
    Bad(
        "loss scorer with an API model",
        plain(
            "--model",
            "openai/x",
            "--set",
            "model_args.base_url=http://127.0.0.1:{port}/v1",
            "--test",
            "add_negation",
            "--set",
            "tests.sensitivity.add_negation.scorer=loss",
        ),
        "loss",
    ),
    Bad("limit of zero", plain("--limit", "0"), "limit"),
    Bad("assignment without a value", plain("--set", "seed"), "KEY=VALUE"),
]


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad.name)
def test_one_clear_line(bad: Bad, in_tmp: Path, endpoint: int, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [word.replace("{port}", str(endpoint)) for word in bad.arguments(in_tmp)]
    code = main(["validate", *arguments])
    out, err = capsys.readouterr()
    told = [line for line in err.splitlines() if line.startswith("contrapose: ")]
    assert code == 2
    assert len(told) == 1
    assert len(err.splitlines()) == 1
    assert "Traceback" not in err + out
    assert bad.says in told[0]
    assert "; expected " in told[0]
    assert told[0].rstrip().endswith((".", "?", ")"))
    assert len(told[0]) < 700
    assert "sk-1" not in told[0]
