"""Explanations of figures and scorers of the page: a button where each is named, and the text that it opens."""

from __future__ import annotations

from collections.abc import Mapping

from markupsafe import Markup, escape

from contrapose.tasks.core.registry import is_probe, probe

GENERAL: Mapping[str, str] = {
    "pass rate": "Share of the scored cases that passed. Cases without a score or an answer do not count.",
    "95 % interval": "The true pass rate lies in this range with 95 % confidence, however the cases without a score "
    "would have ended. More cases make it narrower.",
    "gate": "The rate that a test must reach. A test passes with 95 % confidence that it reaches the gate, and fails "
    "with 95 % confidence that it does not. Between the two it is inconclusive.",
    "cases": "Changed samples. Each case is skipped, scored, unscored or an error.",
    "passed": "Scored cases in which the answer did what the test expects.",
    "skipped": "Samples that could not be changed safely; they were not sent to the model.",
    "scored": "Cases whose replies show whether they passed.",
    "unscored": "Answered cases that could not be scored, such as unreadable replies. The verdict does not depend on "
    "them.",
    "not asked": "Cases that were not sent, because the verdict was clear without them.",
    "stopped early": "Tests whose verdict was clear before all cases were asked. Samples are asked in random order, so "
    "the first ones are a fair sample of all.",
    "looks": "How often the rate was compared with the gate, each time after more cases. Several looks need stronger "
    "evidence, so each interval is wider than that of a sample of fixed size. All looks together hold with 95 % "
    "confidence.",
    "errors": "Cases without an answer. An error is never a pass.",
    "effect": "The figure under the change minus the figure under the control, over the same samples. The control "
    "changes only the wording. 0 means no effect.",
    "slice": "Pass rate of the samples that share a tag. The p value is the chance of such a difference from the "
    "others if there were none.",
    "How the choices were read": "Share of the replies that each reading step read. A reply is unreadable if no step "
    "could read it.",
    "How sure the changes are": "Confidence of the rules that the changed text is correct English and means what the "
    "test needs.",
    "score": "What the scorer of the test measured for the sample; the card of the test names the scorer.",
    "latency": "Seconds for a request: p50 is the median; 95 of 100 requests took at most p95.",
    "seed": "Start of every random choice; the same seed gives the same cases.",
    "precision": "Number format of the model's weights, and the device.",
    "revision": "Version of the model that answered.",
    "reader": "The model that reads replies the rules cannot read.",
    "replies with letters": "How the endpoint was made to answer with the letters of the options.",
    "version of the test": "Changes whenever the test would make or score a case differently.",
    "data sha256": "Checksum of the samples; the same data have the same one.",
    "scorers": "What scored the cases, with the number of cases for each.",
}
"""Terms on the page of every run, with their texts."""


def setting(test: str, name: str) -> str:
    """Return what a setting of a test is, as the form and the suite's schema say it; else empty."""
    described = probe(test).settings_type.model_fields.get(name) if is_probe(test) else None
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
