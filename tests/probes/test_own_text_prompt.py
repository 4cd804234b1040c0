"""A prompt of one's own about texts: what is asked, what is read, and what does not fit the data."""

from __future__ import annotations

import json
import random
from importlib.resources import files
from typing import Any

import pytest

from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.records import Case, Completion, Likelihoods, Score, TextSample, Trial
from contrapose.tasks.core.registry import names, probe
from contrapose.tasks.infer.ask import is_letter_wanted
from contrapose.tasks.probes.item_order import ItemOrderSettings
from contrapose.tasks.probes.judge_order import JudgeOrderSettings
from contrapose.tasks.probes.order_bias import OrderBiasSettings
from contrapose.tasks.probes.own_prompt import check_template, load_built_in_wordings
from contrapose.tasks.probes.prompt_settings import PromptSettings

SAMPLE = TextSample(
    id="q-7",
    text="The box on the table is heavy.",
    options=("It weighs 5 kilograms", "It weighs 1 gram", "It floats"),
    answers=("It weighs 5 kilograms",),
)
OPEN = TextSample(id="o-1", text="The bridge is 120 metres long.")
FITTING = {
    "add_negation": "A cactus stem is used to store",
    "change_number": "The bridge is 120 metres long.",
    "swap_roles": "The dog chased the cat.",
    "contractions": "The box is not heavy.",
    "abbreviations": "Please wait.",
    "spelling": "The bridge is grey.",
    "names": "It rained when Tom got wet.",
    "gender": "A girl lost her key.",
    "countries": "A student from Peru has a pen.",
}
"""Texts for edits that leave that of the sample alone."""
TEMPLATE = """
Exam.
{{ text }}

{{ options }}

Which of {{ letters }}? Reply as JSON: {"verdict": …}
"""
NUMBERS = {"prompt": TEMPLATE, "labels": ("1", "2", "3"), "answer_field": "verdict"}
OF_TOOLS = ("tool_order", "tool_names")
"""Tests that read calls, and no labels."""
TEXT_PROBES = [name for name in names("probes") if probe(name).sample_type is TextSample and name not in OF_TOOLS]
READING = [name for name in TEXT_PROBES if name != "add_toxic_words"]


def cases(
    name: str, sample: TextSample = SAMPLE, *, likelihoods: Likelihoods = "all", **settings: Any
) -> tuple[Case, Case | None]:
    """The first case of a sample, and its control."""
    chosen = probe(name)
    own = chosen.settings_type(**settings)
    case = chosen.cases(sample, own, rng=random.Random(0), likelihoods=likelihoods)[0]
    return case, None if case.skip_reason else chosen.control(case, sample, own, rng=random.Random(1))


def score(name: str, before: str, after: str, **settings: Any) -> Score:
    case, _ = cases(name, **settings)
    chosen = probe(name)
    trial = Trial(case=case, expected=Completion(text=before), actual=Completion(text=after))
    [scored] = chosen.score([trial], chosen.settings_type(**settings), embed=lambda texts: pytest.fail("embedded"))
    return scored


@pytest.mark.parametrize("name", [name for name in TEXT_PROBES if name != "option_order"])
def test_the_change_goes_into_the_text_alone(name: str) -> None:
    sample = TextSample(id="q-1", text=FITTING.get(name, SAMPLE.text), options=("water", "sand", "light"))
    settings = {key: value for key, value in NUMBERS.items() if name in READING or key != "answer_field"}
    case, control = cases(name, sample, **settings)
    frame = 'Exam.\n%s\n\n1. water\n2. sand\n3. light\n\nWhich of 1, 2 or 3? Reply as JSON: {"verdict": …}'
    assert case.perturbed is not None
    assert case.original_prompt == frame % case.original
    assert case.perturbed_prompt == frame % case.perturbed
    assert control.perturbed_prompt == frame % control.perturbed
    assert (case.asks, case.labels) == ("generate", ("1", "2", "3"))
    assert not is_letter_wanted(case)


def test_white_space_that_is_the_change_stays() -> None:
    sample = TextSample(id="s", text="The sky is blue.", options=("yes", "no"))
    case, _ = cases("spacing", sample, prompt="\n{{ text }}\n{{ options }}\n")
    assert case.original_prompt == "The sky is blue.\nA. yes\nB. no"
    assert case.perturbed_prompt == f"{case.perturbed}\nA. yes\nB. no"


@pytest.mark.parametrize("name", READING)
def test_the_usual_letters_are_read_as_ever(name: str) -> None:
    prompt = "Exam.\n{{ text }}\n{{ options }}\nAnswer:"
    for labels in (None, ("A", "B", "C", "D")):
        chosen = probe(name)
        own = chosen.settings_type(prompt=prompt, labels=labels)
        assert own.own_labels is None
        assert own.by_likelihood("all")
        assert own.asks_back("none")
        first, *_ = chosen.cases(SAMPLE, own, rng=random.Random(0), likelihoods="all")
        assert (first.asks, first.labels) == ("choose", ("A", "B", "C"))
        first, *_ = chosen.cases(SAMPLE, own, rng=random.Random(0), likelihoods="none")
        assert is_letter_wanted(first)


@pytest.mark.parametrize("name", READING)
def test_own_labels_are_neither_compared_by_likelihood_nor_asked_about(name: str) -> None:
    chosen = probe(name)
    own = chosen.settings_type(**NUMBERS)
    assert not own.by_likelihood("all")
    assert not own.asks_back("none")
    assert own.answers_in_words("all") == 0
    case, *_ = chosen.cases(SAMPLE, own, rng=random.Random(0), likelihoods="none")
    trial = Trial(case=case, expected=Completion(text="It is hard to say."), actual=Completion(text="Perhaps one."))
    assert list(chosen.follow_ups([trial], own, embed=lambda texts: pytest.fail("embedded"))) == []


@pytest.mark.parametrize(
    ("replies", "chosen", "passed"),
    [
        (('{"verdict": 1}', '```json\n{"verdict": "2"}\n```'), ("1", "2"), True),
        (("1, 2 or 3? So:\n" + json.dumps({"verdict": "1"}), '{"verdict": 1}'), ("1", "1"), False),
        (('{"verdict": 1}', "A"), ("1", None), None),
        (('{"verdict": 4}', '{"verdict": 1}'), (None, "1"), None),
    ],
)
def test_a_field_says_which_option_was_chosen(
    replies: tuple[str, str], chosen: tuple[str | None, str | None], passed: bool | None
) -> None:
    scored = score("add_negation", *replies, **NUMBERS)
    assert (scored.columns["chosen_before"], scored.columns["chosen_after"]) == chosen
    assert scored.passed is passed
    assert scored.columns["chosen_before_step"] == ("label" if chosen[0] else "unparsed")
    if passed:
        assert scored.expected_result == "1. It weighs 5 kilograms"
        assert scored.columns["right_before"] is True


def test_a_label_that_stands_in_a_reply_is_read_with_its_marks() -> None:
    labels = ("(a)", "(b)", "(c)")
    prompt = "{{ text }}\n{{ options }}\nWhich of {{ letters }}?"
    case, _ = cases("add_negation", prompt=prompt, labels=labels)
    assert "\n(a) It weighs 5 kilograms\n(b) It weighs 1 gram\n" in case.original_prompt
    assert case.original_prompt.endswith("Which of (a), (b) or (c)?")
    scored = score("add_negation", "I choose (A).", "It is (b), since a box is heavy.", prompt=prompt, labels=labels)
    assert (scored.columns["chosen_before"], scored.columns["chosen_after"]) == ("(a)", "(b)")
    assert scored.reason == "the chosen option changed from (a) to (b)"


def test_thoughts_name_no_label() -> None:
    reply = "<think>Is it 1 or 2? Maybe 3.</think>The answer is 2."
    settings = {"prompt": TEMPLATE, "labels": ("1", "2", "3")}
    assert score("add_negation", reply, "3", **settings).columns["chosen_before"] == "2"


def test_an_option_is_followed_from_label_to_label() -> None:
    settings = {"prompt": TEMPLATE, "labels": ("1", "2", "3"), "pattern": r"\[\[(\d)\]\]"}
    scored = score("option_order", "[[2]]", "[[1]]", **settings)
    assert (scored.passed, scored.columns["outcome"]) == (True, "text")
    assert (scored.columns["letter"], scored.columns["rotated_letter"]) == ("B", "A")
    assert scored.reason == "The same option was chosen, as 2 and then as 1."
    stuck = score("option_order", "[[2]]", "[[2]]", **settings)
    assert (stuck.passed, stuck.reason) == (False, "2 was chosen again, though it was another option.")
    assert score("option_order", "2", "[[1]]", **settings).undecided


def test_the_orders_of_the_options_stand_in_the_own_prompt() -> None:
    case, _ = cases("option_order", **NUMBERS)
    assert case.scorer == "label"
    assert "\n1. It weighs 5 kilograms\n2. It weighs 1 gram\n3. It floats\n" in case.original_prompt
    assert "\n1. It weighs 1 gram\n2. It floats\n3. It weighs 5 kilograms\n" in str(case.perturbed_prompt)
    assert case.perturbed == f"{SAMPLE.text}\n1. It weighs 1 gram\n2. It floats\n3. It weighs 5 kilograms"


def test_controls_of_the_order_need_other_words() -> None:
    assert cases("option_order", **NUMBERS)[1] is None
    _, asked = cases("option_order", prompt="{{ text }}\n{{ options }}\n{{ ask }}")
    assert str(asked.perturbed_prompt).splitlines()[-1] in ("The answer:", "Your answer:", "The answer is:")
    _, reworded = cases("option_order", **NUMBERS, reworded="Test.\n{{ text }}\n{{ options }}")
    assert str(reworded.perturbed_prompt).startswith("Test.\nThe box")
    assert (reworded.original, reworded.perturbed) == (reworded.original_prompt, reworded.perturbed_prompt)


@pytest.mark.parametrize("name", ["add_negation", "add_toxic_words", "casing"])
def test_a_text_without_options_is_put_into_its_place(name: str) -> None:
    case, _ = cases(name, OPEN, prompt="Go on:\n{{ text }}{% if options %}\n{{ options }}{% endif %}")
    assert case.original_prompt == f"Go on:\n{OPEN.text}"
    assert case.perturbed_prompt == f"Go on:\n{case.perturbed}"


def test_a_prompt_that_is_empty_for_a_sample_names_the_sample() -> None:
    with pytest.raises(ConfigError, match=r"add_negation\.prompt, sample q-7.* a prompt of 0 characters"):
        cases("add_negation", prompt="{% if not options %}{{ text }}{{ options }}{% endif %}")


OURS = {
    "text": PromptSettings,
    "order_bias": OrderBiasSettings,
    "judge_order": JudgeOrderSettings,
    "item_order": ItemOrderSettings,
}


@pytest.mark.parametrize("name", OURS)
def test_our_own_prompts_are_templates_that_a_suite_could_bring(name: str) -> None:
    for content in load_built_in_wordings(name):
        check_template(content, known=(*OURS[name].variables, "introduction"), needed=OURS[name].needed)


def test_every_prompt_of_ours_is_checked() -> None:
    entries = files("contrapose.data").joinpath("prompts").iterdir()
    assert {entry.name for entry in entries} == {"wordings.yaml", *(f"{name}.j2" for name in OURS)}
