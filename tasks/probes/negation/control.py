"""The control of a negation: an adverb that changes nothing, at the place where the negation went."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from contrapose.tasks.language.closed import words

ADVERBS = ("actually", "in fact", "indeed")
"""They stand wherever "not" can, and leave a sentence as true or as false as it was."""
IN_QUESTIONS = ADVERBS[:2]
"""Those that a question can hold too."""
OPENING = "To begin: "
"""Put before a text whose negation left no place for an adverb."""

_TOKEN = re.compile(r"\w+(?:['’]\w+)*|\s+|[^\w\s]")
_CONTRACTED = re.compile(r"(?i)(\w+)n['’]t")
_IRREGULAR = {"wo": "will", "ca": "can", "sha": "shall"}
_NO = words("no none nobody nothing nowhere never neither nor")
_SOME = words("some someone somebody something somewhere too already")
_DETERMINERS = words("all any both each either every everybody everyone everything few many most much several")
_MODALS = words("may might must")
_DENIED_MODALS = words("can could need")
"""What a negation puts in their place before its "not", where the text has options."""
_OPENS_A_CLAUSE = words('. ! ? : ; , ( - – — " “ please kindly')
_MOST_TOKENS = 2_000
"""Beyond it the comparison, whose time grows with the square, is left out."""


class ControlEdit(NamedTuple):
    """What stood in the original, and what stands there in the negated text, as tokens."""

    same: bool
    old: list[str]
    new: list[str]


def control_text(original: str, negated: str, *, rng: random.Random) -> tuple[str, str]:
    """A text that means what the original means, with an adverb where the negation went.

    Args:
        original: the text before it was negated.
        negated: the text after.
        rng: draws the adverb.

    Returns:
        The text and its confidence: `medium` when it has an opening instead of the adverb.
    """
    adverb = rng.choice(IN_QUESTIONS if original.rstrip().endswith("?") else ADVERBS)
    edits = _edits(_TOKEN.findall(original), _TOKEN.findall(negated))
    added = any(_is_not(token) for edit in edits if not edit.same for token in edit.new)
    text = _instead(edits, adverb) if added else _beside(edits, adverb)
    if text == original or _cues(text) != _cues(original):
        return OPENING + original, "medium"
    return text, "high"


def _edits(old: list[str], new: list[str]) -> list[ControlEdit]:
    start = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    rest = zip(reversed(old[start:]), reversed(new[start:]), strict=False)
    end = next((i for i, (a, b) in enumerate(rest) if a != b), min(len(old), len(new)) - start)
    middle = old[start : len(old) - end], new[start : len(new) - end]
    if max(map(len, middle)) > _MOST_TOKENS:
        return [ControlEdit(True, old, old)]
    opcodes = SequenceMatcher(None, *middle, autojunk=False).get_opcodes()
    inner = [ControlEdit(kind == "equal", middle[0][a:b], middle[1][c:d]) for kind, a, b, c, d in opcodes]
    return [
        ControlEdit(True, old[:start], old[:start]),
        *inner,
        ControlEdit(True, old[len(old) - end :], old[len(old) - end :]),
    ]


def _instead(edits: Sequence[ControlEdit], adverb: str) -> str:
    """The negated text with the adverb for "not"; what else the negation changed in its wake is undone."""
    result: list[str] = []
    for edit in edits:
        # A tag such as "isn't it" turned with the sentence, and turns back.
        if edit.same or any(_is_cue(token) for token in edit.old):
            result += edit.old
            continue
        some = next((token for token in edit.old if token.lower() in _SOME), None)
        modal = next((token for token in edit.old if token.lower() in _MODALS), None)
        for token in edit.new:
            if modal and token.lower() == "cannot":
                result += [modal, " ", adverb]
            elif modal and token.lower() in _DENIED_MODALS:
                result.append(modal)
            elif _is_not(token):
                result = _with_adverb(result, token, adverb)
            else:
                result.append(some if some and token.lower().startswith(("any", "either")) else token)
    return "".join(result)


def _with_adverb(before: list[str], cue: str, adverb: str) -> list[str]:
    """The tokens so far and the adverb in place of a "not", which may be part of its auxiliary."""
    stem = _auxiliary(cue)
    if stem:
        before, adverb = [*before, stem, " "], adverb.upper() if cue.isupper() else adverb
    if _is_imperative(before):
        # It takes no adverb after "do", but "Do close the door." says what "Close the door." says.
        return before[:-1]
    return [*before, adverb if stem else _cased(adverb, like=cue)]


def _auxiliary(cue: str) -> str:
    """The auxiliary that a contracted "not" hangs on: "is" of "isn't", "can" of "cannot"; else empty."""
    contracted = _CONTRACTED.fullmatch(cue)
    stem = contracted[1] if contracted else cue[:3] if cue.lower() == "cannot" else ""
    return _cased(_IRREGULAR.get(stem.lower(), stem), like=cue)


def _is_imperative(before: Sequence[str]) -> bool:
    """Whether the tokens end in a "do" that opens a clause."""
    said = [token.lower() for token in before if not token.isspace()]
    return said[-1:] == ["do"] and (len(said) == 1 or said[-2] in _OPENS_A_CLAUSE)


def _beside(edits: Sequence[ControlEdit], adverb: str) -> str:
    """The original with the adverb before the word that was changed, such as a "not" that was removed or a "some"."""
    old = [token for edit in edits for token in edit.old]
    changed = [not edit.same and not token.isspace() for edit in edits for token in edit.old]
    places = [index for index, token in enumerate(old) if changed[index]]
    place = next((index for index in places if _is_cue(old[index])), places[0] if places else None)
    if place is None or _is_imperative(old[:place]) or (place == 0 and _auxiliary(old[0])):
        return "".join(old)
    token = old[place]
    shouts = "".join(old).isupper()
    small = token.lower() if token.lower() in _NO | _SOME | _DETERMINERS | {"not"} and not shouts else token
    said = _cased(adverb, like=token) if place == 0 or small != token or shouts else adverb
    return "".join([*old[:place], said, " ", small, *old[place + 1 :]])


def _is_not(token: str) -> bool:
    return token.lower() in ("not", "cannot") or _CONTRACTED.fullmatch(token) is not None


def _is_cue(token: str) -> bool:
    return _is_not(token) or token.lower() in _NO


def _cues(text: str) -> int:
    return sum(map(_is_cue, _TOKEN.findall(text)))


def _cased(text: str, *, like: str) -> str:
    if like.isupper() and len(like) > 1:
        return text.upper()
    return text[:1].upper() + text[1:] if like[0].isupper() else text
