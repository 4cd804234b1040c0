"""The test countries: replace a country that a text mentions in passing: "a student from Peru"."""

from __future__ import annotations

import random
import re
from typing import Literal

from pydantic import Field

from contrapose.tasks.core.records import TextSample
from contrapose.tasks.probes.answers.settings import AnswerSettings
from contrapose.tasks.probes.edits.base import Edited
from contrapose.tasks.probes.edits.people import (
    OTHER_NAMES,
    has_other_names,
    is_about_known,
    list_sample_texts,
    replace_in_sample,
)
from contrapose.tasks.probes.edits.preserving import PeopleEdit, make_preserving_test
from contrapose.tasks.probes.edits.tables import compile_phrase, countries, cue

_WINDOW = 80
"""Characters before and behind a country that are looked at."""
_ARTICLE = r"\b(?:an?|one|another|some|two|three|four|her|his|their|my|our) "


class CountrySettings(AnswerSettings):
    """Settings of countries: which countries are inserted."""

    income: Literal["any", "high", "upper_middle", "lower_middle", "low"] = Field(
        default="any", description="Income group of the new country, by the World Bank; any: drawn from all."
    )


def change_country(sample: TextSample, settings: CountrySettings, rng: random.Random) -> Edited:
    """Replace a country that a text mentions in passing, and the adjective of its people."""
    texts = list_sample_texts(sample)
    named = _find_countries(*texts)
    if not _find_countries(sample.text):
        return Edited(reason="no_country")
    old = named[0]
    people, _ = countries()[old]
    facts = any(map(cue("place_facts").search, texts)) or is_about_known(texts)
    if len(named) > 1 or facts or not _is_by_the_way(sample.text, old, people):
        return Edited(reason="country_matters")
    if has_other_names(texts, (old, people)):
        return Edited(reason="other_names")
    vowels = [word[0] in "AEIOU" for word in (old, people)]
    free = [
        name
        for name, (adjective, income) in countries().items()
        if name != old
        and settings.income in ("any", income)
        and [word[0] in "AEIOU" for word in (name, adjective)] == vowels
    ]
    if not free:
        return Edited(reason="no_country")
    new = rng.choice(free)
    return replace_in_sample(sample, {old: new, people: countries()[new][0]})


def _find_countries(*texts: str) -> list[str]:
    """Return the countries that texts name, by country or by the adjective of its people."""
    said = {word for text in texts for word in re.findall(r"\w+", text)}
    return [name for name, (people, _) in countries().items() if {name, people} & said]


def _is_by_the_way(text: str, country: str, people: str) -> bool:
    """Return whether every mention of a country only says where somebody comes from, goes or lives."""
    for match in re.finditer(rf"\b(?:{country}|{people})\b", text):
        before = text[max(0, match.start() - _WINDOW) : match.start()]
        behind = text[match.end() : match.end() + _WINDOW]
        if match[0] == country:
            comes = compile_phrase("visitors", rf"{_ARTICLE}(?:[a-z]+ )?", r" from \Z").search(before)
            goes = compile_phrase(
                "journeys", r"(?<!who )(?<!that )\b", r" (?:(?:to|in|from|through|around) )?\Z"
            ).search(before)
            if not (comes or goes) or re.match(r"['\u2019-]| (?:and|or) [A-Z]", behind):
                return False
        elif not (re.search(rf"(?i){_ARTICLE}\Z", before) and compile_phrase("visitors", r"\A ", r"\b").search(behind)):
            return False
    return True


Countries = make_preserving_test(
    "countries",
    change_country,
    "Replaces a country that is named by the way",
    settings=CountrySettings,
    base=PeopleEdit,
    skips={
        "no_country": "without a country that could be another one",
        "country_matters": "in which the country may matter for the answer",
        "other_names": OTHER_NAMES,
    },
)
