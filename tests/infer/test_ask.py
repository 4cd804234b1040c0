"""Cases put to a model: what is asked once, what is never asked, and what an error becomes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from contrapose.tasks.infer.base import ask
from contrapose.tasks.infer.mock import MockModel
from contrapose.tasks.records import Case, Completion


def case(name: str = "one", **changes: object) -> Case:
    values: dict[str, object] = {
        "id": f"p/{name}",
        "sample_id": name,
        "probe": "p",
        "version": "1",
        "original": "It is.",
        "perturbed": "It is not.",
        "original_prompt": "It is.",
        "perturbed_prompt": "It is not.",
        "scorer": "s",
        "asks": "generate",
    }
    return Case(**{**values, **changes})  # type: ignore[arg-type]


class Counting(MockModel):
    """A mock that remembers what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.prompts: list[str] = []
        self.pairs: list[tuple[str, str]] = []

    def generate(self, prompts: Sequence[str]) -> list[Completion]:
        self.prompts += prompts
        return [
            Completion(error="it broke") if "broken" in prompt else Completion(text=f"re: {prompt}")
            for prompt in prompts
        ]

    def losses(self, pairs: Sequence[tuple[str, str]]) -> list[float | None]:
        self.pairs += pairs
        return [float(len(prompt)) for prompt, _ in pairs]


def test_equal_prompts_are_asked_once() -> None:
    model = Counting()
    trials = ask([case("one"), case("two")], model)
    assert sorted(model.prompts) == ["It is not.", "It is."]
    assert [trial.actual.text for trial in trials] == ["re: It is not.", "re: It is not."]


def test_a_prompt_that_cases_share_is_counted_once() -> None:
    trials = ask([case("one"), case("two", perturbed_prompt="It never is.")], MockModel())
    used = [side.usage for trial in trials for side in (trial.expected, trial.actual)]
    assert [each.calls for each in used] == [1, 1, 0, 1]
    assert [each.completion_tokens for each in used] == [8, 8, 0, 8]


def test_a_loss_that_cases_share_is_computed_once() -> None:
    model = Counting()
    ask([case(name, perturbed_prompt=name, loss_of="expected_result") for name in ("one", "two")], model)
    assert model.pairs == [("It is.", "re: It is."), ("one", "re: It is."), ("two", "re: It is.")]


def test_a_skipped_case_is_never_asked() -> None:
    with pytest.raises(ValueError, match="must not be asked"):
        ask([case(perturbed=None, perturbed_prompt=None, skip_reason="empty")], Counting())


def test_the_loss_of_the_first_reply_is_taken_after_both_prompts() -> None:
    model = Counting()
    trial = ask([case(loss_of="expected_result")], model)[0]
    assert model.pairs == [("It is.", "re: It is."), ("It is not.", "re: It is.")]
    assert (trial.expected.loss, trial.actual.loss) == (6.0, 10.0)


def test_the_loss_of_the_prompts_has_no_context() -> None:
    model = Counting()
    ask([case(loss_of="prompt")], model)
    assert model.pairs == [("", "It is."), ("", "It is not.")]


def test_a_failed_call_stays_an_error_and_gets_no_loss() -> None:
    model = Counting()
    trials = ask(
        [
            case("one", original_prompt="broken", loss_of="expected_result"),
            case("two", loss_of="expected_result"),
        ],
        model,
    )
    assert trials[0].expected.error == "it broke"
    assert trials[0].expected.text is None
    assert trials[0].actual.loss is None
    assert trials[1].actual.loss is not None


def test_choices_come_from_the_labels_likelihoods() -> None:
    trial = ask([case(asks="choose", labels=("A", "B"), options=("x", "y"))], MockModel())[0]
    scores = trial.expected.option_loglikelihoods
    assert scores is not None
    assert trial.expected.text == ("A", "B")[scores.index(max(scores))]
