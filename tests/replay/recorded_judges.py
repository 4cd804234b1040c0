"""Judges that were recorded: six real models on pairs of LLMBar (Zeng et al., ICLR 2024, MIT), beside the checkout."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from asked_prompts import Asked
from planted_judges import Said

from contrapose.tasks.core.records import Case, SummaryPair

FILES = ("llmbar_pairs.jsonl", "llmbar_replies.jsonl.gz")
ORDERS = ("correct_first", "correct_second")

Reply = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Recording:
    """What one model said under one of the authors' prompts."""

    model: str
    strategy: str
    pairs: Sequence[SummaryPair]
    """Of which there are replies."""
    replies: Mapping[str, Reply]
    """By the id of their pair."""

    @property
    def name(self) -> str:
        return f"{self.model} {self.strategy}"


def recordings(folder: Path) -> list[Recording]:
    """Every recorded judge, by model and strategy."""
    with gzip.open(folder / FILES[1], "rt", encoding="utf-8") as lines:
        replies = [json.loads(line) for line in lines]
    pairs = _pairs(folder / FILES[0])
    found = []
    for model, strategy in sorted({(reply["model"], reply["strategy"]) for reply in replies}):
        own = {reply["id"]: reply for reply in replies if (reply["model"], reply["strategy"]) == (model, strategy)}
        found.append(Recording(model, strategy, [pair for pair in pairs if pair.id in own], own))
    return found


def _pairs(path: Path) -> list[SummaryPair]:
    """The better output stands for the summary that agrees with its article, which is the instruction."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [
        SummaryPair(
            id=row["id"],
            article_sentence=row["input"],
            correct_sentence=row[f"output_{row['label']}"],
            incorrect_sentence=row[f"output_{3 - row['label']}"],
        )
        for row in rows
    ]


def spoken(recording: Recording, cases: Sequence[Case]) -> Callable[[Asked], Said]:
    """The judge who says again what was recorded, and means what the authors' patterns read in it."""
    return _judge(recording, cases, lambda reply, order: str(reply[f"as_summary_{order}"]))


def lettered(recording: Recording, cases: Sequence[Case]) -> Callable[[Asked], Said]:
    """The judge who says the bare letter that the authors' patterns read, and nothing where they read none."""
    return _judge(recording, cases, lambda reply, order: reply[f"read_{order}"] or "")


def muffled(recording: Recording, cases: Sequence[Case], *, clear: int) -> Callable[[Asked], Said]:
    """The judge whose replies are cut off before their choice, but those to the first few pairs."""
    kept = {pair.id for pair in recording.pairs[:clear]}

    def text(reply: Reply, order: str) -> str:
        said = str(reply[f"as_summary_{order}"])
        return said if reply["id"] in kept else f"On {reply['id']}, {order}: let us look at each of them before we"

    return _judge(recording, cases, text)


def _judge(recording: Recording, cases: Sequence[Case], text: Callable[[Reply, str], str]) -> Callable[[Asked], Said]:
    """A judge who finds the pair and its order by the prompt."""
    said: dict[str | None, Said] = {}
    for case in cases:
        reply = recording.replies[case.sample_id]
        prompts = case.original_prompt, case.perturbed_prompt
        for prompt, order in zip(prompts, ORDERS if not case.control else ORDERS[:1] * 2, strict=True):
            letter = reply[f"read_{order}"]
            said.setdefault(prompt, Said(text(reply, order), "AB".index(letter) if letter else None))
    return lambda asked: said[asked.prompt]
