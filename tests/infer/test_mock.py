"""The mock model: the same answers always, and disturbed in a known way where that is asked for."""

from __future__ import annotations

import pytest
from plain_broker import PlainBroker

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.core.questions import Question
from contrapose.tasks.infer.mock import Mock, MockModel

PROMPTS = [f"Prompt {number}." for number in range(2000)]


def slipped(share: float, *, revision: str = "") -> set[str]:
    args = {"reply": "yes", "slip": share, "slip_reply": "no", "revision": revision}
    model = Mock().open(ModelSpec(id="mock", args=args))
    questions = [Question(kind="generate", prompt=prompt) for prompt in PROMPTS]
    return {each.prompt for each in questions if model.completion(each).text == "no"}


def test_its_answers_are_put_while_others_are_still_computed() -> None:
    questions, broker = [Question(kind="generate", prompt=prompt) for prompt in PROMPTS], PlainBroker()
    MockModel().answer(questions, broker)
    assert [len(answers) for answers in broker.puts] == [1000, 1000]
    assert [answer.question for answers in broker.puts for answer in answers] == questions


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 1.0])
def test_it_slips_at_a_share_of_the_prompts(share: float) -> None:
    assert len(slipped(share)) / len(PROMPTS) == pytest.approx(share, abs=0.03)


def test_a_greater_share_adds_prompts_and_another_revision_has_others() -> None:
    assert slipped(0.1) == slipped(0.1) < slipped(0.2)
    assert len(slipped(0.2) & slipped(0.2, revision="2")) / len(PROMPTS) == pytest.approx(0.04, abs=0.02)


def test_every_argument_is_part_of_its_identity() -> None:
    given = {"reply": "yes", "slip": 0.1, "slip_reply": "no", "revision": "2"}
    found = Mock().identity(ModelSpec(id="mock", args=given))
    assert {name: found[name] for name in given} == {name: str(value) for name, value in given.items()}


@pytest.mark.parametrize("share", [-0.1, 1.1, "much", "nan"])
def test_a_slip_that_is_no_share_is_refused(share: object) -> None:
    with pytest.raises(ModelError, match=r"model_args\.slip"):
        Mock().identity(ModelSpec(id="mock", args={"slip": share}))


@pytest.mark.parametrize("name", ["reply", "slip_reply"])
def test_a_reply_that_yaml_reads_as_something_else_is_refused(name: str) -> None:
    with pytest.raises(ModelError, match=rf"model_args\.{name}: True; expected a text"):
        Mock().identity(ModelSpec(id="mock", args={name: True}))
