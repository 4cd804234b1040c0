"""Words about one test's rates, intervals and warnings, which all report formats share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import groupby
from typing import NamedTuple

from contrapose.tasks.core.criteria import list_further_gates
from contrapose.tasks.core.noise import EXPLANATIONS, describe_noise
from contrapose.tasks.core.outcome import Effect, GateSummary, Outcome, Summary
from contrapose.tasks.core.records import LEAST_LABEL_MASS
from contrapose.tasks.core.registry import is_probe, probe
from contrapose.tasks.core.slices import Slice
from contrapose.tasks.core.stopping import early_stop
from contrapose.tasks.probes import choices as words
from contrapose.tasks.probes import reader_questions as checks
from contrapose.tasks.probes.choices import MASS_EXPLANATIONS
from contrapose.tasks.probes.known_errors import READ_BY, name_step_shares
from contrapose.tasks.probes.known_errors import UNREAD as UNREAD_REPLIES
from contrapose.tasks.text.wording import (
    counted,
    describe_case_sum,
    describe_changes_by_noise,
    describe_sample_share,
    describe_skips,
    describe_unscored,
    format_figure,
    format_interval,
    format_pass_interval,
    number,
    percent,
)

THE_MODEL = "the model"
"""Name of the reader model where none is set."""


def get_reader_id(summary: Summary) -> str:
    """Return the id of the run's reader model, or the model under test."""
    return summary["reader"]["id"] if "reader" in summary else THE_MODEL


def explain_term(test: str, name: str) -> str:
    """Return the probe's explanation of a figure, gate or scorer, or "" if it has none."""
    if text := {**MASS_EXPLANATIONS, **EXPLANATIONS}.get(name):
        return text
    texts = probe(test).explanations if is_probe(test) else {}
    matching = (text for pattern, text in texts.items() if fnmatchcase(name, pattern))
    return texts.get(name) or next(matching, "")


def format_label(test: str, name: str) -> str:
    """Return the name of a figure or effect as people read it."""
    labels = probe(test).labels if is_probe(test) else {}
    return labels.get(name, name.replace("_", " "))


def yield_legend(outcomes: Iterable[Outcome]) -> Iterator[str]:
    """Yield the name and a one-sentence explanation of each rate with a gate, except the pass rate."""
    rates = ((own["test_type"], gate["name"]) for own in outcomes for gate in list_further_gates(own))
    explained = ((format_label(*rate), explain_term(*rate).partition(". ")[0].removesuffix(".")) for rate in rates)
    yield from dict.fromkeys(f"{name}: {text}" for name, text in explained if text)


class RateCells(NamedTuple):
    """Table cells of a rate with a gate: the pass rate of a test, or a further rate, which has no own verdict."""

    name: str
    rate: str
    interval: str
    gate: str
    chance: str
    scored: int
    cases: int
    verdict: str


def make_rate_cells(outcome: Outcome) -> Iterator[RateCells]:
    """Yield the cells of the pass rate, then of each further rate with a gate."""
    rate, gate, chance = (percent(outcome[name]) for name in ("pass_rate", "min_pass_rate", "chance"))
    numbers = outcome["scored"], outcome["cases"]
    yield RateCells(
        outcome["test_type"], rate, format_pass_interval(outcome), gate, chance, *numbers, outcome["verdict"]
    )
    for own in list_further_gates(outcome):
        rate, gate, chance = map(percent, (own["rate"], own["wanted"], own["chance"]))
        name, numbers = own["name"].replace("_", " "), (own["rows"] - own["open"], own["rows"])
        yield RateCells(name, rate, format_interval(own["interval"]), gate, chance, *numbers, "")


@dataclass(frozen=True, slots=True, kw_only=True)
class TestFacts:
    """Clauses about a test, raw, without capital letter and full stop; empty if there is nothing to say."""

    looked: tuple[str, ...]
    guessing: str
    dependent: str
    asked_again: str
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
    reruns: str


def collect_facts(outcome: Outcome, *, reader: str = THE_MODEL) -> TestFacts:
    """Return the clauses about a test."""
    missing = dependent = guessing = langtest = ""
    coverage, extremes = outcome["coverage"], outcome["extremes"]
    if coverage is not None and extremes is not None and coverage != 1:
        worst, best = map(percent, extremes)
        asked = outcome["cases"] - outcome["skipped"]
        missing = f"{outcome['scored']:,} of {asked:,} cases could be scored ({percent(coverage)})"
        missing += f"; the others could bring the pass rate to {worst} or {best}"
    if (gate := next(iter(outcome["gates"]), None)) and gate["clusters"] != gate["rows"]:
        groups = counted("groups", gate["clusters"])
        dependent = f"{gate['rows']:,} cases from {groups} count as about {gate['effective']:,.0f} independent cases"
    chance, wanted = outcome["chance"], outcome["min_pass_rate"]
    if chance is not None and wanted is not None and 0 < wanted <= chance:
        others = [own["name"].replace("_", " ") for own in list_further_gates(outcome)]
        guessing = f"random guessing reaches a pass rate of {percent(chance)}; the gate is {percent(wanted)}"
        *first, last = others or [""]
        named = f"{', '.join(first)} and {last}" if first else last
        guessing += f", so the {named} {'decide' if first else 'decides'}" if last else ""
    if theirs := outcome["langtest"]:
        rate = percent(theirs["passed"] / theirs["judged"])
        langtest = f"LangTest would pass {rate} of {theirs['judged']:,} cases, and agree on {theirs['agreed']:,}"
    effects = []
    for measured in outcome["effects"]:
        name, value, samples = _effect_parts(outcome, measured)
        sides = f"{number(measured['case'])} under the change, {number(measured['control'])} under the control"
        effects.append(f"{name}: {sides}. Net {value}, over {samples}")
    unread, steps, known_errors = _describe_reading(outcome)
    return TestFacts(
        looked=tuple(describe_looks(outcome)),
        guessing=guessing,
        dependent=dependent,
        asked_again=describe_noise(outcome["estimates"]),
        noise=describe_changes_by_noise(outcome["control"]) if outcome["control"] else "",
        effects=tuple(effects),
        sums=describe_case_sum(outcome),
        missing=missing,
        unread=unread,
        steps=steps,
        known_errors=known_errors,
        trust=tuple(describe_trust(outcome, reader=reader)),
        spoken_of=describe_sample_share(outcome),
        skipped=describe_skips(outcome["test_type"], outcome["skip_reasons"]),
        unscored=describe_unscored(outcome),
        langtest=langtest,
        reruns=describe_reruns(outcome),
    )


def describe_reruns(outcome: Outcome) -> str:
    """Return a clause on how many reruns would give the same verdict, or "" if unknown, as in older runs."""
    share = outcome.get("rerun_share")
    return (
        ""
        if share is None
        else f"of 100 simulated reruns with similar samples, {100 * share:.0f} gave the same verdict"
    )


def _describe_reading(outcome: Outcome) -> tuple[str, str, tuple[str, ...]]:
    """Return clauses on pairs without a choice, on shares of the reading steps, and on their known errors."""
    counting = probe(outcome["test_type"]).without_choice if is_probe(outcome["test_type"]) else ()
    count = sum(int(outcome["figures"].get(name) or 0) for name in counting)
    pairs = f"{count:,} of {outcome['scored'] + outcome['unscored']:,} pairs"
    unread = (
        f"{pairs} have no readable choice in at least one order; the verdict does not depend on them" if count else ""
    )
    shares = name_step_shares(outcome["figures"])
    read = {name: share for name, share in shares.items() if name != UNREAD_REPLIES}
    by = ", ".join(name if share == 1 else f"{name} {percent(share)}" for name, share in read.items())
    unread_share = shares.get(UNREAD_REPLIES)
    steps = (
        f"choices were read by {by}" if by else "",
        f"{percent(unread_share)} could not be read" if unread_share else "",
    )
    known = []
    for (step, source), errors in groupby(outcome["reader"], key=lambda error: (error["by"], error["source"])):
        text = ", ".join(
            f"{error['letter']}: missed {percent(error['missed'] / error['replies'])}, "
            f"read wrongly {percent(error['misread'] / error['replies'])} of {error['replies']:,}"
            for error in errors
        )
        known.append(f"measured error of {step}: {text} ({source})")
    return unread, "; ".join(filter(None, steps)), tuple(known)


def make_sentence(text: str) -> str:
    """Return a clause with capital letter and full stop, or "" for an empty clause."""
    return f"{text[0].upper()}{text[1:].removesuffix('.')}." if text else ""


def make_sentences(*texts: str | Iterable[str]) -> Iterator[str]:
    """Yield the non-empty clauses as sentences."""
    for text in texts:
        yield from filter(None, map(make_sentence, [text] if isinstance(text, str) else text))


def bracket_interval(ends: tuple[float, float] | None) -> str:
    """Return an interval, such as ` (0.47 to 0.57)` with the space before it, or "" if it is unknown."""
    return "" if ends is None else f" ({number(round(ends[0], 3))} to {number(round(ends[1], 3))})"


def _format_interval_ends(interval: tuple[float, float] | None) -> str:
    return "" if interval is None else f" ({format_interval(interval)})"


def _describe_subset(outcome: Outcome, measure: str) -> str:
    """Return a phrase that names the cases of a measure, or "" if it counts all scored cases."""
    estimate = outcome["estimates"].get(measure)
    return estimate["among"] if estimate and estimate["rows"] < outcome["scored"] else ""


def format_figures(outcome: Outcome) -> Iterator[tuple[str, str]]:
    """Yield names and values of a test's figures; means have 95 % intervals."""
    for name, value in outcome["figures"].items():
        estimate = outcome["estimates"].get(name)
        among = _describe_subset(outcome, name)
        basis = f", of {estimate['rows']:,} {among}" if estimate and among else ""
        yield name, format_figure(value) + (bracket_interval(estimate["interval"]) if estimate else "") + basis


def _effect_parts(outcome: Outcome, measured: Effect) -> tuple[str, str, str]:
    """Return the name, the value with interval, and the sample count of an effect."""
    samples = f"{counted('samples', measured['samples'])} {_describe_subset(outcome, measured['measure'])}".rstrip()
    return (
        format_label(outcome["test_type"], measured["name"]),
        number(measured["value"]) + bracket_interval(measured["interval"]),
        samples,
    )


def format_effect(outcome: Outcome, measured: Effect) -> tuple[str, str]:
    """Return name and value of an effect, such as `0.12 - 0.02 = 0.1 (0.02 to 0.18); 50 samples`."""
    name, value, samples = _effect_parts(outcome, measured)
    return name, f"{number(measured['case'])} - {number(measured['control'])} = {value}; {samples}"


def format_looks(outcome: Outcome) -> str:
    """Return the number of looks that an interval allows for, such as `over 3 looks`, or "" for one at the end."""
    stopping, earlier = outcome.get("stopping"), len(outcome.get("earlier_looks", []))
    own = stopping["looks"] if stopping else 1
    if own + earlier == 1 and not early_stop(outcome):
        return ""
    return f"over {counted('looks', own + earlier)}" + (f", {earlier:,} of them by earlier runs" if earlier else "")


def describe_looks(outcome: Outcome) -> Iterator[str]:
    """Yield clauses on looks and early stopping: the number of looks, the bias of the rate, other figures."""
    over, early = format_looks(outcome).removeprefix("over "), early_stop(outcome)
    if not over or outcome["verdict"] == "incomplete":
        return
    counting = f"the verdict and the intervals of rates with a gate account for {over}"
    if early is None:
        all_asked = "stopping" in outcome and not outcome.get("earlier_looks")
        yield counting + ("; none decided before all cases were asked" if all_asked else "")
        return
    yield counting
    lean = {"pass": "optimistic", "fail": "pessimistic"}
    if early["beside"]:
        yield "early stopping makes the difference to the other models slightly too large; the verdict allows for it"
    elif outcome["verdict"] in lean:
        yield f"early stopping makes this rate slightly {lean[outcome['verdict']]}; verdict and interval allow for it"
    yield "intervals of slices, effects and means do not allow for early stopping"


def describe_gate(gate: GateSummary) -> str:
    """Return a rate and its gate, such as `12.5% (5.5-26.1%) of 40 cases; gate 50%, guessing 18.8%`."""
    open_ = f", {gate['open']:,} of them not scored" if gate["open"] else ""
    chance = "" if gate["chance"] is None else f", guessing {percent(gate['chance'])}"
    text = f"{percent(gate['rate'])} ({format_interval(gate['interval'])}) of {counted('cases', gate['rows'])}{open_}"
    return f"{text}; gate {percent(gate['wanted'])}{chance}"


def describe_slice(part: Slice) -> str:
    """Return a pass rate, such as `75% (9 of 12; 46.8-91.1%), unlike the others (p = 0.012)`."""
    sure = "" if part["interval"] is None else f"; {format_interval(part['interval'])}"
    unlike = f", unlike the others (p = {part['p']:.3f})" if part["p"] is not None and part["p"] <= 0.05 else ""
    return f"{percent(part['pass_rate'])} ({part['passed']:,} of {part['scored']:,}{sure}){unlike}"


def describe_reader(outcome: Outcome, *, reader: str = THE_MODEL) -> str:
    """Return a clause on the reader model's accuracy, or "" if it decided nothing and was not checked."""
    agreed, made_up = (outcome["estimates"].get(name) for name in ("asked_agreement", "made_up_agreement"))
    by_rules = invented = ""
    if agreed is not None:
        share = f"{percent(agreed['value'])}{_format_interval_ends(agreed['interval'])}"
        by_rules = f"the rules also read {agreed['rows']:,} of the replies: {reader} agrees with them on {share}"
    elif outcome["figures"].get(f"{READ_BY}asked"):
        by_rules = f"the accuracy of {reader} as a reader could not be checked: the rules could read no reply"
    if made_up is not None:
        right = f"{percent(made_up['value'])}{_format_interval_ends(made_up['interval'])}"
        invented = f"{reader} reads {right} of {made_up['rows']:,} made-up replies with a known choice correctly"
    return "; ".join(filter(None, (by_rules, invented)))


def describe_agreement(outcome: Outcome) -> str:
    """Return a clause on how often written replies agree with log-probabilities, or "" if none were requested."""
    agreed, unread_share = (outcome["estimates"].get(name) for name in ("reply_agreement", "reply_unread"))
    if unread_share is None:
        return ""
    asked = f"{counted('samples', unread_share['rows'])} {'was' if unread_share['rows'] == 1 else 'were'} also answered"
    if agreed is None:
        return f"{asked} in words: no reply could be read" if unread_share["value"] else ""
    same = f"{percent(agreed['value'])}{_format_interval_ends(agreed['interval'])} agree with the log-probabilities"
    return f"{asked} in words: {agreed['rows']:,} could be read, {same}"


def describe_trust(outcome: Outcome, *, reader: str = THE_MODEL) -> Iterator[str]:
    """Yield clauses on how far the written replies support a verdict; contradictions are worded as warnings."""
    if count := outcome["figures"].get("read_instead"):
        judged = counted("cases", outcome["scored"] + outcome["unscored"])
        yield (
            f"in {count:,} of {judged} the option letters have less than {percent(LEAST_LABEL_MASS)} of the "
            "probability; the written replies were scored there"
        )
    yield warn_of_disagreement(outcome) or describe_agreement(outcome)
    yield warn_of_misreading(outcome, reader=reader) or describe_reader(outcome, reader=reader)


def yield_warnings(outcome: Outcome, *, reader: str = THE_MODEL) -> Iterator[str]:
    """Yield the warnings that belong next to a verdict."""
    yield from filter(None, (warn_of_disagreement(outcome), warn_of_misreading(outcome, reader=reader)))


def warn_of_disagreement(outcome: Outcome) -> str:
    """Return a warning if written replies disagree with log-probabilities, which decided the verdict; else ""."""
    agreed, text = outcome["estimates"].get("reply_agreement"), describe_agreement(outcome)
    if not text or (agreed is not None and agreed["value"] >= words.LEAST_AGREEMENT):
        return ""
    scored = "scored by log-probability; scoring the written replies may give another verdict"
    return f"{scored}. {make_sentence(text)} Set read_with: reply to score the replies"


def warn_of_misreading(outcome: Outcome, *, reader: str = THE_MODEL) -> str:
    """Return a warning if the reader model may have misread choices; "" if it read none or is accurate."""
    agreed, share = outcome["estimates"].get("asked_agreement"), outcome["figures"].get(f"{READ_BY}asked")
    if not share or (agreed is not None and agreed["value"] >= checks.LEAST_AGREEMENT):
        return ""
    return (
        f"the reader model decided {percent(share)} of the choices, perhaps wrongly: "
        f"{describe_reader(outcome, reader=reader)}. Set read_with: reply to count these replies as unreadable"
    )
