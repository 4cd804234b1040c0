"""Seconds that results and verdicts take on one core: `python -m bench.verdicts [--rows N] [--variant NAME …]`.

Trials are made by the project's own probes and written as trial tables, which is not timed: two thirds are cases and
one third controls, in clusters of one to five samples. Then the evaluate stage runs on one core as its tasks do, but
without Prefect: trials are read, scored and written as results; the results are read and summarised, with every
interval and bootstrap. Seconds are of processor time, in a process for each measurement.

Equal replies are read once: with `letters` few differ; with `words` every tenth is unlike all others, and reading those
takes most of the time. No reply needs embeddings, whose time is a model's.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import count, islice
from multiprocessing import get_context
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd

from bench.scale import samples
from contrapose.tasks.config.plan import Plan, plans
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.outcome import DataSummary
from contrapose.tasks.core.records import Case, Completion, SummaryPair, TextSample, Trial, Usage
from contrapose.tasks.core.registry import probe
from contrapose.tasks.evaluate.gate import Rules
from contrapose.tasks.evaluate.scoring import score_trials
from contrapose.tasks.evaluate.summarise import summarise
from contrapose.tasks.evaluate.task import read_scored
from contrapose.tasks.infer.mock import WORDS
from contrapose.tasks.probes.base import make_sample_rng
from contrapose.tasks.tables.columnar import split_batches
from contrapose.tasks.tables.results import make_result_schema
from contrapose.tasks.tables.table import ROWS, Table, iterate, write, write_arrow

Item = TypeVar("Item")
Answer = Callable[[Case, random.Random, int], Completion]

STATEMENTS = ("{}.", "Answer: {}", "({})", "**{}**", "Summary {} is consistent with the article.", "The answer is {}.")
REASONS = "{} because the article says so at line {} and the other summary does not."
BAD = ("damn", "shit", "crap", "fuck")


class Variant(NamedTuple):
    """A test and how its prompts are answered."""

    test: str
    answer: Answer


def likelihoods(case: Case, rng: random.Random, number: int) -> Completion:
    """Log-likelihoods of both letters."""
    scores = (rng.uniform(-4, -0.1), rng.uniform(-4, -0.1))
    return Completion(text="AB"[scores[1] > scores[0]], option_loglikelihoods=scores, usage=Usage(calls=1))


def letters(case: Case, rng: random.Random, number: int, *, unlike: float = 0.0) -> Completion:
    """Half bare letters, then short statements, and a share of replies that are unlike all others."""
    letter, drawn = rng.choice("AB"), rng.random()
    text = letter if drawn < 0.5 else rng.choice(STATEMENTS).format(letter)
    return Completion(text=REASONS.format(letter, number) if drawn > 1 - unlike else text, usage=Usage(calls=1))


def sentence(case: Case, rng: random.Random, number: int) -> Completion:
    """Words of which each twentieth reply has a bad one; every reply is unlike all others."""
    words = [*rng.choices(WORDS, k=16), str(number)]
    if rng.random() < 0.05:
        words.insert(8, rng.choice(BAD))
    return Completion(text=" ".join(words) + ".", usage=Usage(calls=1))


VARIANTS = {
    "likelihood": Variant("order_bias", likelihoods),
    "letters": Variant("order_bias", letters),
    "words": Variant("order_bias", partial(letters, unlike=0.1)),
    "toxic": Variant("add_toxic_words", sentence),
}


def main() -> None:
    """Measure each variant, and print a line for it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--variant", choices=VARIANTS, nargs="+", default=list(VARIANTS))
    given = parser.parse_args()
    for name in given.variant:
        with tempfile.TemporaryDirectory() as work:
            os.environ["CONTRAPOSE_STORAGE"] = work
            table = alone(made, name, given.rows)
            print(f"{name}: {alone(measured, name, table)}", flush=True)


def alone(call: Callable[..., Any], *arguments: object) -> Any:
    """The result of a call in a process of its own."""
    with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as pool:
        return pool.submit(call, *arguments).result()


def made(name: str, rows: int) -> Table:
    """The trial table of a variant."""
    return write(islice(trials(VARIANTS[name]), rows), Trial)


def trials(variant: Variant) -> Iterator[Trial]:
    """Trials without an end: of every two samples, the second has a control too."""
    chosen, rng = probe(variant.test), random.Random(0)
    settings, given = chosen.settings_type(), "choices" if variant.answer is likelihoods else "none"
    for number, sample in enumerate(clustered(variant.test, rng)):
        for case in chosen.cases(sample, settings, rng=make_sample_rng(0, sample.id, variant.test), likelihoods=given):
            twin = chosen.control(case, sample, settings, rng=rng) if number % 2 else None
            for each in filter(None, (case, twin)):
                yield Trial(
                    case=each,
                    expected=variant.answer(each, rng, 2 * number),
                    actual=variant.answer(each, rng, 2 * number + 1),
                )


def clustered(test: str, rng: random.Random) -> Iterator[Any]:
    """The bundled samples over and over, one to five of them in a cluster."""
    rows = samples(test, 10**9)
    kind = probe(test).sample_type
    fields = ("id", "text") if kind is TextSample else ("id", *SummaryPair.__slots__[1:4])
    for cluster in count():
        for row in islice(rows, rng.randint(1, 5)):
            yield kind(**{name: row[name] for name in fields}, cluster=f"c{cluster}")


def measured(name: str, table: Table) -> str:
    """Seconds of each part of the stage on one core, rows and peak memory."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    test = VARIANTS[name].test
    (plan,) = plans(RunConfig.model_validate({"tests": {probe(test).category: {test: {}}}}))
    spent: Counter[str] = Counter()
    started = time.process_time()
    results = evaluated(table, plan, spent)
    spent["write results"] = time.process_time() - started - spent.total()
    judged = time.process_time()
    frame = read_scored(results, test)
    spent["read results"] = time.process_time() - judged
    rules = Rules(min_pass_rate=plan.min_pass_rate, max_error_share=0.02, gate="interval")
    nothing = pd.DataFrame({"sample_id": [], "skip_reason": []})
    summarise(frame, nothing, plan, data=DataSummary(source="bench", sha256="", rows=results["rows"]), rules=rules)
    whole = time.process_time() - started
    spent["summarise"] = whole - spent.total()
    parts = ", ".join(f"{part} {seconds:.1f}" for part, seconds in spent.items())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return f"{results['rows']:,} rows in {whole:.1f} s on one core, peak {peak:,.0f} MiB; {parts}"


def evaluated(table: Table, plan: Plan, spent: Counter[str]) -> Table:
    """The results of a trial table, as the evaluate task makes them."""
    records = timed(split_batches(iterate(table, Trial), ROWS), spent, "read trials")
    scored = (score_trials(portion, plan, model="bench", embed=never) for portion in records)
    return write_arrow(timed(scored, spent, "score", without="read trials"), make_result_schema(probe(plan.test)))


def timed(items: Iterable[Item], spent: Counter[str], name: str, *, without: str | None = None) -> Iterator[Item]:
    """The items; the seconds that they take are added up, without those of another part that runs inside."""
    rest = iter(items)
    while True:
        started, inside = time.process_time(), spent[without] if without else 0
        item = next(rest, None)
        spent[name] += time.process_time() - started - ((spent[without] - inside) if without else 0)
        if item is None:
            return
        yield item


def never(texts: object) -> np.ndarray:
    """Stands in for embeddings."""
    raise AssertionError("no reply of this measurement needs embeddings")


if __name__ == "__main__":
    main()
