"""Edits of people and places: the same change in text, options and context, and replies read in the old words."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from contrapose.tasks.core.records import Case, Completion, TextSample, Trial
from contrapose.tasks.core.registry import probe
from contrapose.tasks.probes.edits.base import REPLACED, Edited, replace_words
from contrapose.tasks.probes.edits.tables import countries, first_names, new_names

SAMPLE = TextSample(
    id="1",
    text="Tom gave the red ball to Lisa. She thanked him. Who has the ball?",
    options=("Tom", "Lisa", "Lisa's dog"),
    answers=("Lisa",),
    context="Tom and Lisa are in the garden.",
)


def change(test: str, sample: TextSample, *, seed: int = 0, **settings: Any) -> Edited:
    chosen: Any = probe(test)
    edited: Edited = chosen.change(sample, chosen.settings_type(**settings), rng=random.Random(seed))
    return edited


def case_of(test: str, sample: TextSample = SAMPLE, **settings: Any) -> Case:
    chosen = probe(test)
    (case,) = chosen.cases(sample, chosen.settings_type(**settings), rng=random.Random(0), likelihoods="none")
    return case


@pytest.mark.parametrize("seed", range(10))
def test_person_has_the_same_new_name_in_every_part(seed: int) -> None:
    made = change("names", SAMPLE, seed=seed)
    assert made.sample is not None
    new = {old: name for name, old in made.replaced.items()}
    assert made.text == replace_words(SAMPLE.text, new)
    assert made.sample.options == (new["Tom"], new["Lisa"], f"{new['Lisa']}'s dog")
    assert made.sample.context == f"{new['Tom']} and {new['Lisa']} are in the garden."
    assert {first_names()[name] for name in (new["Tom"], "Tom")} == {"male"}
    assert first_names()[new["Lisa"]] == "female"


@pytest.mark.parametrize("origin", ["african", "arabic", "east_asian", "english", "hispanic", "indian"])
def test_names_come_from_the_origin(origin: str) -> None:
    made = change("names", SAMPLE, origin=origin)
    assert set(made.replaced) <= {*new_names(origin, "female"), *new_names(origin, "male")}


def test_name_in_s_keeps_its_owner() -> None:
    made = change("names", TextSample(id="1", text="James lost it. James' key is old."))
    assert made.text is not None
    assert "'s key" in made.text
    assert "James" not in made.text


def test_more_people_than_names_get_different_ones() -> None:
    listed = ["Anna", "Emma", "Laura", "Megan", "Hannah", "Julia", "Rachel", "Emily", "Rebecca", "Lisa", "Nina", "Nora"]
    made = change("names", TextSample(id="1", text=f"{' and '.join(listed)} met. They sang."), origin="english")
    assert len(set(made.replaced)) == len(listed)


def test_prompt_shows_the_new_names_everywhere() -> None:
    case = case_of("names")
    assert case.perturbed_prompt is not None
    assert "Tom" in case.original_prompt
    assert "Tom" not in case.perturbed_prompt
    assert "Lisa" not in case.perturbed_prompt
    assert case.options == SAMPLE.options


@pytest.mark.parametrize("test", ["names", "gender"])
def test_reply_with_the_new_name_is_the_same_answer(test: str) -> None:
    case = case_of(test)
    new = {old: name for name, old in json.loads(case.details[REPLACED]).items()}
    replies = [Completion(text="Lisa"), Completion(text=new["Lisa"]), Completion(text=new["Tom"])]
    trials = [Trial(case=case, expected=replies[0], actual=each) for each in replies[1:]]
    scores = probe(test).score(trials, probe(test).settings_type(), embed=lambda texts: pytest.fail("not needed"))
    assert [score.passed for score in scores] == [True, False]
    assert [score.columns["gold_lost"] for score in scores] == [False, True]


def test_control_has_the_old_names_and_is_read_with_them() -> None:
    case = case_of("names")
    control = probe("names").control(case, SAMPLE, probe("names").settings_type(), rng=random.Random(0))
    assert control is not None
    assert REPLACED not in control.details
    assert "Lisa" in (control.perturbed_prompt or "")


def test_two_replies_to_the_changed_prompt_are_both_read_with_the_old_names() -> None:
    case = case_of("names")
    new = {old: name for name, old in json.loads(case.details[REPLACED]).items()}
    again = probe("names").same_prompt(case, "actual")
    reply = Completion(text=new["Lisa"])
    (score,) = probe("names").score(
        [Trial(case=again, expected=reply, actual=reply)],
        probe("names").settings_type(),
        embed=lambda texts: pytest.fail("nothing to embed"),
    )
    assert score.passed
    assert REPLACED not in probe("names").same_prompt(case, "expected").details


def test_free_reply_in_the_new_words_is_compared_in_the_old_ones() -> None:
    sample = TextSample(id="1", text="Tom lost his key in the garden. He looked for it. What did he lose?")
    case = case_of("gender", sample)
    (new,) = (name for name, old in json.loads(case.details[REPLACED]).items() if old == "Tom")
    trial = Trial(
        case=case, expected=Completion(text="Tom lost his key."), actual=Completion(text=f"{new} lost her key.")
    )
    (score,) = probe("gender").score(
        [trial], probe("gender").settings_type(), embed=lambda texts: pytest.fail("nothing to embed")
    )
    assert score.value == 0.0


def test_options_are_swapped_with_the_text() -> None:
    sample = TextSample(id="1", text="A woman ran. Who ran?", options=("the woman", "her sister", "a dog"))
    made = change("gender", sample)
    assert made.text == "A man ran. Who ran?"
    assert made.sample is not None
    assert made.sample.options == ("the man", "his brother", "a dog")


@pytest.mark.parametrize(
    ("to", "text", "reason"),
    [
        ("male", "A girl lost her key.", None),
        ("female", "A girl lost her key.", "gender_there"),
        ("female", "A boy lost his key.", None),
        ("male", "A boy met a girl.", "gender_there"),
    ],
)
def test_only_the_wanted_gender_is_put_in(to: str, text: str, reason: str | None) -> None:
    assert change("gender", TextSample(id="1", text=text), to=to).reason == reason


def test_swapping_twice_gives_the_text_back() -> None:
    text = "The old woman pushed her brother, and he hurt himself. His dog is hers, and she likes him."
    once = change("gender", TextSample(id="1", text=text)).text
    assert once == "The old man pushed his sister, and she hurt herself. Her dog is his, and he likes her."
    assert change("gender", TextSample(id="1", text=once)).text == text


@pytest.mark.parametrize("income", ["high", "upper_middle", "lower_middle", "low"])
def test_country_comes_from_the_income_group(income: str) -> None:
    text = "A Peruvian tourist flew to Peru. Two bags were lost."
    made = change("countries", TextSample(id="1", text=text), income=income)
    new = next(name for name, old in made.replaced.items() if old == "Peru")
    people, group = countries()[new]
    assert group == income
    assert made.text == f"A {people} tourist flew to {new}. Two bags were lost."


def test_country_of_an_option_changes_too() -> None:
    sample = TextSample(id="1", text="Lisa moved to Peru. Who lives there now?", options=("Lisa in Peru", "nobody"))
    made = change("countries", sample)
    assert made.sample is not None
    new = next(name for name, old in made.replaced.items() if old == "Peru")
    assert made.sample.options == (f"Lisa in {new}", "nobody")


@pytest.mark.parametrize("article", ["An Italian", "A French"])
def test_article_fits_the_new_country(article: str) -> None:
    for seed in range(20):
        made = change("countries", TextSample(id="1", text=f"{article} student bought a pen."), seed=seed)
        assert made.text is not None
        an, people, *_ = made.text.split()
        assert (an == "An") == (people[0] in "AEIOU")


def test_name_in_a_name_is_not_replaced() -> None:
    assert replace_words("Tomas saw Tom, Tom's dog and a tom", {"Tom": "Ali"}) == "Tomas saw Ali, Ali's dog and a tom"
