"""Tokens, time and cost: what is measured on earlier answers of the same model, what is assumed, what is not known."""

from __future__ import annotations

from datetime import date

import pytest

from contrapose.tasks.config.model_spec import Generation, ModelSpec
from contrapose.tasks.config.prices import FREE, Price
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.questions import Answer, Question
from contrapose.tasks.core.records import Completion, Usage
from contrapose.tasks.forecast.counting import CallCount
from contrapose.tasks.forecast.forecast import ENOUGH, UNKNOWN, PastAnswers, PastReply, forecast, read_past_answers
from contrapose.tasks.store import Store
from contrapose.tasks.store.answers import AnswerRow, build_batch

COUNT = CallCount(questions=120, answered=20, characters=8000, replies=100)
PRICE = Price(input=1, output=10, as_of=date(2026, 1, 31))
REMOTE = ModelSpec(id="openai/some", generation=Generation(max_new_tokens=40))
LOCAL = ModelSpec(id="hf/org/some")
NONE = PastAnswers()


def past(answers: int = ENOUGH, kind: str = "generate") -> PastAnswers:
    each = PastReply(kind=kind, characters=60, read=20, written=5, seconds=0.5)
    return PastAnswers(answers=[each] * answers)


def test_without_experience_tokens_come_from_a_rule_of_thumb() -> None:
    found = forecast(COUNT, REMOTE, past=NONE, price=PRICE)
    assert found.prompt_tokens.value == 2000
    assert found.prompt_tokens.because == "4 characters a token, a rule of thumb for English"


def test_the_system_instruction_is_read_with_every_prompt() -> None:
    spec = REMOTE.model_copy(update={"system_instruction": "Be brief"})
    assert forecast(COUNT, spec, past=NONE, price=PRICE).prompt_tokens.value == 2200


def test_tokens_are_measured_on_enough_earlier_answers() -> None:
    found = forecast(COUNT, REMOTE, past=past(), price=PRICE).prompt_tokens
    assert found.value == round(8000 / 3)
    assert found.because == "3.0 characters a token, measured on 20 earlier answers"


def test_a_few_earlier_answers_say_too_little() -> None:
    assert forecast(COUNT, REMOTE, past=past(ENOUGH - 1), price=PRICE) == forecast(
        COUNT, REMOTE, past=NONE, price=PRICE
    )


def test_without_experience_replies_are_as_long_as_they_may_be() -> None:
    found = forecast(COUNT, REMOTE, past=NONE, price=PRICE).completion_tokens
    assert found.value == found.most == 4000
    assert "upper bound" in found.because


def test_replies_have_their_mean_length_and_an_upper_bound() -> None:
    found = forecast(COUNT, REMOTE, past=past(), price=PRICE).completion_tokens
    assert (found.value, found.most) == (500, 4000)


def test_choices_tell_nothing_about_the_length_of_replies() -> None:
    assert forecast(COUNT, REMOTE, past=past(kind="choose"), price=PRICE).completion_tokens.value == 4000


def test_a_choice_is_one_token() -> None:
    count = CallCount(questions=10, characters=100, choices=10)
    assert forecast(count, REMOTE, past=NONE, price=PRICE).completion_tokens.value == 10


def test_time_of_an_endpoint_is_latency_shared_by_what_runs_at_once() -> None:
    spec = REMOTE.model_copy(update={"args": {"concurrency": 10}})
    assert forecast(COUNT, spec, past=past(), price=PRICE).seconds.value == pytest.approx(100 * 0.5 / 10)


def test_limits_of_a_minute_hold_a_run_back() -> None:
    spec = REMOTE.model_copy(update={"args": {"requests_per_minute": 60, "tokens_per_minute": "1e9"}})
    assert forecast(COUNT, spec, past=past(), price=PRICE).seconds.value == 100
    found = forecast(COUNT, spec, past=NONE, price=PRICE).seconds
    assert (found.value, found.because) == (100, "at least, by requests_per_minute and tokens_per_minute")


@pytest.mark.parametrize("wrong", ["many", 0, -1, None, [8]])
def test_a_wrong_number_is_the_providers_to_refuse(wrong: object) -> None:
    spec = REMOTE.model_copy(update={"args": {"concurrency": wrong, "requests_per_minute": wrong}})
    assert forecast(COUNT, spec, past=past(), price=PRICE).seconds.value == pytest.approx(100 * 0.5 / 32)


def test_time_of_a_local_model_is_tokens_by_its_speed() -> None:
    found = forecast(COUNT, LOCAL, past=past(), price=FREE).seconds
    assert found.value == pytest.approx((round(8000 / 3) + 500) / 50)
    assert found.because.startswith("50 tokens a second")


@pytest.mark.parametrize("spec", [LOCAL, REMOTE])
def test_time_is_unknown_until_a_first_run(spec: ModelSpec) -> None:
    found = forecast(COUNT, spec, past=NONE, price=PRICE).seconds
    assert (found.value, found.because) == (None, UNKNOWN)


def test_nothing_to_ask_takes_no_time() -> None:
    assert forecast(CallCount(questions=5, answered=5), REMOTE, past=NONE, price=PRICE).seconds.value == 0


def test_cost_has_its_day_and_its_upper_bound() -> None:
    found = forecast(COUNT, REMOTE, past=past(), price=PRICE).cost
    assert found.value == pytest.approx((2667 * 1 + 500 * 10) / 1e6)
    assert found.most == pytest.approx((2667 * 1 + 4000 * 10) / 1e6)
    assert found.because == "$1 and $10 per million tokens in and out, as of 2026-01-31"


def test_an_unknown_price_says_how_to_set_it() -> None:
    found = forecast(COUNT, REMOTE, past=NONE, price=None).cost
    assert found.value is None
    assert "set price to" in found.because


def test_a_local_model_costs_nothing() -> None:
    assert forecast(COUNT, LOCAL, past=NONE, price=FREE).cost.value == 0


USED = Usage(calls=1, prompt_tokens=9, completion_tokens=3)


def answered(config: RunConfig, *keys: str) -> None:
    run = Store().runs.begin("run", config=config.model_dump_json(), folder="/")
    answers = [
        AnswerRow(
            key=key,
            answer=Answer(
                question=Question(kind="generate", prompt=key),
                completion=Completion(text="a b c", usage=USED),
                seconds=0.5,
            ),
        )
        for key in keys
    ]
    Store().answers.keep(build_batch(answers, run=run, model=config.model, spent=USED, failures=0, again=False))


def test_answers_of_the_same_model_are_found(store: str) -> None:
    answered(RunConfig(model="mock", limit=1), "one", "three")
    found = read_past_answers(RunConfig(model="mock", limit=2)).answers
    assert sorted(found, key=lambda each: each.characters) == [
        PastReply(kind="generate", characters=3, read=9, written=3, seconds=0.5),
        PastReply(kind="generate", characters=5, read=9, written=3, seconds=0.5),
    ]


def test_answers_of_other_models_endpoints_and_instructions_are_not(own_store: str) -> None:
    answered(RunConfig(model="mock"), "one")
    answered(RunConfig(model="openai/a", model_args={"base_url": "http://x/v1"}), "two")
    assert not read_past_answers(RunConfig(model="openai/a")).answers
    assert not read_past_answers(RunConfig(model="mock", system_instruction="Be brief.")).answers


def test_an_empty_store_knows_nothing(own_store: str) -> None:
    found = read_past_answers(RunConfig(model="mock"))
    assert (found.characters_per_token, found.reply_tokens, found.seconds_per_call) == (None, None, None)
