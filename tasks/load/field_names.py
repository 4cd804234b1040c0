"""What columns are called that hold our fields."""

from __future__ import annotations

import re
from collections.abc import Mapping

from contrapose.tasks.core.records import AnswerPair, ItemSample, Sample, SummaryPair, TextSample

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
    *("solution", "output", "response", "completion", "key"),
)
NAMES: Mapping[str, tuple[str, ...]] = {
    "text": TEXTS,
    "context": CONTEXTS,
    "options": (
        *("options", "choices", "candidates", "endings", "alternatives", "answer_choices", "answer_options"),
        *("possible_answers", "multiple_choice_targets", "mc1_targets", "target_scores"),
    ),
    "answer": ANSWERS,
    "items": ("items",),
    "relevant": ("relevant",),
    "article_sentence": ("article_sentence", "article_sent", "instruction", "prompt"),
    "correct_sentence": ("correct_sentence", "correct_sent", "better", "chosen"),
    "incorrect_sentence": ("incorrect_sentence", "incorrect_sent", "worse", "rejected"),
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

NEEDED: Mapping[type[Sample], tuple[str, ...]] = {
    TextSample: ("text",),
    ItemSample: ("text", "items"),
    SummaryPair: ("article_sentence", "correct_sentence", "incorrect_sentence"),
    AnswerPair: ("instruction", "better", "worse"),
}
"""The fields that every row must have, by the type of sample."""
FURTHER: Mapping[type[Sample], tuple[str, ...]] = {
    TextSample: ("context", "options", "answer"),
    ItemSample: ("context", "options", "answer", "relevant"),
    SummaryPair: (),
    AnswerPair: ("context", "reference", "better_by", "worse_by"),
}
"""The fields that a row may have besides, and `id` and `cluster`."""
CHOSEN = ("first", "second", "winner", "first_by", "second_by")
"""In place of `better` and `worse`: two answers in their order, and which of them is preferred."""

FAMILY = re.compile(
    r"(?:(?P<stem>options?|opt|op|choices?|answers?|ans|alternatives?|alt|endings?|sol|solution|candidates?)_?)?"
    r"(?P<place>[a-j]|\d{1,2})"
)
"""A column that holds one of several options: "A", "option_b", "Choice C", "opt1"."""
PAIR = re.compile(r"(?P<stem>response|output|answer|completion|summary|reply|candidate|assistant)_?(?P<place>[ab12])")
"""A column that holds one of two answers that are compared."""
BELOW = ("question", "prompt", "input", "inputs", "data", "item", "example", "sample", "row", "record", "fields", "doc")
"""Objects whose keys are looked at as columns are."""
NO_QUESTION = re.compile(
    r"explanation|exp|rationale|reasoning|cot\w*|long_answer|solution|comments?|notes?|feedback|source\w*|urls?|link"
    r"|references?|category|subcategory|subject|topic|tags?|metadata|meta_info|title|author|license|output|outputs"
    r"|response|responses|completion|prediction|predictions|generated\w*|model\w*|summary|highlights|incorrect_\w+"
    r"|\w*_tokenized|\w*_(?:id|ids|idx|url|type|name|model|source|by)|(?:.*_)?(?:answers?|predictions|reason)\w*"
)
"""Names of columns that are no part of a question, whatever they hold."""
WORDS = 5
"""Words in the mean from which texts look like a part of a question."""


def fields_of(kind: type[Sample]) -> tuple[str, ...]:
    """The fields that samples of a type have; those of another package's samples are those of a text."""
    known = kind if kind in NEEDED else TextSample
    return (*NEEDED[known], *FURTHER[known], "id", "cluster")


def needed(kind: type[Sample]) -> tuple[str, ...]:
    """The fields that every row must have."""
    return NEEDED.get(kind, NEEDED[TextSample])


def plain_name(name: str) -> str:
    """A column's name in lower case with `_` between its words: "answerKey" → "answer_key"."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
    return re.sub(r"\W+", "_", parted).strip("_").lower() or name


def is_row_like(path: str) -> bool:
    """Whether an object of this name stands for a row, so that its keys are looked at as columns are."""
    return plain_name(path.rpartition(".")[2]) in BELOW
