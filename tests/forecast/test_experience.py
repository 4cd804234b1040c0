"""Earlier answers in the store: those of the same model, asked in the same way."""

from __future__ import annotations

from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.questions import Answer, Question
from contrapose.tasks.core.records import Completion, Usage
from contrapose.tasks.forecast.forecast import Past, experience_of
from contrapose.tasks.store import Store
from contrapose.tasks.store.answers import Keyed, batch_of

USED = Usage(calls=1, prompt_tokens=9, completion_tokens=3)


def answered(config: RunConfig, *keys: str) -> None:
    run = Store().runs.begin("run", config=config.model_dump_json(), folder="/")
    answers = [
        Keyed(
            key=key,
            answer=Answer(
                question=Question(kind="generate", prompt=key),
                completion=Completion(text="a b c", usage=USED),
                seconds=0.5,
            ),
        )
        for key in keys
    ]
    Store().answers.keep(batch_of(answers, run=run, model=config.model, spent=USED, failures=0, again=False))


def test_answers_of_the_same_model_are_found(store: str) -> None:
    answered(RunConfig(model="mock", limit=1), "one", "three")
    found = experience_of(RunConfig(model="mock", limit=2)).answers
    assert sorted(found, key=lambda each: each.characters) == [
        Past(kind="generate", characters=3, read=9, written=3, seconds=0.5),
        Past(kind="generate", characters=5, read=9, written=3, seconds=0.5),
    ]


def test_answers_of_other_models_endpoints_and_instructions_are_not(own_store: str) -> None:
    answered(RunConfig(model="mock"), "one")
    answered(RunConfig(model="openai/a", model_args={"base_url": "http://x/v1"}), "two")
    assert not experience_of(RunConfig(model="openai/a")).answers
    assert not experience_of(RunConfig(model="mock", system_instruction="Be brief.")).answers


def test_an_empty_store_knows_nothing(own_store: str) -> None:
    found = experience_of(RunConfig(model="mock"))
    assert (found.characters_per_token, found.reply_tokens, found.seconds_per_call) == (None, None, None)
