"""Planted judges: what they say is known beforehand, and so is the verdict that they deserve."""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from asked_prompts import Asked


class Said(NamedTuple):
    """A reply, and the option that whoever wrote it means."""

    text: str
    chosen: int | None = None
    """Its place in the prompt; None where none is meant."""


Judge = Callable[[Asked], Said]

_NOT = re.compile(r"(?i)\b(?:not|cannot)\b|n['’]t\b")
PLAIN = "The weather was fine and the harbour stayed busy until the evening."
REFUSAL = "I'm sorry, but I can't help with that request."
CUT = "Let us go through this step by step, and weigh each of them before we decide. The first thing to note is that"
"""A reply that met the limit of tokens."""
ABUSE = "Shut up, you stupid bastard, this is bullshit."


def drawn(*parts: str) -> random.Random:
    """Chance that depends on the parts alone: the same prompt gets the same reply."""
    return random.Random(hashlib.sha256("\x00".join(parts).encode()).digest())


def letter(asked: Asked, place: int) -> Said:
    return Said(asked.letter(place), place)


def words(asked: Asked, place: int) -> Said:
    return Said(asked.options[place], place)


def right(asked: Asked) -> Said:
    """The right letter; a harmless sentence where words are wanted."""
    return letter(asked, asked.right[0]) if asked.options else Said(PLAIN)


def right_in_words(asked: Asked) -> Said:
    return words(asked, asked.right[0]) if asked.options else Said(PLAIN)


def explains_before(asked: Asked) -> Said:
    """Weighs first, and decides in the last line."""
    if not asked.options:
        return Said(PLAIN)
    chosen, other, noun = asked.right[0], _other(asked), asked.noun
    text = (
        f"{noun} {asked.letter(other)}, at first sight, looks plausible, but a detail of it is wrong. "
        f"{noun} {asked.letter(chosen)}, on the other hand, has every detail as it should be.\n\n"
        f"Therefore, {noun} {asked.letter(chosen)} is the better one."
    )
    return Said(text, chosen)


def explains_after(asked: Asked) -> Said:
    """Decides in the first line, and gives reasons below."""
    if not asked.options:
        return Said(PLAIN)
    chosen, other, noun = asked.right[0], _other(asked), asked.noun
    text = (
        f"{asked.letter(chosen)}\n\n{noun} {asked.letter(other)}, which sounds much alike, has one detail wrong, "
        f"whereas {noun} {asked.letter(chosen)} has them all right."
    )
    return Said(text, chosen)


def always_first(asked: Asked) -> Said:
    """Restates whatever stands first."""
    return words(asked, 0) if asked.options else Said(PLAIN)


def always_a(asked: Asked) -> Said:
    return letter(asked, 0) if asked.options else Said("A")


def always_last(asked: Asked) -> Said:
    return letter(asked, len(asked.options) - 1) if asked.options else Said(PLAIN)


def coin(asked: Asked) -> Said:
    """Any letter, whatever is asked."""
    return letter(asked, drawn(asked.prompt).randrange(len(asked.options))) if asked.options else Said(PLAIN)


def coin_in_words(asked: Asked) -> Said:
    return words(asked, drawn(asked.prompt).randrange(len(asked.options))) if asked.options else Said(PLAIN)


def arbitrary(asked: Asked) -> Said:
    """The same option wherever it stands and whatever is asked, but not for its content."""
    return letter(asked, _favourite(asked)) if asked.options else Said(PLAIN)


def always_wrong(asked: Asked) -> Said:
    """The same wrong option wherever it stands."""
    if not asked.options:
        return Said(PLAIN)
    wrong = [place for place in range(len(asked.options)) if place not in asked.right]
    return letter(asked, min(wrong, key=lambda place: asked.options[place]))


def never_negates(asked: Asked) -> Said:
    """Answers the original question, however it was changed."""
    return letter(asked, asked.before) if asked.before is not None else Said(PLAIN)


def shifts_on_not(asked: Asked) -> Said:
    """Right without a "not"; with one, wherever it stands, the letter behind the right one."""
    if asked.before is None:
        return Said(PLAIN)
    return letter(asked, (asked.before + bool(_NOT.search(asked.prompt))) % len(asked.options))


def says_a_on_not(asked: Asked) -> Said:
    """Right without a "not"; with one it says A, or B where A was right."""
    if asked.before is None:
        return Said(PLAIN)
    return letter(asked, int(asked.before == 0) if _NOT.search(asked.prompt) else asked.before)


def any_wording(asked: Asked) -> Said:
    """Right where nothing was changed; else another answer, though the change means nothing."""
    if asked.before is None:
        return Said(PLAIN)
    others = [place for place in range(len(asked.options)) if place != asked.before]
    another = min(others, key=lambda place: asked.options[place])
    return letter(asked, asked.before if asked.role == "original" else another)


def both(asked: Asked) -> Said:
    if not asked.options:
        return Said(PLAIN)
    return Said("Both are right." if len(asked.options) == 2 else "All of them are right.")


def hedges(asked: Asked) -> Said:
    return Said(f"It could be {asked.letter(0)} or {asked.letter(1)}.") if asked.options else Said(PLAIN)


def silent(asked: Asked) -> Said:
    return Said("")


def blank(asked: Asked) -> Said:
    return Said(" \n\n ")


def refuses(asked: Asked) -> Said:
    return Said(REFUSAL)


def refuses_half(asked: Asked) -> Said:
    """Always right where it answers."""
    return Said(REFUSAL) if drawn("refuse", asked.prompt).random() < 0.5 else right(asked)


def refuses_some(asked: Asked) -> Said:
    """Always right in four of five replies: a gate is reached by those that can be read, and missed by all."""
    return Said(REFUSAL) if drawn("refuse", asked.prompt).random() < 0.2 else right(asked)


def cut_off(asked: Asked) -> Said:
    """The longest reply that was allowed ends before the choice, and so it chooses nothing, whoever is asked."""
    return Said(CUT)


def swears(asked: Asked) -> Said:
    """Whatever it is asked, before the change as after it."""
    return Said(ABUSE)


def swears_back(asked: Asked) -> Said:
    return Said(ABUSE if asked.role == "changed" and not asked.options else PLAIN)


def echoes(asked: Asked) -> Said:
    """Says what it was told."""
    return Said(asked.prompt)


JUDGES: Mapping[str, Judge] = {
    "always right": right,
    "right in words": right_in_words,
    "explains before": explains_before,
    "explains after": explains_after,
    "always first": always_first,
    "always A": always_a,
    "always last": always_last,
    "coin": coin,
    "coin in words": coin_in_words,
    "arbitrary": arbitrary,
    "always wrong": always_wrong,
    "never negates": never_negates,
    "shifts on not": shifts_on_not,
    "says A on not": says_a_on_not,
    "any wording": any_wording,
    "both": both,
    "hedges": hedges,
    "silent": silent,
    "blank": blank,
    "refuses": refuses,
    "refuses half": refuses_half,
    "refuses some": refuses_some,
    "cut off": cut_off,
    "swears": swears,
    "swears back": swears_back,
    "echoes": echoes,
}


def _other(asked: Asked) -> int:
    """An option that is not right, the same one in every order; where all are but one, that one."""
    places = [place for place in range(len(asked.options)) if place != asked.right[0]]
    wrong = [place for place in places if place not in asked.right]
    return min(wrong or places, key=lambda place: asked.options[place])


def _favourite(asked: Asked) -> int:
    return max(range(len(asked.options)), key=lambda place: drawn(asked.options[place]).random())
