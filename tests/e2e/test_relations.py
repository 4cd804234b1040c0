"""Relations from pairs in other languages, from functions, and contrast sets, end to end."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from load.test_variants import rows
from newest_run import results_of, summary_of, write_rows

import contrapose
from contrapose.flows.cli import main

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("in_tmp")]

PAIRS = {
    "de": [
        ("What do bees make?", "Was machen Bienen?", "honey,wool,milk", "Honig,Wolle,Milch", "A"),
        ("Which animal barks?", "Welches Tier bellt?", "cat,dog,cow", "Katze,Hund,Kuh", "B"),
        ("What is frozen water?", "Was ist gefrorenes Wasser?", "steam,sand,ice", "Dampf,Sand,Eis", "C"),
    ],
    "zh": [
        ("What do bees make?", "蜜蜂酿造什么?", "honey,wool,milk", "蜂蜜,羊毛,牛奶", "A"),
        ("Which animal barks?", "哪种动物会吠叫?", "cat,dog,cow", "猫,狗,牛", "B"),
        ("What is frozen water?", "结冰的水是什么?", "steam,sand,ice", "蒸汽,沙子,冰", "C"),
    ],
    "ar": [
        ("What do bees make?", "ماذا يصنع النحل؟", "honey,wool,milk", "عسل,صوف,حليب", "A"),
        ("Which animal barks?", "أي حيوان ينبح؟", "cat,dog,cow", "قطة,كلب,بقرة", "B"),
        ("What is frozen water?", "ما هو الماء المتجمد؟", "steam,sand,ice", "بخار,رمل,جليد", "C"),
    ],
}


def write_pairs(language: str, times: int = 1) -> str:
    content = [
        {"question": before, "translated": after, "options": own.split(","), "translated_options": others.split(","),
         "answer": answer}
        for before, after, own, others, answer in PAIRS[language] * times
    ]  # fmt: skip
    return write_rows(f"{language}.jsonl", content)


@pytest.mark.parametrize("model", ["mock", "embedded"])
@pytest.mark.parametrize("language", PAIRS)
def test_pairs_in_another_language_are_compared_by_their_options(language: str, model: str) -> None:
    columns = ["--before", "question", "--after", "translated", "--set", "tests.relation.pairs.options_after="]
    columns[-1] += "translated_options"
    arguments = ["run", "--model", model, "--data", write_pairs(language), *columns, "--test", "relation"]
    assert main([*arguments, "--out", "out", "--exit-zero", "-q"]) == 0
    results = results_of()
    assert results["perturbed" if "perturbed" in results else "test_case"].tolist() == [
        after for _, after, *_ in PAIRS[language]
    ]
    assert results["pass"].notna().all()
    assert summary_of()["tests"][0]["chance"] == pytest.approx(1 / 3, abs=0.06)


def answer_by_options(options: Callable[[str], bool]) -> Callable[[str], str]:
    """Answer rightly in English, and in German where `options` says so."""
    right = {"honey", "dog", "ice", "Honig", "Hund", "Eis"}

    def answer(prompt: str) -> str:
        found = re.findall(r"^([A-C])\. (\S+)$", prompt, re.MULTILINE)
        letter = next(letter for letter, text in found if text in right)
        return letter if options(prompt) else {"A": "B", "B": "C", "C": "A"}[letter]

    return answer


@pytest.mark.parametrize(
    ("is_right", "verdict"), [(lambda prompt: True, "pass"), (lambda prompt: "Was" not in prompt, "fail")]
)
def test_a_model_that_loses_its_answers_in_german_fails(is_right: Callable[[str], bool], verdict: str) -> None:
    mine = contrapose.relation("question", "translated", expect="not_worse", options_after="translated_options")
    content = pd.read_json(write_pairs("de", 20), lines=True)
    run = contrapose.evaluate(model=answer_by_options(is_right), data=content, test=mine, quiet=True)
    assert run.verdict == verdict


def test_a_model_that_always_gives_the_same_answer_does_not_pass() -> None:
    mine = contrapose.relation("question", "translated", options_after="translated_options")
    content = pd.read_json(write_pairs("de", 20), lines=True)
    run = contrapose.evaluate(model=lambda prompt: "A", data=content, test=mine, quiet=True)
    assert run.verdict != "pass"
    assert "right rate" in run.summary["tests"][0]["reason"]


@pytest.mark.parametrize("expect", ["not_worse", "stays"])
def test_where_every_right_answer_is_the_same_no_model_passes(expect: str) -> None:
    content = pd.read_json(write_pairs("de", 60), lines=True)
    source = write_rows("same.jsonl", content[content["answer"] == "B"].to_dict("records"))
    arguments = ["--before", "question", "--after", "translated", "--expect", expect, "-q", "--out", "out"]
    arguments += ["--set", "tests.relation.pairs.options_after=translated_options", "--data", source]
    Path("model.py").write_text("def answer(prompt):\n    return 'B'\n", "utf-8")
    assert main(["run", "--model", "app/model:answer", "--test", "relation", *arguments]) == 3
    reason = "The right answer of every case that counts is B: a model that always answers B would pass."
    assert reason in summary_of()["tests"][0]["reason"]


@pytest.mark.parametrize(("replies", "verdict"), [({}, "inconclusive"), ({"Was": "A"}, "fail")])
def test_a_constant_model_does_not_pass_and_one_that_loses_answers_fails(replies: dict[str, str], verdict: str) -> None:
    mine = contrapose.relation("question", "translated", expect="not_worse", options_after="translated_options")
    content = pd.read_json(write_pairs("de", 30), lines=True)

    def answer(prompt: str) -> str:
        return next((said for words, said in replies.items() if words in prompt), "C")

    run = contrapose.evaluate(model=answer, data=content, test=mine, quiet=True)
    assert run.verdict == verdict
    assert ("always answers C would pass" in run.summary["tests"][0]["reason"]) is (verdict == "inconclusive")


def test_a_strangers_relation_is_five_lines() -> None:
    Path("suite.yaml").write_text(
        "tests:\n"
        "  relation:\n"
        "    german: {data: de.jsonl, before: question, after: translated, options_after: translated_options,\n"
        "      expect: stays, control: question_again}\n",
        "utf-8",
    )
    content = pd.read_json(write_pairs("de", 20), lines=True)
    content["question_again"] = "Please say: " + content["question"]
    write_rows("de.jsonl", content.to_dict("records"))
    run = contrapose.evaluate("suite.yaml", model=answer_by_options(lambda prompt: True), quiet=True)
    (test,) = run.summary["tests"]
    assert (run.verdict, test["control"]["kinds"]) == ("pass", {"column": [0, 60]})
    page = run.report.read_text("utf-8")
    for words in ("relation.german", "guessing", "control"):
        assert words in page


def test_contrast_sets_in_the_layout_of_condaqa_are_answered_completely_or_not() -> None:
    source = write_rows("condaqa.jsonl", rows(30))

    def answer(prompt: str) -> str:
        edition = re.search(r"edition (\d)", prompt)
        hive = re.search(r"hive (\d+)", prompt)
        assert edition is not None
        assert hive is not None
        right = "Yes." if edition[1] in "01" else "No."
        return "Yes." if int(hive[1]) < 6 else right

    run = contrapose.evaluate(
        {"suite": "x", "tests": {"relation": {"set": {"data": source, "variant": "PassageEditID"}}}},
        model=answer,
        quiet=True,
    )
    (test,) = run.summary["tests"]
    assert test["figures"]["consistency"] == pytest.approx(24 / 30)
    assert test["figures"]["consistency_1"] == 1
    assert test["figures"]["consistency_3"] == pytest.approx(24 / 30)


@pytest.mark.parametrize("setting", ["edit: os:system", "{after: translated, score: subprocess:run}"])
def test_a_suite_runs_no_function_that_nobody_allowed(capsys: pytest.CaptureFixture[str], setting: str) -> None:
    source = write_pairs("de")
    own = setting.strip("{}")
    Path("suite.yaml").write_text(f"tests: {{relation: {{x: {{data: {source}, {own}}}}}}}\n", "utf-8")
    assert main(["run", "--suite", "suite.yaml", "--model", "mock"]) == 2
    assert "may not be run for a suite or a form" in capsys.readouterr().err


def test_a_failed_case_of_a_function_is_shrunk_to_the_word_that_matters() -> None:

    def answer(prompt: str) -> str:
        return "B" if "zebra" in prompt and "please" in prompt else "A"

    content = pd.DataFrame({"text": ["A zebra lives here. When does the ferry leave?"], "options": [["at 9", "at 10"]]})
    politely = contrapose.relation(after=lambda text: f"Would you please tell me: {text}")
    run = contrapose.evaluate(model=answer, revision="1", data=content, test=politely, quiet=True)
    assert contrapose.shrink(run, "frame-0001", model=answer, test=politely, quiet=True).text == "zebra"


def test_runs_with_relations_are_compared() -> None:
    content = pd.read_json(write_pairs("de", 20), lines=True)
    mine = contrapose.relation("question", "translated", expect="not_worse", options_after="translated_options")
    first, second = (
        contrapose.evaluate(model=answer_by_options(is_right), data=content, test=mine, quiet=True, revision=name)
        for name, is_right in (("good", lambda prompt: True), ("bad", lambda prompt: "Was" not in prompt))
    )
    compared = contrapose.compare(first, second, quiet=True)
    assert compared.verdict == "worse"
    assert [test["test_type"] for test in compared.summary["tests"]] == ["relation.relation"]
