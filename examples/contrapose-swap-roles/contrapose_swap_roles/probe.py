"""Swaps who does something and whom it is done to: "The dog chased the cat." → "The cat chased the dog."."""

from __future__ import annotations

import random
import re
from typing import Any, ClassVar

from contrapose.probes import NEEDS_ENGLISH, Edited, TextEdit

DETERMINER = "the|a|an|this|that|his|her|its|our|their|my|your"
CLAUSE = re.compile(
    rf"(?P<lead>(?:.*[.?!] )?)(?P<agent>(?:{DETERMINER}) [a-z]+) (?P<verb>[a-z]+ed|saw|hit|bit|ate|beat|found|caught)"
    rf" (?P<patient>(?:{DETERMINER}) [a-z]+)(?P<rest>\.?)",
    re.IGNORECASE | re.DOTALL,
)
"""A last sentence of a noun phrase, a past verb, which agrees with either phrase, and a noun phrase."""
SYMMETRIC = frozenset(["married", "resembled", "equalled", "matched", "balanced", "joined", "accompanied"])
"""What one does to the other, the other does too."""


class SwapRoles(TextEdit):
    """Swaps the subject and the object of a plain main clause; the answer should change."""

    name: ClassVar[str] = "swap_roles"
    version: ClassVar[str] = "8"
    summary: ClassVar[str] = "Swaps who does something and whom it is done to; the answer should change."
    edits_english: ClassVar[bool] = True
    skip_reasons: ClassVar[dict[str, str]] = {
        **NEEDS_ENGLISH,
        "no_plain_clause": "without a last sentence like 'The dog chased the cat.'",
        "symmetric_verb": "with a verb that says the same of both, such as 'marry'",
        "same_phrase": "with the same words as subject and object",
    }

    def edit(self, text: str, settings: Any, *, rng: random.Random) -> Edited:
        """Return the text with the two phrases of its last sentence swapped, or the reason why not."""
        clause = CLAUSE.fullmatch(text.strip())
        if clause is None:
            return Edited(reason="no_plain_clause")
        lead, agent, verb, patient, rest = clause.groups()
        if verb.lower() in SYMMETRIC:
            return Edited(reason="symmetric_verb")
        if agent.lower() == patient.lower():
            return Edited(reason="same_phrase")
        first = patient[0].upper() + patient[1:] if agent[0].isupper() else patient
        second = agent if text.isupper() else agent[0].lower() + agent[1:]
        owned = re.match(r"(?i)the|an?\b", agent) is None
        return Edited(text=f"{lead}{first} {verb} {second}{rest}", confidence="medium" if owned else "high")
