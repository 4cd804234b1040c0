"""Make the cases of one test from samples, and check that its gate can be missed and reached."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from heapq import nsmallest

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from contrapose.tasks.config.plan import Plan
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.records import Case, Likelihoods, Sample
from contrapose.tasks.core.registry import probe
from contrapose.tasks.perturb.wordings import Assigned, count_wordings, order_wordings
from contrapose.tasks.probes.base import make_sample_rng
from contrapose.tasks.probes.prompt_settings import PromptSettings
from contrapose.tasks.probes.values import numbers
from contrapose.tasks.statistics.power import highest
from contrapose.tasks.tables.table import Table, batches
from contrapose.tasks.text.wording import distinct_percentages


def build_cases(
    samples: Iterable[Sample],
    plan: Plan,
    *,
    seed: int,
    likelihoods: Likelihoods,
    besides: frozenset[str] = frozenset(),
    wordings: Assigned | None = None,
) -> Iterator[Case]:
    """Yield the cases of every sample; a sample that cannot be changed gets a case with the reason.

    A case depends on the seed, the sample and the test alone. If the plan asks for several replies, a case whose
    replies are generated is followed by its repeats. A control follows the cases of its sample, and belongs to the
    first case that is asked. `besides` are ids of samples that get one more question: the original prompt is also
    answered in words if choices are read by likelihood, otherwise both prompts are asked again. `wordings` are the
    results of `assign_wordings`; None: the samples' own preferences. Each wording of a sample has its own cases and
    control.
    """
    chosen, settings = probe(plan.test), plan.probe_settings
    count, share = count_wordings(plan)

    def number_wordings(sample: Sample) -> Sequence[int | None]:
        if count == 1:
            return (None,)
        return (wordings or {}).get(sample.id) or sorted(order_wordings(sample.id, plan, seed=seed)[:share])

    for sample in samples:
        for place, number in enumerate(number_wordings(sample)):
            worded = settings
            if number is not None and isinstance(settings, PromptSettings):
                worded = settings.in_wording(number)
            rng = make_sample_rng(seed, sample.id, plan.test)
            cases = chosen.cases(sample, worded, rng=rng, likelihoods=likelihoods)
            asked = next((case for case in cases if case.skip_reason is None), None)
            if asked is not None and sample.id in besides and place == 0:
                if asked.asks == "choose":
                    further = replace(asked, also_in_words=bool(settings.answers_in_words(likelihoods)))
                else:
                    further = replace(asked, also_again=plan.noise > 0)
                cases = [further if case is asked else case for case in cases]
            yield from repeat_cases(_name_wording(cases, number), plan.repeats)
            if plan.control and asked is not None:
                control_rng = make_sample_rng(seed, sample.id, f"{plan.test}/control")
                twin = chosen.control(asked, sample, worded, rng=control_rng)
                yield from repeat_cases(_name_wording(() if twin is None else (twin,), number), plan.repeats)
            if asked is None:
                # What skips a sample in one wording skips it in all of them.
                break


def _name_wording(cases: Iterable[Case], number: int | None) -> Iterator[Case]:
    """Yield the cases with the number of their wording in id and field; unchanged if `number` is None."""
    for case in cases:
        yield case if number is None else replace(case, id=f"{case.id}/w{number}", wording=number)


def draw_further_ids(ids: Iterable[str], plan: Plan, *, seed: int, likelihoods: Likelihoods) -> frozenset[str]:
    """Return the ids of the samples that get one more question: those with the lowest hashes."""
    count = plan.probe_settings.answers_in_words(likelihoods) or plan.noise
    if not count:
        return frozenset()

    def hash_name(name: str) -> bytes:
        return hashlib.sha256(f"in words\x00{seed}\x00{name}".encode("utf-8", "surrogatepass")).digest()

    return frozenset(nsmallest(count, ids, key=hash_name))


def repeat_cases(cases: Iterable[Case], times: int) -> Iterator[Case]:
    """Yield each case `times` times; once if it is skipped or read by likelihood, because replies cannot differ."""
    for case in cases:
        yield case
        sampled = case.asks == "generate" and case.skip_reason is None
        for repeat in range(1, times if sampled else 1):
            yield replace(case, id=f"{case.id}#{repeat + 1}", repeat=repeat)


COLUMNS = ["chance", "control", "skip_reason"]


def explain_unreachable(gate: float, cases: int, *, level: float) -> str:
    """Return a sentence if the gate cannot be shown even if all these cases pass; otherwise an empty text."""
    most = highest(cases, level=level)
    if gate <= most:
        return ""
    shown, wanted = distinct_percentages(most, gate)
    return f"no result can pass the gate {wanted}: even {cases:,} of {cases:,} prove at most {shown}"


def count_asked(cases: Table) -> int:
    """Return how many cases are sent to the model, without controls."""
    parts = batches(cases, columns=COLUMNS)
    return sum(
        int(pc.sum(pc.and_(pc.is_null(part["skip_reason"]), pc.invert(part["control"]))).as_py() or 0) for part in parts
    )


def refuse_guessable_gate(plan: Plan, cases: Table) -> None:
    """Raise ConfigError if random guessing reaches the gate of the pass rate, unless controls reveal guessing.

    A gate of zero asks for nothing, and is let through.
    """
    chosen = probe(plan.test)
    controlled = chosen.shows_guessing(plan.probe_settings)
    if plan.control and controlled:
        return
    chance = compute_mean_chance(cases)
    if chance is None or not 0 < plan.min_pass_rate <= chance:
        return
    guessed, gate = distinct_percentages(chance, plan.min_pass_rate)
    raise ConfigError(
        f"the gate ({gate}) is not above random guessing ({guessed})",
        expected=f"a gate above {guessed}",
        remedy=f"Set min_pass_rate above {guessed}" + (", or set control: true." if controlled else "."),
        where=f"{chosen.where}.min_pass_rate",
    )


def compute_mean_chance(cases: Table) -> float | None:
    """Return the mean pass rate of random guessing over the asked cases; None if one of them cannot be guessed."""
    asked = pa.concat_tables(
        part.filter(pc.and_(pc.is_null(part["skip_reason"]), pc.invert(part["control"])))
        for part in batches(cases, columns=COLUMNS)
    )
    chance = numbers(asked["chance"].to_pandas())
    return float(chance.mean()) if len(chance) and np.isfinite(chance).all() else None
