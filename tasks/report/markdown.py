"""Render report.md: the outcome, short enough for a comment on a pull request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from contrapose.tasks.core.outcome import Outcome
from contrapose.tasks.probes.panels import Sheet
from contrapose.tasks.report import evidence, passages, wordings
from contrapose.tasks.report.base import Report
from contrapose.tasks.report.evidence import collect_facts, make_rate_cells, make_sentence, make_sentences
from contrapose.tasks.report.failures import MarkedRow, show_failures
from contrapose.tasks.report.rows import (
    classify,
    cut_name,
    format_columns,
    is_partial,
    list_unused,
    omit_controls,
    pick_test,
    show_rows,
)
from contrapose.tasks.report.since import compare_with_earlier_run
from contrapose.tasks.text.cleaning import escape, format_table
from contrapose.tasks.text.diff import Segments
from contrapose.tasks.text.masking import Show, make_shower
from contrapose.tasks.text.wording import (
    count_saved_questions,
    counted,
    find_further_reason,
    format_moment,
    format_span,
    note_language,
    reason_text,
    usage_and_latency,
)

MARKS = {"pass": "✅", "fail": "❌", "inconclusive": "❔", "incomplete": "⚠️"}

LONGEST = 300
"""Characters of one text."""

MOST_NAMES = 50
"""Names listed one by one; all of them are in summary.json."""

MOST = 60_000
"""Bytes of a comment; GitHub takes 65,536 signs, and what posts it may add some."""

FIRST, REASONS, DETAILS, LAST = range(4)
"""Ranks: blocks of the last rank are the first to be left out where a comment does not hold all."""


class Block(NamedTuple):
    """Lines of Markdown that are kept or dropped together, so that no opened element stays open."""

    rank: int
    """0 for what matters most."""
    text: str
    """Markdown."""


def render(report: Report) -> bytes:
    """Return the Markdown: verdict, changes, a table of tests, then each test with reasons and folded details.

    Every text is escaped: no markup, link, image or mention of a user comes out of it.
    """
    show, summary = make_shower(show_toxic=report.show_toxic, longest=LONGEST), report.summary

    def bullets(title: str, *lines: str) -> Block:
        return Block(REASONS, "\n".join([f"### {title}", "", *lines]))

    def items(texts: Iterable[str]) -> list[str]:
        return [f"- {escape(show(text))}" for text in texts]

    blocks = [
        *(Block(FIRST, text) for text in _write_head(report, show)),
        *(Block(REASONS, text) for text in _write_changes(report, show)),
        Block(FIRST, _write_tests_table(summary["tests"])),
        *(block for outcome in summary["tests"] for block in _yield_test_blocks(outcome, report, show)),
        *(Block(REASONS, f"Columns of {escape(show(text))}.") for text in format_columns(summary["tests"])),
        *(
            bullets("Rows left out", f"{escape(show(rows.title))}.", "", *items(rows.lines()))
            for rows in list_unused(summary["tests"])
        ),
    ]
    if warnings := summary["warnings"]:
        more = [f"- and {len(warnings) - MOST_NAMES:,} more"] if len(warnings) > MOST_NAMES else []
        blocks.append(bullets("Warnings", *items(warnings[:MOST_NAMES]), *more))
    toxic = "Toxic words are shown." if report.show_toxic else "Toxic words are masked."
    foot = f"{toxic} Raw texts are in results.parquet. Contrapose {cut_name(summary['contrapose'])}."
    return f"{join_fitting_blocks([*blocks, Block(FIRST, escape(foot))])}\n".encode()


def _write_head(report: Report, show: Show) -> Iterator[str]:
    summary = report.summary
    mark = MARKS.get(summary["verdict"], "")
    yield f"**{mark} {escape(summary['verdict'].capitalize())}** {escape(show(reason_text(summary)))}"
    facts = (
        summary["model"]["id"],
        f"suite {summary['suite']}",
        format_moment(summary["started"]),
        format_span(summary["seconds"]),
    )
    yield "## Contrapose report"
    yield " · ".join(escape(cut_name(text)) for text in facts)
    yield escape(f"{usage_and_latency(summary['usage'], saved=count_saved_questions(summary))}.")


def _write_tests_table(tests: list[Outcome]) -> str:
    rows = []
    for outcome in tests:
        part = f" on {show_rows(outcome)}" if is_partial(outcome) else ""
        for cells in make_rate_cells(outcome):
            name = cut_name(cells.name) if cells.verdict else f"↳ {cells.name}"
            verdict = f"{MARKS.get(cells.verdict, '')} {cells.verdict}{part}" if cells.verdict else ""
            rows.append((name, *cells[1:5], f"{cells.scored:,} / {cells.cases:,}", verdict))
    head = ("test", "pass rate", "95 % interval", "gate", "guessing", "scored / cases", "verdict")
    return format_table(head, rows, numbers=range(1, 6))


def _write_changes(report: Report, show: Show) -> Iterator[str]:
    past = compare_with_earlier_run(report.summary, report.history, show)
    if past is None:
        return
    yield f"### {escape(past.title)}\n\n{escape(past.compared_with)}"
    yield format_table(("test", "then", "now", "change"), past.steps, numbers=(1, 2, 3))
    yield from map(escape, past.samples)
    differences = [(change["facet"], change["name"], change["before"], change["after"]) for change in past.differences]
    if not differences:
        yield escape(past.nothing)
        return
    yield format_table(("what", "which", "then", "now"), differences[:MOST_NAMES])
    if len(differences) > MOST_NAMES:
        yield f"and {len(differences) - MOST_NAMES:,} more"


def _yield_test_blocks(outcome: Outcome, report: Report, show: Show) -> Iterator[Block]:
    """Yield the blocks of one test: the reason, then folded figures and failures."""
    test = outcome["test_type"]
    name, retrieved = escape(cut_name(test)), list(make_sentences(passages.describe_passages(outcome)))
    worded = list(make_sentences(wordings.summarise_wordings(outcome)))
    lines = filter(None, (make_sentence(note_language(outcome)), find_further_reason(outcome), *retrieved[:1], *worded))
    yield Block(REASONS, f"### {name}\n\n" + "  \n".join(escape(show(text)) for text in lines))
    tables = ["  \n".join(map(escape, _write_notes(outcome, report, show)))]
    if retrieved:
        tables.append("  \n".join(map(escape, retrieved[1:])))
        tables.append(format_table(*passages.tabulate_passages(outcome), numbers=(1, 2)))
    for header, lines_of in (wordings.tabulate_wordings(outcome), wordings.tabulate_variance(outcome)):
        tables += [format_table(header, lines_of, numbers=(1,))] if lines_of else []
    tables.append("  \n".join(map(escape, list(make_sentences(wordings.describe_wordings(outcome)))[len(worded) :])))
    if outcome["figures"]:
        named = [(show(evidence.format_label(test, name)), value) for name, value in evidence.format_figures(outcome)]
        tables.append(format_table(("figure", "value (95 % interval)"), named[:MOST_NAMES], numbers=(1,)))
    if outcome["slices"]:
        named = [(show(part["name"]), evidence.describe_slice(part)) for part in outcome["slices"]]
        tables.append(format_table(("slice", "pass rate"), named[:MOST_NAMES], numbers=(1,)))
        more = len(named) - MOST_NAMES
        tables += [f"and {more:,} more slices"] if more > 0 else []
    yield Block(DETAILS, _fold(f"Counts and figures of {name}", tables))
    if examples := list(map(_write_example, show_failures(test, report.failures[test], show))):
        rows = pick_test(report.results.figures, test)
        failed = int((classify(omit_controls(rows)) == "fail").sum())
        yield Block(LAST, _fold(f"{len(examples)} of {failed:,} failing examples of {name}", examples))


def _fold(title: str, parts: Sequence[str]) -> str:
    # A blank line after the tag lets the Markdown inside be read as Markdown.
    return "\n\n".join([f"<details>\n<summary>{title}</summary>", *parts, "</details>"])


def _write_notes(outcome: Outcome, report: Report, show: Show) -> Iterator[str]:
    facts = collect_facts(outcome, reader=cut_name(evidence.get_reader_id(report.summary)))
    yield from make_sentences(
        facts.reruns,
        facts.asked_again,
        facts.looked,
        facts.guessing.capitalize(),
        facts.dependent,
        facts.noise.capitalize(),
    )
    yield from (f"{show(text.capitalize())}." for text in facts.effects)
    yield from make_sentences(facts.sums, facts.missing, facts.unread, facts.steps, facts.known_errors, facts.trust)
    yield from make_sentences(facts.spoken_of)
    if facts.skipped:
        yield f"Skipped: {show(facts.skipped)}."
    if facts.unscored:
        yield f"Not scored: {show(facts.unscored)}."
    if refused := outcome["refused"]:
        more = f" and {len(refused) - MOST_NAMES:,} more." if len(refused) > MOST_NAMES else "."
        yield f"Refused rows: {', '.join(map(cut_name, refused[:MOST_NAMES]))}{more}"
    panels = report.panels.get(outcome["test_type"], ())
    yield from (show(panel.sentence) for panel in panels if not isinstance(panel, Sheet) and panel.sentence)
    if report.show_langtest:
        yield from make_sentences(facts.langtest)


def _write_example(failure: MarkedRow) -> str:
    row = failure.row
    score = f"(score {row.score}) " if row.score else ""
    both = ((failure.original, "before", row.before), (failure.changed, "after", row.after))
    lines = [f"| {when} | {_mark_bold(prompt)} | {escape(reply)} |" for prompt, when, reply in both]
    texts = [f"{escape(name)}: {escape(text)}" for name, text in failure.context]
    title = f"**{escape(row.id)}** {escape(score + failure.sentence)}"
    return "\n\n".join([title, "\n".join([format_table(("", "prompt", "reply"), ()), *lines]), *texts])


def _mark_bold(segments: Segments) -> str:
    """Return an escaped prompt with its changed parts in bold; spaces around a change stay outside."""
    parts = []
    for place, text in enumerate(segments):
        word = text.strip()
        before, after = text.split(word, 1) if word else (text, "")
        inner = f"<b>{escape(word)}</b>" if word and place % 2 else escape(word)
        parts.append(f"{before}{inner}{after}".replace("\n", "<br>"))
    return "".join(parts)


def join_fitting_blocks(blocks: Sequence[Block], *, most: int = MOST) -> str:
    """Join the blocks that fit, in order, and add a line with the number of dropped ones."""
    left, kept = most, set()
    for place in sorted(range(len(blocks)), key=lambda place: (blocks[place].rank, place)):
        size = len(blocks[place].text.encode()) + 2
        if size <= left:
            left -= size
            kept.add(place)
    gone = len(blocks) - len(kept)
    more = [f"{counted('parts', gone)} did not fit into a comment; report.html has all."] if gone else []
    return "\n\n".join([*(block.text for place, block in enumerate(blocks) if place in kept), *more])
