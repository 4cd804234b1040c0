"""Replies held to a letter: what is found out about an endpoint, with how many requests, and what is asked again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from asked_case import case, lettered
from fake_endpoint import Endpoint, form_in
from openai_server import spec
from settled_run import Ran, both_at_once, run_cases

from contrapose.tasks.config.model_spec import Generation, ModelSpec
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.core.questions import Question
from contrapose.tasks.core.records import Case
from contrapose.tasks.infer.adapting import find_known_form, list_forms
from contrapose.tasks.infer.ask import is_unasked
from contrapose.tasks.infer.budget import Budget, Limits
from contrapose.tasks.infer.keys import Keys
from contrapose.tasks.infer.openai import OpenAI
from contrapose.tasks.infer.openai.form_finder import FormFinder
from contrapose.tasks.store import Store
from contrapose.tasks.store.findings import FormTable

pytestmark = pytest.mark.usefixtures("own_store", "short_waits")

EXPLAINED = "Summary B, which says 120, is wrong."
TIMES_WITH_FAULTS = 3


@pytest.fixture(autouse=True)
def _it_explains(server: Endpoint) -> None:
    server.reply_text = EXPLAINED


CASES = [lettered(str(number)) for number in range(6)]
OPEN = [case(f"open {number}", perturbed_prompt=f"It is not {number}.") for number in range(3)]


def run(chosen: ModelSpec, cases: Sequence[Case] = CASES, **values: Any) -> Ran:
    return run_cases(chosen, cases, **values)


def forms_asked(server: Endpoint) -> Counter[str]:
    return Counter(map(form_in, server.bodies))


def asked_by(server: Endpoint, chosen: ModelSpec, **values: Any) -> int:
    """How many requests another run makes."""
    before = len(server.bodies)
    run(chosen, **values)
    return len(server.bodies) - before


def test_a_form_is_noted_after_the_answers_that_told_it(server: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever knows the form asks plain questions: those that were answered on the way must be known by then."""
    monkeypatch.setattr("contrapose.tasks.infer.broker.GATHER_SECONDS", 0.3)
    there: list[int] = []

    def note(table: FormTable, *args: Any, **named: Any) -> None:
        there.append(Store().housekeeping.count_by_model()[0].answers if Store().housekeeping.count_by_model() else 0)
        noted(table, *args, **named)

    noted = FormTable.note
    monkeypatch.setattr(FormTable, "note", note)
    run(spec(server))
    assert there == [1, 1]


@pytest.mark.parametrize(
    ("takes", "refuses", "endpoint", "form", "refused"),
    [
        (["json_schema"], [], "chat", "json_schema", 0),
        (["structured_outputs", "guided_choice"], ["json_schema"], "chat", "structured_outputs", 1),
        (["guided_choice"], ["json_schema", "structured_outputs"], "chat", "guided_choice", 2),
        (["structured_outputs"], [], "completions", "structured_outputs", 0),
        (["guided_choice"], ["structured_outputs"], "completions", "guided_choice", 1),
    ],
)
def test_the_first_form_that_the_endpoint_takes_is_found_with_its_first_question(
    server: Endpoint, takes: list[str], refuses: list[str], endpoint: str, form: str, refused: int
) -> None:
    server.takes, server.refuses = tuple(takes), tuple(refuses)
    chosen = spec(server, args={"endpoint": endpoint})
    ran = run(chosen)
    assert ran.form == form
    assert ran.held == [True] * 12
    assert ran.texts <= {"A", "B"}
    assert len(server.bodies) == 12 + refused
    assert forms_asked(server)[form] == 12
    assert ran.counts == (12 + refused, 12, 0)
    assert asked_by(server, chosen) == 0


def test_replies_without_text_tell_nothing_of_a_form(server: Endpoint) -> None:
    server.says = lambda _: ""
    ran = run(spec(server))
    assert (ran.form, ran.texts) == (None, {""})
    assert forms_asked(server) == {"json_schema": 3, "plain": 9}
    # What is said now is not taken for what it would say if it were not cut off.
    assert asked_by(server, spec(server)) == 0
    server.says, server.takes = None, ("json_schema",)
    assert run(spec(server), [lettered("new")]).form == "json_schema"


def test_the_first_question_goes_out_alone_and_the_others_together(server: Endpoint) -> None:
    server.takes, server.delay = ("json_schema",), 0.05
    run(spec(server))
    times = sorted(request.left for request in server.requests)
    assert times[1] - times[0] >= 0.05
    assert server.peak > 1


@pytest.mark.parametrize("endpoint", ["chat", "completions"])
def test_an_endpoint_that_ignores_every_form_costs_no_further_request(server: Endpoint, endpoint: str) -> None:
    chosen = spec(server, args={"endpoint": endpoint})
    ran = run(chosen)
    assert (ran.form, ran.texts, any(ran.held)) == ("plain", {EXPLAINED}, False)
    assert len(server.bodies) == 12
    assert asked_by(server, chosen) == 0


def test_an_older_server_that_knows_only_the_older_of_two_forms(server: Endpoint) -> None:
    server.takes, server.refuses = ("guided_choice",), ("json_schema",)
    chosen = spec(server)
    ran = run(chosen)
    assert ran.form == "guided_choice"
    assert ran.held == [True] * 12
    # One was refused, and one was answered freely before the form was known.
    assert len(server.bodies) == 14
    assert asked_by(server, chosen) == 0


def test_an_endpoint_that_refuses_every_form_is_asked_plainly(server: Endpoint) -> None:
    server.refuses = ("json_schema", "structured_outputs", "guided_choice")
    chosen = spec(server)
    ran = run(chosen)
    assert (ran.form, ran.texts) == ("plain", {EXPLAINED})
    assert len(server.bodies) == 15
    assert asked_by(server, chosen) == 0


def test_a_prompt_that_is_refused_in_any_form_tells_nothing(server: Endpoint) -> None:
    server.takes, server.faults = ("json_schema",), dict.fromkeys(range(4), "status 400")
    chosen = spec(server)
    ran = run(chosen)
    assert ran.form == "json_schema"
    # The server was moody: what was refused at first is asked once more in the form that was found.
    assert ran.held == [True] * 12
    assert asked_by(server, chosen) == 0


def test_prompts_that_are_all_refused_end_the_search(server: Endpoint) -> None:
    server.always = "status 400"
    many = [lettered(str(number)) for number in range(300)]
    ran = run(spec(server), many)
    assert ran.form is None
    assert len(server.bodies) < 800
    assert Store().forms.find("") is None
    assert find_known_form(list_forms(OpenAI(), spec(server)), Keys(spec(server), {})) == "plain"


def test_a_run_that_is_stopped_between_two_forms_has_found_none(
    server: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.always = "status 400"
    may_ask = FormFinder._may_ask

    async def stopped_before(finder: FormFinder, question: Question) -> bool:
        if question.form == "plain":
            finder.asker.broker.stop("the endpoint is gone")
        return await may_ask(finder, question)

    monkeypatch.setattr(FormFinder, "_may_ask", stopped_before)
    assert run(spec(server)).form is None
    assert run(spec(server)).form is None, "it was noted for other runs"


@pytest.mark.parametrize("fault", ["status 500", "status 429", "garbled", "drop"])
def test_a_fault_at_the_first_question_is_tried_again_in_the_same_form(server: Endpoint, fault: str) -> None:
    server.takes, server.faults = ("json_schema",), dict.fromkeys(range(TIMES_WITH_FAULTS), fault)
    server.headers = {"retry-after-ms": "10"}
    chosen = spec(server, args={"retries": 8})
    ran = run(chosen)
    assert (ran.form, ran.held) == ("json_schema", [True] * 12)
    assert len(server.bodies) == 12 + TIMES_WITH_FAULTS
    assert asked_by(server, chosen) == 0


def test_a_server_that_falls_over_a_schema_is_asked_plainly_with_the_retries_left(server: Endpoint) -> None:
    server.falls_over = ("json_schema",)
    chosen = spec(server, args={"retries": 8})
    ran = run(chosen)
    assert (ran.form, ran.texts) == ("plain", {EXPLAINED})
    assert len(server.bodies) == 12 + 4
    assert asked_by(server, chosen) == 0


def test_a_dead_server_gets_no_more_requests_than_without_forms(server: Endpoint) -> None:
    server.always = "status 500"
    chosen = spec(server, args={"retries": 2})
    ran = run(chosen, [lettered("one", perturbed_prompt="one?")])
    assert ran.form is None
    assert "status 500" in str(ran.trials[0].expected.error)
    assert len(server.bodies) == 3


@pytest.mark.parametrize(
    "broken",
    [
        '{"answer": "A',
        '{"answer": "C"}',
        '{"answer": "A", "why": "120"}',
        '{"answer": "A", "answer": "B"}',
        '{"answer": ["A"]}',
        '```json\n{"answer": "A"}\n```',
        "{" * 100_000,
    ],
)
def test_broken_json_is_never_guessed_nor_taken_for_a_plain_reply(server: Endpoint, broken: str) -> None:
    server.takes, server.schema_reply = ("json_schema",), broken
    chosen = spec(server)
    ran = run(chosen)
    assert (any(ran.held), ran.texts) == (False, {EXPLAINED})
    assert asked_by(server, chosen) == 0


def test_a_reply_that_breaks_the_form_later_is_text(server: Endpoint) -> None:
    server.takes = ("json_schema",)
    run(spec(server), CASES[:1])
    server.schema_reply = '{"answer": "A'
    ran = run(spec(server), CASES[1:2])
    assert (ran.form, ran.held, ran.texts) == ("json_schema", [False, False], {'{"answer": "A'})
    assert asked_by(server, spec(server), cases=CASES[:2]) == 0


def test_json_with_other_spacing_is_the_letter(server: Endpoint) -> None:
    server.takes, server.schema_reply = ("json_schema",), '\n{\n  "answer" : "B"\n}\n'
    assert run(spec(server)).texts == {"B"}


def test_a_refusal_is_the_answer_and_does_not_count_against_the_form(server: Endpoint) -> None:
    server.takes, server.refusal = ("json_schema",), "I cannot help with that."
    assert run(spec(server), CASES[:1]).form is None
    server.refusal = ""
    ran = run(spec(server))
    assert ran.form == "json_schema"
    assert ran.held == [False, False] + [True] * 10
    assert asked_by(server, spec(server)) == 0


def test_nothing_but_letters_is_asked_for_in_a_form(server: Endpoint) -> None:
    server.takes = ("json_schema",)
    texts = [lettered("text", scorer="embedding"), lettered("count", scorer="count"), *OPEN]
    assert run(spec(server), texts).form is None
    assert set(forms_asked(server)) == {"plain"}


def test_what_is_off_is_asked_as_ever_and_found_again_when_no_form_is_taken(server: Endpoint) -> None:
    off = spec(server, args={"constrained": "off"})
    assert run(off).form is None
    assert forms_asked(server) == {"plain": 12}
    assert all(set(body) == {"model", "messages", "max_tokens", "temperature"} for body in server.bodies)
    server.refuses = ("json_schema", "structured_outputs", "guided_choice")
    assert asked_by(server, spec(server)) == 3
    assert asked_by(server, spec(server)) == 0


def test_answers_from_before_stay_where_a_form_is_ignored(server: Endpoint) -> None:
    before = run(spec(server, args={"constrained": "off"}))
    server.reply_text = "Neither."
    ran = run(spec(server))
    assert (ran.form, ran.trials) == ("plain", before.trials)
    assert len(server.bodies) == 13
    assert asked_by(server, spec(server)) == 0


def test_a_form_that_is_named_is_certain(server: Endpoint) -> None:
    server.takes = ("guided_choice",)
    assert run(spec(server, args={"constrained": "guided_choice"})).held == [True] * 12
    ignored = run(spec(server, args={"constrained": "json_schema"}))
    assert (ignored.form, ignored.texts) == ("json_schema", {EXPLAINED})
    assert len(server.bodies) == 24


def test_a_server_that_stopped_taking_the_form_says_what_to_do(server: Endpoint) -> None:
    server.always, server.error = "status 400", {"message": "response_format is not supported"}
    with pytest.raises(ModelError, match=r"Set model_args\.constrained: off"):
        run(spec(server, args={"constrained": "json_schema"}))
    assert len(server.bodies) == 2


def test_asked_again_the_form_is_found_out_again(server: Endpoint) -> None:
    assert run(spec(server)).form == "plain"
    server.takes = ("json_schema",)
    assert run(spec(server)).form == "plain"
    assert run(spec(server), again=True).form == "json_schema"
    assert asked_by(server, spec(server)) == 0


def test_a_run_that_ended_before_it_could_note_the_form(server: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    server.takes = ("json_schema",)
    with monkeypatch.context() as patched:
        patched.setattr("contrapose.tasks.store.findings.FormTable.note", killed)
        with pytest.raises(KeyboardInterrupt):
            run(spec(server))
    assert len(server.bodies) == 1
    assert run(spec(server)).held == [True] * 12
    assert len(server.bodies) == 12


def killed(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_two_runs_at_once_find_one_form_and_ask_everything_once(server: Endpoint) -> None:
    server.takes, server.delay = ("guided_choice",), 0.02
    server.refuses = ("json_schema", "structured_outputs")
    cases, few = [lettered(str(number)) for number in range(20)], spec(server, args={"concurrency": 2})
    found = both_at_once(lambda number: run(few, cases if number else cases[::-1]))
    assert [ran.form for ran in found] == ["guided_choice"] * 2
    assert found[0].trials[::-1] == found[1].trials
    assert forms_asked(server) == {"json_schema": 1, "structured_outputs": 1, "guided_choice": 40}


def test_the_budget_holds_while_forms_are_tried(server: Endpoint) -> None:
    server.refuses = ("json_schema", "structured_outputs", "guided_choice")
    ran = run(spec(server), budget=Budget(limits=Limits(max_calls=2)))
    assert (ran.form, len(server.bodies)) == (None, 2)
    assert all(is_unasked(trial) for trial in ran.trials)
    assert ran.counts[0] == 2


@pytest.mark.parametrize("generation", [Generation(max_new_tokens=1), Generation(stop=("}",))])
def test_there_is_room_for_the_json_and_plain_replies_stay_as_short_as_they_were(
    server: Endpoint, generation: Generation
) -> None:
    run(spec(server, generation=generation), CASES[:2])
    schema, *plain = sorted(server.bodies, key=form_in)
    assert (int(str(schema["max_tokens"])) >= 24, "stop" in schema) == (True, False)
    assert {form_in(body) for body in plain} == {"plain"}
    assert {body["max_tokens"] for body in plain} == {generation.max_new_tokens}
    assert len(plain) == 4


def test_a_schema_is_reserved_for(server: Endpoint) -> None:
    server.takes = ("json_schema",)
    assert run(spec(server), budget=Budget(limits=Limits(max_tokens=100))).form is None
    assert server.bodies == []
