"""Format figures as words, in the same way in every report."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime

from contrapose.tasks.core.criteria import DecidingRate
from contrapose.tasks.core.outcome import ColumnsRead, ControlSummary, Outcome, Summary, UsageSummary, Verdict
from contrapose.tasks.core.registry import is_probe, probe

ANSWERS: Mapping[Verdict, str] = {
    "pass": "Passed all gates",
    "fail": "Failed a gate",
    "inconclusive": "Too little evidence to decide",
    "incomplete": "Too few answers to decide",
}
"""Verdicts on a run, in words."""
COUNTED = ("skipped", "scored", "unscored", "errors")
"""What a case can become; the four always sum to the number of cases."""


def number(value: float) -> str:
    """Return a figure with up to four decimals, without final zeros, or a dash if it is not finite."""
    if not math.isfinite(value):
        return "–"
    text = f"{value:,.4f}".rstrip("0").rstrip(".")
    if text not in ("0", "-0"):
        return text
    return f"{value:.2g}" if value else "0"


def format_figure(value: float | int | None) -> str:
    """Return a figure of a test as text, or a dash if it could not be computed."""
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else number(value)


def percent(share: float | None) -> str:
    """Return a share as a percentage with at most one decimal; only 1 becomes 100 %, and only 0 becomes 0 %."""
    if share is None or not math.isfinite(share):
        return "–"
    text = f"{100 * share:.1f}".removesuffix(".0")
    if text == "100" and share < 1:
        return ">99.9%"
    return "<0.1%" if text == "0" and share > 0 else f"{text}%"


def format_pass_interval(outcome: Outcome) -> str:
    """Return the 95 % interval of the pass rate, such as `65.1-78.9%`, or a dash if no case was scored."""
    return "–" if outcome["interval"] is None else format_interval(outcome["interval"])


def format_interval(interval: tuple[float, float]) -> str:
    """Return an interval of a share, such as `65.1-78.9%`."""
    return f"{100 * interval[0]:.1f}-{100 * interval[1]:.1f}%"


def criterion_text(criterion: DecidingRate) -> str:
    """Return a rate with its gate, such as `contrast rate 12.5% (gate 50%)`."""
    gate = "" if criterion["gate"] is None else f" (gate {percent(criterion['gate'])})"
    return f"{criterion['name'].replace('_', ' ')} {percent(criterion['rate'])}{gate}"


def criteria_text(criteria: Sequence[DecidingRate]) -> str:
    """Return rates with their gates, the deciding one first."""
    return ", ".join(map(criterion_text, criteria))


def counted(name: str, count: int) -> str:
    """Return a count with its name, such as `1 error` or `3 skipped`."""
    return f"{count:,} {name.removesuffix('s') if count == 1 else name}"


def describe_changes_by_noise(control: ControlSummary, *, by_kind: bool = True) -> str:
    """Return in words how many answers changed though the meaning did not, in total and for each kind of control."""
    changed = f"{control['changed']:,} of {counted('answers', control['scored'])} ({percent(control['noise'])})"
    unknown = control["unscored"] + control["errors"]
    more = f"; {unknown:,} more could not be compared" if unknown else ""
    parts = ", ".join(
        f"{kind.replace('_', ' ')} {changed:,} of {count:,}"
        for kind, (changed, count) in control.get("kinds", {}).items()
    )
    kinds = f". By kind of wording: {parts}" if parts and by_kind else ""
    return f"control: {changed} also changed when only the wording changed{more}{kinds}"


def count_saved_questions(summary: Summary) -> int:
    """Return the number of questions that were not asked, because tests were decided without them."""
    return sum(outcome["stopping"]["saved"] for outcome in summary["tests"] if "stopping" in outcome)


def usage_text(usage: UsageSummary, *, saved: int = 0) -> str:
    """Return the cost of a run in words: calls, saved calls, cached answers, failures, tokens and dollars."""
    # Recorded answers are asked of nobody: the model then made no request of its own.
    calls, requests = (usage["reader"][name] if "reader" in usage else 0 for name in ("calls", "requests"))
    replayed = usage["calls"] - calls if usage["requests"] == requests else 0
    parts = [counted("recorded replies", replayed)] if replayed else []
    parts += [counted("model calls", usage["calls"] - replayed)] if usage["calls"] > replayed or not replayed else []
    if "reader" in usage and (reader := usage["reader"])["requests"]:
        paid = f" ({dollars(reader['cost'])})" if reader["cost"] else ""
        parts.append(f"{reader['calls']:,} of them to {reader['model']}{paid}")
    parts += [f"{saved:,} saved by stopping early"] if saved else []
    parts += [f"{counted('answers', usage['from_store'])} from the cache"] if usage["from_store"] else []
    again = usage["requests"] - usage["calls"] - usage["failures"]
    parts += [counted("repeated requests", again)] if again > 0 else []
    parts += [f"{counted('questions', usage['failures'])} given up"] if usage["failures"] else []
    money = dollars(usage["cost"]) if usage["cost"] else ""
    tokens = tokens_text(usage["prompt_tokens"], usage["completion_tokens"])
    return "; ".join(filter(None, (", ".join(parts), tokens, money)))


def tokens_text(read: int, written: int) -> str:
    """Return token counts in words, or an empty text if there are none, as for an application without usage."""
    return f"{read:,} tokens read, {written:,} written" if read or written else ""


def dollars(cost: float) -> str:
    """Return US dollars as text, with four decimals for small amounts: `$0.0123`, `$12.30`."""
    return f"${cost:,.2f}" if cost >= 1 else f"${cost:.4f}"


def usage_and_latency(usage: UsageSummary, *, saved: int = 0) -> str:
    """Return the cost of a run in words, with latencies."""
    text = usage_text(usage, saved=saved)
    return f"{text}; latency {format_latencies(usage)}" if usage["latency"] else text


def format_latencies(usage: UsageSummary) -> str:
    """Return the latencies of requests, `p50 0.31 s, p95 0.84 s, p99 1.20 s`, or a dash without requests."""
    return ", ".join(f"{name} {seconds:.2f} s" for name, seconds in usage["latency"].items()) or "–"


def describe_sample_share(outcome: Outcome) -> str:
    """Return the share of samples that the rates are about, by kind of text, or an empty text if none was skipped."""
    kinds = outcome.get("kinds", {})
    if not kinds:
        return ""
    made, all_ = (sum(counts[place] for counts in kinds.values()) for place in (0, 1))
    parts = ", ".join(
        f"{kind} {share:,} of {count:,} ({percent(share / count)})" for kind, (share, count) in kinds.items()
    )
    by_kind = f" (by kind of text: {parts})" if len(kinds) > 1 else ""
    return f"{made:,} of {all_:,} samples ({percent(made / all_)}) could be changed; the rates describe these{by_kind}"


def describe_case_sum(outcome: Outcome) -> str:
    """Return the sum of the cases, in one line."""
    parts = " + ".join(counted(name, outcome[name]) for name in COUNTED)  # type: ignore[literal-required]
    several = f" of {counted('samples', outcome['samples'])}" if outcome["samples"] < outcome["cases"] else ""
    all_scored = outcome["scored"] == outcome["cases"] > 0
    return f"{outcome['cases']:,} cases{several}{': all scored' if all_scored else f' = {parts}'}"


def reason_text(summary: Summary) -> str:
    """Return the reason of the verdict without the verdict itself, then the first lines of tests."""
    prefix = f"{summary['verdict'].capitalize()}: "
    reason = summary["reason"]
    shown = f"{ANSWERS[summary['verdict']]}: {reason.removeprefix(prefix)}" if reason.startswith(prefix) else reason
    return " ".join((shown, *dict.fromkeys(f"{first}." for first in map(note_language, summary["tests"]) if first)))


def count_cases(summary: Summary) -> dict[str, int]:
    """Return the numbers of cases, of passed ones and of each outcome, over all tests."""
    names = ("cases", "passed", *COUNTED)
    return {name: sum(outcome[name] for outcome in summary["tests"]) for name in names}  # type: ignore[literal-required]


def format_counts(counts: Mapping[str, int]) -> str:
    """Return names with their counts, such as `high 188, medium 16`."""
    return ", ".join(f"{name} {count:,}" for name, count in counts.items())


MOST_REASONS = 10
"""Reasons that are named; the rare ones are counted together."""


def select_commonest(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the most common reasons with their counts, the most common first, and the rare ones as one entry."""
    named = dict(Counter(counts).most_common(MOST_REASONS))
    others = sum(counts.values()) - sum(named.values())
    return named | ({f"for {len(counts) - len(named):,} other reasons": others} if others else {})


ANY_TEST = {
    "context_too_long": "too long for the model's context window",
    "not_recorded": "without recorded replies to both prompts",
}
"""Skip reasons that no test gives itself, in words."""


def skip_words(test: str, code: str) -> str:
    """Return a skip reason in the words of its test, or else the code without underscores."""
    known = {**ANY_TEST, **(probe(test).skip_reasons if is_probe(test) else {})}
    return str(known.get(code, code.replace("_", " ")))


def count_skips(test: str, codes: Mapping[str, int]) -> dict[str, int]:
    """Return the reasons why rows were skipped, in words, with their counts."""
    counts = Counter[str]()
    for code, count in codes.items():
        counts[skip_words(test, code)] += count
    return select_commonest(counts)


def describe_skips(test: str, codes: Mapping[str, int], rows: int = 0) -> str:
    """Return the skip reasons in a line, `2 negated already; 1 without a word`; for `rows` see `foreign_text`."""
    first = foreign_text(codes, rows)
    others = {code: count for code, count in codes.items() if not (first and code == "not_english")}
    return "; ".join(
        filter(None, (first, *(f"{count:,} {words}" for words, count in count_skips(test, others).items())))
    )


def foreign_text(codes: Mapping[str, int], rows: int) -> str:
    """Return `17 of 20 rows are not in English` if most rows are in another language, or else an empty text."""
    count = codes.get("not_english", 0)
    verb = "is" if count == 1 else "are"
    return f"{count:,} of {counted('rows', rows)} {verb} not in English" if 0 < rows <= 2 * count else ""


def columns_read(columns: ColumnsRead) -> str:
    """Return in words how columns were read: `question as text, passage as context; not read: idx`."""
    fields = ", ".join(f"{' + '.join(names)} as {name}" for name, names in columns["fields"].items())
    known = f" (known as {columns['layout']})" if columns["layout"] else ""
    unread = f"; not read: {', '.join(columns['unread'])}" if columns["unread"] else ""
    return f"{fields}{known}{unread}"


def note_language(outcome: Outcome) -> str:
    """Return the first sentence of a result if most rows are not in English, or else an empty text."""
    return foreign_text(outcome["skip_reasons"], outcome["samples"])


def find_further_reason(outcome: Outcome) -> str:
    """Return the reason of a verdict without its first line."""
    return outcome["reason"].removeprefix(f"{note_language(outcome)}. ")


def describe_unscored(outcome: Outcome) -> str:
    """Return why answered cases have no score, `the reply is empty (3)`, or an empty text if all have one."""
    return "; ".join(f"{reason.rstrip('.')} ({count:,})" for reason, count in outcome["unscored_reasons"].items())


def more_cases_clause(more: int | None, *, left: float = math.inf) -> str:
    """Return the end of a sentence that says how many more cases decide with 80 % power; `left`: how many are left."""
    if more is None:
        return "; at this rate more cases would not decide it"
    lacks = f", and this data set has {f'only {left:,.0f}' if left >= 1 else 'no more'}" if more > left else ""
    return f"; about {counted('more cases', more)} {'is' if more == 1 else 'are'} needed{lacks}"


def format_moment(started: str) -> str:
    """Return an ISO time as people write it, or any other text unchanged."""
    try:
        when = datetime.fromisoformat(started)
    except ValueError:
        return started
    zone = when.tzname() or ""
    return f"{when.day} {when:%B %Y, %H:%M} {zone}".strip()


def format_span(seconds: float) -> str:
    """Return a duration, such as `2 h 5 min`, `3 min 12 s` or `8.4 s`."""
    if not math.isfinite(seconds) or seconds < 60:
        return f"{number(round(seconds, 1))} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def distinct_percentages(*shares: float) -> tuple[str, ...]:
    """Return percentages with the fewest decimals (1 to 6) that keep different ones different.

    Otherwise a sentence that sets one share against another, such as a bound against its gate, reads as if they were
    equal: 54.4% and 54.4%, where 54.36% and 54.40% were compared.
    """
    written = [tuple(f"{share:.{decimals}%}" for share in shares) for decimals in range(1, 7)]
    return next(texts for texts in written if len(set(texts)) == len(set(written[-1])))
