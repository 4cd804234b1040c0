"""Columns that only expectations need: each says of a row, in a word, what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from contrapose.tasks.config.plan import Plan
from contrapose.tasks.core.registry import probe
from contrapose.tasks.core.validation import Kind
from contrapose.tasks.probes.values import numbers_of, truths_of
from contrapose.tasks.tables.passages import compared, listed, tells_of_passages


def wrong_verdict(part: pa.Table, plan: Plan) -> pa.Array:
    """Whether a row's verdict contradicts its score; False where there is none, or the test's rule says nothing."""
    judged = np.asarray(part["pass"].is_valid().to_numpy()) & ~np.isnan(numbers_of(part, "eval_score"))
    expected = probe(plan.test).expected_pass(part, plan.probe_settings)
    return pa.array(judged & ~np.isnan(expected) & (expected != truths_of(part, "pass")))


def wrong_passages(part: pa.Table, plan: Plan) -> pa.Array:
    """Whether what a row says of its passages contradicts these; False in results that tell of none."""
    if not tells_of_passages(part.column_names):
        return pa.repeat(pa.scalar(False), part.num_rows)
    names = ("passages", "passages_kept", "expected_passages", "actual_passages")
    rows = zip(*(part[name].to_pylist() for name in names), strict=True)
    return pa.array(
        [compared(listed(before), listed(after)) != (alike, kept) for alike, kept, before, after in rows], pa.bool_()
    )


Derive = Callable[[pa.Table, Plan], pa.Array]
"""Rows, and the test that they belong to, to a truth value for each row: whether something is wrong with it."""

TEXTS = ("text", "article_sentence", "correct_sentence", "incorrect_sentence", "instruction", "better", "worse")
MOST_OPTIONS = 26
ROUND_OFF = 1e-3
"""How far above 0 a log-likelihood may lie, in nats, by adding up in half precision."""


def without_text(part: pa.Table, plan: Plan) -> pa.Array:
    """Whether a sample lacks one of its texts."""
    return any_of(*(pc.is_null(part[name]) for name in TEXTS if name in part.column_names))


def lone_option(part: pa.Table, plan: Plan) -> pa.Array:
    """Whether a sample has a single option, or more than there are letters."""
    count = lengths(part, "options")
    return pc.or_(pc.equal(count, 1), pc.greater(count, MOST_OPTIONS))


def foreign_answer(part: pa.Table, plan: Plan) -> pa.Array:
    """Whether an accepted answer of a sample with options is none of them."""
    if "answers" not in part.column_names:
        return pa.repeat(pa.scalar(False), part.num_rows)
    pairs = zip(part["answers"].to_pylist(), part["options"].to_pylist(), strict=True)
    return pa.array([bool(options) and not set(answers) <= set(options) for answers, options in pairs], pa.bool_())


def lone_item(part: pa.Table, plan: Plan) -> pa.Array:
    """Whether a sample whose type has a list has fewer than two items."""
    if "items" not in part.column_names:
        return pa.repeat(pa.scalar(False), part.num_rows)
    return pc.less(lengths(part, "items"), 2)


def foreign_place(part: pa.Table, plan: Plan) -> pa.Array:
    """Whether the relevant item of a sample stands nowhere in its list."""
    if "relevant" not in part.column_names:
        return pa.repeat(pa.scalar(False), part.num_rows)
    outside = pc.or_(pc.less(part["relevant"], 1), pc.greater(part["relevant"], lengths(part, "items")))
    return pc.fill_null(outside, False)


def unchanged(part: pa.Table, plan: Plan) -> pa.Array:
    """Whether both prompts of a case that is asked are the same."""
    return all_of(asked(part), pc.equal(part["original_prompt"], part["perturbed_prompt"]))


def half_skipped(part: pa.Table, plan: Plan) -> pa.Array:
    """Whether a case has neither a perturbed prompt nor the reason why it has none."""
    return all_of(asked(part), pc.is_null(part["perturbed_prompt"]))


def skipped_prompt(part: pa.Table, plan: Plan) -> pa.Array:
    """Whether a case has both a perturbed prompt and a reason why it has none."""
    return pc.and_(pc.is_valid(part["skip_reason"]), pc.is_valid(part["perturbed_prompt"]))


def skipped_control(part: pa.Table, plan: Plan) -> pa.Array:
    """Whether a control is skipped."""
    return all_of(part["control"], pc.is_valid(part["skip_reason"]))


def without_labels(part: pa.Table, plan: Plan) -> pa.Array:
    """Whether a case that is asked wants a choice and offers no letters."""
    return all_of(asked(part), pc.equal(part["asks"], "choose"), pc.equal(lengths(part, "labels"), 0))


def uneven_options(part: pa.Table, plan: Plan) -> pa.Array:
    """Whether a case has more options than letters, or fewer."""
    return pc.not_equal(lengths(part, "labels"), lengths(part, "options"))


def silent_completion(part: pa.Table, plan: Plan) -> pa.Array:
    """Whether a completion is neither an answer nor an error."""
    return pc.and_(pc.is_null(part["text"]), pc.is_null(part["error"]))


def answered_error(part: pa.Table, plan: Plan) -> pa.Array:
    """Whether a completion is both an answer and an error; the reply stays where only its loss failed."""
    answered = any_of(
        pc.is_valid(part["loss"]),
        pc.and_(pc.is_null(part["loss_of"]), pc.is_valid(part["text"])),
        pc.and_(pc.is_null(part["loss_of"]), pc.is_valid(part["option_loglikelihoods"])),
    )
    return pc.and_(pc.is_valid(part["error"]), answered)


def asked_about_nothing(part: pa.Table, plan: Plan) -> pa.Array:
    """Whether a model was asked which option a completion chooses that is no reply in words."""
    nothing = any_of(pc.is_valid(part["error"]), pc.is_null(part["text"]), pc.is_valid(part["option_loglikelihoods"]))
    return pc.and_(pc.is_valid(part["asked_back"]), nothing)


def unfounded_passages(part: pa.Table, plan: Plan) -> pa.Array:
    """Whether passages are said to have been retrieved for a reply that is none."""
    return pc.and_(pc.is_valid(part["passages"]), pc.or_(pc.is_null(part["text"]), pc.is_valid(part["error"])))


def foreign_choice(part: pa.Table, plan: Plan) -> pa.Array:
    """Whether a completion chooses a letter that its case does not offer; a reply without likelihoods is no choice."""
    chosen = all_of(pc.equal(part["asks"], "choose"), pc.is_valid(part["option_loglikelihoods"]))
    return all_of(chosen, pc.is_valid(part["text"]), missing(part, "text", "labels"))


def uneven_likelihoods(part: pa.Table, plan: Plan) -> pa.Array:
    """Whether a completion has more log-likelihoods than there are letters, or fewer."""
    counts = pc.list_value_length(part["option_loglikelihoods"])
    return all_of(pc.is_valid(counts), pc.not_equal(counts, lengths(part, "labels")))


def overly_likely(part: pa.Table, plan: Plan) -> pa.Array:
    """Whether a letter is likelier than certain."""
    column = part["option_loglikelihoods"].combine_chunks()
    above = np.nan_to_num(column.flatten().to_numpy(zero_copy_only=False), nan=-1.0) > ROUND_OFF
    return pa.array(_any_by_row(pc.list_parent_indices(column), above, part.num_rows))


def not_finite(part: pa.Table, plan: Plan) -> pa.Array:
    """Whether an eval_score is infinite, or not a number."""
    return all_of(pc.is_valid(part["eval_score"]), pc.invert(pc.is_finite(part["eval_score"])))


def verdict_of_error(part: pa.Table, plan: Plan) -> pa.Array:
    """Whether a result in error has a score or a verdict."""
    return pc.and_(pc.is_valid(part["error"]), pc.or_(pc.is_valid(part["pass"]), pc.is_valid(part["eval_score"])))


def verdict_without_score(part: pa.Table, plan: Plan) -> pa.Array:
    """Whether a result has a verdict and no score."""
    return pc.and_(pc.is_valid(part["pass"]), pc.is_null(part["eval_score"], nan_is_null=True))


def score_without_verdict(part: pa.Table, plan: Plan) -> pa.Array:
    """Whether a result has a score and no verdict."""
    return pc.and_(pc.is_null(part["pass"]), pc.is_valid(part["eval_score"]))


def silent_result(part: pa.Table, plan: Plan) -> pa.Array:
    """Whether a result has neither replies nor an error."""
    unheard = pc.or_(pc.is_null(part["expected_result"]), pc.is_null(part["actual_result"]))
    return pc.and_(pc.is_null(part["error"]), unheard)


DERIVED: Mapping[Kind, Mapping[str, Derive]] = {
    "samples": {
        column.__name__: column for column in (without_text, lone_option, foreign_answer, lone_item, foreign_place)
    },
    "cases": {
        column.__name__: column
        for column in (unchanged, half_skipped, skipped_prompt, skipped_control, without_labels, uneven_options)
    },
    "completions": {
        "silent": silent_completion,
        **{
            column.__name__: column
            for column in (
                *(answered_error, asked_about_nothing, unfounded_passages),
                *(foreign_choice, uneven_likelihoods, overly_likely),
            )
        },
    },
    "results": {
        "silent": silent_result,
        **{
            column.__name__: column
            for column in (
                *(not_finite, verdict_of_error, verdict_without_score, score_without_verdict, wrong_verdict),
                wrong_passages,
            )
        },
    },
}
"""Derived columns of each table, by the names that suites call them."""


def asked(part: pa.Table) -> pa.Array:
    """Whether a case is put to the model."""
    return pc.is_null(part["skip_reason"])


def all_of(*columns: pa.Array) -> pa.Array:
    """Whether all are true; what is missing is not."""
    return pc.fill_null(reduce(pc.and_kleene, columns), False)


def any_of(*columns: pa.Array) -> pa.Array:
    """Whether one is true."""
    return reduce(pc.or_, columns)


def lengths(part: pa.Table, name: str) -> pa.Array:
    """How many items the lists of a column have; 0 where there is no list, or no such column."""
    if name not in part.column_names:
        return pa.repeat(pa.scalar(0), part.num_rows)
    return pc.fill_null(pc.list_value_length(part[name]), 0)


def missing(part: pa.Table, name: str, among: str) -> pa.Array:
    """Whether the value of a column is none of the items in the list beside it."""
    lists = part[among].combine_chunks()
    rows = pc.list_parent_indices(lists)
    same = pc.fill_null(pc.equal(lists.flatten(), part[name].take(rows)), False)
    return pa.array(~_any_by_row(rows, same.to_numpy(zero_copy_only=False), part.num_rows))


def _any_by_row(rows: pa.Array, true: np.ndarray, count: int) -> np.ndarray:
    """Whether any item of a row's list is true."""
    any_true: np.ndarray = np.bincount(rows.to_numpy(zero_copy_only=False)[true.astype(bool)], minlength=count) > 0
    return any_true
