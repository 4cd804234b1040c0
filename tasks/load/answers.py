"""Answers as people store them: accepted ones, and which of two is preferred."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from contrapose.tasks.language import closed
from contrapose.tasks.language import flags as f
from contrapose.tasks.load.options import MARK, Options
from contrapose.tasks.load.rows import Unfit, is_missing, label, listed, shown, structured

KEYS = ("value", "text", "texts", "input_text", "spans", "answer", "answers", "aliases")
"""Keys of an object that hold accepted answers, as SQuAD, TriviaQA, DROP and CoQA store them."""
FINAL = re.compile(r"####\s*(.+?)\s*$")
"""The final answer behind the steps of a solution, as GSM8K writes it."""
INDEX = re.compile(r"-?\d{1,2}(?:\.0)?")
LETTER = re.compile(r"[(\[]?([A-Za-z])[)\].:]{0,2}")
UNKNOWN = ("-1", "?", "-1.0")
"""What stands for an answer that is kept secret, where there are options."""

KIND = r"(?:model|response|output|answer|assistant|option|summary|candidate|completion)?[_ ]?"
FIRST = re.compile(rf"\[*(?:{KIND}(?:a|1)|first|left|a\s*>+\s*b)\]*")
SECOND = re.compile(rf"\[*(?:{KIND}(?:b|2)|second|right|b\s*>+\s*a|a\s*<+\s*b)\]*")
TIE = re.compile(r"\[*(?:tie\b.*|both.*|neither.*|none|equal.*|draw|same|c|0|a\s*=+\s*b)\]*")
MIDDLE = 1.5
"""Between 1 for the first and 2 for the second answer."""


def accepted_values(value: Any) -> list[Any]:
    """The single answers of a cell that holds one, a list, or an object of them; none where nothing is known.

    Raises:
        Unfit: it is an object without a known key.
    """
    value = structured(value)
    if is_missing(value):
        return []
    if isinstance(value, Mapping):
        by_name = {str(key).lower(): part for key, part in value.items()}
        parts = [by_name[key] for key in KEYS if key in by_name]
        if not parts:
            raise Unfit(f"{shown(value)} is an object", expected="an answer, or a list of accepted ones")
        return [single for part in parts for single in accepted_values(part)]
    if isinstance(value, list | tuple):
        return [single for part in value for single in accepted_values(part)]
    return [value]


def open_answers(value: Any, question: str) -> tuple[str, ...]:
    """Accepted answers to a question without options, each once.

    Raises:
        Unfit: one is no text, number or truth value.
    """
    return _distinct(_open_answer(single, question) for single in accepted_values(value))


def chosen_options(value: Any, options: Options, *, first_index: int | None) -> tuple[str, ...]:
    """Texts of the options that a cell means: by their text, letter, label or index.

    Args:
        value: the cell.
        options: of the same row.
        first_index: 0 or 1, where an index begins to count; None where numbers are no indexes.

    Raises:
        Unfit: it means none of the options.
    """
    singles = [single for single in accepted_values(value) if str(single).strip() not in UNKNOWN]
    return _distinct(_chosen(single, options, first_index) for single in singles) or options.right


def index_of(value: Any) -> int | None:
    """A whole number as it is written, as 2, "2" or 2.0; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    written = str(value).strip()
    return int(float(written)) if INDEX.fullmatch(written) else None


def is_text_of(value: Any, options: Options) -> bool:
    """Whether a single answer is the text or the label of an option."""
    try:
        said = _spelled(value)
    except Unfit:
        return False
    return said in map(_plain, options.texts) or (options.labelled and said in map(_plain, options.labels))


def is_letter(value: Any) -> bool:
    """Whether a single answer is a letter from A to H."""
    match = LETTER.fullmatch(value.strip()) if isinstance(value, str) else None
    return match is not None and match[1].upper() in "ABCDEFGH"


def asks(question: str) -> bool:
    """Whether a text is a question, with or without its mark, and no statement."""
    said = question.strip()
    words = said.split(None, 1)
    if said.lower().startswith("true or false"):
        return False
    return said.endswith("?") or bool(words and closed.table().get(words[0].lower(), 0) & f.AUX)


def _open_answer(value: Any, question: str) -> str:
    truth = _truth(value)
    if truth is not None:
        return ("yes" if truth else "no") if asks(question) else str(truth)
    said = label(value).strip()
    final = FINAL.search(said)
    return final[1] if final else said


def _truth(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    return {"true": True, "false": False}.get(value.strip().lower()) if isinstance(value, str) else None


def _chosen(value: Any, options: Options, first_index: int | None) -> str:
    """The option that a single answer means; texts come first, then the source's labels, letters and indexes."""
    said, index = _spelled(value), index_of(value)
    place = _place(said, options.labels) if options.labelled else None
    if place is None and index is not None and first_index is not None:
        place = index - first_index
    ways = (_by_text, _by_truth, _by_letter)
    place = next((where for way in ways if (where := way(said, options)) is not None), None) if place is None else place
    if place is None or not 0 <= place < len(options.texts):
        raise Unfit(f"{shown(value)} is none of the options", expected=f"one of {listed(options.texts, most=4)}")
    return options.texts[place]


def _by_text(said: str, options: Options) -> int | None:
    place = _place(said, options.texts)
    return _place(said.casefold(), _without_case(options.texts)) if place is None else place


def _by_truth(said: str, options: Options) -> int | None:
    truth = _truth(said)
    names = () if truth is None else (("yes", "true", "correct") if truth else ("no", "false", "incorrect"))
    return next((place for place, option in enumerate(_without_case(options.texts)) if option in names), None)


def _by_letter(said: str, options: Options) -> int | None:
    """The place of the letter that an answer is, or begins with when the option's own text follows."""
    labels = [name.casefold() for name in options.labels]
    alone = LETTER.fullmatch(said)
    if alone:
        place = _place(alone[1].casefold(), labels)
        return "abcdefghijklmnopqrstuvwxyz".index(alone[1].lower()) if place is None else place
    match = MARK.match(said)
    place = _place(next(filter(None, match.groups())).casefold(), labels) if match else None
    if match is None or place is None:
        return None
    rest = _plain(said[match.end() :])
    return place if rest.casefold() == _plain(options.texts[place]).casefold() else None


def _place(said: str, among: Sequence[str]) -> int | None:
    return next((place for place, text in enumerate(among) if _plain(text) == said), None)


def _spelled(value: Any) -> str:
    """A single answer as options are spelled: a number without its useless decimals."""
    return _plain(label(value))


def _plain(text: str) -> str:
    return " ".join(text.split())


def _without_case(texts: Sequence[str]) -> list[str]:
    return [text.casefold() for text in texts]


def _distinct(answers: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(answer for answer in answers if answer))


def preferred(value: Any) -> int | None:
    """1 or 2 for the answer that is preferred; None for a tie. Of several judgements the majority counts.

    Raises:
        Unfit: it says neither.
    """
    value = structured(value)
    if isinstance(value, list | tuple):
        votes = Counter(preferred(vote) for vote in value if not is_missing(vote)).most_common()
        if not votes:
            raise Unfit("nothing says which answer is better", expected="A, B or tie")
        tied = len(votes) > 1 and votes[0][1] == votes[1][1]
        return None if tied else votes[0][0]
    number = _as_number(value)
    if number is not None and (1 <= number <= 2 or number == 0):
        return None if number in (0, MIDDLE) else 1 if number < MIDDLE else 2
    said = str(value).strip().lower()
    for result, form in ((1, FIRST), (2, SECOND), (None, TIE)):
        if form.fullmatch(said):
            return result
    raise Unfit(f"{shown(value)} does not say which answer is better", expected="A, B or tie, or 1, 2 or 0")


def _as_number(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
