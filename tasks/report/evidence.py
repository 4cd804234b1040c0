"""Intervals, effects, how choices were read and what is missing, in words that are the same in every report."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from contrapose.tasks.core.outcome import Effect, GateSummary, Outcome, Slice, Summary
from contrapose.tasks.core.records import LEAST_LABEL_MASS
from contrapose.tasks.core.registry import names, probe
from contrapose.tasks.core.stopping import early_stop
from contrapose.tasks.probes import in_words as words
from contrapose.tasks.probes import reading_checks as checks
from contrapose.tasks.probes.known_errors import READ_BY, step_shares
from contrapose.tasks.probes.known_errors import UNREAD as UNREAD_REPLIES
from contrapose.tasks.text.wording import counted, ends, figure, number, percent

THE_MODEL = "the model"
"""Who is asked back where no reader is named."""


def reader_of(summary: Summary) -> str:
    """Who was asked what replies choose: the id of the run's reader, or the model under test."""
    return summary["reader"]["id"] if "reader" in summary else THE_MODEL


def between(ends: tuple[float, float] | None) -> str:
    """An interval, such as ` (0.47 to 0.57)` with the space before it; empty where it is unknown."""
    return "" if ends is None else f" ({number(round(ends[0], 3))} to {number(round(ends[1], 3))})"


def figures(outcome: Outcome) -> Iterator[tuple[str, str]]:
    """Names and values of the figures of a test, with 95 % intervals where they are means."""
    for name, value in outcome["figures"].items():
        estimate = outcome["estimates"].get(name)
        among = _among(outcome, name)
        basis = f", of {estimate['rows']:,} {among}" if estimate and among else ""
        yield name, figure(value) + (between(estimate["interval"]) if estimate else "") + basis


def effect(outcome: Outcome, measured: Effect) -> str:
    """An effect, such as `net toxicity 0.1 (0.02 to 0.18): 0.12 under the change, 0.02 under its control`."""
    sides = f"{number(measured['case'])} under the change, {number(measured['control'])} under its control"
    text = f"{number(measured['value'])}{between(measured['interval'])}"
    return f"{measured['name'].replace('_', ' ')} {text}: {sides}; {_samples(outcome, measured)}"


def subtracted(outcome: Outcome, measured: Effect) -> tuple[str, str]:
    """Name and value of an effect, such as `0.12 - 0.02 = 0.1 (0.02 to 0.18); 50 samples`."""
    sides = f"{number(measured['case'])} - {number(measured['control'])}"
    text = f"{sides} = {number(measured['value'])}{between(measured['interval'])}; {_samples(outcome, measured)}"
    return measured["name"].replace("_", " "), text


def ended(text: str) -> str:
    """Words as a sentence with capital letter and full stop; empty where there is nothing to tell."""
    return f"{text[0].upper()}{text[1:].removesuffix('.')}." if text else ""


def missing(outcome: Outcome) -> str:
    """What the cases without a score could change; empty where every asked case was scored."""
    coverage, extremes = outcome["coverage"], outcome["extremes"]
    if coverage is None or extremes is None or coverage == 1:
        return ""
    worst, best = map(percent, extremes)
    asked = outcome["cases"] - outcome["skipped"]
    text = f"{outcome['scored']:,} of {asked:,} cases could be scored ({percent(coverage)})"
    return f"{text}; with the others the pass rate is {worst} to {best}"


def dependent(outcome: Outcome) -> str:
    """How much the cases tell, where they are not independent of each other; else empty."""
    gate = next(iter(outcome["gates"]), None)
    if gate is None or gate["clusters"] == gate["rows"]:
        return ""
    groups = f"{gate['clusters']:,} groups of cases that belong together"
    return f"{gate['rows']:,} cases in {groups} tell as much as {gate['effective']:,.0f} independent ones"


def looks(outcome: Outcome) -> str:
    """How many looks an interval counts, such as `over 3 looks`; empty where there was only the one at the end."""
    stopping, earlier = outcome.get("stopping"), len(outcome.get("earlier_looks", []))
    own = stopping["looks"] if stopping else 1
    if own + earlier == 1 and not early_stop(outcome):
        return ""
    return f"over {counted('looks', own + earlier)}" + (f", {earlier:,} of them by earlier runs" if earlier else "")


LEAN = {"pass": "optimistic", "fail": "pessimistic"}
"""How a rate is off at which a test was stopped, by the verdict."""
CHANCE_TOO = "by chance too; verdict and interval hold"


def looked(outcome: Outcome) -> Iterator[str]:
    """What several looks, and a stop before the last of them, mean for the figures; nothing where there was one.

    First what counts the looks, then how what decided is off, last what is told of other figures.
    """
    over, early = looks(outcome).removeprefix("over "), early_stop(outcome)
    if not over or outcome["verdict"] == "incomplete":
        return
    counting = f"verdict and 95 % intervals of what has a gate count {over}"
    if early is None:
        whole = "stopping" in outcome and not outcome.get("earlier_looks")
        yield counting + (", none of which decided it before all cases were asked" if whole else "")
        return
    yield counting
    if early["beside"]:
        reason = "the difference to the models beside it lies slightly too far from zero, since it stopped them"
        yield f"{reason}, {CHANCE_TOO}"
    elif outcome["verdict"] in LEAN:
        reason = "since a test stops where its rate lies far from the gate"
        yield f"the rate that decided is slightly {LEAN[outcome['verdict']]}, {reason}, {CHANCE_TOO}"
    yield "other intervals, of slices, effects and means, are as if so many cases had been meant to be asked all along"


def held(gate: GateSummary) -> str:
    """A rate against its gate, such as `12.5% (5.5-26.1%) of 40 cases; gate 50%, chance 18.8%`."""
    open_ = f", {gate['open']:,} of them open" if gate["open"] else ""
    chance = "" if gate["chance"] is None else f", chance {percent(gate['chance'])}"
    text = f"{percent(gate['rate'])} ({ends(gate['interval'])}) of {counted('cases', gate['rows'])}{open_}"
    return f"{text}; gate {percent(gate['wanted'])}{chance}"


class Headline(NamedTuple):
    """The rate that stands for a test: the documents' pass rate, or where that has no gate, the first that has one."""

    name: str
    rate: float | None
    interval: tuple[float, float] | None
    wanted: float | None
    chance: float | None


def headline(outcome: Outcome) -> Headline:
    """The rate that stands for a test."""
    if outcome["min_pass_rate"] is None and outcome["gates"]:
        gate = outcome["gates"][0]
        return Headline(gate["name"], gate["rate"], gate["interval"], gate["wanted"], gate["chance"])
    rate, wanted = outcome["pass_rate"], outcome["min_pass_rate"]
    return Headline("pass_rate", rate, outcome["interval"], wanted, outcome["chance"])


def further_gates(outcome: Outcome) -> list[GateSummary]:
    """The rates with a gate besides the documents' pass rate."""
    return [gate for gate in outcome["gates"] if gate["name"] != "pass_rate"]


def guessing(outcome: Outcome) -> str:
    """That guessing alone reaches the gate of the pass rate, and what the verdict rests on then; else empty."""
    chance, wanted = outcome["chance"], outcome["min_pass_rate"]
    if chance is None or wanted is None or not 0 < wanted <= chance:
        return ""
    others = " and the ".join(gate["name"].replace("_", " ") for gate in further_gates(outcome))
    rests = f", so a pass rests on the {others}" if others else ""
    return f"guessing alone passes {percent(chance)}, and the gate is {percent(wanted)}{rests}"


def sliced(part: Slice) -> str:
    """Pass rate of a slice, such as `75% (9 of 12; 46.8-91.1%), unlike the others (p = 0.012)`."""
    sure = "" if part["interval"] is None else f"; {ends(part['interval'])}"
    unlike = f", unlike the others (p = {part['p']:.3f})" if part["p"] is not None and part["p"] <= 0.05 else ""
    return f"{percent(part['pass_rate'])} ({part['passed']:,} of {part['scored']:,}{sure}){unlike}"


def langtest(outcome: Outcome) -> str:
    """What LangTest would have said for the same replies; empty where that was not computed."""
    theirs = outcome["langtest"]
    if theirs is None:
        return ""
    rate = percent(theirs["passed"] / theirs["judged"])
    return f"LangTest would have passed {rate} of {theirs['judged']:,} cases, {theirs['agreed']:,} of them as here"


def _samples(outcome: Outcome, measured: Effect) -> str:
    """How many samples an effect is taken over, and which."""
    return f"{counted('samples', measured['samples'])} {_among(outcome, measured['measure'])}".rstrip()


def _among(outcome: Outcome, measure: str) -> str:
    """Which of the scored cases a measure is taken over; empty where it leaves none of them out."""
    estimate = outcome["estimates"].get(measure)
    return estimate["among"] if estimate and estimate["rows"] < outcome["scored"] else ""


def unread(outcome: Outcome) -> str:
    """How many pairs of orders lack a choice; empty where both orders always gave one."""
    counting = probe(outcome["test_type"]).without_choice if outcome["test_type"] in names("probes") else ()
    count = sum(int(outcome["figures"].get(name) or 0) for name in counting)
    pairs = outcome["scored"] + outcome["unscored"]
    text = f"{count:,} of {pairs:,} pairs lack a choice in one order or both: the verdict holds whatever they are"
    return text if count else ""


def steps(outcome: Outcome) -> str:
    """How the choices were read, such as `choices were read by the letter alone 81%, a statement 16%; unread 3%`."""
    shares = step_shares(outcome["figures"])
    by = ", ".join(f"{name} {percent(share)}" for name, share in shares.items() if name != UNREAD_REPLIES)
    unread_share = shares.get(UNREAD_REPLIES)
    more = f"unread {percent(unread_share)}" if unread_share else ""
    return "; ".join(filter(None, (f"choices were read by {by}" if by else "", more)))


def known_errors(outcome: Outcome) -> Iterator[str]:
    """How often a step misses or misreads a choice, by letter, a line for each set; none for what read nothing."""
    for (by, source), errors in groupby(outcome["reader"], key=lambda error: (error["by"], error["source"])):
        text = ", ".join(
            f"{error['letter']}: missed {percent(error['missed'] / error['replies'])}, "
            f"read wrongly {percent(error['misread'] / error['replies'])} of {error['replies']:,}"
            for error in errors
        )
        yield f"known error of {by}: {text} ({source})"


def asked_back(outcome: Outcome, *, reader: str = THE_MODEL) -> str:
    """How well the model that is asked back reads; empty where that decided nothing and was not checked."""
    agreed, made_up = (outcome["estimates"].get(name) for name in ("asked_agreement", "made_up_agreement"))
    by_rules = invented = ""
    if agreed is not None:
        by_rules = f"of {agreed['rows']:,} replies that rules could read, {reader}, asked back, reads"
        by_rules = f"{by_rules} {percent(agreed['value'])}{_shares(agreed['interval'])} as they do"
    elif outcome["figures"].get(f"{READ_BY}asked"):
        by_rules = f"how well {reader} reads replies when it is asked back is unknown: rules could read none to check"
        by_rules += " it by"
    if made_up is not None:
        invented = f"of {made_up['rows']:,} made-up replies, which choose a wrong option or none, {reader} reads"
        invented = f"{invented} {percent(made_up['value'])}{_shares(made_up['interval'])} correctly"
    return "; ".join(filter(None, (by_rules, invented)))


def in_words(outcome: Outcome) -> str:
    """How often replies in words say what the likelihoods say; empty where none were asked for."""
    agreed, unread_share = (outcome["estimates"].get(name) for name in ("reply_agreement", "reply_unread"))
    if unread_share is None:
        return ""
    asked = f"{unread_share['rows']:,} samples that were also answered in words"
    share = unread_share["value"]
    more = f"{percent(share)} of the replies could not be read" if share else ""
    more = "none of the replies could be read" if share == 1 else more
    if agreed is None:
        return f"of {asked}, {more}" if more else ""
    text = f"{percent(agreed['value'])}{_shares(agreed['interval'])} of {agreed['rows']:,} replies say what the"
    return "; ".join(filter(None, (f"{text} likelihoods say, among {asked}", more)))


def read_instead(outcome: Outcome) -> str:
    """How many cases were judged by replies, since the letters were too unlikely; empty where none was."""
    count = outcome["figures"].get("read_instead")
    if not count:
        return ""
    judged = counted("cases", outcome["scored"] + outcome["unscored"])
    return (
        f"in {count:,} of {judged} the letters hold less than {percent(LEAST_LABEL_MASS)} of the probability: the "
        "replies were read, and likelihoods decided nothing"
    )


def trust(outcome: Outcome, *, reader: str = THE_MODEL) -> Iterator[str]:
    """How far the replies bear a verdict out, as warnings where they do not; empty texts where nothing is known."""
    yield from filter(None, (read_instead(outcome),))
    yield unlike(outcome) or in_words(outcome)
    yield misreads(outcome, reader=reader) or asked_back(outcome, reader=reader)


def doubts(outcome: Outcome, *, reader: str = THE_MODEL) -> Iterator[str]:
    """The warnings that stand beside a verdict."""
    yield from filter(None, (unlike(outcome), misreads(outcome, reader=reader)))


def unlike(outcome: Outcome) -> str:
    """That a verdict by likelihood may not hold for what the model replies; empty where the two agree."""
    agreed, text = outcome["estimates"].get("reply_agreement"), in_words(outcome)
    if not text or (agreed is not None and agreed["value"] >= words.LEAST_AGREEMENT):
        return ""
    return (
        f"its verdict is about likelihoods, and replies may earn another: {text}. Set read_with: reply to judge these"
    )


def misreads(outcome: Outcome, *, reader: str = THE_MODEL) -> str:
    """That asking back may have read choices wrongly; empty where it read none, or was seen to read well."""
    agreed, share = outcome["estimates"].get("asked_agreement"), outcome["figures"].get(f"{READ_BY}asked")
    if not share or (agreed is not None and agreed["value"] >= checks.LEAST_AGREEMENT):
        return ""
    return (
        f"asking back read {percent(share)} of the choices, perhaps wrongly: {asked_back(outcome, reader=reader)}. "
        "Set read_with: reply to leave them unread"
    )


def _shares(interval: tuple[float, float] | None) -> str:
    return "" if interval is None else f" ({ends(interval)})"
