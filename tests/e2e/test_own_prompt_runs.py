"""Judges in complete runs: with a prompt of one's own, compared with people, and certified."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from threading import Lock

import numpy as np
import pytest
from fake_endpoint import Endpoint, serving
from newest_run import asking, newest, results_of, setting, summary_of, write_rows

import contrapose
from contrapose.flows.cli import main
from contrapose.tasks.core.certificate import Certificate

pytestmark = pytest.mark.usefixtures("prefect_server", "own_store", "in_tmp")

LABELLED = """You compare two answers.
[Instruction]
{{ article }}
[Assistant 1]
{{ first }}
[Assistant 2]
{{ second }}
{{ question }}
End with [[1]] or [[2]].
"""
LABELLED_SUITE = """
suite: judge
gen_kwargs: {max_new_tokens: 200}
tests:
  factuality:
    order_bias:
      control: true
      prompt_file: judge.j2
      labels: ["1", "2"]
      pattern: '\\[\\[(\\d)\\]\\]'
"""


def test_a_judge_is_asked_with_its_own_prompt_and_read_by_its_own_labels() -> None:
    Path("judge.j2").write_text(LABELLED)
    Path("judge.yaml").write_text(LABELLED_SUITE)
    answers = ({"better": f"{n}.\nIndeed.", "worse": f"Not {n}."} for n in range(40))
    write_rows("pairs.jsonl", [{"id": str(n), "instruction": f"Say {n}.", **pair} for n, pair in enumerate(answers)])
    columns = "{article_sentence: instruction, correct_sentence: better, incorrect_sentence: worse}"

    def judge(prompt: str) -> str:
        number = int(prompt.split("Say ")[1].split(".")[0])
        first, second = prompt.split("[Assistant 1]\n")[1].split("[Assistant 2]\n")
        right = "1" if not first.startswith("Not") else "2"
        assert second.endswith("End with [[1]] or [[2]].")
        return f"Both have merits. [[{'1' if number % 4 == 0 else right}]]"

    with serving(Endpoint(says=judge)) as endpoint:
        data = ["--data", "pairs.jsonl", *setting(f"data.columns={columns}")]
        asked = asking(endpoint.port)
        assert main(["run", "--suite", "judge.yaml", *data, *asked, "--out", "out", "--exit-zero"]) == 0
        assert all("response_format" not in body for body in endpoint.bodies)
    results = results_of()
    cases, controls = results[~results["control"]], results[results["control"]]
    assert Counter(cases["outcome"]) == {"AB": 30, "AA": 10}
    assert set(cases["result_step"]) == {"label"}
    assert len(controls) == 40
    assert controls["pass"].all()
    [outcome] = summary_of()["tests"]
    assert outcome["figures"]["position_bias_index"] == pytest.approx(0.125)
    assert outcome["figures"]["read_by_label"] == 1
    assert "a label of the prompt" in newest(file="report.html").read_text()


JUDGING = "[Question]\n{{ instruction }}\n[1]\n{{ first }}\n[2]\n{{ second }}\n{{ question }} Reply as JSON."
JUDGING_SUITE = f"""
suite: judged
data: pairs.jsonl
tests:
  judging:
    judge_order:
      prompt: {json.dumps(JUDGING)}
      labels: ["1", "2"]
      tie: "0"
      answer_field: verdict
      writer: me
"""
PAIRS = 30


class Judge:
    """Calls every fifth pair a tie, refuses every sixth, and takes back what it said when it is asked again."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.lock = Lock()

    def __call__(self, prompt: str) -> str:
        with self.lock:
            self.asked[prompt] += 1
            again = self.asked[prompt] > 1
        number = int(prompt.split("Say ")[1].split(".")[0])
        if number % 6 == 5:
            return "I'm sorry, but I can't help with that."
        right = "2" if "[1]\nNot" in prompt else "1"
        verdict = "0" if number % 5 == 4 else {"1": "2", "2": "1"}[right] if again else right
        return f'Let me see.\n```json\n{{"why": "it says so", "verdict": {verdict}}}\n```'


def test_a_judge_is_compared_with_people() -> None:
    Path("judged.yaml").write_text(JUDGING_SUITE)
    writers = (("you", "me"), ("me", "you"))
    texts = [{"prompt": f"Say {n}.", "chosen": f"{n}, as you wish.", "rejected": f"Not {n}."} for n in range(PAIRS)]
    by = [dict(zip(("better_by", "worse_by"), writers[n % 2], strict=True)) for n in range(PAIRS)]
    write_rows("pairs.jsonl", [text | who for text, who in zip(texts, by, strict=True)])
    judge = Judge()
    with serving(Endpoint(says=judge)) as endpoint:
        asked = asking(endpoint.port, "noise=10")
        assert main(["run", "--suite", "judged.yaml", *asked, "--out", "out", "--exit-zero"]) == 0
    assert len(judge.asked) == 3 * PAIRS
    assert Counter(judge.asked.values()) == {1: 3 * PAIRS - 20, 2: 20}
    results = results_of()
    cases = results[~results["control"]]
    assert Counter(cases["outcome"]) == {"AB": 20, "tied": 5, "refused": 5}
    assert not cases["undecided"].any()
    assert cases["across_pairs"].notna().sum() == 10
    [outcome] = summary_of()["tests"]
    pairs, changed = (cases[[f"before_{name}", f"after_{name}"]].to_numpy() for name in ("pairs", "changed"))
    assert outcome["figures"]["changed_when_asked_again"] == pytest.approx(np.nansum(changed) / np.nansum(pairs))
    assert outcome["figures"]["accuracy_where_own"] > 0.5
    page = newest(file="report.html").read_text()
    assert "What may sway the judge" in page
    assert "another choice when asked again" in page


EQUAL_PAIRS = 80


def answers_in(prompt: str) -> tuple[str, str]:
    """The two answers that a prompt shows."""
    shown = prompt.split("Answer A:\n")[1].split("\n\nAnswer B:\n")
    return shown[0], shown[1].rpartition("\n\n")[0]


def favours(mark: str) -> Callable[[str], str]:
    """A judge that chooses the answer with a mark, and else calls a tie."""

    def judge(prompt: str) -> str:
        a, b = (mark in answer for answer in answers_in(prompt))
        return "tie" if a == b else "A" if a else "B"

    return judge


def fair(prompt: str) -> str:
    """Prefers the answer that holds `sunny`, and calls equal contents a tie."""
    return favours("sunny")(prompt)


def always_first(prompt: str) -> str:
    return "A"


def write_pairs() -> str:
    texts = [
        ("It is a good day. Take it easy.", "It is a bad day. Stay at home."),
        ("No. It will rain.", "Yes. It stays sunny."),
    ]
    rows = [
        {"id": f"p{n}", "instruction": f"Day {n}?", "answer_a": f"{a} ({n})", "answer_b": f"{b} ({n})"}
        for n in range(EQUAL_PAIRS)
        for a, b in [texts[n % 2]]
    ]
    return write_rows("pairs.jsonl", rows)


def verdicts_of(certificate: Certificate) -> dict[str, str]:
    return {one["name"]: one["verdict"] for one in certificate["findings"] if one["verdict"] != "shown"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("judge", "failing"),
    [
        pytest.param(fair, set(), id="fair"),
        pytest.param(always_first, {"direction of position", "position of equal answers"}, id="always first"),
        pytest.param(favours("\n- "), {"bullets"}, id="bullets"),
    ],
)
def test_a_planted_judge_fails_by_its_own_bias_and_no_other(judge: Callable[[str], str], failing: set[str]) -> None:
    (certificate,) = contrapose.certify(judge, data=write_pairs(), quiet=True, out="out")
    found = verdicts_of(certificate)
    assert {name for name, verdict in found.items() if verdict == "fail"} == failing
    assert certificate["verdict"] == ("fail" if failing else "pass")
    kept = json.loads((newest() / "certificate.json").read_text(encoding="utf-8"))["certificates"]
    assert kept == json.loads(json.dumps([certificate]))
    assert certificate["judge"] in (newest() / "certificate.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_command_says_how_much_it_asks_before_it_asks(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["certify", "mock", "--limit", "6", "--out", "told"]) in (1, 3)
    said, shown = capsys.readouterr().err, capsys.readouterr().out
    assert re.search(r"mock gets \d+ calls", said)
    assert shown == ""
    assert len(list(Path("told").glob("[!.]*/certificate.html"))) == 1


def test_several_judges_are_refused_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["certify", "mock", "embedded"]) == 2
    assert "2 judges; expected one judge, or files of recorded verdicts" in capsys.readouterr().err


TOWNS = ("Arno", "Brill", "Corve", "Dunmar", "Elsing")


COLOURS = ("red", "green", "blue", "white", "black")


PASSAGES_SUITE = """
suite: passages
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


def first_passage(prompt: str) -> str:
    """The colour in the first passage, whatever was asked."""
    named = re.search(r"Passage 1:\n\w+ \d+ has a (\w+) flag\.", prompt)
    assert named is not None
    return "ABCDE"[COLOURS.index(named[1])]


def test_a_model_that_reads_the_first_passage_alone_is_found() -> None:
    Path("suite.yaml").write_text(PASSAGES_SUITE)
    Path("passages.j2").write_text("{{ items }}\n\nQ: {{ text }}\n{{ options }}")
    with Path("passages.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "text", "items", "options", "answer", "gold"])
        # Each town once, four times over; passages are lines of a cell.
        for number in range(20):
            place, flags = number % 5, enumerate(zip(TOWNS, COLOURS, strict=True), start=1)
            items = "\n".join(f"{n}. {town} {number} has a {colour} flag." for n, (town, colour) in flags)
            question = f"Which flag has {TOWNS[place]} {number}?"
            rows.writerow([number, question, items, json.dumps(COLOURS), COLOURS[place], place + 1])
    with serving(Endpoint(says=first_passage)) as endpoint:
        code = main(["run", "--suite", "suite.yaml", *asking(endpoint.port), "--out", "out"])
        prompts = set(endpoint.asked)
    (outcome,) = summary_of()["tests"]
    figures = outcome["figures"]
    assert (code, outcome["verdict"], outcome["pass_rate"]) == (1, "fail", 0)
    assert (outcome["cases"], outcome["control"]["changed"]) == (80, 0)
    assert (figures["accuracy_relevant_first"], figures["accuracy_relevant_last"]) == (1, 0)
    assert figures["favours_first"] == pytest.approx(0.8)
    assert "Passage 1:\nArno 0 has a red flag.\n\nPassage 2:\nBrill 0 has a green flag." in "".join(sorted(prompts))
    results = results_of()
    cases = results[~results["control"]]
    assert set(cases["order"]) == {"2 3 4 5 1", "3 4 5 1 2", "4 5 1 2 3", "5 1 2 3 4"}
    assert cases["moved_answer_place"].eq(1).all()
    page = newest(file="report.html").read_text()
    assert "The place of the relevant item matters" in page
    assert "Right answers by place of the relevant item" in page
