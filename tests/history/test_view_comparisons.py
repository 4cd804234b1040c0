"""Comparisons in what `contrapose view` shows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from finished import rows_from, write_run

from contrapose.flows.serve.view import choose_folder
from contrapose.flows.serve.view.site import Viewer
from contrapose.tasks.compare.compare import compare
from contrapose.tasks.compare.flips import flips_of
from contrapose.tasks.report.comparison_page import write_comparison

NAME = "20260301T083000Z-harbour-comparison"


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Three finished runs of models that are unlike each other, and their comparison."""
    shares = {"good": 90, "bad": 40, "shit": 20}
    folders = [
        str(write_run(tmp_path / name, rows_from([True] * passed + [False] * (100 - passed)), model=f"openai/{name}"))
        for name, passed in shares.items()
    ]
    comparison = compare(folders, baseline=folders[1])
    write_comparison(tmp_path / NAME, comparison, flips_of(comparison))
    return tmp_path


def page(runs: Path) -> str:
    found = Viewer(root=runs.resolve(), history=str(runs / "history"))("/")
    assert isinstance(found.content, bytes)
    return found.content.decode()


def test_it_is_listed_with_its_verdict_its_models_and_what_was_found(runs: Path) -> None:
    text = page(runs)
    told = (
        '<span class="pill fail">worse</span>',
        "openai/good, openai/s*** against openai/bad",
        "order_bias better (openai/good)",
        "order_bias worse (openai/s***)",
        "1 March 2026, 08:30 UTC",
        f"/files/{NAME}/comparison.html",
        f"/text/{NAME}/comparison.md",
        f"/files/{NAME}/comparison.json",
    )
    assert [each for each in told if each not in text] == []


def test_it_opens_at_its_page_or_else_at_its_text(runs: Path) -> None:
    root, start = choose_folder(str(runs / NAME))
    assert (root, start) == (runs.resolve(), f"/files/{NAME}/comparison.html")
    assert Viewer(root=root, history=str(runs / "history"))(start) is not None
    (runs / NAME / "comparison.html").unlink()
    assert choose_folder(str(runs / NAME)) == (root, f"/files/{NAME}/comparison.md")


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"verdict": 1}', "[" * 100_000])
def test_one_that_cannot_be_read_is_listed_as_such(runs: Path, content: str) -> None:
    (runs / NAME / "comparison.json").write_text(content)
    assert "comparison.json cannot be read" in page(runs)


def test_no_text_of_it_is_markup(runs: Path) -> None:
    told = json.loads((runs / NAME / "comparison.json").read_text())
    bad = "</td><script>alert(1)</script>"
    told |= {"verdict": bad, "reason": bad, "baseline": bad}
    told["models"][1]["name"] = told["tests"][0]["test_type"] = told["tests"][0]["pairs"][0]["first"] = bad
    (runs / NAME / "comparison.json").write_text(json.dumps(told))
    text = page(runs)
    assert '<span class="pill ">unknown</span>' in text
    assert "<script" not in text


@pytest.mark.parametrize("query", ["", "run=good", "run=good&run=nowhere", "run=good&run=..%2Fgood", "run=%00&run=%ff"])
def test_what_cannot_be_compared_is_said_on_a_page(runs: Path, query: str) -> None:
    reply = Viewer(root=runs.resolve(), history=str(runs / "history"))(f"/compare?{query}")
    assert b"<h1>Not compared</h1>" in bytes(reply.content)  # type: ignore[arg-type]


def test_no_file_elsewhere_is_compared(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "results.parquet"
    (runs / "good" / "results.parquet").rename(elsewhere)
    (runs / "good" / "results.parquet").symlink_to(elsewhere)
    reply = Viewer(root=runs.resolve(), history=str(runs / "history"))("/compare?run=good&run=bad")
    assert b"is no finished run here" in bytes(reply.content)  # type: ignore[arg-type]
