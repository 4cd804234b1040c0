"""Passages of one's own in a prompt of one's own: where a model reads is found, and the report says so."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pandas as pd
import pytest
from fake_endpoint import Endpoint, serving

from contrapose.flows.cli import main

pytestmark = pytest.mark.usefixtures("prefect_server", "own_store", "in_tmp")

TOWNS = ("Arno", "Brill", "Corve", "Dunmar", "Elsing")
COLOURS = ("red", "green", "blue", "white", "black")
SUITE = """
suite: passages
model: openai/reader
tests:
  robustness:
    item_order:
      control: true
      layout: paragraphs
      heading: Passage
      prompt_file: passages.j2
      reworded: "Use these.\\n{{ items }}\\n\\nQ: {{ text }}\\n{{ options }}"
      data: {source: passages.csv, columns: {relevant: gold}}
"""


def write() -> None:
    """Questions about the flags of towns, each town once, four times over; passages are lines of a cell."""
    Path("suite.yaml").write_text(SUITE)
    Path("passages.j2").write_text("{{ items }}\n\nQ: {{ text }}\n{{ options }}")
    with Path("passages.csv").open("w", newline="") as file:
        rows = csv.DictWriter(file, ["id", "text", "items", "options", "answer", "gold"])
        rows.writeheader()
        for number in range(20):
            place = number % 5
            lines = [f"{n}. {town} {number} has a {colour} flag." for n, (town, colour) in _numbered()]
            rows.writerow(
                {
                    "id": number,
                    "text": f"Which flag has {TOWNS[place]} {number}?",
                    "items": "\n".join(lines),
                    "options": json.dumps(COLOURS),
                    "answer": COLOURS[place],
                    "gold": place + 1,
                }
            )


def _numbered() -> list[tuple[int, tuple[str, str]]]:
    return list(enumerate(zip(TOWNS, COLOURS, strict=True), start=1))


def first_passage(prompt: str) -> str:
    """The colour in the first passage, whatever was asked."""
    named = re.search(r"Passage 1:\n\w+ \d+ has a (\w+) flag\.", prompt)
    assert named is not None
    return "ABCDE"[COLOURS.index(named[1])]


def test_a_model_that_reads_the_first_passage_alone_is_found() -> None:
    write()
    with serving(Endpoint(says=first_passage)) as endpoint:
        address = f"model_args.base_url=http://127.0.0.1:{endpoint.port}/v1"
        code = main(["run", "--suite", "suite.yaml", "--set", address, "--out", "out"])
        prompts = set(endpoint.asked)
    folder = next(Path("out").glob("[!.]*"))
    (outcome,) = json.loads((folder / "summary.json").read_text())["tests"]
    figures = outcome["figures"]
    assert (code, outcome["verdict"], outcome["pass_rate"]) == (1, "fail", 0)
    assert (outcome["cases"], outcome["control"]["changed"]) == (80, 0)
    assert (figures["accuracy_relevant_first"], figures["accuracy_relevant_last"]) == (1, 0)
    assert figures["favours_first"] == pytest.approx(0.8)
    assert "Passage 1:\nArno 0 has a red flag.\n\nPassage 2:\nBrill 0 has a green flag." in "".join(sorted(prompts))
    rows = pd.read_parquet(folder / "results.parquet")
    cases = rows[~rows["control"]]
    assert set(cases["order"]) == {"2 3 4 5 1", "3 4 5 1 2", "4 5 1 2 3", "5 1 2 3 4"}
    assert cases["moved_answer_place"].eq(1).all()
    page = (folder / "report.html").read_text()
    assert "Where the relevant item stands matters" in page
    assert "Right answers by where the relevant item stands" in page
