"""Read answer columns: the accepted answers, and which of two answers is preferred."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from contrapose.tasks.core.records import Verdict
from contrapose.tasks.language import closed
from contrapose.tasks.language import flags as f
from contrapose.tasks.language.replies.verdict_words import parse_verdict_word
from contrapose.tasks.load.options import MARK, Options
from contrapose.tasks.load.rows import CellError, is_missing, parse_literal, quote, quote_all, require_label

KEYS = ("value", "text", "texts", "input_text", "spans", "answer", "answers", "aliases")
"""Keys of an object that hold accepted answers, as SQuAD, TriviaQA, DROP and CoQA store them."""
FINAL = re.compile(r"####\s*(.+?)\s*$")
"""The final answer behind the steps of a solution, as GSM8K writes it."""
INDEX = re.compile(r"-?\d{1,2}(?:\.0)?")
LETTER = re.compile(r"[(\[]?([A-Za-z])[)\].:]{0,2}")
UNKNOWN = ("-1", "?", "-1.0")
"""An answer that is kept secret, if there are options."""
YES, NO = ("yes", "true", "correct"), ("no", "false", "incorrect")


def read_accepted_values(value: Any) -> list[Any]:
    """Return the single answers in a cell, a list or an object ([] if no answer is known), or raise CellError."""
    value = parse_literal(value)
    if is_missing(value):
        return []
    if isinstance(value, Mapping):
        by_name = {str(key).lower(): part for key, part in value.items()}
        parts = [by_name[key] for key in KEYS if key in by_name]
        if not parts:
            raise CellError(f"{quote(value)} is an object", expected="an answer, or a list of accepted ones")
        return [single for part in parts for single in read_accepted_values(part)]
    if isinstance(value, list | tuple):
        return [single for part in value for single in read_accepted_values(part)]
    return [value]


def read_open_answers(value: Any, question: str) -> tuple[str, ...]:
    """Return the accepted answers to a question without options, each once, or raise CellError."""
    answers = []
    for single in read_accepted_values(value):
        truth = _parse_truth_value(single)
        if truth is None:
            said = require_label(single).strip()
            final = FINAL.search(said)
            answers.append(final[1] if final else said)
            continue
        asked, words = question.strip(), question.split(None, 1)
        is_asked = asked.endswith("?") or bool(words and closed.build_closed_classes().get(words[0].lower(), 0) & f.AUX)
        is_statement = not is_asked or asked.lower().startswith("true or false")
        answers.append(str(truth) if is_statement else "yes" if truth else "no")
    return _drop_repeated_texts(answers)


def find_chosen_options(value: Any, options: Options, *, first_index: int | None) -> tuple[str, ...]:
    """Return the texts of the options that a cell names by text, letter, label or index, or raise CellError.

    An index counts from `first_index`, 0 or 1; None: numbers are no indexes.
    """
    singles = [single for single in read_accepted_values(value) if str(single).strip() not in UNKNOWN]
    return (
        _drop_repeated_texts(_find_chosen_option(single, options, first_index) for single in singles) or options.right
    )


def parse_index(value: Any) -> int | None:
    """Return a whole number that is written as 2, "2" or 2.0, or None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    written = str(value).strip()
    return int(float(written)) if INDEX.fullmatch(written) else None


def is_text_of(value: Any, options: Options) -> bool:
    """Return whether a single answer is the text or the label of an option."""
    try:
        said = _squeeze(require_label(value))
    except CellError:
        return False
    return _find_place(said, options.texts) is not None or (
        options.labelled and _find_place(said, options.labels) is not None
    )


def is_letter(value: Any) -> bool:
    """Return whether a single answer is a letter from A to H."""
    match = LETTER.fullmatch(value.strip()) if isinstance(value, str) else None
    return match is not None and match[1].upper() in "ABCDEFGH"


def _parse_truth_value(value: Any) -> bool | None:
    """Return the truth value that an answer is or names, or None."""
    if isinstance(value, bool):
        return value
    return {"true": True, "false": False}.get(value.strip().lower()) if isinstance(value, str) else None


def _find_chosen_option(value: Any, options: Options, first_index: int | None) -> str:
    """Return the option that a single answer names: labels of the source first, then indexes, texts and letters."""
    said, index = _squeeze(require_label(value)), parse_index(value)
    place = _find_place(said, options.labels) if options.labelled else None
    if place is None and index is not None and first_index is not None:
        place = index - first_index
    folded = [text.casefold() for text in options.texts]
    if place is None:
        place = _find_place(said, options.texts)
    if place is None:
        place = _find_place(said.casefold(), folded)
    if place is None and (truth := _parse_truth_value(said)) is not None:
        place = next((number for number, text in enumerate(folded) if text in (YES if truth else NO)), None)
    if place is None:
        place = _find_place_of_letter(said, options)
    if place is None or not 0 <= place < len(options.texts):
        raise CellError(f"{quote(value)} is none of the options", expected=f"one of {quote_all(options.texts, most=4)}")
    return options.texts[place]


def _find_place_of_letter(said: str, options: Options) -> int | None:
    """Return the place of the letter that an answer is, or begins with if that option's text follows."""
    labels = [name.casefold() for name in options.labels]
    if alone := LETTER.fullmatch(said):
        place = _find_place(alone[1].casefold(), labels)
        return ord(alone[1].lower()) - ord("a") if place is None else place
    if (match := MARK.match(said)) is None:
        return None
    place = _find_place(next(filter(None, match.groups())).casefold(), labels)
    rest = _squeeze(said[match.end() :]).casefold()
    return place if place is not None and rest == _squeeze(options.texts[place]).casefold() else None


def _find_place(said: str, among: Sequence[str]) -> int | None:
    """Return the place of a text among others, ignoring differences in blanks."""
    return next((place for place, text in enumerate(among) if _squeeze(text) == said), None)


def _squeeze(text: str) -> str:
    """Return a text with single blanks between its words."""
    return " ".join(text.split())


def _drop_repeated_texts(answers: Iterable[str]) -> tuple[str, ...]:
    """Return answers without empty and repeated ones."""
    return tuple(dict.fromkeys(answer for answer in answers if answer))


def read_preference(value: Any, *, first_index: int | None = None) -> Verdict | None:
    """Return the answer that most judgements prefer, or a tie, or None without a judgement; or raise CellError.

    A number is 1 or 2, and 0 a tie; with a `first_index` of 0 it is 0 or 1, and there is no tie.
    """
    value = parse_literal(value)
    if isinstance(value, list | tuple):
        votes = Counter(read_preference(vote, first_index=first_index) for vote in value if not is_missing(vote))
        top = votes.most_common(2)
        return None if not top else "tie" if len(top) > 1 and top[0][1] == top[1][1] else top[0][0]
    if is_missing(value):
        return None
    try:
        number = None if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        number = None
    if first_index == 0 and number in (0, 1):
        return "first" if number == 0 else "second"
    if number is not None and first_index != 0 and (1 <= number <= 2 or number == 0):
        return "tie" if number in (0, 1.5) else "first" if number < 1.5 else "second"
    verdict = None if number is not None else parse_verdict_word(str(value))
    if verdict is not None:
        return verdict
    raise CellError(f"{quote(value)} does not say which answer is better", expected="A, B or tie, or 1, 2 or 0")
