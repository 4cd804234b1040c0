"""Everything that is done to sound tables, and which expectation must catch it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import is_dataclass, replace
from typing import Any, NamedTuple

from sound import Corrupt, Rows

from contrapose.tasks.core.records import Completion, Trial
from contrapose.tasks.core.validation import Kind


class Corruption(NamedTuple):
    name: str
    kind: Kind
    corrupt: Corrupt
    caught_by: str
    """Column that the expectation is about, or its type where it is about none."""
    test: str = "order_bias"


def changed(row: Any, **values: Any) -> Any:
    return replace(row, **values) if is_dataclass(row) else {**row, **values}


def setting(**values: Any) -> Corrupt:
    """Put values into the second row."""
    return lambda rows: [rows[0], changed(rows[1], **values), *rows[2:]]


def turned(place: Callable[[Any], bool], **values: Any) -> Corrupt:
    """Put values into the first row of a kind."""

    def corrupt(rows: Rows) -> Rows:
        index = next(index for index, row in enumerate(rows) if place(row))
        return [*rows[:index], changed(rows[index], **values), *rows[index + 1 :]]

    return corrupt


def copied(*columns: str) -> Corrupt:
    """Give the second row the first one's values."""

    def corrupt(rows: Rows) -> Rows:
        first = {name: getattr(rows[0], name) if is_dataclass(rows[0]) else rows[0][name] for name in columns}
        return setting(**first)(rows)

    return corrupt


def dropped(rows: Rows) -> Rows:
    return rows[:-1]


def same_prompts(rows: Rows) -> Rows:
    return setting(perturbed_prompt=rows[1].original_prompt)(rows)


def answering(**values: Any) -> Corrupt:
    """Change the second trial's answer to the perturbed prompt."""
    return lambda rows: setting(actual=replace(rows[1].actual, **values))(rows)


def likely(*loglikelihoods: float) -> Corrupt:
    return answering(option_loglikelihoods=loglikelihoods)


def spending(**values: int) -> Corrupt:
    return lambda rows: answering(usage=replace(rows[1].actual.usage, **values))(rows)


def of_another_case(rows: Rows) -> Rows:
    return setting(case=replace(rows[1].case, id="order_bias/elsewhere"))(rows)


def with_loss(rows: Rows) -> Rows:
    """An error beside the loss that it should stand for."""
    case = replace(rows[1].case, loss_of="expected_result")
    broken = Trial(case=case, expected=rows[1].expected, actual=Completion(loss=1.0, error="it broke"))
    return [rows[0], broken, *rows[2:]]


def opposite(rows: Rows) -> Rows:
    return turned(lambda row: not row["control"], **{"pass": not rows[0]["pass"]})(rows)


def asked(row: Any) -> bool:
    return not row.control


CORRUPTIONS = [
    Corruption("no sample id", "samples", setting(id=None), "id"),
    Corruption("a sample id twice", "samples", copied("id"), "id"),
    Corruption("a lost sample", "samples", dropped, "expect_table_row_count_to_equal"),
    Corruption("no samples", "samples", lambda rows: [], "expect_table_row_count_to_be_between"),
    Corruption("no correct sentence", "samples", setting(correct_sentence=None), "without_text"),
    Corruption("no text", "samples", setting(text=None), "without_text", "option_order"),
    Corruption("one option", "samples", setting(options=("Paris",), answers=("Paris",)), "lone_option", "option_order"),
    Corruption("an answer that is no option", "samples", setting(answers=("none",)), "foreign_answer", "option_order"),
    Corruption("one item", "samples", setting(items=("Paris",), relevant=1), "lone_item", "item_order"),
    Corruption("a place of no item", "samples", setting(relevant=9), "foreign_place", "item_order"),
    Corruption("no case id", "cases", setting(id=None), "id"),
    Corruption("a case id twice", "cases", copied("id"), "id"),
    Corruption("no sample of a case", "cases", setting(sample_id=None), "sample_id"),
    Corruption("a case of an unknown sample", "cases", setting(sample_id="elsewhere"), "unknown"),
    Corruption("a sample without a case", "cases", lambda rows: rows[2:], "left_out"),
    Corruption("no cases", "cases", lambda rows: [], "expect_table_row_count_to_be_between"),
    Corruption("a case of another probe", "cases", setting(probe="typo"), "probe"),
    Corruption("no probe version", "cases", setting(version=None), "version"),
    Corruption("no original prompt", "cases", setting(original_prompt=None), "original_prompt"),
    Corruption("no scorer of a case", "cases", setting(scorer=None), "scorer"),
    Corruption("an unknown way to ask", "cases", setting(asks="guess"), "asks"),
    Corruption("an unknown loss", "cases", setting(loss_of="nothing"), "loss_of"),
    Corruption("an unknown confidence", "cases", setting(confidence="total"), "confidence"),
    Corruption("a negative repeat", "cases", setting(repeat=-1), "repeat"),
    Corruption("a perturbation that changes nothing", "cases", same_prompts, "unchanged"),
    Corruption("a lost perturbation", "cases", turned(asked, perturbed_prompt=None), "half_skipped"),
    Corruption("a skipped case with a prompt", "cases", turned(asked, skip_reason="empty"), "skipped_prompt"),
    Corruption("a skipped control", "cases", setting(skip_reason="empty", perturbed_prompt=None), "skipped_control"),
    Corruption("neither case nor control", "cases", setting(control=None), "control"),
    Corruption("a choice among no letters", "cases", setting(labels=(), options=()), "without_labels"),
    Corruption("more letters than options", "cases", setting(labels=("A", "B", "C")), "uneven_options"),
    Corruption("a lost trial", "completions", dropped, "left_out"),
    Corruption("a trial twice", "completions", lambda rows: [*rows[:-1], rows[0]], "case_id, prompt"),
    Corruption("a trial of an unknown case", "completions", of_another_case, "unknown"),
    Corruption("neither answer nor error", "completions", setting(actual=Completion()), "silent"),
    Corruption("an answer in spite of an error", "completions", answering(error="it broke"), "answered_error"),
    Corruption("a loss in spite of an error", "completions", with_loss, "answered_error"),
    Corruption(
        "passages of an error",
        "completions",
        setting(actual=Completion(error="it broke", passages=("a",))),
        "unfounded_passages",
    ),
    Corruption("a letter that is not offered", "completions", answering(text="Z"), "foreign_choice"),
    Corruption("a log-likelihood too few", "completions", likely(-1.0), "uneven_likelihoods"),
    Corruption("a probability above 1", "completions", likely(-1.0, 2.0), "overly_likely"),
    Corruption("a negative loss", "completions", answering(loss=-3.0), "loss"),
    Corruption("negative tokens", "completions", spending(prompt_tokens=-5), "prompt_tokens"),
    Corruption("a lost result", "results", dropped, "left_out"),
    Corruption("a result too many", "results", lambda rows: [*rows, rows[0]], "expect_table_row_count_to_equal"),
    Corruption("a case twice", "results", copied("case_id"), "case_id"),
    Corruption("a result of an unknown case", "results", setting(case_id="order_bias/elsewhere"), "unknown"),
    Corruption("a result of another test", "results", setting(test_type="typo"), "test_type"),
    Corruption("no reason", "results", setting(reason=None), "reason"),
    Corruption("no scorer of a result", "results", setting(scorer=None), "scorer"),
    Corruption("no changed text", "results", setting(test_case=None), "test_case"),
    Corruption("no model", "results", setting(model=None), "model"),
    Corruption("neither result nor control", "results", setting(control=None), "control"),
    Corruption("a score above its range", "results", setting(eval_score=1.5), "eval_score, scorer"),
    Corruption("a score below its range", "results", setting(eval_score=-0.5), "eval_score, scorer"),
    Corruption("an infinite score", "results", setting(eval_score=float("inf")), "not_finite"),
    Corruption("a verdict without a score", "results", setting(eval_score=None), "verdict_without_score"),
    Corruption("a score without a verdict", "results", setting(**{"pass": None}), "score_without_verdict"),
    Corruption("a verdict in spite of an error", "results", setting(error="it broke"), "verdict_of_error"),
    Corruption("an answer without words", "results", setting(expected_result=None), "silent"),
    Corruption("the opposite verdict on an order", "results", opposite, "wrong_verdict"),
    Corruption("the opposite verdict on a count", "results", opposite, "wrong_verdict", "add_toxic_words"),
    Corruption("the opposite verdict on a change", "results", opposite, "wrong_verdict", "add_negation"),
    Corruption("the opposite verdict on a typo", "results", opposite, "wrong_verdict", "typo"),
]
