"""The tests names and gender: give the people of a story other names, or the other gender."""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from pydantic import Field

from contrapose.tasks.core.records import TextSample
from contrapose.tasks.language import closed
from contrapose.tasks.language import flags as f
from contrapose.tasks.language.closed import words
from contrapose.tasks.language.vocabulary import flags_of, vocabulary
from contrapose.tasks.probes.answers.settings import AnswerSettings
from contrapose.tasks.probes.edits.base import Edited, replace_words
from contrapose.tasks.probes.edits.preserving import PeopleEdit, copy_case, is_sentence_start, make_preserving_test
from contrapose.tasks.probes.edits.tables import Gender, cue, female_words, first_names, listed, male_words, new_names

_CAPITAL = re.compile(r"(?<![\w'\u2019.-])[A-Z][\w-]*")
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019](?:s|t|re|ve|ll|d|m)\b)?")
_SENTENCE = re.compile(r"[^.!?\n]+[.!?\n]*")
_YEAR = re.compile(r"\b1\d{3}\b|\b20\d\d\b")
_FULL_NAME = re.compile(r"\b([A-Z][a-z]+) ([A-Z][a-z]+)")
_NO_NAMES = words("""
    I I'm I've I'd I'll Mr Mrs Ms Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April
    May June July August September October November December OK TV
""")
_SUPPOSES = words("if when while after before because since suppose imagine assume given as although once")

OTHER_NAMES = "with names of other people, places or things"
KNOWN_PERSON = "about people who may be real or known"


def list_sample_texts(sample: TextSample) -> tuple[str, ...]:
    """Return all texts of a sample: text, options and context."""
    return (sample.text, *sample.options, sample.surroundings or "")


def has_other_names(texts: Iterable[str], known: Collection[str] = ()) -> bool:
    """Return whether texts contain a name that no list of names has."""
    names = {*first_names(), *listed("family_names"), *_NO_NAMES, *known}
    return any(
        not is_sentence_start(text, word.start()) or _is_name_at_start(text, word)
        for text in texts
        for word in _CAPITAL.finditer(text)
        if word[0].removesuffix("-") not in names
    )


def _is_name_at_start(text: str, word: re.Match[str]) -> bool:
    """Return whether the first word of a sentence may be a name: it is unknown, or a noun without article that acts."""
    spelled = word[0].lower()
    if spelled in closed.build_closed_classes() or spelled in male_words() or spelled in female_words():
        return False
    if spelled not in vocabulary().flags:
        return True
    behind = re.match(r"['\u2019]s\b| and (?=[A-Z])| ([a-z]+)", text[word.end() : word.end() + 40])
    acts = behind is not None and (not behind[1] or bool(flags_of(behind[1]) & (f.AUX | f.PAST | f.THIRD)))
    tag = flags_of(spelled)
    return acts and bool(tag & f.SINGULAR) and not tag & (f.PLURAL | f.ING)


def _find_names(text: str) -> dict[str, list[int]]:
    """Return the first names in a text, each with its places."""
    places: dict[str, list[int]] = {}
    for match in _CAPITAL.finditer(text):
        if match[0] in first_names():
            places.setdefault(match[0], []).append(match.start())
    return places


def is_about_known(texts: Iterable[str]) -> bool:
    """Return whether texts seem to be about well-known people, places or times."""
    return any(cue("known").search(text) or _YEAR.search(text) for text in texts)


def _may_be_known(sample: TextSample, names: Mapping[str, Sequence[int]]) -> bool:
    """Return whether a sample may be about well-known people: it asks about them without describing them."""
    text, context = sample.text, sample.surroundings or ""
    pairs = [pair for part in (text, context) for pair in _FULL_NAME.findall(part) if pair[0] in first_names()]
    if any(" ".join(pair) in listed("famous") or pair[1] in first_names() for pair in pairs):
        return True
    places = sorted(place for listed_places in names.values() for place in listed_places)
    introduced = _find_names(context)
    if is_about_known((text, context) if introduced else (text,)) or any(_is_eponym(text, place) for place in places):
        return True
    if introduced:
        return False
    sentences = [match for match in _SENTENCE.finditer(text) if match[0].strip()]
    if len(sentences) == 1 and not sample.options and (pairs or is_sentence_start(text, places[0])):
        return True
    sentence = next(match[0] for match in sentences if match.end() > places[0])
    opening = re.match(r"\W*(\w+)", sentence)
    return sentence.rstrip().endswith("?") and not (opening and opening[1].lower() in _SUPPOSES)


def _is_eponym(text: str, place: int) -> bool:
    """Return whether the name at a place may be part of a thing's name: "the Calvin cycle"."""
    behind = re.match(r"\w+ ([a-z]+)", text[place : place + 60])
    before = re.search(r"([a-z]+) \Z", text[max(0, place - 30) : place])
    if behind is None or (before and flags_of(before[1]) & f.AUX):
        return False
    tag = flags_of(behind[1])
    return bool(tag & f.NOUN) and not tag & (f.CLOSED | f.PAST | f.THIRD)


def replace_in_sample(sample: TextSample, replaced: Mapping[str, str]) -> Edited:
    """Return the edit that replaces words in the text, the options and the context of a sample."""
    text, *options, context = (replace_words(part, replaced) for part in list_sample_texts(sample))
    changed = replace(sample, options=tuple(options), context=context or None)
    back = {new: old for old, new in replaced.items()}
    return Edited(text=text, confidence="medium", sample=changed, replaced=back)


class NameSettings(AnswerSettings):
    """Settings of names: which names are inserted."""

    origin: Literal["any", "african", "arabic", "east_asian", "english", "hispanic", "indian"] = Field(
        default="any", description="Where the new first names are common; any: drawn for each name."
    )


def rename_people(sample: TextSample, settings: NameSettings, rng: random.Random) -> Edited:
    """Give the people of a story other first names of the same gender, consistently in all texts."""
    names = _find_names(sample.text)
    if not names:
        return Edited(reason="no_person")
    if has_other_names(list_sample_texts(sample)):
        return Edited(reason="other_names")
    if _may_be_known(sample, names):
        return Edited(reason="known_person")
    genders = {name: first_names()[name] for text in list_sample_texts(sample) for name in sorted(_find_names(text))}
    return replace_in_sample(sample, _draw_names(genders, settings.origin, sample, rng))


def _draw_names(genders: Mapping[str, Gender], origin: str, sample: TextSample, rng: random.Random) -> dict[str, str]:
    """Draw a new name of the given gender for each old one; no new name occurs in the sample."""
    said = {word for text in list_sample_texts(sample) for word in _WORD.findall(text)}
    chosen: dict[str, str] = {}
    for name, gender in genders.items():
        free = [new for new in new_names(origin, gender) if new not in said and new not in chosen.values()]
        # More people than an origin has names take those of others.
        chosen[name] = rng.choice(free or [new for new in new_names("any", gender) if new not in chosen.values()])
    return chosen | {f"{name}'": f"{new}'s" for name, new in chosen.items() if name.endswith("s")}


Names = make_preserving_test(
    "names",
    rename_people,
    "Gives people other first names",
    settings=NameSettings,
    base=PeopleEdit,
    skips={
        "no_person": "without a person by a common first name",
        "known_person": KNOWN_PERSON,
        "other_names": OTHER_NAMES,
    },
)


class GenderSettings(AnswerSettings):
    """Settings of gender: which gender is swapped."""

    to: Literal["other", "female", "male"] = Field(
        default="other",
        description="female: he becomes she. male: she becomes he. other: either becomes the other, all over the text.",
    )


_GENERAL_QUESTION = re.compile(r"(?i)[^.!?]*\ban? (?:[a-z]+ )?(?:man|woman|boy|girl)\b[^.!?]*\?")
_PRONOUNS = words("she he her his him hers herself himself")
_TITLES = words("mr mrs ms miss")
_NAME_LIKE = words("mom mum dad mommy grandma grandpa daddy")
_OWNED = words("own two three four five best first last back little second")
"""Words of closed classes that open what somebody owns."""
_SOME = words(
    "the two three four five six several some these those a an one another his her their my our your this that"
)


def swap_gender(sample: TextSample, settings: GenderSettings, rng: random.Random) -> Edited:
    """Swap the gender of all people in a story, with their names."""
    texts = list_sample_texts(sample)
    said = {_strip_ending(word) for text in texts for word in _WORD.findall(text)}
    female, male = said & {*male_words(), "her"}, said & {*female_words(), "his"}
    if not {_strip_ending(word) for word in _WORD.findall(sample.text)} & (female | male):
        return Edited(reason="no_gender")
    if not any(map(str.isupper, sample.text)):
        return Edited(reason="no_capitals")
    asks = not sample.context and _GENERAL_QUESTION.fullmatch(sample.text.strip())
    if asks or not said.isdisjoint(listed("fixed")) or any(map(cue("generic").search, texts)):
        return Edited(reason="gender_matters")
    if has_other_names(texts):
        return Edited(reason="other_names")
    if is_about_known(texts):
        return Edited(reason="known_person")
    if (settings.to == "female" and female) or (settings.to == "male" and male):
        return Edited(reason="gender_there")
    names = _find_names(sample.text)
    if _may_be_known(sample, names) if names else (any(map(_find_names, texts)) or not _is_about_somebody(sample)):
        return Edited(reason="known_person")
    everyone = sorted({name for text in texts for name in _find_names(text)})
    genders: dict[str, Gender] = {name: "male" if first_names()[name] == "female" else "female" for name in everyone}
    renamed = _draw_names(genders, "english", sample, rng)
    swapped = [_swap_words(replace_words(text, renamed)) for text in texts]
    if None in swapped:
        return Edited(reason="gender_matters")
    text, *options, context = (part or "" for part in swapped)
    if text == sample.text:
        return Edited(reason="no_gender")
    changed = replace(sample, options=tuple(options), context=context or None)
    back = {new: old for old, new in renamed.items()} | _invert_words(female, male)
    return Edited(text=text, confidence="medium", sample=changed, replaced=back)


def _invert_words(female: set[str], male: set[str]) -> dict[str, str]:
    """Map the changed words back to the original ones; pronouns only if all people had one gender."""
    swapped = {word: male_words()[word] for word in female - _PRONOUNS - _TITLES}
    swapped |= {word: female_words()[word] for word in male - _PRONOUNS - _TITLES}
    back = {new: old for old, new in swapped.items()}
    if not female:
        back |= {"she": "he", "her": "his", "herself": "himself"}
    elif not male:
        back |= {"he": "she", "his": "her", "him": "her", "himself": "herself"}
    return back


def _is_about_somebody(sample: TextSample) -> bool:
    """Return whether a text without a known name is about an unknown person, not a well-known one."""
    said = {_strip_ending(word) for word in _WORD.findall(sample.text)}
    if not said.isdisjoint((male_words().keys() | female_words().keys()) - _PRONOUNS):
        return True
    sentences = [match[0].strip() for match in _SENTENCE.finditer(sample.text) if match[0].strip()]
    openings = [re.match(r"\W*([^\W\d_]*)", sentence) for sentence in sentences]
    plain = all(opening and (opening[1] or "a").lower() in closed.build_closed_classes() for opening in openings)
    return plain and not sentences[0].endswith("?")


def _strip_ending(word: str) -> str:
    """Return a word in lower case without a contraction or possessive ending."""
    return re.split("['\u2019]", word.lower())[0]


def _swap_words(text: str) -> str | None:
    """Return a text with every gendered word swapped; None if one of them may mean more than a person."""
    tokens = list(_WORD.finditer(text))
    parts, end = [], 0
    for i, match in enumerate(tokens):
        word = _strip_ending(match[0])
        if word not in male_words() and word not in female_words() and word not in ("her", "his"):
            continue
        joined = i + 1 < len(tokens) and text[match.end() : tokens[i + 1].start()] == " "
        behind = tokens[i + 1][0].lower() if joined and match[0].lower() == word else ""
        before = tokens[i - 1][0].lower() if i and text[tokens[i - 1].end() : match.start()] == " " else ""
        specific = word in _NAME_LIKE or _is_specific(text[max(0, match.start() - 40) : match.start()])
        divine = word in ("he", "his", "him") and match[0][0].isupper() and not is_sentence_start(text, match.start())
        # "Don't miss it", "5 ms", "the Wright brothers", and the torn "t he".
        if word in _TITLES and not (i + 1 < len(tokens) and tokens[i + 1][0][0].isupper()):
            if match[0][0].isupper():
                return None
            continue
        named = i > 0 and tokens[i - 1][0] in listed("family_names") and before != ""
        new = (
            None
            if divine or named or (len(before) == 1 and before not in "ai")
            else _choose_swapped_word(word, before, behind)
        )
        if new is None or not (specific or word in _PRONOUNS or word in _TITLES):
            return None
        parts += [text[end : match.start()], copy_case(match[0], new)]
        end = match.start() + len(word)
    return "".join([*parts, text[end:]])


def _is_specific(before: str) -> bool:
    """Return whether the words before a noun show that it means one person: "an old man", not "early man"."""
    if before.endswith(("'s ", "\u2019s ")):
        return True
    for word in reversed(re.findall(r"[\w-]+$|[\w-]+(?= )|[^\w ]", before.rstrip(" "))[-4:]):
        if word.lower() in _SOME:
            return True
        if not flags_of(word.lower()) & (f.ADJ | f.NUMBER | f.PART | f.ING | f.NOUN):
            return False
    return False


def _choose_swapped_word(word: str, before: str, behind: str) -> str | None:
    """Return the word of the other gender, chosen by its neighbours; None if they do not decide."""
    tag = flags_of(behind) if behind else 0
    owns = behind in _OWNED or bool(behind and not tag & f.CLOSED)
    if word == "her":
        return None if owns and before in listed("takes_person") else "his" if owns else "him"
    if word == "his":
        stands_alone = not behind or tag & (f.AUX | f.COORD | f.PREP)
        return "her" if owns else "hers" if stands_alone else None
    new = male_words().get(word) or female_words()[word]
    if word in _PRONOUNS or word in _TITLES:
        return new
    # Not "a girl band" or "a mother bear", but "the girl plays" and "the girls play".
    verb = f.VERB if flags_of(word) & f.PLURAL else f.THIRD | f.PAST | f.PART | f.ING
    return None if tag & f.NOUN and not tag & (f.CLOSED | verb | f.ADJ) else new


SwappedGender = make_preserving_test(
    "gender",
    swap_gender,
    "Turns women into men and men into women",
    settings=GenderSettings,
    base=PeopleEdit,
    skips={
        "no_gender": "without a word that says who is a woman or a man",
        "no_capitals": "without capitals, which would show names",
        "gender_matters": "in which it may matter who is a woman or a man",
        "gender_there": "with people of the gender that you set",
        "known_person": KNOWN_PERSON,
        "other_names": OTHER_NAMES,
    },
)
