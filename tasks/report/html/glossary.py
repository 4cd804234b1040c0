"""Explanations of figures and scorers of the page: a button where each is named, and the text that it opens."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase

from markupsafe import Markup, escape

from contrapose.tasks.core.registry import names, probe
from contrapose.tasks.probes.choices import MASS_EXPLANATIONS

GENERAL: Mapping[str, str] = {
    "pass rate": "Share of the scored cases that passed. Cases without a score or an answer are not among them.",
    "95 % interval": "Where the true pass rate lies with 95 % confidence, whatever the cases without a score would "
    "have been. More cases make it narrower.",
    "gate": "The share that must be reached. The test passes where one can be 95 % confident that it is, and fails "
    "where one can be as confident that it is not; between the two the evidence is too little.",
    "cases": "Changes of a sample that were tried; each becomes one of skipped, scored, unscored and errors.",
    "passed": "Scored cases in which the answer did what the test asks of it.",
    "skipped": "Samples that could not be changed safely; they were not sent to the model.",
    "scored": "Cases whose replies say whether they passed.",
    "unscored": "Answered cases whose replies leave it open whether they passed. The verdict holds whatever they are.",
    "not asked": "Cases that were left unasked, since the test was decided without them.",
    "stopped early": "Tests whose verdict was certain enough before all of their cases were asked. Samples are asked "
    "in a random order, so that every beginning is a fair sample of all.",
    "looks": "Each time that the evidence was held against the gate, after a portion of the cases. A verdict that "
    "could have fallen earlier needs more evidence: the intervals of all looks together hold with 95 % confidence, so "
    "that each is wider than that of a sample of fixed size.",
    "errors": "Cases that the model gave no answer to. An error is never a pass.",
    "effect": "What the change did beyond its control, which changes the wording alone: the figure under the change "
    "minus that under the control, over the same samples. 0 is no effect.",
    "slice": "Pass rate of the samples that share a tag. The p value says how likely so great a difference from the "
    "others is by chance.",
    "How the choices were read": "Share of the replies whose choice each step of reading found. A reply is unread "
    "where none of them found one.",
    "How sure the changes are": "How sure the rules are that the changed text is sound and means what the test wants. "
    "A low share of sure changes weakens what the test says.",
    "score": "What the scorer of the test measured for the sample; the card of the test says which scorer that is.",
    "latency": "Seconds that a request took: p50 is the middle one, and 95 of 100 took no longer than p95.",
    "seed": "The number that every random choice was drawn from; the same seed gives the same cases.",
    "precision": "The number format of the model's weights, and what it ran on.",
    "revision": "Which version of the model answered.",
    "reader": "The model that was asked what a reply chooses where rules could not read it.",
    "replies with letters": "How the endpoint was kept to the letters of the options.",
    "version of the test": "Changes whenever the test would make or score a case in another way.",
    "data sha256": "Fingerprint of the samples; the same data have the same one.",
    "scorers": "What judged the cases, with how many each of them judged.",
}
"""Terms on the page of every run, with their texts."""


def explanation(test: str, name: str) -> str:
    """Return what a figure, gate or scorer of a test is, as its probe says it; empty where it says nothing."""
    if name in MASS_EXPLANATIONS:
        return MASS_EXPLANATIONS[name]
    texts = probe(test).explanations if test in names("probes") else {}
    matching = (text for pattern, text in texts.items() if fnmatchcase(name, pattern))
    return texts.get(name) or next(matching, "")


def setting(test: str, name: str) -> str:
    """Return what a setting of a test is, as the form and the suite's schema say it; else empty."""
    described = probe(test).settings_type.model_fields.get(name) if test in names("probes") else None
    return described.description or "" if described else ""


class Glossary:
    """The terms of one page, collected while it is written; each text is there once."""

    def __init__(self) -> None:
        self._ids: dict[tuple[str, str], str] = {}

    def add_named(self, name: str, text: str) -> Markup:
        """Return the name as a button that opens the text; the bare name, escaped, where there is no text."""
        if not text:
            return escape(name)
        place = self._ids.setdefault((name, text), f"term-{len(self._ids) + 1}")
        button = Markup('<button type="button" class="term" popovertarget="{0}" aria-describedby="{0}">{1}</button>')
        return button.format(place, name)

    def general(self, name: str, shown: str = "") -> Markup:
        """Return the same for a term of every run; `shown` is what the button says, where that is another name."""
        return self.add_named(shown or name, GENERAL.get(name, ""))

    def all(self) -> tuple[tuple[str, str, str], ...]:
        """Return ids, names and texts; complete once everything else is written."""
        return tuple((place, name, text) for (name, text), place in self._ids.items())
