"""An endpoint that misbehaves: what is tried again, what is given up, and when a run stops."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from threading import Timer

import pytest
from fake_endpoint import Endpoint
from openai_server import answered, generate, only, spec
from plain_broker import PlainBroker

from contrapose.tasks.core.errors import CutShortError
from contrapose.tasks.core.questions import UNASKED, Answer, Question
from contrapose.tasks.infer.asking import outcomes as retrying
from contrapose.tasks.infer.asking import pool
from contrapose.tasks.infer.budget import Budget, Limits
from contrapose.tasks.infer.openai import OpenAI

pytestmark = pytest.mark.usefixtures("short_waits")


@pytest.mark.parametrize("fault", ["status 500", "status 409", "hang", "half"])
def test_a_fault_is_tried_again(server: Endpoint, fault: str) -> None:
    server.faults = {0: fault}
    answer = only(answered(spec(server, args={"retries": 1, "timeout": 1}), generate("Hello")))
    assert answer.completion.text
    assert (answer.requests, answer.completion.usage.calls) == (2, 1)


def test_retries_end(server: Endpoint) -> None:
    server.always = "status 500"
    answer = only(answered(spec(server, args={"retries": 3}), generate("Hello")))
    assert answer.requests == 4
    assert len(server.bodies) == 4
    assert "no answer after 4 requests" in str(answer.completion.error)


def test_replies_under_way_are_kept_when_the_store_stops_the_run(
    server: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "GRACE_SECONDS", 0.1)
    server.delay = 0.6
    broker = PlainBroker()
    Timer(0.3, broker.stop, ["the response store cannot be written"]).start()
    OpenAI().open(spec(server, args={"concurrency": 8})).answer([generate(f"Prompt {n}") for n in range(99)], broker)
    assert 0 < len(server.bodies) < 99
    assert sum(answer.completion.text is not None for answer in broker.answers.values()) == len(server.bodies)


def test_replies_under_way_are_kept_when_the_store_gives_no_more_questions(server: Endpoint) -> None:
    class FullBroker(PlainBroker):
        """A broker whose disk is full when a second window of questions is wanted."""

        def take(self, questions: Sequence[Question]) -> list[Question]:
            if self.windows:
                time.sleep(0.1)
                raise CutShortError("the disk is full", expected="room", remedy="Make room.", where="the store")
            self.windows += 1
            return super().take(questions)

        windows = 0

    server.delay = 0.4
    broker = FullBroker()
    model = OpenAI().open(spec(server, args={"concurrency": 8}))
    with pytest.raises(CutShortError, match="the disk is full"):
        model.answer([generate(f"Prompt {n}") for n in range(99)], broker)
    assert 0 < len(server.bodies) < 99
    assert sum(answer.completion.text is not None for answer in broker.answers.values()) == len(server.bodies)


def test_nothing_more_is_asked_of_a_broker_that_takes_no_answers(server: Endpoint) -> None:
    class NoBroker(PlainBroker):
        """A broker that has no room for answers."""

        def put(self, answers: Sequence[Answer]) -> None:
            raise CutShortError("the disk is full", expected="room", remedy="Make room.", where="the store")

    with pytest.raises(CutShortError, match="the disk is full"):
        OpenAI().open(spec(server, args={"concurrency": 4})).answer([generate(f"{n}") for n in range(99)], NoBroker())
    assert 0 < len(server.bodies) <= 8


@pytest.mark.parametrize("status", [400, 413, 422])
def test_what_concerns_one_prompt_is_not_tried_again(server: Endpoint, status: int) -> None:
    server.faults = {0: f"status {status}"}
    broker = answered(spec(server, args={"retries": 5, "concurrency": 1}), generate("Long"), generate("Short"))
    long, short = (answer.completion for answer in broker.answers.values())
    assert "fell over" in str(long.error)
    assert short.text
    assert len(server.bodies) == 2


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("status 401", {}),
        ("status 403", {}),
        ("status 404", {"code": "model_not_found"}),
        ("page", {}),
        ("status 429", {"code": "insufficient_quota"}),
    ],
)
def test_what_concerns_every_prompt_stops_the_run(server: Endpoint, fault: str, error: dict[str, object]) -> None:
    server.always, server.error = fault, error
    broker = answered(spec(server, args={"retries": 5, "concurrency": 1}), generate("Hello"), generate("Again"))
    assert broker.stopped
    assert str(only(broker).completion.error).startswith(UNASKED)
    assert len(server.bodies) == 1


@pytest.mark.parametrize("fault", ["status 403", "status 404", "page"])
def test_what_may_concern_one_prompt_alone_does_not_stop_a_run_that_was_answered(server: Endpoint, fault: str) -> None:
    server.faults, server.error = {1: fault}, {"code": "model_not_found"}
    questions = [generate(f"Prompt {number}") for number in range(4)]
    broker = answered(spec(server, args={"concurrency": 1}), *questions)
    assert broker.stopped is None
    assert [bool(broker.answers[each].completion.error) for each in questions] == [False, True, False, False]


def test_prompts_that_are_all_refused_stop_the_run(server: Endpoint) -> None:
    server.always = "status 400"
    broker = answered(spec(server, args={"concurrency": 1}), *(generate(f"Prompt {number}") for number in range(1000)))
    assert "refused" in str(broker.stopped)
    assert len(server.bodies) < 800


def test_an_overloaded_endpoint_that_asks_for_no_wait_is_not_hammered(
    server: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retrying, "FIRST_WAIT", 0.5)
    monkeypatch.setattr(retrying, "LONGEST_WAIT", 8)
    server.always, server.headers = "status 429", {"retry-after": "0"}
    answered(spec(server, args={"total_timeout": 1}), generate("Hello"))
    assert len(server.bodies) < 20


def test_what_was_asked_in_vain_counts(server: Endpoint) -> None:
    server.always = "garbled"
    broker = answered(spec(server, args={"retries": 2}), generate("Hello"))
    (answer,) = broker.answers.values()
    assert answer.taken.calls == 3
    assert answer.taken.completion_tokens > 0
    assert broker.budget.spent == answer.taken


def test_rate_limited_requests_use_up_no_retries(server: Endpoint) -> None:
    server.faults, server.headers = dict.fromkeys(range(3), "status 429"), {"retry-after-ms": "20"}
    answer = only(answered(spec(server), generate("Hello")))
    assert answer.completion.text
    assert answer.requests == 4


def test_rate_limited_requests_end_with_the_time_of_a_prompt(server: Endpoint) -> None:
    server.always, server.headers = "status 429", {"retry-after-ms": "50"}
    # The end may cut the last request off, and that is a failure, not a limit.
    answer = only(answered(spec(server, args={"total_timeout": 0.3, "retries": 8}), generate("Hello")))
    assert "no answer after 0.3 s" in str(answer.completion.error)


def test_everybody_pauses_when_the_endpoint_asks_for_it(server: Endpoint) -> None:
    server.faults, server.headers = {0: "status 503"}, {"Retry-After": "0.4"}
    model, broker = OpenAI().open(spec(server, args={"concurrency": 2})), PlainBroker()
    start = time.monotonic()
    model.answer([generate(f"Prompt {number}") for number in range(30)], broker)
    assert time.monotonic() - start >= 0.4
    assert model.notes() == {
        "concurrency_lowest": 1,
        "concurrency_final": 2,
        "rate_limit_pauses": 1,
        "retries_status_503": 1,
    }


def test_an_endpoint_that_only_fails_stops_the_run(server: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    server.always = "status 500"
    monkeypatch.setattr("contrapose.tasks.infer.asking.endpoint.STREAK_SECONDS", 0.2)
    broker = answered(spec(server, args={"retries": 8}), *(generate(f"Prompt {number}") for number in range(500)))
    assert "times in a row; the last: status 500" in str(broker.stopped)
    assert len(server.bodies) < 500 * 9 / 2


def test_a_fifth_of_faults_loses_nothing_and_repeats_nothing(server: Endpoint) -> None:
    kinds = ("status 500", "garbled", "status 429", "drop")
    server.faults = {number: kinds[number // 5 % 4] for number in range(0, 1000, 5)}
    server.headers = {"retry-after-ms": "10"}
    questions = [generate(f"Prompt {number}") for number in range(300)]
    broker = answered(spec(server, args={"retries": 8}), *questions)
    assert Counter(answer.question for puts in broker.puts for answer in puts) == Counter(questions)
    assert all(broker.answers[question].completion.text for question in questions)
    assert sum(answer.requests for answer in broker.answers.values()) == len(server.bodies)


def test_the_number_of_calls_stays_within_the_budget(server: Endpoint) -> None:
    server.faults = dict.fromkeys(range(0, 100, 3), "status 500")
    broker = PlainBroker(budget=Budget(limits=Limits(max_calls=25)))
    OpenAI().open(spec(server, args={"retries": 8})).answer([generate(f"Prompt {n}") for n in range(60)], broker)
    assert len(server.bodies) == 25
    assert broker.budget.spent.calls == 25
    assert broker.budget.is_idle()
    assert "max_calls" in str(broker.stopped)


def test_tokens_that_were_reserved_too_much_serve_later_requests(server: Endpoint) -> None:
    # Each request reserves 50 tokens and takes 12: one at a time fits, and all eight in a row.
    broker = PlainBroker(budget=Budget(limits=Limits(max_tokens=140)))
    OpenAI().open(spec(server)).answer([generate(f"{n}") for n in range(8)], broker)
    assert len(broker.answers) == 8
    assert broker.stopped is None


def test_concurrency_is_a_ceiling(server: Endpoint) -> None:
    server.delay = 0.02
    answered(spec(server, args={"concurrency": 3}), *(generate(f"Prompt {number}") for number in range(20)))
    assert server.peak == 3


def test_requests_per_minute_are_kept(server: Endpoint) -> None:
    start = time.monotonic()
    questions = [generate(f"Prompt {number}") for number in range(25)]
    answered(spec(server, args={"requests_per_minute": 1200}), *questions)
    # Twenty at once, the others at twenty a second.
    assert 0.2 <= time.monotonic() - start < 30
