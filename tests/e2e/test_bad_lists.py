"""What a user can get wrong about lists is one clear line, and nothing is asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fake_endpoint import Endpoint, serving

from contrapose.flows.cli import main

pytestmark = pytest.mark.usefixtures("prefect_server", "own_store", "in_tmp")

ROW = {"question": "Which one barks?", "items": ["A dog barks.", "A cat purrs."], "options": ["dog", "cat"]}
DATA = [
    ({"items": ["A dog barks."]}, "rows.jsonl, row 2: column 'items': 1 item; expected 2 to 200 items"),
    ({"items": ["A dog barks.", " "]}, "row 2: column 'items': an item is blank"),
    ({"items": ["A dog barks.", "A dog barks."]}, "row 2: column 'items': item 'A dog barks.' is there twice"),
    ({"items": "[A dog barks.]"}, "row 2: column 'items': '[A dog barks.]' is not JSON"),
    ({"items": {"a": 1}}, "row 2: column 'items': {'a': 1} is no list"),
    ({"items": None}, "row 2: column 'items': null"),
    ({"relevant": 0}, "row 2: column 'relevant': 0 is the place of no item; expected 1 for the first of them to 2"),
    ({"relevant": "the dog"}, "row 2: column 'relevant': 'the dog' is the place of no item"),
    ({"options": ["dog"]}, "row 2: column 'options': 1 option"),
    ({"answer": "cow"}, "row 2: column 'answer': 'cow' is none of the options"),
]
SETTINGS = [
    ({"orders": "random"}, "robustness.item_order.orders: 'random'"),
    ({"count": 2}, "a count of orders that are cyclic; expected orders: sample, too"),
    ({"orders": "sample", "count": 0}, "robustness.item_order.count: 0"),
    ({"layout": "table"}, "robustness.item_order.layout: 'table'"),
    ({"heading": "Passage"}, "a heading of numbered; expected layout: paragraphs, too"),
    ({"layout": "paragraphs", "heading": "a\nb"}, "expected a word or two on one line"),
    ({"reworded": "{{ items }} {{ text }}"}, "other words without a prompt of one's own; expected prompt, too"),
    ({"prompt": "{{ text }}"}, "a prompt without {{ items }}; expected items and text in it"),
    (
        {"prompt": "{{ items }} {{ text }} {{ question }}"},
        "{{ question }}; expected one of items, text, context, options",
    ),
    ({"prompt": "{% for x in items %}{{ text }}{% endfor %}"}, "For in line 1; expected names, conditions and filters"),
    ({"prompt": "{{ items | length }} {{ text }}"}, "a prompt that is the same in another order of the items"),
    ({"min_right_rate": 2}, "robustness.item_order.min_right_rate: 2"),
    ({"scorer": "loss"}, "scorer 'loss' with a provider that gives no log-likelihoods of texts"),
    ({"min_pass_rate": 0.4}, "a gate of 40.0%, which tells nothing: guessing passes 50.0% of these cases"),
]


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    with serving(Endpoint(says=lambda prompt: "A")) as endpoint:
        yield endpoint


def refused(endpoint: Endpoint, capsys: pytest.CaptureFixture[str], row: dict[str, Any], own: dict[str, Any]) -> str:
    """The only line about a run on two rows, the second with these changes, under these settings."""
    Path("rows.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in (ROW, {**ROW, **row})))
    tests = {"robustness": {"item_order": {"data": "rows.jsonl", **own}}}
    Path("suite.yaml").write_text(json.dumps({"suite": "lists", "model": "openai/any", "tests": tests}))
    address = f"model_args.base_url=http://127.0.0.1:{endpoint.port}/v1"
    code = main(["run", "--suite", "suite.yaml", "--set", address, "--out", "out"])
    out, err = capsys.readouterr()
    lines = [line for line in err.splitlines() if line.startswith("contrapose: ")]
    assert code == 2
    assert len(lines) == 1
    assert "Traceback" not in out + err
    assert not list(Path().glob("out/[!.]*"))
    return lines[0]


@pytest.mark.parametrize(("row", "says"), DATA)
def test_wrong_data_are_one_line(
    endpoint: Endpoint, capsys: pytest.CaptureFixture[str], row: dict[str, Any], says: str
) -> None:
    assert says in refused(endpoint, capsys, row, {})
    assert not endpoint.requests


@pytest.mark.parametrize(("own", "says"), SETTINGS)
def test_wrong_settings_are_one_line(
    endpoint: Endpoint, capsys: pytest.CaptureFixture[str], own: dict[str, Any], says: str
) -> None:
    assert says in refused(endpoint, capsys, {}, own)
    assert not endpoint.requests
