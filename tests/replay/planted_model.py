"""A planted judge as a model: it answers prompts, is asked back what it meant, and may be held to a letter."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from asked_prompts import Asked
from made_up_reader import read_made_up
from planted_judges import Judge, Said, drawn

from contrapose.tasks.core.questions import Answer, Question
from contrapose.tasks.core.records import Completion, Usage
from contrapose.tasks.infer.broker import StoreBroker

AskedBack = Literal["honest", "silent", "random"]
"""How a judge answers when it is asked which option a reply of its own chooses."""
NONE = "none"
"""What it answers where the reply chooses nothing."""
_LETTERED = re.compile(r"^[^\w\n]*(?:(?:Summary|Answer|Option) )?\(?([A-Z])[.:)] *(.+)$", re.MULTILINE)


class PlantedModel:
    """The `Model` protocol over a judge that knows what is right."""

    def __init__(self, judge: Judge, prompts: Mapping[str, Asked], *, asked_back: AskedBack = "honest") -> None:
        self.judge, self.prompts, self.asked_back = judge, prompts, asked_back
        self.meant: dict[str, set[tuple[str, str]]] = {}
        """Of each reply that was given, the letters and texts that were meant by it."""

    def answer(self, questions: Sequence[Question], broker: StoreBroker) -> None:
        """Answer everything that is open, one after the other."""
        for question in broker.take(questions):
            completion = Completion(text=self.reply(question.prompt), usage=Usage(calls=1))
            broker.put([Answer(question=question, completion=completion)])

    def notes(self) -> Mapping[str, str | float]:
        """Nothing worth saying."""
        return {}

    def reply(self, prompt: str) -> str:
        """What the judge says to a prompt of the test, or to a question about an earlier reply."""
        asked = self.prompts.get(prompt)
        if asked is None:
            return self._back(prompt)
        said = self.judge(asked)
        self._remember(asked, said)
        return said.text

    def letter(self, prompt: str, letters: Sequence[str]) -> str:
        """What the judge says when it is held to one of these letters."""
        asked = self.prompts.get(prompt)
        if asked is None:
            told = self._back(prompt)
        else:
            chosen = self.judge(asked).chosen
            told = NONE if chosen is None else asked.letter(chosen)
        return next((each for each in letters if each.casefold() == told.casefold()), letters[-1])

    def _remember(self, asked: Asked, said: Said) -> None:
        meant = ("", "") if said.chosen is None else (asked.letter(said.chosen), asked.options[said.chosen])
        self.meant.setdefault(said.text, set()).add(meant)

    def _back(self, prompt: str) -> str:
        listed = {text.strip(): letter for letter, text in _LETTERED.findall(prompt)}
        if self.asked_back == "silent":
            return ""
        if self.asked_back == "random":
            return drawn("back", prompt).choice([*listed.values(), NONE])
        return read_made_up(prompt) or self._honest(prompt, listed)

    def _honest(self, prompt: str, listed: Mapping[str, str]) -> str:
        """The letter that was meant; by its text where the same reply once meant one letter and once another."""
        quoted = max((reply for reply in self.meant if _quotes(prompt, reply.strip())), key=len, default=None)
        if quoted is None:
            return NONE
        letters = {letter for letter, _ in self.meant[quoted]}
        if len(letters) == 1:
            return letters.pop() or NONE
        texts = {" ".join(text.split()) for _, text in self.meant[quoted]}
        found = {letter for text, letter in listed.items() if " ".join(text.split()) in texts}
        return found.pop() if len(found) == 1 else NONE


def _quotes(prompt: str, reply: str) -> bool:
    """Whether a reply stands in a prompt as a line or lines of its own, or in quotation marks."""
    return bool(reply) and any(f"{left}{reply}{right}" in prompt for left, right in ("\n\n", '""', "“”"))
