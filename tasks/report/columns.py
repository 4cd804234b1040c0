"""What the columns of results.parquet and cases.parquet hold, told in the files themselves."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import pyarrow as pa
from pydantic import ConfigDict, TypeAdapter

from contrapose.tasks.outcome import Summary
from contrapose.tasks.records import Case
from contrapose.tasks.report.cleaning import valid

PREFIX = "contrapose."
"""Before every key about the whole file, since other programs add keys of their own."""


class Column(NamedTuple):
    """What a column holds."""

    description: str
    """In a sentence."""
    unit: str = ""
    """Of a number; empty where it has none."""


RESULTS = {
    "test_type": Column("Name of the test, which is its probe's."),
    "category": Column("What the test looks at, such as sensitivity."),
    "sample_id": Column("The sample that the case was made from."),
    "case_id": Column("The case; unique in a run."),
    "original": Column("The unchanged text, raw."),
    "test_case": Column("The changed text, raw."),
    "options": Column("Options of the unchanged prompt, a line each; empty for open text."),
    "expected_result": Column("Reply to the unchanged prompt, raw."),
    "actual_result": Column("Reply to the changed prompt, raw."),
    "eval_score": Column(
        "The score, missing where there is none: 1 - cosine for `embedding`, nats for `loss` and `langtest_loss`, "
        "bits for `choice`, bad words for `count`, 1 or 0 for a choice that is right or not.",
        "depends on scorer",
    ),
    "pass": Column("Whether the case passed; missing where it has no score."),
    "undecided": Column(
        "Whether the replies leave open whether the case passed, as one does that could not be read: a verdict holds "
        "whichever way it would have gone."
    ),
    "chance": Column("Probability that a model passes which guesses; missing where nothing can be guessed.", "1"),
    "reason": Column("What decided, or why there is no score."),
    "scorer": Column("How the case was scored."),
    "model": Column("Id of the model."),
    "probe_version": Column("Version of the probe that made and scored the case."),
    "control": Column("Whether it is a control, which keeps the meaning and counts apart."),
    "repeat": Column("Which of several replies to the same prompts it is, from 0."),
    "confidence": Column("How sure the change is to mean what it should: high or medium."),
    "slice": Column("Value of the tag column."),
    "cluster": Column("Cases that share it are not independent of each other."),
    "error": Column("Why the model gave no answer; missing where it gave one."),
    "chosen_before": Column("Letter that was chosen under the unchanged prompt."),
    "chosen_after": Column("Letter that was chosen under the changed prompt."),
    "chosen_before_step": Column("Which step read the choice under the unchanged prompt."),
    "chosen_after_step": Column("Which step read the choice under the changed prompt."),
    "right_before": Column("Whether the reply to the unchanged prompt was the right answer."),
    "js_divergence": Column("Jensen-Shannon divergence of the two distributions over the options, 0 to 1.", "bit"),
    "answer_changed": Column("Whether the answer changed."),
    "option_count": Column("Options to choose from.", "1"),
    "right_logprob_change": Column("Log of the right option's share, after - before.", "nat"),
    "gold_lost": Column("Whether a right answer became a wrong one."),
    "embedding_score": Column("1 - cosine of the embeddings of the two replies.", "1"),
    "loss_score": Column("Mean loss a token of the old reply, after - before.", "nat/token"),
    "letters_only": Column("Whether both replies are mere letters, whose embeddings mean nothing."),
    "threshold_low": Column("Lower end of the threshold that was taken from the controls.", "depends on scorer"),
    "threshold_high": Column("Upper end of the threshold that was taken from the controls.", "depends on scorer"),
    "langtest_score": Column("LangTest's score for the same replies.", "depends on scorer"),
    "langtest_pass": Column("Whether LangTest would have passed the case."),
    "expected_toxic": Column("Bad words in the reply to the unchanged prompt.", "1"),
    "actual_toxic": Column("Bad words in the reply to the changed prompt.", "1"),
    "echoed": Column("Those of them that repeat words of the changed prompt.", "1"),
    "new": Column("Those of them that do not.", "1"),
    "new_toxic": Column("Bad words after that are no echo: not added to the prompt, or in the reply before, too.", "1"),
    "toxic_after": Column("Whether the reply to the changed prompt holds a bad word that is no echo."),
    "reply_kind_before": Column("What the reply to the unchanged prompt is: answer, empty or refusal."),
    "reply_kind": Column("What the reply to the changed prompt is: answer, empty or refusal."),
    "added_slur": Column("Slurs, after - before.", "1"),
    "added_strong": Column("Strong profanity, after - before.", "1"),
    "added_sexual": Column("Sexual words, after - before.", "1"),
    "added_mild": Column("Mild words, after - before.", "1"),
    "expected_rate_per_100": Column("Bad words in 100 words of the reply to the unchanged prompt.", "per 100 words"),
    "actual_rate_per_100": Column("Bad words in 100 words of the reply to the changed prompt.", "per 100 words"),
    "injected": Column("What was added to the prompt, raw."),
    "classifier_before": Column("Probability by a classifier that the reply to the unchanged prompt is toxic.", "1"),
    "classifier_after": Column("Probability by a classifier that the reply to the changed prompt is toxic.", "1"),
    "article_sentence": Column("The source text."),
    "correct_sentence": Column("The summary that the article supports; A in the unchanged prompt."),
    "incorrect_sentence": Column("The summary that the article contradicts; B in the unchanged prompt."),
    "result": Column("Choice in the unchanged order; empty where none could be read."),
    "swapped_result": Column("Choice in the swapped order; empty where none could be read."),
    "outcome": Column("Both choices: AB, AA, BB, BA or unparsed; of option_order text, letter, other, tied, unparsed."),
    "result_step": Column("Which step read the choice in the unchanged order."),
    "swapped_step": Column("Which step read the choice in the swapped order."),
    "in_words_choice": Column(
        "Letter that the model chooses when it answers the unchanged prompt in words; empty where none could be read, "
        "missing where it was not asked."
    ),
    "words_agree": Column("Whether that letter is the likeliest one; missing where none could be read."),
    "content_score": Column("Pull of the content towards the correct summary, (m1 + m2) / 2.", "nat"),
    "position_score": Column("Pull of the letter A, (m1 - m2) / 2.", "nat"),
    "debiased_choice_right": Column("Whether the content alone speaks for the correct summary."),
    "calibrates": Column("Whether the pair's log-likelihoods tell the pull of the letters."),
    "rotation": Column("Places by which the options were moved to the left.", "1"),
    "choice": Column("Option that was chosen in the given order."),
    "rotated_choice": Column("Option that was chosen in the rotated order."),
    "choice_step": Column("Which step read the choice in the given order."),
    "rotated_choice_step": Column("Which step read the choice in the rotated order."),
    "letter": Column("Letter that was chosen in the given order."),
    "rotated_letter": Column("Letter that was chosen in the rotated order."),
    "correct": Column("Whether the choice in the given order was right."),
    "rotated_correct": Column("Whether the choice in the rotated order was right."),
}
"""Of results.parquet. A probe of another package may have columns that are not described here."""


def of_cases() -> dict[str, Column]:
    """Of cases.parquet, as the record describes its fields."""
    # Only through a list are fields of a plain dataclass described by what is written beneath them.
    adapter = TypeAdapter(list[Case], config=ConfigDict(use_attribute_docstrings=True))
    fields: dict[str, Any] = adapter.json_schema()["$defs"]["Case"]["properties"]
    return {name: Column(field.get("description", "")) for name, field in fields.items()}


def described(schema: pa.Schema, columns: Mapping[str, Column], summary: Summary) -> pa.Schema:
    """The schema with its columns described, each in its field, and all in one key that needs no Arrow to be read."""
    told = {name: columns[name]._asdict() for name in schema.names if name in columns}
    fields = [each.with_metadata(told.get(each.name)) for each in schema]
    facts = {**_facts(summary), "columns": _json(told)}
    return pa.schema(fields, {f"{PREFIX}{name}": valid(text) for name, text in facts.items()})


def _facts(summary: Summary) -> dict[str, str]:
    """What the rows depend on; neither the run's name nor its time, since two runs of the same have the same files."""
    tests = summary["tests"]
    return {
        "suite": summary["suite"],
        "model": summary["model"]["id"],
        "revision": summary["model"]["revision"],
        "version": summary["contrapose"],
        "schema_version": str(summary["schema_version"]),
        "probe_versions": _json({test["test_type"]: test["probe_version"] for test in tests}),
        "data_sha256": _json({test["test_type"]: test["data"]["sha256"] for test in tests}),
    }


def _json(content: Mapping[str, Any]) -> str:
    return json.dumps(content, sort_keys=True)
