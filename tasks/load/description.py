"""The description of a table: which column holds which field, why, and which columns are not read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from contrapose.tasks.core.outcome import ColumnsRead
from contrapose.tasks.core.records import AnswerPair, ItemSample, RelatedTexts, Sample, SummaryPair, TextSample
from contrapose.tasks.load.layouts import KnownLayout, make_layout_key
from contrapose.tasks.load.options import OptionCells
from contrapose.tasks.load.rows import CellError, Problem, Row, escape, find_value, is_missing

TEXTS = (
    *("question", "query", "question_text", "question_stem", "stem", "prompt", "instruction", "user_query", "problem"),
    *("goal", "ctx", "text", "sentence", "statement", "claim", "input", "inputs", "utterance", "headline", "messages"),
    *("conversation", "conversations", "turns", "user_input", "user_message", "content"),
)
CONTEXTS = (
    *("context", "passage", "article", "document", "story", "paragraph", "background", "knowledge", "support"),
    *("contexts", "passages", "premise", "scenario", "body", "dialogue", "dialog", "dialogue_history", "conversation"),
    *("chat_history", "contract", "source_text", "reading", "excerpt", "input", "text"),
)
ANSWERS = (
    *("answer", "answers", "answer_key", "answerkey", "correct_answer", "correct_answers", "correct_option", "correct"),
    *("right_answer", "gold_answer", "gold", "best_answer", "final_decision", "answer_idx", "answer_index", "cop"),
    *("ideal", "target", "expected", "expected_answer", "expected_output", "ground_truth", "reference_answer", "label"),
    *("solution", "output", "response", "completion", "key", "right"),
)
RELATED = ("after", "context_after", "options_after", "answer_after", "control", "variant")
"""Fields of a changed text, which only settings and layouts name."""
NAMES: Mapping[str, tuple[str, ...]] = {
    "text": TEXTS,
    "context": CONTEXTS,
    "options": (
        *("options", "choices", "candidates", "endings", "alternatives", "answer_choices", "answer_options"),
        *("possible_answers", "multiple_choice_targets", "mc1_targets", "target_scores"),
    ),
    "answer": ANSWERS,
    **dict.fromkeys(RELATED, ()),
    "system": ("system", "system_prompt", "system_message", "system_instruction"),
    "tools": ("tools", "functions", "available_tools", "tool_definitions"),
    "items": ("items",),
    "relevant": ("relevant",),
    "article_sentence": ("article_sentence", "article_sent", "article", "document", "source", "instruction", "prompt"),
    "correct_sentence": (
        *("correct_sentence", "correct_sent", "correct_summary", "right_summary", "consistent_summary", "better"),
        "chosen",
    ),
    "incorrect_sentence": (
        *("incorrect_sentence", "incorrect_sent", "incorrect_summary", "wrong_summary", "hallucinated_summary"),
        *("inconsistent_summary", "worse", "rejected"),
    ),
    "instruction": ("instruction", "prompt", "input", "question", "query", "user_query", "history"),
    "better": ("better", "chosen", "preferred", "winner_text"),
    "worse": ("worse", "rejected", "dispreferred", "loser_text"),
    "winner": ("winner", "preference", "label", "better", "preferred", "choice", "vote", "verdict"),
    "reference": ("reference",),
    "better_by": ("better_by", "chosen_by", "chosen_model"),
    "worse_by": ("worse_by", "rejected_by", "rejected_model"),
    "id": (
        *("id", "_id", "uid", "uuid", "guid", "qid", "question_id", "example_id", "sample_id", "item_id", "row_id"),
        *("case_id", "pair_id", "prompt_id", "query_id", "problem_id", "instance_id", "unique_id", "questionid"),
    ),
    "cluster": ("cluster", "article_id"),
}
"""What columns are called that hold a field, the likeliest first; compared without case and marks between words."""
FIELD_NAMES = frozenset(name for names in NAMES.values() for name in names)
"""Names that a column has and a row does not."""

NEEDED: Mapping[type[Sample], tuple[str, ...]] = {
    TextSample: ("text",),
    RelatedTexts: ("text",),
    ItemSample: ("text", "items"),
    SummaryPair: ("article_sentence", "correct_sentence", "incorrect_sentence"),
    AnswerPair: ("instruction", "better", "worse"),
}
"""The fields that every row must have, by the type of sample."""
FURTHER: Mapping[type[Sample], tuple[str, ...]] = {
    TextSample: ("context", "options", "answer", "system", "tools"),
    RelatedTexts: ("context", "options", "answer", "system", "tools", *RELATED),
    ItemSample: ("context", "options", "answer", "relevant"),
    SummaryPair: (),
    AnswerPair: ("context", "reference", "better_by", "worse_by"),
}
"""The fields that a row may have besides, and `id` and `cluster`."""
CHOSEN = ("first", "second", "winner", "first_by", "second_by")
"""Instead of `better` and `worse`: two answers in their order, and the preferred one, if it is known."""
COMPARED = tuple(
    name
    for field in ("article_sentence", "correct_sentence", "incorrect_sentence", "better", "worse")
    for name in NAMES[field]
)
"""Columns of texts that are compared, and ask nothing."""

FAMILY = re.compile(
    r"(?:(?P<stem>options?|opt|op|choices?|answers?|ans|alternatives?|alt|endings?|sol|solution|candidates?)_?)?"
    r"(?P<place>[a-j]|\d{1,2})"
)
"""A column that holds one of several options: "A", "option_b", "Choice C", "opt1"."""
PAIR = re.compile(r"(?P<stem>response|output|answer|completion|summary|reply|candidate|assistant)_?(?P<place>[ab12])")
"""A column that holds one of two answers that are compared."""
NO_QUESTION = re.compile(
    r"explanation|exp|rationale|reasoning|cot\w*|long_answer|solution|comments?|notes?|feedback|source\w*|urls?|link"
    r"|references?|category|subcategory|subject|topic|tags?|metadata|meta_info|title|author|license|output|outputs"
    r"|response|responses|completion|prediction|predictions|generated\w*|model\w*|summary|highlights|incorrect_\w+"
    r"|\w*_tokenized|\w*_(?:id|ids|idx|url|type|name|model|source|by)|(?:.*_)?(?:answers?|predictions|reason)\w*"
)
"""Names of columns that are no part of a question, whatever they hold."""
WORDS = 5
"""Words in the mean from which texts look like a part of a question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldSource:
    """The columns that a field comes from, and the reason."""

    columns: tuple[str, ...]
    """One column, or several that hold an option each or are joined; a key below an object behind a dot."""
    reason: str
    """Why: `set`, the name of a known layout, or what the name and the values say."""


@dataclass(frozen=True, kw_only=True)
class TableDescription:
    """Which column holds which field, and how rows are turned into samples."""

    sample_type: type[Sample]
    fields: Mapping[str, FieldSource]
    """Each field, with the columns that it comes from."""
    columns: tuple[str, ...]
    """Every column of the rows that were looked at."""
    layout: KnownLayout | None = None
    first_index: int | None = None
    """0 or 1, where an answer that is an index begins to count; None if no answer is one."""
    problems: tuple[str, ...] = ()
    """Why answers cannot be read, for a test that needs them; a warning for any other."""
    warnings: tuple[str, ...] = ()
    """What people should know although nothing is wrong."""

    @property
    def reshapes(self) -> bool:
        """Return whether rows are reshaped before fields are read."""
        return self.layout is not None and self.layout.reshape is not None

    @property
    def has_options_in_text(self) -> bool:
        """Return whether the text itself has the options after the question."""
        source = self.fields.get("options")
        return source is not None and source.columns == self.fields["text"].columns and not self.reshapes

    @cached_property
    def used_columns(self) -> frozenset[str]:
        """Return the columns that a field comes from, directly or by a key below the column."""
        paths = {column for source in self.fields.values() for column in source.columns}
        return frozenset(
            column for column in self.columns if column in paths or any(p.startswith(f"{column}.") for p in paths)
        )

    @property
    def unread(self) -> tuple[str, ...]:
        """Return the columns that no field comes from."""
        return tuple(column for column in self.columns if column not in self.used_columns)

    def summary(self) -> ColumnsRead:
        """Return which column is read as which field, and which columns are not read, as reports store it."""
        return ColumnsRead(
            layout=self.layout.name if self.layout else None,
            fields={name: list(map(escape, source.columns)) for name, source in self.fields.items()},
            unread=list(map(escape, self.unread)),
        )

    def parts(self, row: Row) -> Iterator[Mapping[str, Any] | Problem]:
        """Yield the values of a row by field, once for each sample in the row."""
        if self.layout is None or self.layout.reshape is None:
            own = {name: source.columns for name, source in self.fields.items()}
            if self.has_options_in_text:
                del own["options"]
            # A row may lack a column that other rows have.
            yield {
                name: read_field(name, columns, row.values)
                for name, columns in own.items()
                if len(columns) > 1 or columns[0] in row.values or "." in columns[0]
            }
            return
        values = {make_layout_key(column): value for column, value in row.values.items()}
        try:
            parts = list(self.layout.reshape(values))
        except (AttributeError, LookupError, OverflowError, TypeError, ValueError, CellError):
            yield Problem(f"the row has another form than those of {self.layout.name}", f"rows of {self.layout.name}")
            return
        for part in parts:
            yield {name: value for name, value in part.items() if name in self.fields or name in ("id", "winner")}


def read_field(name: str, columns: tuple[str, ...], values: Mapping[str, Any]) -> Any:
    """Return the value of a field: from its only column, or from several in the form that the field needs."""
    if len(columns) == 1:
        return find_value(values, columns[0])
    cells = [find_value(values, column) for column in columns]
    if name in ("options", "options_after", "winner"):
        return cells if name == "winner" else OptionCells(cells)
    if name == "cluster":
        return "/".join(map(str, cells))
    there = [cell for cell in cells if not is_missing(cell)]
    if name == "answer":
        # Of a letter and a text the first that is there counts; of several texts each.
        return there if columns[0].rstrip("0123456789") == columns[1].rstrip("0123456789") else (there or [None])[0]
    return there[0] if len(there) == 1 or name == "id" else "\n\n".join(map(str, there)) or None


def list_fields(kind: type[Sample]) -> tuple[str, ...]:
    """Return the fields of samples of a type; samples of other packages have the fields of a text."""
    known = kind if kind in NEEDED else TextSample
    return (*NEEDED[known], *FURTHER[known], "id", "cluster")


def list_required_fields(kind: type[Sample]) -> tuple[str, ...]:
    """Return the fields that every row must have."""
    return NEEDED.get(kind, NEEDED[TextSample])


def normalise_name(name: str) -> str:
    """Return a column's name in lower case with `_` between its words: "answerKey" → "answer_key"."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
    return re.sub(r"\W+", "_", parted).strip("_").lower() or name
