"""Format the preview of a test for a terminal: counts, reasons for skips, and texts with their changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from rich.console import Console
from rich.text import Text

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.chats import format_for_display
from contrapose.tasks.core.records import Case
from contrapose.tasks.text.cleaning import one_line
from contrapose.tasks.text.inline import CONTEXT, elide_middle, format_inline
from contrapose.tasks.text.masking import Show
from contrapose.tasks.text.wording import count_skips, counted, foreign_text, format_counts, skip_words

Marked = tuple[Text, Text]
"""A heading, and a text with its change."""


@dataclass(slots=True, kw_only=True)
class PreviewTally:
    """Counts over the samples of one test, added one by one."""

    cases: int = 0
    """Cases that a model would be asked, without controls."""
    controls: int = 0
    changed: list[int] = field(default_factory=list)
    """Positions of the samples with a case to ask."""
    skipped: list[int] = field(default_factory=list)
    """Positions of the samples without one."""
    reasons: Counter[str] = field(default_factory=Counter)
    """Codes of the reasons why samples were skipped."""
    confidence: Counter[str] = field(default_factory=Counter)
    """Confidence of the changes."""
    wordings: Counter[int] = field(default_factory=Counter)
    """Cases in each wording; empty if the test has one."""

    def add(self, cases: Sequence[Case]) -> None:
        """Count the next sample, by its cases."""
        position = len(self.changed) + len(self.skipped)
        asked = [case for case in cases if case.skip_reason is None]
        own = [case for case in asked if not case.control]
        self.cases += len(own)
        self.controls += len(asked) - len(own)
        self.wordings.update(case.wording for case in own if case.wording is not None)
        if own:
            self.changed.append(position)
            self.confidence.update([own[0].confidence or "unknown"])
        else:
            self.skipped.append(position)
            self.reasons.update([str(cases[0].skip_reason)])


def format_intro(test: str, source: str, tally: PreviewTally, *, judged: str = "", columns: str = "") -> Iterator[Text]:
    """Yield the lines before a test's samples; `judged` says in words how many rows it takes."""
    samples, changed, of = len(tally.changed) + len(tally.skipped), len(tally.changed), f", {judged}" if judged else ""
    yield Text.assemble((one_line(test), "bold"), "  ", (f"{one_line(source)}{of}", "dim"))
    if columns:
        yield Text(f"columns: {one_line(columns)}", style="dim")
    if first := foreign_text(tally.reasons, samples):
        yield Text(first, style="yellow")
    parts = [f"{changed:,} changed, {len(tally.skipped):,} skipped"]
    parts += [counted("cases", tally.cases)] if tally.cases != changed else []
    parts += [counted("controls", tally.controls)] if tally.controls else []
    yield Text(f"{counted('samples', samples)}: {'; '.join(parts)}")
    if tally.wordings:
        least, most = min(tally.wordings.values()), max(tally.wordings.values())
        share = f"{least:,}" if least == most else f"{least:,} to {most:,}"
        yield Text(f"{len(tally.wordings):,} wordings, {share} cases each")
    if tally.confidence:
        yield Text(one_line(f"changed with confidence {format_counts(dict(tally.confidence.most_common()))}"))
    if tally.reasons:
        yield Text("skipped:")
    for reason, count in count_skips(test, tally.reasons).items():
        yield Text(f"{count:>7,}  {one_line(reason)}", style="yellow")


def format_sample(cases: Iterable[Case], show: Show, *, brackets: bool) -> Iterator[Marked]:
    """Yield headings and texts of a sample's cases."""
    for case in cases:
        skipped = skip_words(case.probe, case.skip_reason) if case.skip_reason else None
        notes = (skipped, case.confidence, "control" if case.control else None)
        # The sample's id, and the number of the case when it has one.
        name = case.id.removeprefix(f"{case.probe}/")
        heading = Text.assemble((one_line(name), "cyan"), *(f"  {one_line(note)}" for note in notes if note))
        before, after = case.original, case.perturbed
        if after is None or case.perturbed_prompt is None:
            yield heading, Text(elide_middle(show(before), head=2 * CONTEXT, tail=CONTEXT))
            continue
        if before == after:
            before, after = format_for_display(case.original_prompt), format_for_display(case.perturbed_prompt)
        yield heading, format_inline(show(before), show(after), brackets=brackets)


def format_sent(cases: Sequence[Case], model: ModelSpec, show: Show, *, chat: bool, brackets: bool) -> Iterator[Marked]:
    """Yield headings and uncut texts that a model is sent for a sample's first case and its control.

    With `chat` these are messages, else all of it is one text; brackets mark changes for readers without colours.
    """
    first = cases[0]
    frame, role = model.messages("")[:-1], "user" if chat else "text"

    def sent_text(prompt: str) -> str:
        return show(format_for_display(prompt) if chat else model.in_one_text(prompt))

    for place, message in enumerate(frame if chat else []):
        shots = place - (frame[0]["role"] == "system")
        name = message["role"] if message["role"] == "system" else f"{message['role']}, example {shots // 2 + 1}"
        yield Text(name, style="cyan"), Text(show(message["content"]))
    before = sent_text(first.original_prompt)
    yield Text(f"{role}, unchanged", style="cyan"), Text(before)
    controls = (case for case in cases if case.control and case is not first and case.wording == first.wording)
    for case in (first, *controls):
        if case.perturbed_prompt is not None:
            name = f"{role}, {'control' if case.control else 'changed'}"
            after = sent_text(case.perturbed_prompt)
            yield Text(name, style="cyan"), format_inline(before, after, brackets=brackets, whole=True)


def print_indented(text: Text, console: Console, *, by: int) -> None:
    """Print a text, wrapped, some columns from the left."""
    for line in text.wrap(console, max(console.width - by, 20)):
        shown = Text(" " * by) + line
        shown.rstrip()
        console.print(shown, soft_wrap=True)
