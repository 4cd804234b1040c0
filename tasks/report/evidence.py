"""Intervals, effects and what is missing, in words that are the same in every report."""

from __future__ import annotations

from collections.abc import Iterator

from contrapose.tasks.outcome import Effect, GateSummary, Outcome, Slice
from contrapose.tasks.report.wording import counted, ends, figure, number, percent

Ends = tuple[float, float] | None


def between(ends: Ends) -> str:
    """An interval, such as ` (0.47 to 0.57)` with the space before it; empty where it is unknown."""
    return "" if ends is None else f" ({number(round(ends[0], 3))} to {number(round(ends[1], 3))})"


def figures(outcome: Outcome) -> Iterator[tuple[str, str]]:
    """Names and values of the figures of a test, with 95 % intervals where they are means."""
    for name, value in outcome["figures"].items():
        found = outcome["estimates"].get(name)
        among = _among(outcome, name)
        basis = f", of {found['rows']:,} {among}" if found and among else ""
        yield name, figure(value) + (between(found["interval"]) if found else "") + basis


def effect(outcome: Outcome, found: Effect) -> str:
    """An effect, such as `net toxicity 0.1 (0.02 to 0.18): 0.12 under the change, 0.02 under its control`."""
    sides = f"{number(found['case'])} under the change, {number(found['control'])} under its control"
    told = f"{number(found['value'])}{between(found['interval'])}"
    return f"{found['name'].replace('_', ' ')} {told}: {sides}; {_samples(outcome, found)}"


def subtracted(outcome: Outcome, found: Effect) -> tuple[str, str]:
    """Name and value of an effect, such as `0.12 - 0.02 = 0.1 (0.02 to 0.18); 50 samples`."""
    sides = f"{number(found['case'])} - {number(found['control'])}"
    told = f"{sides} = {number(found['value'])}{between(found['interval'])}; {_samples(outcome, found)}"
    return found["name"].replace("_", " "), told


def ended(told: str) -> str:
    """Words as a sentence with capital letter and full stop; empty where there is nothing to tell."""
    return f"{told[0].upper()}{told[1:].removesuffix('.')}." if told else ""


def missing(outcome: Outcome) -> str:
    """What the cases without a score could change; empty where every asked case was scored."""
    coverage, extremes = outcome["coverage"], outcome["extremes"]
    if coverage is None or extremes is None or coverage == 1:
        return ""
    worst, best = map(percent, extremes)
    asked = outcome["cases"] - outcome["skipped"]
    told = f"{outcome['scored']:,} of {asked:,} cases could be scored ({percent(coverage)})"
    return f"{told}; with the others the pass rate is {worst} to {best}"


def dependent(outcome: Outcome) -> str:
    """How much the cases tell, where they are not independent of each other; else empty."""
    gate = next(iter(outcome["gates"]), None)
    if gate is None or gate["clusters"] == gate["rows"]:
        return ""
    groups = f"{gate['clusters']:,} groups of cases that belong together"
    return f"{gate['rows']:,} cases in {groups} tell as much as {gate['effective']:,.0f} independent ones"


def held(gate: GateSummary) -> str:
    """A rate against its gate, such as `12.5% (5.5-26.1%) of 40 cases; gate 50%, chance 18.8%`."""
    open_ = f", {gate['open']:,} of them open" if gate["open"] else ""
    chance = "" if gate["chance"] is None else f", chance {percent(gate['chance'])}"
    told = f"{percent(gate['rate'])} ({ends(gate['interval'])}) of {counted('cases', gate['rows'])}{open_}"
    return f"{told}; gate {percent(gate['wanted'])}{chance}"


def guessing(outcome: Outcome) -> str:
    """That guessing alone reaches the gate of the pass rate, and what the verdict rests on then; else empty."""
    chance, wanted = outcome["chance"], outcome["min_pass_rate"]
    if chance is None or not 0 < wanted <= chance:
        return ""
    others = " and the ".join(gate["name"].replace("_", " ") for gate in outcome["gates"][1:])
    rests = f", so a pass rests on the {others}" if others else ""
    return f"guessing alone passes {percent(chance)}, and the gate is {percent(wanted)}{rests}"


def sliced(found: Slice) -> str:
    """Pass rate of a slice, such as `75% (9 of 12; 46.8-91.1%), unlike the others (p = 0.012)`."""
    ends = found["interval"]
    sure = "" if ends is None else f"; {100 * ends[0]:.1f}-{100 * ends[1]:.1f}%"
    unlike = f", unlike the others (p = {found['p']:.3f})" if found["p"] is not None and found["p"] <= 0.05 else ""
    return f"{percent(found['pass_rate'])} ({found['passed']:,} of {found['scored']:,}{sure}){unlike}"


def langtest(outcome: Outcome) -> str:
    """What LangTest would have said for the same replies; empty where that was not computed."""
    found = outcome["langtest"]
    if found is None:
        return ""
    rate = percent(found["passed"] / found["judged"])
    return f"LangTest would have passed {rate} of {found['judged']:,} cases, {found['agreed']:,} of them as here"


def _samples(outcome: Outcome, found: Effect) -> str:
    """How many samples an effect is taken over, and which."""
    return f"{counted('samples', found['samples'])} {_among(outcome, found['measure'])}".rstrip()


def _among(outcome: Outcome, measure: str) -> str:
    """Which of the scored cases a measure is taken over; empty where it leaves none of them out."""
    found = outcome["estimates"].get(measure)
    return found["among"] if found and found["rows"] < outcome["scored"] else ""
