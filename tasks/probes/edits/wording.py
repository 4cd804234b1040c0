"""The tests contractions, abbreviations, ocr_slips, spelling and context: edits of words that keep the meaning."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import chain
from typing import Literal

from pydantic import Field

from contrapose.tasks.language import flags as f
from contrapose.tasks.language.closed import NT_HOSTS, words
from contrapose.tasks.language.sentence import Edit
from contrapose.tasks.language.vocabulary import flags_of, vocabulary
from contrapose.tasks.probes.answers.settings import AnswerSettings
from contrapose.tasks.probes.edits.base import Edited
from contrapose.tasks.probes.edits.preserving import (
    RateSettings,
    copy_case,
    find_long_words,
    is_sentence_start,
    make_edits,
    make_preserving_test,
    make_rate_field,
)
from contrapose.tasks.probes.edits.tables import abbreviations, american_words, british_words, listed, split_pairs

_TOKEN = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*")
_NT = {host: contracted for contracted, host in NT_HOSTS.items() if host not in ("might", "shall", "may", "need")}
_CLITICS = {
    **{(subject, "is"): "'s" for subject in ("he", "she", "it", "that", "there", "what", "who", "where", "how")},
    **{(subject, "are"): "'re" for subject in ("you", "we", "they")},
    **{(subject, "have"): "'ve" for subject in ("i", "you", "we", "they")},
    **{(subject, "will"): "'ll" for subject in ("i", "you", "he", "she", "it", "we", "they")},
    **{(subject, "would"): "'d" for subject in ("i", "you", "he", "she", "we", "they")},
    ("i", "am"): "'m",
}
_EXPANDED = {"'m": "am", "'re": "are", "'ve": "have", "'ll": "will", "'s": "is", "'d": "would"}
_ASKS = words("what who where how")
_BEFORE_A_WILL = words("a the my your his her their our valid free last good ill")
_STOP, _FAR = re.compile(r"[.!?\n]"), 300
"""What ends a sentence, and how far it is looked for."""
_LEADS = words("and but or because if that when since although though while think know believe say says said sure so")
_INVERTING = words("why how when where what and or but nor so")
_NOT_BEHIND = words("to and or but that what who which when where why how if as than i you he she it we they")


class ContractionSettings(RateSettings):
    """Settings of contractions: shorten them or write them in full."""

    to: Literal["either", "short", "long"] = Field(
        default="either",
        description="short: do not becomes don't. long: don't becomes do not. either: short, or long where nothing can "
        "be shortened.",
    )


def contract(text: str, settings: ContractionSettings, rng: random.Random) -> Edited:
    """Return the text with "do not" as "don't", or the reverse."""
    tokens = list(_TOKEN.finditer(text))
    curly = "\u2019" in text and "'" not in text
    ways = {"short": _shorten, "long": _lengthen}
    for way in ways if settings.to == "either" else [settings.to]:
        possible = (ways[way](text, tokens, i) for i in range(len(tokens)))
        edits = [edit._replace(new=edit.new.replace("'", "\u2019" if curly else "'")) for edit in possible if edit]
        if edited := make_edits(text, edits, settings, rng):
            return edited
    return Edited(reason="no_contraction")


def _get_next_word(text: str, tokens: list[re.Match[str]], i: int) -> str:
    """Return the word at a place, in lower case; empty if anything but one space is before it."""
    if not 0 <= i < len(tokens) or (i and text[tokens[i - 1].end() : tokens[i].start()] != " "):
        return ""
    return tokens[i][0].lower().replace("\u2019", "'")


def _shorten(text: str, tokens: list[re.Match[str]], i: int) -> Edit | None:
    """Return the edit that contracts the word at a place with the next one; None if impossible."""
    token = tokens[i]
    first, second, third = token[0].lower(), _get_next_word(text, tokens, i + 1), _get_next_word(text, tokens, i + 2)
    if first == "cannot" and token[0] in ("cannot", "Cannot"):
        return Edit(token.start() + 3, token.end(), "'t")
    if not second or not tokens[i + 1][0].islower() or (len(token[0]) > 1 and token[0].isupper()):
        return None
    if second == "not":
        owns = first in ("have", "has", "had") and not flags_of(third or "x") & (f.PART | f.ADV)
        noun = first == "will" and i > 0 and tokens[i - 1][0].lower() in _BEFORE_A_WILL
        if first not in _NT or third == "only" or owns or noun or _get_next_word(text, tokens, i - 1) == "to":
            return None
        return Edit(token.start(), tokens[i + 1].end(), copy_case(token[0], _NT[first]))
    ending = _CLITICS.get((first, second))
    if ending is None or not third or third == "not" or third in _NOT_BEHIND:
        return None
    # Behind another word than these, a clause may end at the verb: "how old she is when it rains".
    opens = not i or not _get_next_word(text, tokens, i)
    if not opens and (first in _ASKS or first == "that" or tokens[i - 1][0].lower() not in _LEADS):
        return None
    return Edit(token.end(), tokens[i + 1].end(), ending) if _can_follow_contraction(first, second, third) else None


def _can_follow_contraction(subject: str, verb: str, behind: str) -> bool:
    """Return whether a word may follow a contracted verb: "it's a"; never the end of a clause."""
    tag = flags_of(behind)
    if verb in ("will", "would"):
        return bool(tag & f.BASE and not tag & f.CLOSED) or behind in ("be", "have", "never", "always", "also")
    if verb == "have":
        return behind == "been" or bool(tag & f.PART and not tag & (f.CLOSED | f.ADJ))
    if subject in _ASKS:
        return bool(tag & f.DET)
    return bool(tag & (f.DET | f.ING | f.ADJ | f.PART) or behind in ("not", "very", "also", "no", "now", "still"))


def _lengthen(text: str, tokens: list[re.Match[str]], i: int) -> Edit | None:
    """Return the edit that writes the contraction at a place in full; None if it is ambiguous."""
    token = tokens[i]
    spelled, behind = token[0].lower().replace("\u2019", "'"), _get_next_word(text, tokens, i + 1)
    if "'" not in spelled or (token[0].isupper() and len(token[0]) > 3):
        return None
    if spelled in NT_HOSTS:
        if spelled not in _NT.values() or _is_inverted_verb(text, tokens, i):
            return None
        host = "cannot" if spelled == "can't" else f"{NT_HOSTS[spelled]} not"
        return Edit(token.start(), token.end(), copy_case(token[0], host))
    if spelled == "let's" and behind:
        return Edit(token.end() - 2, token.end(), " us")
    subject, ending = spelled[: spelled.index("'")], spelled[spelled.index("'") :]
    verb = _EXPANDED.get(ending, "")
    if not behind or (subject, verb) not in _CLITICS or not _can_follow_in_full(verb, ending, behind):
        return None
    return Edit(token.end() - len(ending), token.end(), f" {verb}")


def _can_follow_in_full(verb: str, ending: str, behind: str) -> bool:
    """Return whether the next word allows this full form only: "it's been" and "I'd gone" need others."""
    tag = flags_of(behind)
    if ending == "'s":
        return bool(tag & (f.DET | f.ING)) or behind in ("not", "why", "what", "how", "very")
    return ending != "'d" or bool(tag & f.BASE and not tag & (f.PAST | f.PART | f.ADV | f.ADJ | f.CLOSED))


def _is_inverted_verb(text: str, tokens: list[re.Match[str]], i: int) -> bool:
    """Return whether a negated verb is before its subject: "Don't you like it?", "Why isn't it cold?"."""
    behind = _get_next_word(text, tokens, i + 1)
    before = _get_next_word(text, tokens, i) and tokens[i - 1][0].lower() if i else ""
    if before and before not in _INVERTING:
        return False
    end = _STOP.search(text, tokens[i].end(), tokens[i].end() + _FAR)
    asks = end is not None and end[0] == "?"
    orders = tokens[i][0].lower().startswith("don") and flags_of(behind or "x") & f.BASE and not asks
    return not orders


Contractions = make_preserving_test(
    "contractions",
    contract,
    "Writes do not as don't, or the other way round",
    settings=ContractionSettings,
    skips={"no_contraction": "without words that can be contracted or written in full"},
)


@cache
def _compile_table(table: Callable[[], Mapping[str, str]]) -> re.Pattern[str]:
    """Return a pattern that finds the words of a table as separate words."""
    known = "|".join(re.escape(word) for word in sorted(table(), key=len, reverse=True))
    return re.compile(rf"(?<![\w'\u2019./@#&-])(?i:{known})(?![\w'\u2019/@=&-]|\.\w|: ?[\w#])")


_NEAR, _LAST_WORD, _NEXT = 40, re.compile(r"(?<!\w)(\w[\w'\u2019-]*) +\Z"), re.compile(r" \w")


def _yield_table_edits(text: str, table: Callable[[], Mapping[str, str]]) -> Iterator[Edit]:
    """Yield an edit for each word of the table that is not part of a name or title."""
    for match in _compile_table(table).finditer(text):
        old = match[0]
        if not old[1:].islower() and len(old) > 1:
            continue
        behind = text[match.end() : match.end() + _NEAR].lstrip(" ")
        last = _LAST_WORD.search(text, max(0, match.start() - _NEAR), match.start())
        named = last is not None and last[1][0].isupper() and not is_sentence_start(text, last.start(1))
        if old[0].isupper() and not (
            is_sentence_start(text, match.start()) and (behind[:1].islower() or behind[:1] == ",")
        ):
            continue
        if named and (behind[:1].isupper() or re.match(r"(?:the|a|an|my) [A-Z]", behind)):
            continue
        new = table()[old.lower()]
        end = match.end() + (new.endswith(".") and text[match.end() : match.end() + 1] == ".")
        yield Edit(match.start(), end, copy_case(old, new))


class AbbreviationSettings(RateSettings):
    """Settings of abbreviations: how many words are shortened."""

    rate: float = make_rate_field(0.5, of="words in the list that are shortened")


def abbreviate(text: str, settings: AbbreviationSettings, rng: random.Random) -> Edited:
    """Return the text with words in short form: "please" as "pls"."""
    edits = [
        edit
        for edit in _yield_table_edits(text, abbreviations)
        if text[edit.start : edit.end].lower() not in listed("needs_next") or _NEXT.match(text, edit.end)
    ]
    return make_edits(text, edits, settings, rng) or Edited(reason="no_abbreviation")


Abbreviations = make_preserving_test(
    "abbreviations",
    abbreviate,
    "Shortens words, such as please to pls",
    settings=AbbreviationSettings,
    skips={"no_abbreviation": "without a word whose short form is known"},
)


class SlipSettings(RateSettings):
    """Settings of ocr_slips: how many words get a scanning error."""

    rate: float = make_rate_field(0.1, of="content words of five letters or more that are misread")


_SLIPS = split_pairs("rn/m m/rn l/1 i/1 o/0 cl/d d/cl h/b e/c w/vv u/ii g/9 s/5 b/6 f/t nn/rm")
"""What a scanner takes for something else."""
_TRIES = 12


def misread(text: str, settings: SlipSettings, rng: random.Random) -> Edited:
    """Return the text with scanning errors: similar letters are confused; the result is never another word."""
    slips = ((word, _misread_word(word[0], rng)) for word in find_long_words(text))
    edits = [Edit(word.start(), word.end(), slip) for word, slip in slips if slip]
    return make_edits(text, edits, settings, rng) or Edited(reason="no_slip")


def _misread_word(word: str, rng: random.Random) -> str | None:
    """Return the word with one scanning error that is not another word; None if none is found."""
    places = [(part.span(), new) for old, new in _SLIPS.items() for part in re.finditer(old, word)]
    for (start, end), new in rng.sample(places, min(_TRIES, len(places))):
        slip = f"{word[:start]}{new}{word[end:]}"
        if slip not in vocabulary().flags:
            return slip
    return None


OcrSlips = make_preserving_test(
    "ocr_slips",
    misread,
    "Confuses letters that look alike, as scanners do",
    settings=SlipSettings,
    skips={"no_slip": "without a word of five letters or more that a scanner could misread"},
)


class SpellingSettings(RateSettings):
    """Settings of spelling: American or British."""

    to: Literal["other", "british", "american"] = Field(
        default="other",
        description="british: color becomes colour. american: colour becomes color. other: the one that the text does "
        "not have; British where it has both.",
    )


def respell(text: str, settings: SpellingSettings, rng: random.Random) -> Edited:
    """Return the text in British or American spelling."""
    tables = {"british": british_words, "american": american_words}
    for name in tables if settings.to == "other" else [settings.to]:
        meters = _yield_metre_edits(text) if name == "british" else ()
        shown = any(map(str.isupper, text))
        edits = [
            edit
            for edit in chain(_yield_table_edits(text, tables[name]), meters)
            if shown or text[edit.start : edit.end] not in listed("in_names")
        ]
        if edited := make_edits(text, edits, settings, rng):
            return edited
    return Edited(reason="same_spelling")


def _yield_metre_edits(text: str) -> Iterator[Edit]:
    """Yield edits of "meter" after a number; without a number it may be a device."""
    for match in re.finditer(r"\b(?:\d+|hundred|thousand|million|square|cubic|per) (meters?)\b", text):
        yield Edit(match.start(1), match.end(1), match[1].replace("er", "re"))


Spelling = make_preserving_test(
    "spelling",
    respell,
    "Changes British to American spelling, or back",
    settings=SpellingSettings,
    skips={"same_spelling": "without a word that is spelled otherwise in Britain and America"},
)


class ContextSettings(AnswerSettings):
    """Settings of context: what is added before and after the text."""

    starting_context: tuple[str, ...] = Field(
        default=("Hi there.", "Hello!", "Here is one from my notes.", "I was thinking about this.", "#daily"),
        min_length=1,
        description="Neutral sentences or hashtags, of which one opens the text.",
    )
    ending_context: tuple[str, ...] = Field(
        default=("#quiz", "#daily", "#learning", "Have a nice day.", "Thank you for your time."),
        min_length=1,
        description="Neutral sentences or hashtags, of which one ends the text.",
    )
    strategy: Literal["any", "start", "end", "combined"] = Field(
        default="any",
        description="Where they are put; any: drawn for each text. A text without an end gets none there.",
    )


_REFERRING = re.compile(
    r"\b(?:following|this text|above|below|previous|first|last|say|write|complete|finish|continue)\b", re.I
)
"""Words of a text that may speak of its own beginning or end."""
_FINISHED = re.compile(r"[.?!][\"'”\u2019)\]]*\s*\Z")


_FRAMED = re.compile(
    r"#|\b(?:tweets?|hashtags?|posts?|e-?mails?|messages?|captions?|tone|sentiment|polite\w*|greet\w*)\b", re.I
)
"""Words of a text of whose subject a greeting or a hashtag may become a part."""


def add_frame(text: str, settings: ContextSettings, rng: random.Random) -> Edited:
    """Return the text with a neutral sentence or hashtag before it, after it, or both."""
    if not text.strip():
        return Edited(reason="empty")
    if _FRAMED.search(text):
        return Edited(reason="frame_matters")
    places = {"start": ("start",), "end": ("end",), "combined": ("start", "end")}
    chosen = places[rng.choice(tuple(places)) if settings.strategy == "any" else settings.strategy]
    closed_text = bool(_FINISHED.search(text)) and "\n" not in text.strip() and not _REFERRING.search(text)
    if settings.strategy == "any" and not closed_text:
        chosen = ("start",)
    elif "end" in chosen and not closed_text:
        return Edited(reason="unfinished")
    opening = f"{rng.choice(settings.starting_context)} " if "start" in chosen else ""
    closing = f" {rng.choice(settings.ending_context)}" if "end" in chosen else ""
    return Edited(text=f"{opening}{text.rstrip() if closing else text}{closing}", confidence="high")


Context = make_preserving_test(
    "context",
    add_frame,
    "Adds a neutral sentence or hashtag before or after",
    settings=ContextSettings,
    skips={
        "empty": "without a word",
        "unfinished": "without an end behind which something could stand",
        "frame_matters": "about a message, its tone or its tags",
    },
)
