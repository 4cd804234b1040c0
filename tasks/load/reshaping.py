"""Rows that hold several samples, or one in a form of their own, as rows under our own field names.

Each function takes a row by lower-case column names (`_` for blanks) and yields rows by our fields. A part that is not
there is left out: what is wrong with a row is found when its sample is built.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any

from contrapose.tasks.load.answers import accepted_values
from contrapose.tasks.load.conversations import first_of_turns
from contrapose.tasks.load.rows import is_missing, parse_literal

Values = Mapping[str, Any]
ONES = ("1", "1.0", "True")


def answers_by_semicolons(row: Values) -> Iterator[Values]:
    """TruthfulQA: the best answer, then the correct ones, which its CSV parts by semicolons."""
    correct = parse_literal(row["correct_answers"])
    more = correct.split(";") if isinstance(correct, str) else accepted_values(correct)
    answers = [str(answer).strip() for answer in (row["best_answer"], *more) if not is_missing(answer)]
    yield {"text": row["question"], "answer": answers}


def cause_or_effect(row: Values) -> Iterator[Values]:
    """COPA: a premise, of which the cause or the effect is asked for."""
    asked = {"cause": "What was the cause of this?", "effect": "What happened as a result?"}
    question = asked.get(str(row["question"]).strip().lower(), str(row["question"]))
    options = [row["choice1"], row["choice2"]]
    yield {
        "text": f"{row['premise']}\n{question}",
        "options": options,
        "answer": row.get("label"),
        "id": row.get("idx"),
    }


def shuffled_options(row: Values) -> Iterator[Values]:
    """SciQ and GPQA: the right option has a column of its own; its place is drawn by the row's text."""
    wrong = [row[name] for name in sorted(row) if name.startswith(("distractor", "incorrect_answer"))]
    right = row["correct_answer"]
    options = [str(option).strip() for option in (right, *wrong) if not is_missing(option)]
    random.Random(hashlib.sha256(repr((row["question"], options)).encode()).digest()).shuffle(options)
    yield {
        "text": row["question"],
        "context": row.get("support"),
        "options": options,
        "answer": str(right).strip(),
        "id": row.get("record_id"),
    }


def scored_options(row: Values) -> Iterator[Values]:
    """BIG-bench: options beside scores, of which the right ones have 1; without options an open question."""
    targets, scores = parse_literal(row["multiple_choice_targets"]), parse_literal(row["multiple_choice_scores"])
    options = {"choices": targets, "labels": scores} if targets else None
    answer = None if options else row.get("targets")
    yield {"text": row["inputs"], "options": options, "answer": answer, "id": row.get("idx")}


def truth_label(row: Values) -> Iterator[Values]:
    """SuperGLUE's BoolQ: a label of 0 or 1 says whether the answer is yes."""
    truth = {"0": False, "1": True, "false": False, "true": True}.get(str(row.get("label")).strip().lower())
    yield {"text": row["question"], "context": row["passage"], "answer": truth, "id": row.get("idx")}


def lists_side_by_side(row: Values) -> Iterator[Values]:
    """RACE's own files: questions, options and answers of an article are lists of the same length."""
    lists = [parse_literal(row[name]) for name in ("questions", "options", "answers")]
    for question, options, answer in zip_longest(*(part if isinstance(part, list) else [part] for part in lists)):
        yield {"text": question, "context": row["article"], "options": options, "answer": answer}


def paragraphs(row: Values) -> Iterator[Values]:
    """SQuAD's and QuAC's own files: an article's paragraphs, each with its questions."""
    for paragraph in _list(row["paragraphs"]):
        for question in _list(paragraph.get("qas")):
            asked = {"text": question.get("question"), "context": paragraph.get("context"), "id": question.get("id")}
            yield {**asked, "answer": question.get("answers") or None}


def turns_about_passage(row: Values) -> Iterator[Values]:
    """QuAC and CoQA: the questions of a dialogue about a passage."""
    passage = row.get("context", row.get("story"))
    questions, answers = _list(row["questions"]), row["answers"]
    ids = _list(row.get("turn_ids")) or [None] * len(questions)
    if isinstance(answers, Mapping):
        answers = next((answers[key] for key in ("texts", "input_text") if key in answers), [])
    for question, answer, name in zip_longest(questions, _list(answers), ids):
        asked = question.get("input_text") if isinstance(question, Mapping) else question
        yield {"text": asked, "context": passage, "answer": answer, "id": name}


def question_pairs(row: Values) -> Iterator[Values]:
    """DROP's own files: the questions about a passage, whose answers are numbers, spans or dates."""
    for pair in _list(row["qa_pairs"]):
        answer = pair.get("answer", {})
        number, spans = answer.get("number"), answer.get("spans")
        date = " ".join(str(part) for part in answer.get("date", {}).values() if part)
        known = number if not is_missing(number) else spans if not is_missing(spans) else date
        yield {"text": pair.get("question"), "context": row["passage"], "answer": known, "id": pair.get("query_id")}


def scored_summaries(row: Values) -> Iterator[Values]:
    """SummEval: of the machines' summaries of an article the most and the least consistent one."""
    summaries, scores = _list(row["machine_summaries"]), _list(row["consistency"])
    rated = sorted(zip(scores, summaries, strict=False), key=lambda pair: float(pair[0]))
    best, least = (rated[-1], rated[0]) if rated else ((0, None), (0, None))
    tie = {"winner": "tie"} if best[0] == least[0] else {}
    pair = {"article_sentence": row["text"], "correct_sentence": best[1], "incorrect_sentence": least[1]}
    yield {**pair, **tie, "text": row["text"], "id": row.get("id")}


def first_where_one(row: Values) -> Iterator[Values]:
    """SHP: two replies, of which the first is preferred where the label is 1."""
    replies = [row["human_ref_a"], row["human_ref_b"]]
    better, worse = replies if str(row["labels"]).strip() in ONES else reversed(replies)
    question = {"instruction": row["history"], "text": row["history"], "cluster": row.get("post_id")}
    yield {**question, "better": better, "worse": worse}


def judged_turn(row: Values) -> Iterator[Values]:
    """MT-Bench's judgments by people: two conversations, of which one exchange after the other is judged."""
    exchanges = int(row["turn"])
    first, second = (_list(row[name])[: 2 * exchanges] for name in ("conversation_a", "conversation_b"))
    by = {"first_by": row.get("model_a"), "second_by": row.get("model_b")}
    yield {**by, "instruction": first, "text": first, "first": first, "second": second, "winner": row["winner"]}


def one_hot_winner(row: Values) -> Iterator[Values]:
    """An arena's table: one of three columns has a 1, and each text is a list of turns."""
    names = {"winner_model_a": "A", "winner_model_b": "B", "winner_tie": "tie"}
    winner = next((name for column, name in names.items() if str(row.get(column)).strip() in ONES), None)
    texts = {"instruction": row["prompt"], "first": row["response_a"], "second": row["response_b"]}
    first = {name: first_of_turns(value) or value for name, value in texts.items()}
    by = {"first_by": row.get("model_a"), "second_by": row.get("model_b")}
    yield {**first, **by, "winner": winner, "text": first["instruction"], "id": row.get("id")}


def _list(value: Any) -> list[Any]:
    parsed = parse_literal(value)
    return list(parsed) if isinstance(parsed, list | tuple) else []
