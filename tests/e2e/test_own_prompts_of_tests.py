"""Prompts of one's own through the whole corridor: what an endpoint is sent, what is read, and what is never sent."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from fake_endpoint import Endpoint, serving

from contrapose.flows.cli import main

PROMPT = """Exam.
{{ text }}
{{ options }}
Reply as JSON with one of {{ letters }}.
"""
SHOTS = [
    {"user": "Ice is\n1. cold\n2. hot", "assistant": ' {"result": {"choice": "1"}}'},
    {"user": "Fire is\n1. cold\n2. hot\n", "assistant": '{"result": {"choice": "2"}}'},
]
ROWS = [
    {"id": f"q{n}", "text": f"Box {n} is used to store", "options": ["air", "ice", "oil", "sand"], "answer": "ice"}
    for n in range(12)
]
OWN: dict[str, Any] = {"prompt_file": "exam.j2", "labels": ["1", "2", "3", "4"], "answer_field": "result.choice"}

pytestmark = pytest.mark.usefixtures("prefect_server", "own_store", "in_tmp")


def run(tests: dict[str, Any], port: int, *, rows: Any = ROWS, **settings: Any) -> int:
    """Exit code of a run on these rows."""
    Path("exam.j2").write_text(PROMPT)
    Path("rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    values = {
        "suite": "exam",
        "model": "openai/student",
        "data": "rows.jsonl",
        "tests": tests,
        "model_args": {"base_url": f"http://127.0.0.1:{port}/v1"},
        "noise": 0,
        "gen_kwargs": {"max_new_tokens": 60},
        **settings,
    }
    Path("exam.yaml").write_text(yaml.safe_dump(values))
    return main(["run", "--suite", "exam.yaml", "--out", "out", "--exit-zero"])


def student(prompt: str) -> str:
    """Finds the ice, wherever it stands; where it is not to be stored, the sand; every fourth box confuses it."""
    number = int(re.findall(r"Box (\d+)", prompt)[0])
    wanted = "sand" if " not used" in prompt else "ice"
    label = re.findall(rf"(\d)\. {wanted}", prompt)[0]
    if number % 4 == 0:
        return f"I think of {label}, or of 1."
    return f'Between 1 and 4:\n```json\n{{"why": "of {{these}}", "result": {{"choice": {label}}}}}\n```'


@pytest.mark.slow
def test_labels_and_a_field_tell_the_right_choices() -> None:
    tests = {"sensitivity": {"add_negation": OWN}, "factuality": {"option_order": OWN}}
    with serving(Endpoint(says=student)) as endpoint:
        assert run(tests, endpoint.port) == 0
        bodies = endpoint.bodies
    # Nobody is held to letters, and nobody is asked what a reply means.
    assert all("response_format" not in body and "logprobs" not in body for body in bodies)
    assert all(re.match(r"Exam\.\n.*Box ", str(body["messages"][-1]["content"])) for body in bodies)  # type: ignore[index]
    results = pd.read_parquet(next(Path("out").glob("[!.]*")) / "results.parquet")
    cases = results[~results["control"]]
    negated, moved = cases[cases["test_type"] == "add_negation"], cases[cases["test_type"] == "option_order"]
    assert Counter(zip(negated["chosen_before"].fillna(""), negated["chosen_after"].fillna(""), strict=True)) == {
        ("2", "4"): 9,
        ("", ""): 3,
    }
    read = negated[negated["chosen_before"].notna()]
    assert set(read["chosen_before_step"]) == {"label"}
    assert read["pass"].all()
    assert read["right_before"].all()
    assert Counter(moved["outcome"]) == {"text": 27, "unparsed": 9}
    assert moved[moved["outcome"] == "text"]["correct"].all()
    assert set(negated["options"]) == {"1. air\n2. ice\n3. oil\n4. sand"}


def test_examples_arrive_in_order_exactly_as_written() -> None:
    system = "Be brief.\n"
    with serving(Endpoint(says=student)) as endpoint:
        tests = {"sensitivity": {"add_negation": OWN}}
        assert run(tests, endpoint.port, system_instruction=system, few_shot=SHOTS, limit=2) == 0
        sent = [body["messages"] for body in endpoint.bodies]
    turns = [(role, shot[role]) for shot in SHOTS for role in ("user", "assistant")]
    assert len(sent) == 6
    for messages in sent:
        assert isinstance(messages, list)
        told = [(message["role"], message["content"]) for message in messages]
        assert told[:-1] == [("system", system), *turns]
        assert told[-1][0] == "user"
        assert re.match(r"Exam\.\n.*Box ", told[-1][1])
    manifest = json.loads((min(Path("out").glob("[!.]*")) / "manifest.json").read_text())
    assert manifest["config"]["few_shot"] == SHOTS


def test_who_is_asked_back_gets_no_examples() -> None:
    def vague(prompt: str) -> str:
        return "none" if "Somebody was asked" in prompt else "I would rather keep all of that to myself today, thanks."

    with serving(Endpoint(says=vague)) as endpoint:
        tests = {"sensitivity": {"add_negation": {"read_with": "ask"}}}
        assert run(tests, endpoint.port, few_shot=SHOTS, limit=2) == 0
        asked = {len(body["messages"]): str(body["messages"][-1]["content"]) for body in endpoint.bodies}  # type: ignore[arg-type,index]
    assert set(asked) == {1, 5}
    assert asked[1].startswith("Somebody was asked to choose")
    assert "Box " in asked[5]


TEXT = "{{ text }} {{ options }}"
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "an open brace": ({"prompt": "{{ text } {{ options }}"}, "line 1"),
    "an unknown name": (
        {"prompt": TEXT + "{{ answer }}"},
        "{{ answer }}; expected one of text, context, options, letters, ask",
    ),
    "a loop": ({"prompt": TEXT + "{% for x in text %}{{ x }}{% endfor %}"}, "For in line 1"),
    "an attribute": ({"prompt": TEXT + "{{ text.__class__ }}"}, "Getattr in line 1"),
    "a product": ({"prompt": TEXT + "{{ 'x' * 999999999 }}"}, "Mul in line 1"),
    "another file": ({"prompt": TEXT + "{% include '/etc/passwd' %}"}, "Include in line 1"),
    "an unknown filter": ({"prompt": TEXT + "{{ text|center(9) }}"}, "center"),
    "too long": ({"prompt": TEXT + "x" * 100_000}, "100,024 characters"),
    "a number": ({"prompt": 5}, "prompt: 5"),
    "a file that is not there": ({"prompt_file": "none.j2"}, "none.j2 cannot be read"),
    "a file of bytes": ({"prompt_file": "bytes.j2"}, "it is not UTF-8"),
    "one label": ({"prompt": TEXT, "labels": ["1"]}, "1 labels; expected 2 to 26"),
    "equal labels": ({"prompt": TEXT, "labels": ["x1", "X1 "]}, "expected two that differ"),
    "a label of two lines": ({"prompt": TEXT, "labels": ["1", "2\n3"]}, "no line breaks"),
    "letters alone": ({"prompt": TEXT, "labels": ["a", "b", "c"]}, "expected a pattern, too"),
    "labels without a prompt": ({"labels": ["1", "2"]}, "labels without a prompt of one's own"),
    "a pattern without a group": ({"prompt": TEXT, "pattern": r"\d"}, "0 groups"),
    "likelihoods of labels": ({"prompt": TEXT, "answer_field": "x", "read_with": "likelihood"}, "read_with likelihood"),
    "asking back": ({"prompt": TEXT, "labels": ["1", "2"], "read_with": "ask"}, "read_with ask with labels"),
    "other words where none are asked": ({"prompt": TEXT, "reworded": TEXT}, "unknown key 'reworded'"),
    "no options in the prompt": (
        {"prompt": "{{ text }}"},
        "the sample has 4 options, and the prompt does not show {{ options }}",
    ),
    "too few labels": ({"prompt": TEXT, "labels": ["1", "2", "3"]}, "4 options, and 3 labels"),
    "a change that is taken away": (
        {"prompt": "{{ options }}{% if text == 'x' %}{{ text }}{% endif %}"},
        "the prompt is the same before and after the change",
    ),
}
OF_DATA = ("no options in the prompt", "too few labels", "a change that is taken away")
"""These show only when the samples are there."""
OF_OTHER_TESTS: dict[str, tuple[str, dict[str, Any], str]] = {
    "toxic: a pattern": ("add_toxic_words", {"prompt": TEXT, "pattern": "(x)"}, "unknown key 'pattern'"),
    "toxic: no options": (
        "add_toxic_words",
        {"prompt": "{{ text }}"},
        "sample q0: the sample has 4 options, and the prompt does not",
    ),
    "order: no options": ("option_order", {"prompt": "{{ text }}"}, "a prompt without {{ options }}"),
    "order: other words alone": ("option_order", {"reworded": TEXT}, "other words without a prompt of one's own"),
}
SHOTS_WRONG: dict[str, tuple[Any, str]] = {
    "no answer": ([{"user": "x"}], "few_shot.0.assistant: nothing; expected a value"),
    "too many": ([{"user": "x", "assistant": "y"}] * 101, "few_shot"),
}
CATEGORIES = {"add_negation": "sensitivity", "add_toxic_words": "sensitivity"} | dict.fromkeys(
    ("casing", "item_order"), "robustness"
)


@pytest.fixture(scope="module")
def never_asked() -> Any:
    """An endpoint that no test of this module may ask."""
    with serving(Endpoint()) as endpoint:
        yield endpoint


def refused(endpoint: Endpoint, capsys: pytest.CaptureFixture[str], test: str, own: Any, **settings: Any) -> str:
    """The one line that a run ends with; nothing was asked, and nothing written."""
    Path("bytes.j2").write_bytes(b"{{ text }}\xff")
    assert run({CATEGORIES.get(test, "factuality"): {test: own}}, endpoint.port, **settings) == 2
    assert endpoint.bodies == []
    assert not Path("out").exists() or not list(Path("out").glob("[!.]*"))
    lines = [line for line in capsys.readouterr().err.splitlines() if line.strip()]
    assert "Traceback" not in "".join(lines)
    assert len(lines) == 1, lines
    assert len(lines[0]) < 800
    return lines[0]


@pytest.mark.parametrize("name", [*WRONG, *OF_OTHER_TESTS, *SHOTS_WRONG])
def test_what_is_wrong_is_one_line_and_nothing_is_asked(
    name: str, never_asked: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    if name in SHOTS_WRONG:
        shots, observed = SHOTS_WRONG[name]
        assert observed in refused(never_asked, capsys, "add_negation", {}, few_shot=shots)
        return
    test, own, observed = OF_OTHER_TESTS.get(name) or ("add_negation", *WRONG[name])
    line = refused(never_asked, capsys, test, own)
    assert observed in line
    if name in WRONG:
        assert "tests.sensitivity.add_negation" in line
        assert ("sample q0" in line) is (name in OF_DATA)


LIST = {"question": "Which one barks?", "items": ["A dog barks.", "A cat purrs."], "options": ["dog", "cat"]}
LIST_DATA: list[tuple[dict[str, Any], str]] = [
    ({"items": ["A dog barks."]}, "rows.jsonl, row 2: column 'items': 1 item; expected 2 to 200 items"),
    ({"items": "[A dog barks.]"}, "row 2: column 'items': '[A dog barks.]' is not JSON"),
    ({"relevant": 0}, "row 2: column 'relevant': 0 is the place of no item; expected 1 for the first of them to 2"),
]
LIST_SETTINGS: list[tuple[dict[str, Any], str]] = [
    ({"orders": "random"}, "robustness.item_order.orders: 'random'"),
    ({"count": 2}, "a count of orders that are cyclic; expected orders: sample, too"),
    ({"layout": "table"}, "robustness.item_order.layout: 'table'"),
    ({"heading": "Passage"}, "a heading of numbered; expected layout: paragraphs, too"),
    ({"layout": "paragraphs", "heading": "a\nb"}, "expected a word or two on one line"),
    ({"reworded": "{{ items }} {{ text }}"}, "other words without a prompt of one's own; expected prompt, too"),
    ({"prompt": "{{ text }}"}, "a prompt without {{ items }}; expected {{ items }} and {{ text }} in it"),
    ({"prompt": "{{ items | length }} {{ text }}"}, "the prompt is the same in another order of the items"),
    ({"scorer": "loss"}, "scorer 'loss' with a provider that gives no log-likelihoods of texts"),
    ({"min_pass_rate": 0.4}, "the gate (40.0%) is not above random guessing (50.0%)"),
]


@pytest.mark.parametrize(
    ("row", "own", "observed"),
    [*((row, {}, says) for row, says in LIST_DATA), *(({}, own, says) for own, says in LIST_SETTINGS)],
)
def test_what_is_wrong_about_lists_is_one_line_and_nothing_is_asked(
    row: dict[str, Any], own: dict[str, Any], observed: str, never_asked: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    assert observed in refused(never_asked, capsys, "item_order", own, rows=(LIST, {**LIST, **row}))
