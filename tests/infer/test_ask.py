"""Cases put to a model: what is asked once, what is never asked, and what an error becomes."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence

import pytest
from asked_case import case
from settled_run import both_at_once

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.errors import ContraposeError
from contrapose.tasks.core.questions import Answer, Question
from contrapose.tasks.core.records import Case, Completion, FollowUp, Side, Trial, Usage
from contrapose.tasks.infer.ask import ask, ask_about_replies, is_unasked
from contrapose.tasks.infer.broker import StoreBroker
from contrapose.tasks.infer.budget import Budget, Limits
from contrapose.tasks.infer.keys import Keys
from contrapose.tasks.infer.meter import Meter, use_meter
from contrapose.tasks.infer.mock import MockModel
from contrapose.tasks.store import Store

pytestmark = pytest.mark.usefixtures("own_store")


class Counting:
    """A model that remembers what it was asked; one prompt is `broken`, and a filter withholds what is `bad`."""

    def __init__(self, *, seconds: float = 0) -> None:
        self.asked: list[Question] = []
        self.seconds = seconds

    def answer(self, questions: Sequence[Question], broker: StoreBroker) -> None:
        for question in questions:
            for taken in broker.take([question]):
                time.sleep(self.seconds)
                self.asked.append(taken)
                broker.put([Answer(question=taken, completion=self.completion(taken))])

    def completion(self, question: Question) -> Completion:
        if question.prompt == "broken":
            return Completion(error="it broke")
        if question.prompt == "bad":
            return Completion(text="", outcome="moderated", usage=Usage(calls=1))
        if question.kind == "loss":
            return Completion(loss=float(len(question.prompt)), usage=Usage(calls=1))
        return Completion(text=f"re: {question.prompt}", usage=Usage(calls=1, prompt_tokens=5))

    def notes(self) -> Mapping[str, str | float]:
        return {}


def broker_of(run: str | None = None, **values: object) -> StoreBroker:
    name = run or Store().runs.begin("run", config="{}", folder=".")
    keys = Keys(ModelSpec(id="mock"), {"revision": "1"})
    return StoreBroker(keys, run=name, model="mock", **{"budget": Budget(), **values})  # type: ignore[arg-type]


def put(cases: Sequence[Case], model: Counting | MockModel, **values: object) -> list[Trial]:
    with broker_of(**values) as broker:  # type: ignore[arg-type]
        return ask(cases, broker, model=lambda: model)


def prompts(model: Counting) -> list[str]:
    return [question.prompt for question in model.asked if question.kind != "loss"]


def pairs(model: Counting) -> list[tuple[str, str]]:
    return [(question.prompt, question.text) for question in model.asked if question.kind == "loss"]


def test_a_prompt_that_cases_share_is_asked_once() -> None:
    model = Counting()
    trials = put([case("one"), case("two", perturbed_prompt="Is it?")], model)
    assert prompts(model) == ["It is.", "It is not.", "Is it?"]
    assert [trial.expected.text for trial in trials] == ["re: It is.", "re: It is."]
    assert trials[1].actual.text == "re: Is it?"


def test_a_skipped_case_is_never_asked() -> None:
    with pytest.raises(ValueError, match="must not be asked"):
        put([case(perturbed=None, perturbed_prompt=None, skip_reason="empty")], Counting())


def test_the_loss_of_the_first_reply_is_taken_after_both_prompts() -> None:
    model = Counting()
    (trial,) = put([case(loss_of="expected_result")], model)
    assert pairs(model) == [("It is.", "re: It is."), ("It is not.", "re: It is.")]
    assert (trial.expected.loss, trial.actual.loss) == (6.0, 10.0)


def test_the_loss_of_the_prompts_has_no_context() -> None:
    model = Counting()
    put([case(loss_of="prompt")], model)
    assert pairs(model) == [("", "It is."), ("", "It is not.")]


def test_a_failed_call_stays_an_error_and_gets_no_loss() -> None:
    model = Counting()
    trials = put(
        [case("one", original_prompt="broken", loss_of="expected_result"), case("two", loss_of="expected_result")],
        model,
    )
    assert trials[0].expected.error == "it broke"
    assert trials[0].expected.text is None
    assert trials[0].actual.loss is None
    assert trials[1].actual.loss is not None
    assert not is_unasked(trials[0])


def test_a_withheld_prompt_is_asked_in_no_other_way() -> None:
    model = Counting()
    cases = [case(name, original_prompt=name, perturbed_prompt="fine", also_again=True) for name in ("bad", "good")]
    trials = put(cases, model)
    assert sorted(prompts(model)) == ["bad", "fine", "fine", "good", "good"]
    assert (trials[0].expected.outcome, trials[0].expected.again) == ("moderated", None)


def test_withheld_prompts_are_asked_again_once_by_a_run_that_wants_it() -> None:
    cases, first, second = [case("one", original_prompt="bad")], Counting(), Counting()
    put(cases, first)
    put(cases, second)
    assert (prompts(first), prompts(second)) == (["bad", "It is not."], [])
    run = Store().runs.begin("later", config="{}", folder=".")
    put(cases, second, run=run, ask_again=("refused",))
    assert prompts(second) == []
    put(cases, second, run=run, ask_again=("moderated",))
    put(cases, second, run=run, ask_again=("moderated",))
    assert prompts(second) == ["bad"]


def test_what_an_earlier_run_asked_is_not_asked_again_and_no_model_is_opened() -> None:
    first = put([case(loss_of="expected_result")], Counting())

    def opened() -> Counting:
        raise AssertionError("opened")

    with broker_of() as broker:
        assert ask([case(loss_of="expected_result")], broker, model=opened) == first
    assert (broker.hits, broker.asked) == (4, 0)


def test_what_failed_is_asked_again_by_the_next_run() -> None:
    put([case(original_prompt="broken")], Counting())
    model = Counting()
    put([case(original_prompt="broken")], model)
    assert prompts(model) == ["broken"]


def test_asked_again_only_answers_of_the_same_run_count() -> None:
    put([case()], Counting())
    run = Store().runs.begin("again", config="{}", folder=".")
    first, second = Counting(), Counting()
    put([case()], first, run=run, again=True)
    put([case()], second, run=run, again=True)
    assert (len(first.asked), len(second.asked)) == (2, 0)


def test_a_spent_budget_leaves_the_rest_unasked_and_a_larger_one_asks_for_it() -> None:
    cases = [case(str(number), perturbed_prompt=f"It is not {number}.") for number in range(5)]
    run = Store().runs.begin("run", config="{}", folder=".")
    trials = put(cases, MockModel(), run=run, budget=Budget(limits=Limits(max_calls=3)))
    assert [is_unasked(trial) for trial in trials] == [False, False, True, True, True]
    assert "max_calls = 3" in str(trials[2].actual.error)
    row = Store().runs.get(run)
    assert row.requests == 3
    rest = put(cases, MockModel(), run=run, budget=Budget(limits=Limits(max_calls=6), spent=row.spent))
    assert not any(is_unasked(trial) for trial in rest)
    assert rest[:2] == trials[:2]


def test_a_run_that_was_stopped_still_takes_what_is_answered() -> None:
    put([case("one")], Counting())
    model = Counting()
    trials = put([case("one"), case("two", perturbed_prompt="Is it?")], model, stopped="enough")
    assert model.asked == []
    assert [trial.actual.error for trial in trials] == [None, "not asked: enough"]


def test_two_runs_at_once_ask_everything_once_and_have_the_same_answers() -> None:
    cases = [case(str(number), perturbed_prompt=f"It is not {number}.") for number in range(40)]
    models = Counting(seconds=0.005), Counting(seconds=0.005)
    found = both_at_once(lambda number: put(cases if number else cases[::-1], models[number]))
    asked = sorted(prompts(models[0]) + prompts(models[1]))
    assert asked == sorted({"It is.", *(f"It is not {number}." for number in range(40))})
    assert found[0][::-1] == found[1]


def test_nothing_is_asked_twice_when_the_clock_jumps(monkeypatch: pytest.MonkeyPatch) -> None:
    jump = 0.0
    monkeypatch.setattr("contrapose.tasks.store.claims.get_database_time", lambda connection: time.time() + jump)
    monkeypatch.setattr("contrapose.tasks.store.claims.SILENT_SECONDS", 2.0)
    monkeypatch.setattr("contrapose.tasks.infer.broker.RENEW_SECONDS", 0.2)
    taken = threading.Event()

    class Slow(Counting):
        """A model that takes whatever is open, and a while."""

        def answer(self, questions: Sequence[Question], broker: StoreBroker) -> None:
            own = broker.take(questions)
            taken.set()
            time.sleep(3 if own else 0)
            self.asked += own
            broker.put([Answer(question=each, completion=self.completion(each)) for each in own])

    cases = [case(str(number), perturbed_prompt=f"It is not {number}.") for number in range(5)]
    models = [Slow(), Slow()]
    threads = [threading.Thread(target=put, args=(cases, model)) for model in models]
    threads[0].start()
    assert taken.wait(60)
    threads[1].start()
    time.sleep(0.5)
    jump = 3600.0
    for thread in threads:
        thread.join()
    assert [len(model.asked) for model in models] == [6, 0]


def test_every_question_is_counted_shared_ones_too() -> None:
    with use_meter(Meter()) as meter:
        put([case("one", loss_of="prompt"), case("two")], Counting())
    assert (meter.done, meter.requests) == (6, 4)


def test_answers_are_kept_when_the_model_breaks_off() -> None:
    class Breaking(Counting):
        def completion(self, question: Question) -> Completion:
            if len(self.asked) == 2:
                raise RuntimeError("the power went")
            return super().completion(question)

    with pytest.raises(RuntimeError, match="the power went"):
        put([case()], Breaking())
    with broker_of() as broker:
        broker.look_up([Question(kind="generate", prompt="It is.")])
    assert broker.hits == 1
    assert Store().answers.find([broker.keys.make_key(Question(kind="generate", prompt="It is not."))]) == {}


def test_what_cannot_be_kept_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise ContraposeError("the disk is full", expected="room", remedy="Make some.", where="here")

    monkeypatch.setattr("contrapose.tasks.store.answers.AnswerTable.keep", full)
    cases = [case(str(number), perturbed_prompt=f"It is not {number}.") for number in range(40)]
    model = Counting(seconds=0.05)
    with pytest.raises(ContraposeError, match="the disk is full"):
        put(cases, model)
    assert len(model.asked) < 20


def follow_up(trial: Trial, side: Side, prompt: str) -> FollowUp:
    return FollowUp(case_id=trial.case.id, side=side, prompt=prompt)


def test_a_question_about_a_reply_is_asked_once_kept_and_put_beside_the_reply() -> None:
    trials = put([case("one"), case("two", perturbed_prompt="Is it?")], Counting())
    about = [
        follow_up(trials[0], "expected", "which"),
        follow_up(trials[1], "expected", "which"),
        follow_up(trials[1], "actual", "and which"),
    ]
    model = Counting()
    with broker_of() as broker:
        found = ask_about_replies(trials, about, broker, model=lambda: model)
    assert prompts(model) == ["which", "and which"]
    assert [trial.expected.asked_back for trial in found] == ["re: which", "re: which"]
    assert [trial.actual.asked_back for trial in found] == [None, "re: and which"]
    again = Counting()
    with broker_of() as broker:
        assert ask_about_replies(trials, about, broker, model=lambda: again) == found
    assert again.asked == []


def test_a_question_about_a_reply_that_fails_leaves_the_trial_as_it_is() -> None:
    trials = put([case()], Counting())
    with broker_of() as broker:
        found = ask_about_replies(trials, [follow_up(trials[0], "actual", "broken")], broker, model=Counting)
    assert found == trials


def test_questions_about_replies_are_counted_and_stop_with_the_budget() -> None:
    trials = put([case(str(number), perturbed_prompt=f"It is not {number}.") for number in range(5)], Counting())
    about = [follow_up(trial, "actual", f"which {trial.case.id}") for trial in trials]
    run = Store().runs.begin("run", config="{}", folder=".")
    with use_meter(Meter()) as meter, broker_of(run, budget=Budget(limits=Limits(max_calls=2))) as broker:
        found = ask_about_replies(trials, about, broker, model=MockModel)
        assert broker.stopped is not None
    assert meter.done == 5
    assert sum(trial.actual.asked_back is not None for trial in found) == 2
    assert not any(is_unasked(trial) for trial in found)
