"""Parameters that an endpoint refuses: found out with the first question, then left out of every request, and kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from asked_case import case, lettered
from fake_endpoint import form_in, serving_this
from openai_server import spec
from refusing import GREEDY, NEWER, NO_LOGPROBS, Refusing, Rule, extra_forbidden, having, openai, unsupported
from settled_run import Ran, run_cases

from contrapose.tasks.config.model_spec import Generation, ModelSpec
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.core.records import Case
from contrapose.tasks.infer.adapting import find_known_changes
from contrapose.tasks.infer.keys import Keys
from contrapose.tasks.infer.openai import OpenAI
from contrapose.tasks.store import Store
from contrapose.tasks.store.schema import FORMS

pytestmark = pytest.mark.usefixtures("own_store", "short_waits")

PLAIN = [
    case(f"plain {number}", original_prompt=f"{number}?", perturbed_prompt=f"not {number}?") for number in range(40)
]
LETTERS = [lettered(f"letter {number}") for number in range(6)]
CHOICES = [lettered(f"choice {number}", scorer="likelihood", asks="choose") for number in range(6)]
SAMPLED = Generation(top_p=0.9, stop=("\n\n",))


@pytest.fixture
def server() -> Iterator[Refusing]:
    with serving_this(Refusing()) as endpoint:
        endpoint.logprobs = {"A": -0.1, "B": -3.0}
        yield endpoint


def run(chosen: ModelSpec, cases: Sequence[Case] = PLAIN, **values: Any) -> Ran:
    return run_cases(chosen, cases, **values)


def asked_by(server: Refusing, chosen: ModelSpec, *args: Any, **values: Any) -> int:
    """How many requests another run makes."""
    before = len(server.bodies)
    run(chosen, *args, **values)
    return len(server.bodies) - before


REFUSED = {
    "OpenAI max_tokens": (NEWER, {"model_args.max_tokens_field": "max_completion_tokens"}, None),
    "OpenAI temperature": (GREEDY, {"gen_kwargs.temperature": None}, "its own default"),
    "Bedrock top_p": (
        Rule(
            when=lambda body: {"temperature", "top_p"} <= body.keys(),
            told=openai("`temperature` and `top_p` cannot both be specified for this model. Please use only one."),
        ),
        {"gen_kwargs.top_p": None},
        "its own default",
    ),
    "xAI stop": (
        Rule(when=having("stop"), told={"code": "invalid", "error": "Argument not supported on this model: stop"}),
        {"gen_kwargs.stop": []},
        "run on",
    ),
}


@pytest.mark.parametrize(("rule", "changes", "warning"), REFUSED.values(), ids=REFUSED)
def test_one_request_is_refused_and_the_others_go_without_the_parameter(
    server: Refusing, rule: Rule, changes: dict[str, Any], warning: str | None
) -> None:
    server.rules = [rule]
    chosen = spec(server, generation=SAMPLED, args={"retries": 2})
    ran = run(chosen)
    assert (ran.changes, ran.answered) == (changes, True)
    assert (len(server.refused), len(server.answered)) == (1, 80)
    assert any(warning in text for text in ran.warnings.values()) if warning else not ran.warnings
    assert ran.counts == (81, 80, 0)
    assert asked_by(server, chosen) == 0
    assert run(chosen).warnings == ran.warnings


def test_an_endpoint_that_takes_everything_gets_no_request_more(server: Refusing) -> None:
    ran = run(spec(server))
    assert (ran.changes, ran.warnings, len(server.bodies)) == ({}, {}, 80)
    assert asked_by(server, spec(server)) == 0


def test_several_parameters_are_refused_one_after_the_other(server: Refusing) -> None:
    server.rules = [NEWER, GREEDY, REFUSED["xAI stop"][0], Rule(when=having("top_p"), told=unsupported("top_p"))]
    chosen = spec(server, generation=SAMPLED)
    ran = run(chosen)
    assert len(ran.changes) == 4
    assert ran.answered
    assert (len(server.refused), len(server.answered)) == (4, 80)
    assert all(set(body) == {"model", "messages", "max_completion_tokens"} for body in server.answered)
    assert asked_by(server, chosen) == 0


def test_answers_are_found_by_a_run_that_was_given_the_settings(server: Refusing) -> None:
    server.rules = [NEWER, GREEDY]
    run(spec(server))
    greedy = Generation(temperature=None)
    given = spec(server, generation=greedy, args={"max_tokens_field": "max_completion_tokens"})
    keys = Keys(given, {"revision": str(given.args["base_url"]), "max_tokens_field": "max_completion_tokens"})
    fitted = Keys(
        spec(server), {"revision": str(given.args["base_url"]), "max_tokens_field": "max_tokens"}
    ).apply_changes({"gen_kwargs.temperature": None, "model_args.max_tokens_field": "max_completion_tokens"})
    assert keys.hash_forms(["plain"]) == fitted.hash_forms(["plain"])
    assert keys.spec.generation == fitted.spec.generation


def test_answers_that_were_drawn_otherwise_are_not_mixed(server: Refusing) -> None:
    before = run(spec(server))
    server.rules, server.reply_text = [GREEDY], "Other."
    after = run(spec(server), again=True)
    assert after.changes == {"gen_kwargs.temperature": None}
    assert {trial.actual.text for trial in after.trials} == {"Other."}
    assert before.trials != after.trials
    assert asked_by(server, spec(server)) == 0


def test_answers_of_before_prove_that_the_parameters_are_taken(server: Refusing) -> None:
    """Such as those of an older version, which found nothing out."""
    run(spec(server), PLAIN[:5])
    with Store().forms.engine.begin() as connection:
        connection.execute(FORMS.delete())
    server.rules = [GREEDY]
    assert run(spec(server), PLAIN[:5]).changes == {}
    assert len(server.bodies) == 10


@pytest.mark.parametrize("takes", ["json_schema", "nothing"])
def test_a_form_that_was_known_before_is_not_found_out_again(server: Refusing, takes: str) -> None:
    """Such as by a batch, which finds out nothing else."""
    server.takes = (takes,)
    run(spec(server), LETTERS)
    with Store().forms.engine.begin() as connection:
        connection.execute(FORMS.delete().where(FORMS.c.form == "{}"))
    assert asked_by(server, spec(server), LETTERS) == 0
    assert find_known_changes(OpenAI(), spec(server)) == {}


def test_letters_are_tried_in_their_form_with_the_same_question(server: Refusing) -> None:
    server.takes, server.rules = ("json_schema",), [NEWER, GREEDY]
    ran = run(spec(server), [*LETTERS, *PLAIN])
    assert {form_in(body) for body in server.answered} == {"json_schema", "plain"}
    assert (len(server.refused), len(server.answered)) == (2, 92)
    assert all(trial.expected.constrained for trial in ran.trials[:6])
    assert asked_by(server, spec(server), [*LETTERS, *PLAIN]) == 0


@pytest.mark.parametrize(("cases", "more"), [([*LETTERS, *PLAIN], 0), (LETTERS, 1)])
def test_what_a_form_leaves_out_is_tried_without_it(server: Refusing, cases: list[Case], more: int) -> None:
    server.takes, server.rules = ("json_schema",), [REFUSED["xAI stop"][0]]
    chosen = spec(server, generation=SAMPLED)
    ran = run(chosen, cases)
    assert (ran.answered, ran.changes) == (True, {"gen_kwargs.stop": []})
    assert (len(server.refused), len(server.answered)) == (1, 2 * len(cases) + more)
    assert asked_by(server, chosen, [*LETTERS, *PLAIN]) == 2 * (46 - len(cases))
    assert len(server.refused) == 1


@pytest.mark.parametrize("status", [400, 403, 404, 422])
def test_a_form_and_a_parameter_that_are_refused(server: Refusing, status: int) -> None:
    server.takes = ("guided_choice",)
    server.rules = [
        Rule(
            when=having("response_format"), told=openai("This response_format type is unavailable now"), status=status
        ),
        Rule(when=having("structured_outputs"), told=extra_forbidden("structured_outputs"), status=status),
        GREEDY,
    ]
    ran = run(spec(server), LETTERS)
    assert all(trial.expected.constrained for trial in ran.trials)
    assert (len(server.refused), len(server.answered)) == (3, 12)
    assert asked_by(server, spec(server), LETTERS) == 0


@pytest.mark.parametrize("rule", [NO_LOGPROBS, Rule(when=having("logprobs"), told=unsupported("logprobs"))])
def test_choices_are_read_where_log_probabilities_are_refused(server: Refusing, rule: Rule) -> None:
    server.rules = [rule]
    chosen = spec(server, args={"logprobs": True})
    ran = run(chosen, [*CHOICES, *PLAIN])
    assert ran.answered
    assert ran.changes == {"model_args.logprobs": False}
    assert "were read" in str(ran.warnings)
    assert {trial.case.asks for trial in ran.trials} == {"generate"}
    assert all(trial.expected.option_loglikelihoods is None for trial in ran.trials)
    assert len(server.refused) == 1
    assert asked_by(server, chosen, [*CHOICES, *PLAIN]) == 0


def test_choices_are_read_where_log_probabilities_are_left_out(server: Refusing) -> None:
    server.logprobs = None
    chosen = spec(server, args={"logprobs": True})
    ran = run(chosen, CHOICES)
    assert (ran.answered, ran.changes) == (True, {"model_args.logprobs": False})
    assert asked_by(server, chosen, CHOICES) == 0


def test_a_test_that_wants_likelihoods_stops_where_they_are_refused(server: Refusing) -> None:
    server.rules = [NO_LOGPROBS]
    for _ in range(2):
        with pytest.raises(ModelError, match=r"model_args\.logprobs: false.*read_with"):
            run(spec(server, args={"logprobs": True}), CHOICES, only_likelihoods=True)
    assert len(server.bodies) == 1


def test_fewer_log_probabilities_are_asked_for_once_for_all_runs(server: Refusing) -> None:
    server.most_listed = 5
    chosen = spec(server, args={"logprobs": True})
    ran = run(chosen, CHOICES)
    assert (ran.changes, ran.warnings, ran.answered) == ({"model_args.top_logprobs": 5}, {}, True)
    assert [body["top_logprobs"] for body in server.bodies] == [20] + [5] * 12
    assert asked_by(server, chosen, CHOICES) == 0
    assert asked_by(server, chosen, [lettered("new", scorer="likelihood", asks="choose")]) == 2
    assert server.bodies[-1]["top_logprobs"] == 5


@pytest.mark.parametrize("portions", [[[*CHOICES, *PLAIN]], [CHOICES, PLAIN], [PLAIN, CHOICES]])
def test_what_is_refused_of_choices_and_replies_is_refused_once(server: Refusing, portions: list[list[Case]]) -> None:
    server.rules = [NEWER, GREEDY]
    chosen = spec(server, args={"logprobs": True})
    assert all(run(chosen, cases).answered for cases in portions)
    assert (len(server.refused), len(server.answered)) == (2, 92)
    assert sum(asked_by(server, chosen, cases) for cases in portions) == 0


@pytest.mark.parametrize(
    ("told", "setting"),
    [
        (GREEDY.told, r"gen_kwargs\.temperature: null"),
        (NEWER.told, r"model_args\.max_tokens_field: max_completion_tokens"),
        (openai("max_tokens is too large: 32. This model supports at most 8."), r"gen_kwargs\.max_new_tokens"),
    ],
)
def test_what_is_refused_whatever_is_sent_stops_the_run_and_names_the_setting(
    server: Refusing, told: object, setting: str
) -> None:
    server.rules = [Rule(when=lambda _: True, told=told)]
    with pytest.raises(ModelError, match=setting) as error:
        run(spec(server, args={"retries": 8}))
    assert "resume" not in str(error.value)
    assert len(server.bodies) <= 4


def test_both_names_of_the_length_are_refused(server: Refusing) -> None:
    server.rules = [
        Rule(when=having("max_tokens"), told=unsupported("max_tokens")),
        Rule(when=having("max_completion_tokens"), told=unsupported("max_completion_tokens")),
    ]
    with pytest.raises(ModelError, match=r"model_args\.max_tokens_field"):
        run(spec(server))
    assert len(server.bodies) <= 4


def test_a_prompt_that_is_refused_says_nothing_of_the_others(server: Refusing) -> None:
    """One that names a parameter, and is refused without it as well, is refused for another reason."""
    server.rules = [Rule(when=lambda body: "0?" in str(body["messages"][0]["content"])[:2], told=GREEDY.told)]
    ran = run(spec(server))
    assert ran.changes == {}
    failed = [trial for trial in ran.trials if trial.expected.error]
    assert len(failed) == 1
    assert not ran.stopped


def test_a_parameter_that_is_refused_in_the_midst_of_a_run_concerns_one_prompt(server: Refusing) -> None:
    run(spec(server), PLAIN[:2])
    server.rules = [Rule(when=lambda body: "39" in str(body["messages"]), told=GREEDY.told)]
    ran = run(spec(server))
    assert sum(bool(trial.expected.error) for trial in ran.trials) == 1


def test_a_parameter_that_is_refused_of_late_stops_the_run_at_once(server: Refusing) -> None:
    run(spec(server), PLAIN[:2])
    before, server.rules = len(server.bodies), [GREEDY]
    with pytest.raises(ModelError, match=r"gen_kwargs\.temperature: null"):
        run(spec(server, args={"concurrency": 4}))
    assert len(server.bodies) - before <= 4


def test_a_server_that_is_down_is_not_asked_one_by_one(server: Refusing) -> None:
    server.always = "status 500"
    ran = run(spec(server, args={"retries": 1}))
    assert ran.changes == {}
    assert not ran.answered
    server.always = ""
    server.rules = [GREEDY]
    assert run(spec(server)).changes == {"gen_kwargs.temperature": None}


def test_what_is_known_needs_no_request(server: Refusing) -> None:
    assert find_known_changes(OpenAI(), spec(server)) == {}
    server.rules = [NEWER, GREEDY]
    run(spec(server))
    before = len(server.bodies)
    assert find_known_changes(OpenAI(), spec(server)) == {
        "gen_kwargs.temperature": None,
        "model_args.max_tokens_field": "max_completion_tokens",
    }
    assert len(server.bodies) == before
    assert find_known_changes(OpenAI(), spec(server, generation=Generation(temperature=0.5))) == {}


def test_moderated_prompts_tell_nothing_of_parameters(server: Refusing) -> None:
    filtered = openai("The prompt was flagged by the content management policy", code="content_filter")
    server.rules = [Rule(when=lambda body: "0?" in str(body["messages"]), told=filtered), GREEDY]
    ran = run(spec(server))
    assert ran.changes == {"gen_kwargs.temperature": None}
