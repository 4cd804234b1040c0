"""report.html: one file that needs nothing else, neither network nor server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from markupsafe import Markup

from contrapose.tasks.report.base import Report
from contrapose.tasks.report.evidence import reader_of
from contrapose.tasks.report.html.cards import card
from contrapose.tasks.report.html.glossary import Glossary
from contrapose.tasks.report.html.head import call_tables, first_rows, head, opening_evidence
from contrapose.tasks.report.html.meter import tallies
from contrapose.tasks.report.html.sample_data import SampleData, fitting
from contrapose.tasks.report.passages import MARKS
from contrapose.tasks.report.rows import left_out, name_of, of_test, tested
from contrapose.tasks.report.since import since
from contrapose.tasks.report.templates import PAGE, inlined, read, style, template
from contrapose.tasks.text.masking import shower

PIECES = 256
"""Parts of the template that are written at once."""


def render(report: Report) -> Iterator[bytes]:
    """Render the page in pieces: verdict, what decides each test, a card per test, and the samples, searchable.

    Everything that is shown first is masked and cleaned here. The samples travel as packed data, a part of the
    results at a time; toxic words are raw in there, and the script masks them until its reader reveals them. The
    content security policy allows the one style sheet and the one script by their hashes, and nothing else.
    """
    show, terms, summary = shower(show_toxic=report.show_toxic), Glossary(), report.summary
    figures = report.results.figures
    places, counted = fitting(figures), tallies(report.results.parts())
    cards = [
        card(
            test,
            tested(of_test(figures, test["test_type"])),
            of_test(report.skipped, test["test_type"]),
            counted[test["test_type"]],
            show,
            terms,
            panels=report.panels.get(test["test_type"], ()),
            runs=report.history.runs,
            show_langtest=report.show_langtest,
            reader=name_of(reader_of(summary)),
        )
        for test in summary["tests"]
    ]
    island = SampleData(
        results=report.results,
        places=places,
        prompts=report.prompts(),
        before_prompts=report.before_prompts,
        show_toxic=report.show_toxic,
        show_langtest=report.show_langtest,
    )
    stream = template(__package__, PAGE).stream(
        show=show,
        head=head(summary, show),
        since=since(summary, report.history, show),
        cards=cards,
        terms=terms,
        calls=call_tables(report.calls, show),
        left_out=[rows.shown(show) for rows in left_out(summary["tests"])],
        warnings=[show(text) for text in summary["warnings"]],
        evidence=list(opening_evidence(report, show)),
        first_rows=first_rows(report.results, figures, places, show, show_langtest=report.show_langtest),
        controls=len(figures.loc[places]) - len(tested(figures.loc[places])),
        shown=len(places),
        total=len(figures),
        show_toxic=report.show_toxic,
        island=island,
        marks=MARKS,
        **_inlined(),
    )
    stream.enable_buffering(PIECES)
    return (piece.encode() for piece in stream)


@cache
def _inlined() -> Mapping[str, Markup | str]:
    scripts = ("data.js", "parts.js", "paging.js", "page.js", "share.js")
    return inlined(style(), *(read(__package__, name) for name in scripts))
