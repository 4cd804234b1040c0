"""What the prompts of a test ask, and what is right: planted judges know it, models have to find out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from contrapose.tasks.core.records import Case
from contrapose.tasks.probes.option_order import rotate_options as rotated
from contrapose.tasks.probes.orders.item_places import find_source_place

Role = Literal["original", "changed", "control"]
NOUNS = {"order_bias": "Summary", "judge_order": "Answer", "judge_cues": "Answer"}
"""What a letter is called in the prompts of tests of two orders."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A prompt, and what its author knows of it."""

    prompt: str
    """As the model reads it."""
    role: Role
    """The original, what the test makes of it, or the control."""
    options: tuple[str, ...] = ()
    """In the order of the prompt; none where words are wanted."""
    right: tuple[int, ...] = ()
    """Places of the options that are right for this prompt: all but one where a question was negated."""
    before: int | None = None
    """Place of the option that is right for the original question."""
    noun: str = "Option"
    """What a letter is called in the prompt."""
    items: int = 0
    """How many items the list in the prompt has; 0: there is none."""
    sources: tuple[int | None, ...] = ()
    """For each option the place in the prompt, from 1, of the only item that holds it."""
    relevant: int | None = None
    """Place in the prompt, from 1, of the item that holds the answer."""

    def letter(self, place: int) -> str:
        """The letter in front of an option."""
        return "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[place]


def known(cases: Iterable[Case]) -> Mapping[str, Asked]:
    """Every prompt of the cases that are asked, by its text."""
    found: dict[str, Asked] = {}
    for case in cases:
        if case.skip_reason is None:
            for asked in _both(case):
                found.setdefault(asked.prompt, asked)
    return found


def _both(case: Case) -> tuple[Asked, Asked]:
    """Both prompts of a case; a control asks the same as the original."""
    assert case.perturbed_prompt is not None
    noun = NOUNS.get(case.probe, "Option")
    answer = _answer(case)
    options = case.options if case.control else _changed_options(case)
    reverses = case.probe == "add_negation" and not case.control
    original = _asked(case.original_prompt, "original", case.options, answer, noun)
    changed = _asked(
        case.perturbed_prompt, "control" if case.control else "changed", options, answer, noun, reverses=reverses
    )
    if case.probe != "item_order":
        return original, changed
    order = tuple(map(int, case.details["order"].split()))
    return _with_list(original, case, tuple(range(1, len(order) + 1))), _with_list(changed, case, order)


def _with_list(asked: Asked, case: Case, order: tuple[int, ...]) -> Asked:
    """A prompt with where the items stand in it."""
    sources = [find_source_place(case, option) for option in range(len(case.options))]
    relevant = case.details.get("relevant")
    return replace(
        asked,
        items=len(order),
        sources=tuple(None if source is None else order.index(source) + 1 for source in sources),
        relevant=None if relevant is None else order.index(int(relevant)) + 1,
    )


def _answer(case: Case) -> str | None:
    return case.options[0] if case.probe in NOUNS else next(iter(case.answers), None)


def _changed_options(case: Case) -> tuple[str, ...]:
    if case.probe in NOUNS:
        return case.options[::-1]
    return rotated(case.options, int(case.details.get("rotation", "0")))


def _asked(
    prompt: str, role: Role, options: tuple[str, ...], answer: str | None, noun: str, *, reverses: bool = False
) -> Asked:
    if not options or answer is None:
        return Asked(prompt=prompt, role=role, noun=noun)
    place = options.index(answer)
    right = tuple(other for other in range(len(options)) if other != place) if reverses else (place,)
    return Asked(prompt=prompt, role=role, options=options, right=right, before=place, noun=noun)
