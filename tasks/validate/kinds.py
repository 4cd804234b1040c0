"""Define the kinds of validated tables: keys, columns, derived columns, and rows that each must account for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from contrapose.tasks.config.plan import Plan
from contrapose.tasks.core.records import Case, ItemSample, Trial
from contrapose.tasks.core.registry import probe
from contrapose.tasks.core.validation import Kind
from contrapose.tasks.probes.values import get_numbers, get_truths
from contrapose.tasks.tables.columnar import schema_of
from contrapose.tasks.tables.passages import PASSAGES, compare_passages, has_passage_columns, parse_passages
from contrapose.tasks.tables.results import make_result_schema, make_schema

KEYS: Mapping[Kind, str] = {"samples": "id", "cases": "id", "completions": "case_id", "results": "case_id"}
"""Column that names a row."""

LINKS: Mapping[Kind, str] = {"cases": "sample_id", "completions": "case_id", "results": "case_id"}
"""Column that names what a row was made from: an id that the stage before handed over."""

UNKNOWN = "unknown"
"""Derived column of a complete table: the row was made from nothing that was handed over."""

LEFT_OUT = "left_out"
"""Derived column of what was handed over: nothing was made from it."""

PARAMETERS: Mapping[Kind, tuple[str, ...]] = {
    "samples": ("test", "drawn"),
    "cases": ("test", "handed"),
    "completions": ("test", "handed", "completions"),
    "results": ("test", "handed"),
}
"""Names that a suite may refer to as `$PARAMETER`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Handed:
    """The rows that the stage before handed over."""

    ids: pa.Array | None = None
    """Ids of the rows, or None if they are not known."""
    parameters: Mapping[str, object] = field(default_factory=dict)
    """Values that a suite may refer to."""


def collect_handed(plan: Plan, ids: Iterable[pa.ChunkedArray]) -> Handed:
    """Return the rows handed over for a test, by their ids."""
    kept = [chunk for column in ids for chunk in column.chunks]
    every = pa.concat_arrays(kept) if kept else pa.array([], pa.string())
    counts = {"handed": len(every), "completions": 2 * len(every)}
    return Handed(ids=every, parameters={"test": [plan.test], **counts})


def expect_rows(plan: Plan, rows: int) -> Handed:
    """Return the rows that a source hands over: their number is known, their ids are not."""
    return Handed(parameters={"test": [plan.test], "drawn": min(rows, plan.limit or rows)})


def get_stored_schema(kind: Kind, test: str) -> pa.Schema:
    """Return the schema of a table as it is stored; types are checked before values."""
    chosen = probe(test)
    schemas = {"samples": chosen.sample_type, "cases": Case, "completions": Trial}
    return make_result_schema(chosen) if kind == "results" else schema_of(schemas[kind])


def list_suite_columns(kind: Kind, test: str) -> pa.Schema:
    """Return the columns that a suite may name: those of the rows, and the derived ones."""
    flags = [*DERIVED[kind], *((UNKNOWN, LEFT_OUT) if kind in LINKS else ())]
    rows = expand_rows(kind, get_stored_schema(kind, test).empty_table()).schema
    optional = make_schema(PASSAGES) if kind == "results" else ()
    return pa.schema([*rows, *optional, *(pa.field(name, pa.bool_()) for name in flags)])


def expand_rows(kind: Kind, part: pa.Table) -> pa.Table:
    """Return the rows of a stored part; a trial becomes two completions, the original prompt's first."""
    if kind != "completions":
        return part
    case, answers = part["case"].combine_chunks(), ("text", "option_loglikelihoods", "label_mass", "loss", "error")
    sides = []
    for side, prompt in (("expected", "original"), ("actual", "perturbed")):
        completion = part[side].combine_chunks()
        usage = pc.struct_field(completion, "usage")
        fields = {"case_id": pc.struct_field(case, "id"), "prompt": pa.repeat(pa.scalar(prompt), len(case))}
        fields |= {name: pc.struct_field(case, name) for name in ("asks", "labels", "loss_of")}
        fields |= {name: pc.struct_field(completion, name) for name in (*answers, "asked_back", "passages")}
        fields |= {name: pc.struct_field(usage, name) for name in ("calls", "prompt_tokens", "completion_tokens")}
        sides.append(pa.table(fields))
    order = [place for row in range(part.num_rows) for place in (row, row + part.num_rows)]
    return pa.concat_tables(sides).take(pa.array(order, pa.int64()))


TEXTS = ("text", "article_sentence", "correct_sentence", "incorrect_sentence", "first", "second")
OPTIONAL = ("options", "answers", "items", "relevant")
"""Columns that samples of some types lack; to the derived columns they hold nothing."""
MOST_OPTIONS = 26
ROUND_OFF = 1e-3
"""Nats by which a log-likelihood may exceed 0, from adding up in half precision."""


def is_asked(rows: pa.Table) -> pa.Array:
    """Return true for each case that is put to the model."""
    return pc.is_null(rows["skip_reason"])


def is_any_item(lists: pa.ListArray, is_true: pa.Array) -> pa.Array:
    """Return true for each list with an item for which the flattened array is true."""
    owners = pc.list_parent_indices(lists).filter(pc.fill_null(is_true, False)).to_numpy(zero_copy_only=False)
    return pa.array(np.bincount(owners, minlength=len(lists)) > 0)


def is_textless(rows: pa.Table, plan: Plan) -> pa.Array:
    """Return true if a text of the sample is missing."""
    return reduce(pc.or_, (pc.is_null(rows[name]) for name in TEXTS if name in rows.column_names))


def is_foreign_answer(rows: pa.Table, plan: Plan) -> pa.Array:
    """Return true if an accepted answer of a sample with options is none of them."""
    pairs = zip(rows["answers"].to_pylist(), rows["options"].to_pylist(), strict=True)
    return pa.array([bool(options) and not set(answers) <= set(options) for answers, options in pairs], pa.bool_())


def is_foreign_choice(rows: pa.Table, plan: Plan) -> pa.Array:
    """Return true if likelihoods choose a letter that the case does not offer."""
    labels = rows["labels"].combine_chunks()
    offered = is_any_item(labels, pc.equal(labels.flatten(), rows["text"].take(pc.list_parent_indices(labels))))
    choice = pc.and_(pc.equal(rows["asks"], "choose"), pc.is_valid(rows["option_loglikelihoods"]))
    return pc.fill_null(pc.and_(pc.and_(choice, pc.is_valid(rows["text"])), pc.invert(offered)), False)


def is_overly_likely(rows: pa.Table, plan: Plan) -> pa.Array:
    """Return true if a letter is likelier than certain."""
    lists = rows["option_loglikelihoods"].combine_chunks()
    return is_any_item(lists, pc.greater(lists.flatten(), ROUND_OFF))


def is_wrong_verdict(rows: pa.Table, plan: Plan) -> pa.Array:
    """Return true if a verdict contradicts the score by the rule of the test, if it has one."""
    judged = np.asarray(rows["pass"].is_valid().to_numpy()) & ~np.isnan(get_numbers(rows, "eval_score"))
    expected = probe(plan.test).expected_pass(rows, plan.probe_settings)
    return pa.array(judged & ~np.isnan(expected) & (expected != get_truths(rows, "pass")))


def is_wrong_about_passages(rows: pa.Table, plan: Plan) -> pa.Array:
    """Return true if the comparison of a row's passages contradicts the passages."""
    if not has_passage_columns(rows.column_names):
        return pa.repeat(pa.scalar(False), rows.num_rows)
    names = ("passages", "passages_kept", "expected_passages", "actual_passages")
    values = zip(*(rows[name].to_pylist() for name in names), strict=True)
    return pa.array(
        [
            compare_passages(parse_passages(before), parse_passages(after)) != (alike, kept)
            for alike, kept, before, after in values
        ],
        pa.bool_(),
    )


Derive = Callable[[pa.Table, Plan], pa.Array]
"""Rows, and the test that they belong to, to a truth value for each row."""

ASKED, CHOICE = pc.field("skip_reason").is_null(), pc.field("option_loglikelihoods").is_valid()
NO_REPLY = pc.field("text").is_null() | pc.field("error").is_valid()
OPTIONS, LABELS, ITEMS = (
    pc.coalesce(pc.list_value_length(pc.field(name)), 0) for name in ("options", "labels", "items")
)
SCORED, JUDGED = pc.field("eval_score").is_valid(), pc.field("pass").is_valid()

DERIVED: Mapping[Kind, Mapping[str, Derive | pc.Expression]] = {
    "samples": {
        "without_text": is_textless,
        # A single option, or more than there are letters.
        "lone_option": (OPTIONS == 1) | (OPTIONS > MOST_OPTIONS),
        "foreign_answer": is_foreign_answer,
        "lone_item": pc.field("items").is_valid() & (ITEMS < 2),
        "foreign_place": (pc.field("relevant") < 1) | (pc.field("relevant") > ITEMS),
    },
    "cases": {
        "unchanged": ASKED & (pc.field("original_prompt") == pc.field("perturbed_prompt")),
        # Neither a perturbed prompt nor the reason why there is none.
        "half_skipped": ASKED & pc.field("perturbed_prompt").is_null(),
        "skipped_prompt": ~ASKED & pc.field("perturbed_prompt").is_valid(),
        "skipped_control": ~ASKED & pc.field("control"),
        # The case wants a choice and offers no letters.
        "without_labels": ASKED & (pc.field("asks") == "choose") & (LABELS == 0),
        "uneven_options": LABELS != OPTIONS,
    },
    "completions": {
        "silent": pc.field("text").is_null() & pc.field("error").is_null(),
        # Both an answer and an error; the reply remains where only its loss failed.
        "answered_error": pc.field("error").is_valid()
        & (pc.field("loss").is_valid() | (pc.field("loss_of").is_null() & (pc.field("text").is_valid() | CHOICE))),
        # The reader model was asked about something that is no reply in words.
        "asked_about_nothing": pc.field("asked_back").is_valid() & (NO_REPLY | CHOICE),
        "unfounded_passages": pc.field("passages").is_valid() & NO_REPLY,
        "foreign_choice": is_foreign_choice,
        "uneven_likelihoods": CHOICE & (pc.list_value_length(pc.field("option_loglikelihoods")) != LABELS),
        "overly_likely": is_overly_likely,
    },
    "results": {
        "silent": pc.field("error").is_null()
        & (pc.field("expected_result").is_null() | pc.field("actual_result").is_null()),
        "not_finite": SCORED & ~pc.is_finite(pc.field("eval_score")),
        "verdict_of_error": pc.field("error").is_valid() & (JUDGED | SCORED),
        "verdict_without_score": JUDGED & pc.field("eval_score").is_null(nan_is_null=True),
        "score_without_verdict": ~JUDGED & SCORED,
        "wrong_verdict": is_wrong_verdict,
        "wrong_passages": is_wrong_about_passages,
    },
}
"""Derived columns of each table, by the names that suites call them: true where something is wrong with a row."""


def derive(kind: Kind, name: str, rows: pa.Table, plan: Plan) -> pa.Array:
    """Return a derived column of rows; a missing truth value is false."""
    import pyarrow.dataset as ds

    column = DERIVED[kind][name]
    for own in schema_of(ItemSample) if kind == "samples" else ():
        if own.name in OPTIONAL and own.name not in rows.column_names:
            rows = rows.append_column(own, pa.nulls(rows.num_rows, own.type))
    if not isinstance(column, pc.Expression):
        return column(rows, plan)
    return pc.fill_null(ds.dataset(rows).to_table(columns={name: column})[name], False)
