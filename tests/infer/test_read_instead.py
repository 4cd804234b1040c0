"""Letters that a model would hardly write decide nothing: its replies are read in place of their likelihoods."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence

import pytest
from asked_case import case

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.questions import Answer, Question
from contrapose.tasks.core.records import LEAST_LABEL_MASS, Case, Completion, Trial, Usage
from contrapose.tasks.infer.ask import ask, compute_label_mass, is_unasked, list_fallbacks, resolve_case
from contrapose.tasks.infer.broker import StoreBroker
from contrapose.tasks.infer.budget import Budget
from contrapose.tasks.infer.keys import Keys
from contrapose.tasks.infer.openai.response_parsing import read_reply
from contrapose.tasks.store import Store

pytestmark = pytest.mark.usefixtures("own_store")


class Planted:
    """A model whose labels have as much of the probability as is given for a prompt, and which replies B."""

    def __init__(self, masses: Mapping[str, float | None], *, most: int = 100) -> None:
        self.masses, self.most = masses, most
        self.asked: list[Question] = []

    def answer(self, questions: Sequence[Question], broker: StoreBroker) -> None:
        for question in questions:
            for taken in broker.take([question]):
                self.asked.append(taken)
                broker.put([Answer(question=taken, completion=self.completion(taken))])
                if len(self.asked) == self.most:
                    broker.stop("the budget is spent")

    def completion(self, question: Question) -> Completion:
        usage = Usage(calls=1, prompt_tokens=5)
        if question.kind == "loss":
            return Completion(loss=float(len(question.text)), usage=usage)
        if question.kind == "generate":
            return Completion(text=f"B, after {question.prompt}", usage=usage)
        mass = self.masses[question.prompt]
        shares = math.log(0.9 * (mass or 1)), math.log(0.1 * (mass or 1))
        return Completion(text="A", option_loglikelihoods=shares, label_mass=mass, usage=usage)

    def notes(self) -> Mapping[str, str | float]:
        return {}


def chosen(name: str = "one", **changes: object) -> Case:
    return case(
        name,
        **{"asks": "choose", "scorer": "likelihood", "labels": ("A", "B"), "options": ("x", "y"), **changes},
    )


def put(model: Planted, *cases: Case) -> list[Trial]:
    run = Store().runs.begin("run", config="{}", folder=".")
    with StoreBroker(Keys(ModelSpec(id="mock"), {"revision": "1"}), run=run, model="mock", budget=Budget()) as broker:
        return ask(cases, broker, model=lambda: model)


def kinds(model: Planted) -> list[tuple[str, str]]:
    return [(question.kind, question.prompt) for question in model.asked]


def test_likelihoods_decide_where_the_labels_hold_a_real_share() -> None:
    model = Planted({"It is.": 0.9, "It is not.": LEAST_LABEL_MASS})
    (trial,) = put(model, chosen())
    assert {kind for kind, _ in kinds(model)} == {"choose"}
    assert (trial.case, trial.expected.text) == (chosen(), "A")
    assert (trial.expected.label_mass, trial.actual.label_mass) == (0.9, LEAST_LABEL_MASS)


@pytest.mark.parametrize(
    "masses",
    [{"It is.": 1e-7, "It is not.": 1e-8}, {"It is.": 0.9, "It is not.": 0.04}, {"It is.": 0, "It is not.": 1}],
)
def test_where_they_hold_too_little_after_either_prompt_both_replies_are_read(masses: Mapping[str, float]) -> None:
    model = Planted(masses)
    (trial,) = put(model, chosen())
    assert kinds(model)[2:] == [("generate", "It is."), ("generate", "It is not.")]
    assert (trial.case.asks, trial.case.scorer) == ("generate", "reply")
    for reply, prompt in ((trial.expected, "It is."), (trial.actual, "It is not.")):
        assert (reply.text, reply.option_loglikelihoods) == (f"B, after {prompt}", None)
        assert reply.label_mass == masses[prompt]


def test_only_the_cases_with_too_little_are_read() -> None:
    model = Planted({"It is.": 0.9, "It is not.": 0.8, "Is it?": 1e-6})
    kept, read = put(model, chosen(), chosen("two", perturbed_prompt="Is it?"))
    assert (kept.case.asks, read.case.asks) == ("choose", "generate")
    assert kept.expected.option_loglikelihoods is not None
    assert [prompt for kind, prompt in kinds(model) if kind == "generate"] == ["It is.", "Is it?"]


def test_another_scorer_than_likelihood_stays() -> None:
    (trial,) = put(Planted({"It is.": 0.0, "It is not.": 0.0}), chosen(scorer="choice"))
    assert trial.case.scorer == "choice"


def test_a_reply_in_words_beside_likelihoods_is_the_same_question() -> None:
    model = Planted({"It is.": 1e-7, "It is not.": 1e-8})
    (trial,) = put(model, chosen(also_in_words=True))
    assert len(model.asked) == len(set(model.asked)) == 4
    # There are no likelihoods any more that it could agree with.
    assert trial.expected.in_words is None


def test_losses_are_of_the_replies_that_are_read() -> None:
    model = Planted({"It is.": 1e-7, "It is not.": 1e-8})
    put(model, chosen(scorer="choice", loss_of="expected_result"))
    assert {question.text for question in model.asked if question.kind == "loss"} == {"B, after It is."}


def test_a_case_whose_replies_the_budget_leaves_out_was_not_asked() -> None:
    (trial,) = put(Planted({"It is.": 1e-7, "It is not.": 1e-8}, most=2), chosen())
    assert is_unasked(trial)


@pytest.mark.parametrize("other", [Completion(error="it broke"), Completion(text="", outcome="moderated"), None])
def test_a_choice_without_an_answer_stays_as_it_is_and_nothing_further_is_asked(other: Completion | None) -> None:
    answers = {Question(kind="choose", prompt="It is.", labels=("A", "B")): Completion(text="So", label_mass=0.0)}
    if other is not None:
        answers[Question(kind="choose", prompt="It is not.", labels=("A", "B"))] = other
    assert resolve_case(chosen(), answers) == chosen()
    assert list_fallbacks([chosen()], answers) == []


@pytest.mark.parametrize(
    ("completion", "mass"),
    [
        (Completion(text="A", option_loglikelihoods=(-13.0, -19.0)), math.exp(-13) + math.exp(-19)),
        (Completion(text="A", option_loglikelihoods=(-0.1, -0.2)), 1.0),
        (Completion(text="So"), 0.0),
        (Completion(text="A", option_loglikelihoods=(math.nan, -1.0)), None),
        (Completion(text="A", option_loglikelihoods=(-1.0, -1.0), label_mass=0.75), 0.75),
    ],
)
def test_of_answers_of_older_versions_the_labels_themselves_tell_the_mass(
    completion: Completion, mass: float | None
) -> None:
    assert compute_label_mass(completion) == (mass if mass is None else pytest.approx(mass))


def test_a_first_token_of_a_thought_that_an_endpoint_hides_is_no_label() -> None:
    message = {"content": None, "reasoning_content": "Okay"}
    hidden = json.dumps({"choices": [{"message": message, "finish_reason": "length"}]}).encode()
    found = read_reply(hidden, Question(kind="choose", prompt="Which?", labels=("A", "B")))
    assert (found.label_mass, found.option_loglikelihoods, found.outcome) == (0.0, None, "answered")


def body(tokens: Mapping[str, float], text: str = "So") -> bytes:
    top = [{"token": token, "logprob": value} for token, value in tokens.items()]
    choice = {"message": {"content": text}, "logprobs": {"content": [{**top[0], "top_logprobs": top}]}}
    return json.dumps({"choices": [choice]}).encode()


@pytest.mark.parametrize(
    ("tokens", "mass"),
    [
        ({"So": -0.0001, "A": -13.0, "B": -19.0}, math.exp(-13) + math.exp(-19)),
        ({"<think>": 0.0, "Okay": -20.0}, 0.0),
        ({"A": -1.0, " A": -2.0, "B": -3.0, "the": -4.0}, math.exp(-1) + math.exp(-2) + math.exp(-3)),
        ({"A": 0.0005, "B": -9.0}, 1.0),
    ],
)
def test_an_endpoint_tells_how_much_its_listed_tokens_leave_the_labels(
    tokens: Mapping[str, float], mass: float
) -> None:
    found = read_reply(body(tokens), Question(kind="choose", prompt="Which?", labels=("A", "B"))).label_mass
    assert found == pytest.approx(mass)
