"""The tests tool_order and tool_names: offer a model the same tools in another order, or with other names."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal

import pandas as pd
from pydantic import Field

from contrapose.tasks.core.chats import Chat, Message, parse_chat
from contrapose.tasks.core.records import CONTROL_KIND, Case, Likelihoods, Score, Side, TextSample, Trial
from contrapose.tasks.core.tool_calls import ToolCall, are_same_calls, describe_call_difference, read_calls, split_reply
from contrapose.tasks.language.english import is_english
from contrapose.tasks.probes.answers.settings import CALLS
from contrapose.tasks.probes.base import (
    Column,
    Criterion,
    Embed,
    Measure,
    Probe,
    Proportion,
    control_of,
    unscored_score,
)
from contrapose.tasks.probes.choices import RIGHT_ANSWER, RIGHT_RATE, right_rate
from contrapose.tasks.probes.edits.base import make_reworded_control
from contrapose.tasks.probes.prompt_settings import PromptSettings, prompts_for
from contrapose.tasks.probes.values import numbers, where

LISTS, RENAMED = "tool_lists", "renamed_tools"
"""Keys of a case's details, as JSON: the names of the tools before and after the change, and old names by new ones."""
LONGEST_CALLS = 300
"""Characters of the right calls that are compared with those of other rows."""
COLUMNS: Mapping[str, Column] = {
    "option_count": Column("int", "Tools to choose from.", "1"),
    "place_before": Column("int", "Place of the first called tool in the unchanged list, from 1.", "1"),
    "place_after": Column("int", "Place of the first called tool in the changed list, from 1.", "1"),
    "kept_place": Column("bool", "Whether another tool was called that has the place of the first one."),
    "other_words": Column("bool", "Whether the calls are the same, and the words are not; missing of other calls."),
    "right_before": Column("bool", "Whether the calls to the unchanged prompt are the right ones."),
    "right_after": Column("bool", "Whether the calls to the changed prompt are the right ones."),
    RIGHT_ANSWER: Column("string", "The right calls, an accepted answer a line; missing where none is known."),
}
EXPLANATIONS: Mapping[str, str] = {
    "kept_place": "Share of the pairs of replies that call another tool at the same place: the position decides.",
    "other_words": "Share of the pairs with the same calls whose texts differ. They count as the same answer.",
    RIGHT_RATE: "share of the pairs that make the right calls both times. A model that always makes the same calls "
    "keeps them, and is wrong.",
    "first_place": "Share of the replies to the changed prompt that call the first tool of the list.",
    "right_before": "Share of the replies to the unchanged prompt that make the right calls.",
    "right_after": "Share of the replies to the changed prompt that make the right calls.",
    CALLS: "Compares the tools that the two replies call, with their arguments.",
}


class ToolSettings(PromptSettings):
    """Settings of tool_order and tool_names."""

    of_scoring: ClassVar[frozenset[str]] = PromptSettings.of_scoring | {"min_right_rate"}

    min_right_rate: Proportion | None = Field(
        default=None,
        description="Gate of the right rate: share of the pairs whose calls must be the right ones both times. Used "
        "where the right calls are known. Empty: half, or a little above random guessing.",
    )


class _ToolProbe(Probe):
    """Base class of tests that change a list of tools but not its meaning; the calls should stay."""

    settings_type: ClassVar[type[ToolSettings]] = ToolSettings
    bundled_data: ClassVar[str] = "tool_calls"
    default_gate: ClassVar[float] = 0.8
    columns: ClassVar[Mapping[str, Column]] = COLUMNS
    explanations: ClassVar[Mapping[str, str]] = EXPLANATIONS
    skip_reasons: ClassVar[Mapping[str, str]] = {
        "no_tools": "that offer no tools, or a single one",
        "no_descriptions": "with a tool that has no description",
    }

    _renames: ClassVar[bool] = False
    """Whether the change gives the tools other names, in their order."""

    def _change(self, chat: Chat, settings: Any, *, rng: random.Random) -> Chat:
        """Return the chat with changed tools."""
        raise NotImplementedError

    def _skip_reason(self, chat: Chat | None, settings: Any) -> str | None:
        """Return why a sample cannot be changed; None if it can."""
        return "no_tools" if chat is None or len(chat.tools) < 2 else None

    def cases(
        self, sample: TextSample, settings: PromptSettings, *, rng: random.Random, likelihoods: Likelihoods
    ) -> Sequence[Case]:
        """Return one case with both lists of tools, or with the reason why the sample is skipped."""
        chat, prompts = parse_chat(sample.chat or ""), prompts_for(sample, settings, where=self.where)
        fields: dict[str, Any] = {"perturbed": None, "perturbed_prompt": None}
        fields["skip_reason"] = self._skip_reason(chat, settings)
        if chat is not None and fields["skip_reason"] is None:
            changed = self._change(chat, settings, rng=rng)
            renamed = dict(zip(changed.tool_names, chat.tool_names, strict=True)) if self._renames else {}
            details = {LISTS: json.dumps([chat.tool_names, changed.tool_names]), RENAMED: json.dumps(renamed)}
            text = changed.messages[sample.turn]["content"]
            after = prompts_for(replace(sample, chat=changed.prompt), settings, where=self.where)
            fields = {"perturbed": _shown(text, changed), "perturbed_prompt": after.prompt(text), "confidence": "high"}
            fields |= {"details": details, "chance": 1 / len(chat.tools)}
        return [
            self.case(
                sample,
                original=_shown(sample.text, chat) if chat else sample.text,
                original_prompt=prompts.prompt(sample.text),
                scorer=CALLS,
                asks="generate",
                context=sample.surroundings,
                answers=sample.answers,
                **fields,
            )
        ]

    def control(self, case: Case, sample: TextSample, settings: Any, *, rng: random.Random) -> Case | None:
        """Return a control: the same tools with the text in other words; None if the text is not English."""
        chat = parse_chat(sample.chat or "")
        if chat is None or not is_english(sample.text):
            return None
        kind, text = make_reworded_control(sample.text, rng=rng, options=bool(sample.options))
        details = {LISTS: json.dumps([chat.tool_names] * 2), RENAMED: "{}", CONTROL_KIND: kind}
        prompt = prompts_for(sample, settings, where=self.where).prompt(text)
        return control_of(case, perturbed=_shown(text, chat), prompt=prompt, details=details)

    def same_prompt(self, case: Case, side: Side) -> Case:
        """Return a control that compares two replies to one list of tools, with its names."""
        names = json.loads(case.details[LISTS])[side == "actual"]
        details = {LISTS: json.dumps([names, names]), RENAMED: "{}"}
        return replace(super().same_prompt(case, side), details=details)

    def score(self, trials: Sequence[Trial], settings: Any, *, embed: Embed) -> list[Score]:
        """Score each trial: it passes if both replies make the same calls; no score if neither calls a tool."""
        return [_score_calls(trial) for trial in trials]

    def failure(self, row: Mapping[str, Any]) -> str:
        """Return a sentence if the calls followed the place of a tool; else an empty text."""
        same = row.get("kept_place") is True
        return (
            f"It called the tool at place {row['place_before']:.0f} both times: position, not content." if same else ""
        )

    def criteria(self, results: pd.DataFrame, settings: Any) -> Sequence[Criterion]:
        """Return the gate on right calls in both prompts; empty if the right calls are unknown."""
        kept = numbers(results["right_after"])
        return right_rate(results, kept, numbers(results["right_before"]), wanted=settings.min_right_rate, least=0.5)

    def measures(self, results: pd.DataFrame) -> Iterable[Measure]:
        """Return measures: how often the place decided, the words differed and the calls were right."""
        if "kept_place" not in results or results.empty:
            return []
        place = numbers(results["place_after"])
        named = ("kept_place", "other_words", "right_before", "right_after")
        shares = [Measure(name=name, share=True, values=numbers(results[name])) for name in named]
        return [*shares, Measure(name="first_place", share=True, values=where(place > 0, place == 1))]


class ToolOrder(_ToolProbe):
    """Offer the same tools in another order."""

    name: ClassVar[str] = "tool_order"
    version: ClassVar[str] = "2"
    summary: ClassVar[str] = "Offers the same tools in another order: the calls should stay."
    labels: ClassVar[Mapping[str, str]] = {"kept_place": "tools called for their place"}

    def _change(self, chat: Chat, settings: Any, *, rng: random.Random) -> Chat:
        by = rng.randrange(1, len(chat.tools))
        return replace(chat, tools=(*chat.tools[by:], *chat.tools[:by]))


class ToolNamesSettings(ToolSettings):
    """Settings of `tool_names`."""

    names: Literal["neutral", "style"] = Field(
        default="neutral",
        description="neutral: tool_1, tool_2, …, so that descriptions alone say what a tool does. style: the same "
        "words in another case, such as getWeather for get_weather.",
    )


class ToolNames(_ToolProbe):
    """Offer the same tools under other names."""

    name: ClassVar[str] = "tool_names"
    version: ClassVar[str] = "2"
    summary: ClassVar[str] = "Gives the tools other names: the calls should stay."
    settings_type: ClassVar[type[ToolSettings]] = ToolNamesSettings
    _renames: ClassVar[bool] = True

    def _skip_reason(self, chat: Chat | None, settings: Any) -> str | None:
        described = [str(tool["function"].get("description") or "").strip() for tool in chat.tools] if chat else []
        if super()._skip_reason(chat, settings):
            return "no_tools"
        return "no_descriptions" if settings.names == "neutral" and not all(described) else None

    def _change(self, chat: Chat, settings: Any, *, rng: random.Random) -> Chat:
        old = chat.tool_names
        # Numbers in an order of their own show nothing about the places.
        new = [f"tool_{number}" for number in rng.sample(range(1, len(old) + 1), len(old))]
        if settings.names == "style":
            new = [_change_name_style(name) for name in old]
            # Two names may have the same words.
            new = [f"{name}_{place}" if new.count(name) > 1 else name for place, name in enumerate(new, start=1)]
        return rename_tools(chat, dict(zip(old, new, strict=True)))


def _change_name_style(name: str) -> str:
    """Return a name in camel case if it has underscores or hyphens, else in snake case."""
    if re.search(r"[_-]", name):
        first, *rest = re.split(r"[_-]+", name.strip("_-"))
        return first + "".join(part.capitalize() for part in rest)
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    return snake if snake != name else f"{name}_tool"


def rename_tools(chat: Chat, new: Mapping[str, str]) -> Chat:
    """Return a chat with renamed tools: in the list, in earlier calls, and in texts that name them."""
    known = re.compile(rf"(?<!\w)({'|'.join(map(re.escape, sorted(new, key=len, reverse=True)))})(?!\w)")

    def rename(text: str) -> str:
        # A plain word, such as search, may mean anything in a text.
        return known.sub(lambda match: new[match[1]] if re.search(r"[_A-Z-]", match[1]) else match[1], text)

    def rename_function(holder: Mapping[str, Any]) -> dict[str, Any]:
        function = holder["function"]
        return {**holder, "function": {**function, "name": new.get(function["name"], function["name"])}}

    messages = []
    for message in chat.messages:
        changed: dict[str, Any] = {**message, "content": rename(message["content"])}
        if "tool_calls" in message:
            changed["tool_calls"] = list(map(rename_function, message["tool_calls"]))
        messages.append(Message(**changed))  # type: ignore[typeddict-item]
    tools = list(map(rename_function, chat.tools))
    for tool in tools:
        if "description" in tool["function"]:
            tool["function"]["description"] = rename(str(tool["function"]["description"]))
    return Chat(messages=tuple(messages), tools=tuple(tools))


def _shown(text: str, chat: Chat) -> str:
    """Return a prompt as people read it: its text and the names of the tools."""
    return f"{text}\n\nTools: {', '.join(chat.tool_names)}"


def _score_calls(trial: Trial) -> Score:
    case = trial.case
    lists, renamed = json.loads(case.details[LISTS]), json.loads(case.details[RENAMED])
    first, second = split_reply(trial.expected.text), split_reply(trial.actual.text)
    if not first.calls and not second.calls:
        return unscored_score("Neither reply calls a tool.")
    calls = [replace(call, name=renamed.get(call.name, call.name)) for call in second.calls]
    ordered = first.ordered or second.ordered
    same = are_same_calls(first.calls, calls, ordered=ordered)
    before, after = (_find_called_place(one.calls, names) for one, names in zip((first, second), lists, strict=True))
    return Score(
        value=float(same),
        passed=same,
        reason="Both replies make the same calls."
        if same
        else describe_call_difference(first.calls, calls, ordered=ordered),
        columns={
            "option_count": len(lists[0]),
            "place_before": before,
            "place_after": after,
            "kept_place": None if before is None or after is None else not same and before == after,
            "other_words": first.text.split() != second.text.split() if same else None,
            "right_before": _is_right_call(case, first.calls, ordered=ordered),
            "right_after": _is_right_call(case, calls, ordered=ordered),
            RIGHT_ANSWER: "\n".join(dict.fromkeys(map(_format_calls, _list_accepted_calls(case)))) or None,
        },
    )


def _find_called_place(calls: Sequence[ToolCall], names: Sequence[str]) -> int | None:
    """Return the place of the first called tool, from 1; None if no listed tool is called."""
    return names.index(calls[0].name) + 1 if calls and calls[0].name in names else None


def _list_accepted_calls(case: Case) -> list[list[ToolCall]]:
    """Return the calls of each accepted answer."""
    return [known for answer in case.answers if (known := read_calls(answer))]


def _is_right_call(case: Case, calls: Sequence[ToolCall], *, ordered: bool) -> bool | None:
    """Return whether the calls match an accepted answer; None if no answer is known."""
    accepted = _list_accepted_calls(case)
    return any(are_same_calls(known, calls, ordered=ordered) for known in accepted) if accepted else None


def _format_calls(calls: Sequence[ToolCall]) -> str:
    """Return the sorted calls as text in one line, cut at `LONGEST_CALLS`."""
    return " ".join("; ".join(sorted(map(str, calls))).split())[:LONGEST_CALLS]
