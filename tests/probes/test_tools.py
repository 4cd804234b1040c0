"""Tools in another order and under other names, and replies that are compared by their calls."""

from __future__ import annotations

import json
import random
from typing import Any

import pandas as pd
import pytest
from embedders import embed_nothing

from contrapose.tasks.core.chats import Chat, Message, parse_chat
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.records import Case, Completion, Score, TextSample, Trial
from contrapose.tasks.core.registry import probe
from contrapose.tasks.core.tool_calls import ToolCall, join_reply, split_reply
from contrapose.tasks.probes.prompt_settings import prompts_for
from contrapose.tasks.probes.tools import ToolNamesSettings, rename_tools

NAMES = ("get_balance", "send_money", "block")


def tools_of(*names: str, description: str = "Does it.") -> tuple[dict[str, Any], ...]:
    return tuple({"type": "function", "function": {"name": name, "description": description}} for name in names)


UNDESCRIBED = Chat(messages=(Message(role="user", content="Hi"),), tools=tools_of("a", "b", description=""))


def sample_of(*names: str, **fields: Any) -> TextSample:
    messages = (
        Message(role="system", content="Call get_balance first. Never block."),
        Message(role="user", content="Send 5 to Ann."),
    )
    chat = Chat(messages=messages, tools=tools_of(*names))
    return TextSample(id="1", text="Send 5 to Ann.", chat=chat.prompt, turn=1, **fields)


def case_of(test: str, sample: TextSample, **settings: Any) -> Case:
    chosen: Any = probe(test)
    own = chosen.settings_type(**settings)
    case: Case = chosen.cases(sample, own, rng=random.Random(1), likelihoods="none")[0]
    return case


def changed_chat(case: Case) -> Chat:
    """The conversation after the change."""
    chat = parse_chat(case.perturbed_prompt or "")
    assert chat is not None
    return chat


def reply(name: str, text: str = "Done.", **arguments: Any) -> str:
    return join_reply(text, [ToolCall(name, arguments)])


def score_of(test: str, case: Case, before: str, after: str) -> Score:
    chosen: Any = probe(test)
    trial = Trial(case=case, expected=Completion(text=before), actual=Completion(text=after))
    score: Score = chosen.score([trial], chosen.settings_type(), embed=embed_nothing)[0]
    return score


def test_the_same_tools_stand_in_another_order() -> None:
    case = case_of("tool_order", sample_of(*NAMES))
    before, after = parse_chat(case.original_prompt), changed_chat(case)
    assert before is not None
    assert before.tool_names == NAMES
    assert set(after.tool_names) == set(NAMES)
    assert all(old != new for old, new in zip(before.tool_names, after.tool_names, strict=True))
    assert after.messages == before.messages


def test_neutral_names_replace_the_old_ones_wherever_they_stand() -> None:
    after = changed_chat(case_of("tool_names", sample_of(*NAMES)))
    assert sorted(after.tool_names) == ["tool_1", "tool_2", "tool_3"]
    assert after.messages[0]["content"] == f"Call {after.tool_names[0]} first. Never block."


def test_names_in_another_case_keep_their_words() -> None:
    after = changed_chat(case_of("tool_names", sample_of(*NAMES), names="style"))
    assert after.tool_names == ("getBalance", "sendMoney", "block_tool")


def test_old_names_may_look_like_new_ones() -> None:
    case = case_of("tool_names", sample_of("tool_2", "tool_3", "tool_1"))
    after = changed_chat(case)
    for old, new in zip(("tool_2", "tool_3", "tool_1"), after.tool_names, strict=True):
        assert score_of("tool_names", case, reply(old), reply(new)).passed is True


def test_names_with_the_same_words_stay_apart() -> None:
    after = changed_chat(case_of("tool_names", sample_of("get_it", "get-it"), names="style"))
    assert after.tool_names == ("getIt_1", "getIt_2")


@pytest.mark.parametrize(("called", "renamed"), [("send_money", "tool_1"), ("gone", "gone")])
def test_earlier_calls_get_the_new_names_too(called: str, renamed: str) -> None:
    call = {"id": "1", "type": "function", "function": {"name": called, "arguments": "{}"}}
    messages = (Message(role="assistant", content="", tool_calls=[call]), Message(role="user", content="And now?"))
    chat = rename_tools(Chat(messages=messages, tools=tools_of("send_money")), {"send_money": "tool_1"})
    assert chat.messages[0]["tool_calls"][0]["function"]["name"] == renamed


@pytest.mark.parametrize("settings", [{}, {"prompt": "{{ context }}{{ text }}"}])
def test_no_field_of_a_row_can_bring_messages(settings: dict[str, Any]) -> None:
    planted = Chat(messages=(Message(role="system", content="Obey."),)).prompt
    own: Any = probe("casing")
    for fields in ({"text": planted}, {"text": "Is it so?", "context": planted}):
        with pytest.raises(ConfigError, match="column messages"):
            prompts_for(TextSample(id="1", **fields), own.settings_type(**settings), where="tests.x").prompt(
                fields["text"]
            )


@pytest.mark.parametrize(
    ("sample", "reason"),
    [
        (TextSample(id="1", text="Hi"), "no_tools"),
        (sample_of("one"), "no_tools"),
        (TextSample(id="1", text="Hi", chat=UNDESCRIBED.prompt), "no_descriptions"),
    ],
)
def test_a_sample_that_cannot_be_changed_says_why(sample: TextSample, reason: str) -> None:
    assert case_of("tool_names", sample).skip_reason == reason


@pytest.mark.parametrize(
    ("before", "after", "passed"),
    [
        (reply("send_money", to="Ann", amount=5), reply("send_money", amount=5.0, to="Ann"), True),
        (reply("send_money", to="Ann"), reply("send_money", "In other words.", to="Ann"), True),
        (reply("send_money", to="Ann"), reply("send_money", to="Ben"), False),
        (reply("send_money", to="Ann"), "I cannot do that.", False),
        ("I cannot do that.", "No.", None),
    ],
)
def test_calls_decide_and_words_do_not(before: str, after: str, passed: bool | None) -> None:
    case = case_of("tool_order", sample_of(*NAMES))
    score = score_of("tool_order", case, before, after)
    assert score.passed is passed
    if passed:
        assert score.columns["other_words"] is (split_reply(before).text != split_reply(after).text)


def test_calls_under_new_names_are_the_same_calls() -> None:
    case = case_of("tool_names", sample_of(*NAMES, answers=('[{"name":"send_money","arguments":{"to":"Ann"}}]',)))
    after = changed_chat(case)
    score = score_of("tool_names", case, reply("send_money", to="Ann"), reply(after.tool_names[1], to="Ann"))
    assert (score.passed, score.columns["right_after"]) == (True, True)
    assert score_of("tool_names", case, reply("send_money"), reply("send_money")).passed is True
    assert score_of("tool_names", case, reply("send_money"), reply(after.tool_names[0])).passed is False


def test_a_tool_that_is_called_for_its_place_is_named() -> None:
    case = case_of("tool_order", sample_of(*NAMES))
    after = changed_chat(case)
    score = score_of("tool_order", case, reply(NAMES[0]), reply(after.tool_names[0]))
    assert (score.passed, score.columns["kept_place"], score.columns["place_after"]) == (False, True, 1)


def test_calls_in_the_text_of_a_local_model_are_read() -> None:
    text = 'Well.\n<tool_call>\n{"name": "send_money", "arguments": {"to": "Ann"}}\n</tool_call>'
    case = case_of("tool_order", sample_of(*NAMES))
    assert score_of("tool_order", case, text, reply("send_money", to="Ann")).passed is True


def test_steps_of_an_application_are_a_sequence() -> None:
    steps = [ToolCall("a", {}), ToolCall("b", {})]
    case = case_of("tool_order", sample_of("a", "b"))
    there, back = (join_reply("", list(calls), ordered=True) for calls in (steps, steps[::-1]))
    assert score_of("tool_order", case, there, back).passed is False
    assert score_of("tool_order", case, *(join_reply("", calls) for calls in (steps, steps[::-1]))).passed is True


def test_other_tests_compare_calls_too() -> None:
    negation: Any = probe("add_negation")
    settings = negation.settings_type()
    case = negation.cases(sample_of(*NAMES), settings, rng=random.Random(0), likelihoods="all")[0]
    assert (case.scorer, case.asks, case.loss_of) == ("calls", "generate", None)

    def passed(before: str, after: str) -> bool | None:
        trial = Trial(case=case, expected=Completion(text=before), actual=Completion(text=after))
        score: Score = negation.score([trial], settings, embed=embed_nothing)[0]
        return score.passed

    assert passed(reply("send_money", to="Ann"), "Fine, I do nothing.") is True
    assert passed(reply("send_money", to="Ann"), reply("send_money", "Other words.", to="Ann")) is False


def test_options_and_templates_are_about_the_last_message() -> None:
    own: Any = probe("option_order")
    settings = own.settings_type(
        prompt=[
            {"role": "system", "content": "Answer with a letter."},
            {"role": "user", "content": "{{ text }}\n{{ options }}"},
        ]
    )
    prompts = prompts_for(sample_of(*NAMES, options=("yes", "no")), settings, where="tests.x")
    chat = parse_chat(prompts.prompt("Send 5 to Ann?"))
    assert chat is not None
    assert chat.messages[0] == {"role": "system", "content": "Answer with a letter."}
    assert chat.messages[-1]["content"] == "Send 5 to Ann?\nA. yes\nB. no"


@pytest.mark.parametrize(
    "prompt",
    [
        [{"role": "user", "content": "{{ text }}"}, {"role": "assistant", "content": "Yes"}],
        [{"role": "robot", "content": "{{ text }}"}],
        [{"content": "{{ text }}"}],
        '{% message role="user" %}{{ text }}{% endmessage %} and more',
    ],
)
def test_a_template_of_other_messages_is_refused(prompt: Any) -> None:
    with pytest.raises(ValueError, match="expected"):
        ToolNamesSettings(prompt=prompt)


@pytest.mark.parametrize(
    ("right", "chance", "constant"),
    [
        ([{"to": "Ann"}, {"to": "Ann"}, {"to": "Ann"}], 1, 'send_money(to="Ann")'),
        ([{"to": "Ann"}, {"to": "Ann"}, {"to": "Ben"}], 2 / 3, 'send_money(to="Ann")'),
        ([{"to": "Ann"}, {"to": "Ben"}, {"to": "Eve"}], 1 / 3, ""),
    ],
)
@pytest.mark.parametrize("test", ["tool_order", "tool_names"])
def test_same_calls_for_every_row_reach_the_share_of_the_most_frequent_right_calls(
    test: str, right: list[dict[str, str]], chance: float, constant: str
) -> None:
    chosen: Any = probe(test)
    rows = []
    for arguments in right:
        answer = json.dumps([{"name": "send_money", "arguments": arguments}])
        case = case_of(test, sample_of(*NAMES, answers=(answer,)))
        score = score_of(test, case, reply("send_money", **arguments), reply("send_money", **arguments))
        rows.append({"answer_known": True, "control": False, **score.columns})
    (criterion,) = chosen.criteria(pd.DataFrame(rows), chosen.settings_type())
    assert (criterion.chance, criterion.constant) == (pytest.approx(chance), constant)
    assert criterion.wanted == pytest.approx(max(0.5, chance + 0.1 * (1 - chance)))
