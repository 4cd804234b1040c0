"""What passages tell of a test in words and in a table, the same in every report, and the passages of one row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Literal

from contrapose.tasks.core.outcome import Outcome
from contrapose.tasks.core.passages import Alike, PassageCounts, PassageGroup, PassageSummary
from contrapose.tasks.statistics.shares import LEVEL
from contrapose.tasks.tables.passages import listed
from contrapose.tasks.text.inline import elided
from contrapose.tasks.text.wording import counted, ends, percent

NAMES: Mapping[Alike, str] = {
    "same": "the same",
    "reordered": "the same in another order",
    "other": "others",
}
"""Kinds of passages in a table."""


def sentences(outcome: Outcome) -> Iterator[str]:
    """What the passages tell, the most important first; none where an application told of none."""
    summary = outcome.get("passages")
    if summary is None:
        return
    first, *noise = main_sentences(outcome)
    yield first
    yield _share(summary)
    if summary["cases"]["p"] is not None:
        yield _rates_apart(summary["cases"], summary["cases"]["p"], happened=summary["hit"])
    yield from noise
    kept = summary["cases"]["kept"]
    if kept is not None:
        yield f"on average {percent(kept)} of the passages of the first reply came with the second one too"
    if unknown := summary["cases"]["unknown"]:
        yield f"of {counted('cases', unknown)} it is not known what was retrieved for both replies"


def main_sentences(outcome: Outcome) -> Iterator[str]:
    """With which passages answers changed, and the noise of retrieval; nothing where an application told of none."""
    summary = outcome.get("passages")
    if summary:
        yield _hits(summary)
    if summary and summary["control"] and summary["control"]["groups"]:
        yield _noise(summary["control"])


def passage_table(outcome: Outcome) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Titles and rows: for each kind of passages how many cases changed or failed, of how many, and the rate."""
    summary = outcome.get("passages")
    if summary is None:
        return (), []
    rows = [_row(NAMES[group["passages"]], group) for group in summary["cases"]["groups"]]
    controls = summary["control"]["groups"] if summary["control"] else []
    rows += [_row(f"control: {NAMES[group['passages']]}", group) for group in controls]
    return ("passages", summary["hit"], "rate (95 %)"), rows


def _row(name: str, group: PassageGroup) -> tuple[str, ...]:
    rate = f"{percent(group['rate'])} ({ends(group['interval'])})"
    return name, f"{group['hits']:,} of {group['cases']:,}", rate


def _hits(summary: PassageSummary) -> str:
    """How many answers changed, and with which passages; only where these were the same retrieval is ruled out."""
    groups = summary["cases"]["groups"]
    if not groups:
        return "which passages came with both replies is not known of any case that says what became of it"
    cases = {group["passages"]: group["cases"] for group in groups}
    hits = {group["passages"]: group["hits"] for group in groups if group["hits"]}
    happened = "answers changed" if summary["hit"] == "changed" else "cases failed"
    what = f"{sum(hits.values()):,} of {sum(cases.values()):,} {happened}"
    if not hits:
        return f"{what}, and {cases.get('other', 0):,} came with other passages"
    where = {"other": "with other passages", "reordered": "with the same ones in another order"}
    perhaps = " and ".join(f"{hits[kind]:,} {words}" for kind, words in where.items() if kind in hits)
    same = f"{hits['same']:,} with the same passages, where" if "same" in hits else ""
    if perhaps and same:
        return f"{what}: {perhaps}, where retrieval may be why, and {same} it cannot be"
    return f"{what}: {perhaps}, where retrieval may be why" if perhaps else f"{what}: {same} retrieval cannot be why"


def _share(summary: PassageSummary) -> str:
    """Which share of them came with other passages; empty where none did."""
    other = next((group for group in summary["cases"]["groups"] if group["passages"] == "other"), None)
    if other is None or not other["hits"] or other["share_interval"] is None:
        return ""
    share = f"{percent(other['share'])} ({ends(other['share_interval'])})"
    return f"{share} of those that {summary['hit']} came with other passages"


def _rates_apart(counts: PassageCounts, p: float, *, happened: str) -> str:
    """The rates apart, and whether they differ by more than chance."""
    other, same = (_rate(counts, other=other) for other in (True, False))
    may = "" if p <= LEVEL else "; chance may be why they differ"
    return f"with other passages {other} {happened}, with the same ones {same} (p = {p:.3f}{may})"


def _rate(counts: PassageCounts, *, other: bool) -> str:
    groups = [group for group in counts["groups"] if (group["passages"] == "other") == other]
    hits, cases = (_total(groups, name) for name in ("hits", "cases"))
    return f"{percent(hits / cases)} of {cases:,}"


def _total(groups: Sequence[PassageGroup], name: Literal["cases", "hits"]) -> int:
    return sum(group[name] for group in groups)


def _noise(control: PassageCounts) -> str:
    """How often a harmless change of the wording retrieves others, and whether answers changed with them."""
    cases, hits = (_total(control["groups"], name) for name in ("cases", "hits"))
    others = [group for group in control["groups"] if group["passages"] == "other"]
    came, changed = (_total(others, name) for name in ("cases", "hits"))
    text = (
        f"noise of retrieval: other passages came with {came:,} of {counted('controls', cases)}, which keep the meaning"
    )
    return f"{text}, and with {changed:,} of {counted('answers', hits)} that changed under them" if hits else text


ONLY_BEFORE, ONLY_AFTER, WITH_BOTH = "passage, original only", "passage, changed only", "passage, both"
"""Names of details of a row: of its original prompt, of the changed one, or of both."""
MARKS: Mapping[str, str] = {ONLY_BEFORE: "del", ONLY_AFTER: "ins"}
"""How pages mark those that only one of both replies came with; page.js has them too."""
SHOWN = 20
"""Passages of a row that are shown."""
HEAD, TAIL = 300, 100
"""Characters that are shown of the beginning and the end of a passage."""


def passage_details(record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Names and texts of the passages of a row, raw: first those that only one of both replies came with."""
    before, after = (listed(record.get(name)) for name in ("expected_passages", "actual_passages"))
    first, second = dict.fromkeys(before or ()), dict.fromkeys(after or ())
    if before is None or after is None:
        # Of what is not known nothing can be missing.
        marked = [("passage, original", text) for text in first]
        marked += [("passage, changed", text) for text in second]
    else:
        marked = [(ONLY_BEFORE, text) for text in first if text not in second]
        marked += [(ONLY_AFTER, text) for text in second if text not in first]
        marked += [(WITH_BOTH, text) for text in first if text in second]
    yield from ((name, elided(text, head=HEAD, tail=TAIL)) for name, text in islice(marked, SHOWN))
    if len(marked) > SHOWN:
        yield "further passages", f"{len(marked) - SHOWN:,}, which are in results.parquet"
