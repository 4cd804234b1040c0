"""Describe the effect of retrieved passages, in words and as a table, for all report formats."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from contrapose.tasks.core.outcome import Outcome
from contrapose.tasks.core.passages import Alike, PassageCounts, PassageSummary
from contrapose.tasks.statistics.shares import LEVEL
from contrapose.tasks.tables.passages import parse_passages
from contrapose.tasks.text.inline import elide_middle
from contrapose.tasks.text.wording import counted, format_interval, percent

NAMES: Mapping[Alike, str] = {"same": "the same", "reordered": "the same in another order", "other": "others"}
"""Kinds of passages in a table."""


def describe_passages(outcome: Outcome) -> Iterator[str]:
    """Yield all clauses about passages, the most important first; none if the application reported none."""
    summary = outcome.get("passages")
    if summary is None:
        return
    first, *noise = summarise_passages(outcome)
    yield first
    cases, happened = summary["cases"], summary["hit"]
    other = next((group for group in cases["groups"] if group["passages"] == "other"), None)
    if other and other["hits"] and other["share_interval"]:
        share = f"{percent(other['share'])} ({format_interval(other['share_interval'])})"
        yield f"{share} of those that {happened} came with other passages"
    if cases["p"] is not None:
        may = "" if cases["p"] <= LEVEL else "; the difference may be chance"
        rates = []
        for kinds in (("other",), ("same", "reordered")):
            hits, rows = _sum_hits(cases, *kinds)
            rates.append(f"{percent(hits / rows)} of {rows:,}")
        yield f"{rates[0]} {happened} with other passages, {rates[1]} with the same (p = {cases['p']:.3f}{may})"
    yield from noise
    if cases["kept"] is not None:
        yield f"on average {percent(cases['kept'])} of the passages of the first reply also came with the second"
    if cases["unknown"]:
        yield f"{counted('cases', cases['unknown'])} did not report the passages of both replies"


def summarise_passages(outcome: Outcome) -> Iterator[str]:
    """Yield the main clauses: passages with which answers changed, and retrieval noise; none without passages."""
    summary = outcome.get("passages")
    if summary is None:
        return
    yield _describe_hits(summary)
    if (control := summary["control"]) and control["groups"]:
        hits, cases = _sum_hits(control, *NAMES)
        changed, came = _sum_hits(control, "other")
        text = (
            f"retrieval noise: {came:,} of {counted('controls', cases)} got other passages, though the meaning is the"
        )
        also = f"; {changed:,} of {counted('changed answers', hits)} did" if hits else ""
        yield f"{text} same{also}"


def tabulate_passages(outcome: Outcome) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return titles and rows of a table: for each kind of passages changed or failed cases, all cases, rate."""
    summary = outcome.get("passages")
    if summary is None:
        return (), []
    groups = [(NAMES[group["passages"]], group) for group in summary["cases"]["groups"]]
    controls = summary["control"]["groups"] if summary["control"] else []
    groups += [(f"control: {NAMES[group['passages']]}", group) for group in controls]
    return ("passages", summary["hit"], "rate (95 %)"), [
        (
            name,
            f"{group['hits']:,} of {group['cases']:,}",
            f"{percent(group['rate'])} ({format_interval(group['interval'])})",
        )
        for name, group in groups
    ]


def _sum_hits(counts: PassageCounts, *kinds: str) -> tuple[int, int]:
    """Return the sum of hits and of cases over kinds of passages."""
    groups = [group for group in counts["groups"] if group["passages"] in kinds]
    return sum(group["hits"] for group in groups), sum(group["cases"] for group in groups)


def _describe_hits(summary: PassageSummary) -> str:
    """Return a clause on changed answers and their passages; unchanged passages rule out retrieval as the cause."""
    groups = summary["cases"]["groups"]
    if not groups:
        return "no scored case reported the passages of both replies"
    cases = {group["passages"]: group["cases"] for group in groups}
    hits = {group["passages"]: group["hits"] for group in groups if group["hits"]}
    happened = "answers changed" if summary["hit"] == "changed" else "cases failed"
    what = f"{sum(hits.values()):,} of {sum(cases.values()):,} {happened}"
    if not hits:
        return f"{what}; {cases.get('other', 0):,} came with other passages"
    where = {"other": "with other passages", "reordered": "with the same ones in another order"}
    perhaps = " and ".join(f"{hits[kind]:,} {words}" for kind, words in where.items() if kind in hits)
    same = f"{hits['same']:,} with the same passages (retrieval is not the cause)" if "same" in hits else ""
    return f"{what}: {' and '.join(filter(None, (perhaps and f'{perhaps} (retrieval may be the cause)', same)))}"


ONLY_BEFORE, ONLY_AFTER, WITH_BOTH = "passage, original only", "passage, changed only", "passage, both"
"""Names of details of a row: of its original prompt, of the changed one, or of both."""
MARKS: Mapping[str, str] = {ONLY_BEFORE: "del", ONLY_AFTER: "ins"}
"""Marks of passages that only one of both replies came with; page.js has them too."""
SHOWN = 20
"""Passages of a row that are shown."""


def list_passages(record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield names and raw texts of a row's passages, first those that only one reply came with."""
    before, after = (parse_passages(record.get(name)) for name in ("expected_passages", "actual_passages"))
    first, second = dict.fromkeys(before or ()), dict.fromkeys(after or ())
    if before is None or after is None:
        # Where one side is unknown, nothing can be missing.
        marked = [*(("passage, original", text) for text in first), *(("passage, changed", text) for text in second)]
    else:
        marked = [(ONLY_BEFORE, text) for text in first if text not in second]
        marked += [(ONLY_AFTER, text) for text in second if text not in first]
        marked += [(WITH_BOTH, text) for text in first if text in second]
    yield from ((name, elide_middle(text, head=300, tail=100)) for name, text in marked[:SHOWN])
    if len(marked) > SHOWN:
        yield "further passages", f"{len(marked) - SHOWN:,}, in results.parquet"
