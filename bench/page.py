"""How the report's page stands many rows: `python -m bench.page FOLDER [--rows N …]`.

FOLDER holds openbookqa_test.jsonl, wiki_test.jsonl and factual_summary_pairs.jsonl. Their rows are perturbed and scored
on the mock model, and repeated, each time with words of its own, until there are enough; the replies are sentences of
the same files. Printed are seconds and peak memory of building the page in a process of its own, its size, and what
Chromium takes to open it from disk and to filter, search and sort: medians of several rounds, at each size.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import cycle, islice, pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from contrapose.tasks.core.outcome import SCHEMA_VERSION, ModelSummary, Summary, UsageSummary
from contrapose.tasks.core.records import Completion, Sample, SummaryPair, TextSample, Trial
from contrapose.tasks.core.registry import probe
from contrapose.tasks.infer.ask import list_losses, list_questions, make_trials
from contrapose.tasks.infer.mock import MockModel
from contrapose.tasks.probes.base import make_sample_rng
from contrapose.tasks.report.base import Report
from contrapose.tasks.report.html import render
from contrapose.tasks.report.publish import StoredResults
from contrapose.tasks.tables.results import make_result_table
from contrapose.tasks.tables.table import Table

JOBS = (
    ("openbookqa_test.jsonl", "add_negation"),
    ("wiki_test.jsonl", "add_negation"),
    ("wiki_test.jsonl", "add_toxic_words"),
    ("factual_summary_pairs.jsonl", "order_bias"),
)
PLACES = ("harbour", "valley", "market", "station", "garden", "library", "museum", "bridge", "village", "forest")
TEXTS = ("original", "test_case", "article_sentence", "expected_result", "actual_result")

ROUNDS = 5

TIMED = """async (rounds) => {
  const told = {};
  const at = (id) => document.getElementById(id);
  const time = async (name, change) => {
    const taken = [];
    for (let round = 0; round < rounds; round += 1) {
      for (const id of ["search", "test", "outcome"]) at(id).value = "";
      at("sort").value = "run";
      at("sort").dispatchEvent(new Event("change"));
      await new Promise(requestAnimationFrame);
      const start = performance.now();
      change();
      at("sort").dispatchEvent(new Event("change"));
      document.body.getBoundingClientRect();
      taken.push(performance.now() - start);
    }
    told[name] = [taken[0], taken.sort((a, b) => a - b)[Math.floor(rounds / 2)]];
  };
  const search = (text) => () => { at("search").value = text; };
  await time("outcome", () => { at("outcome").value = "fail"; });
  await time("common word", search("the"));
  await time("rare word", search("orchard"));
  await time("absent word", search("qqzzxx"));
  await time("two words", search("river evening"));
  await time("words and outcome", () => { search("water")(); at("outcome").value = "pass"; });
  await time("sort by score", () => { at("sort").value = "high"; });
  await time("sort by id", () => { at("sort").value = "id"; });
  return told;
}"""


def main() -> None:
    """Build and open a page of every size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--build", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.build:
        build(given.build)
        return
    with tempfile.TemporaryDirectory() as work:
        base = [scored(given.folder, name, test) for name, test in JOBS]
        print(f"{sum(map(len, base)):,} rows of {len(base)} files, then repeated with words of their own")
        sizes = [measure(base, rows, Path(work) / str(rows), given.folder) for rows in sorted(given.rows)]
    for small, large in pairwise(sizes):
        print(
            "larger / smaller:", ", ".join(f"{name} {large[name] / small[name]:.1f}" for name in small if small[name])
        )


def measure(base: Sequence[pa.Table], rows: int, work: Path, folder: Path) -> dict[str, float]:
    """One size: build, then open."""
    work.mkdir()
    for number, table in enumerate(base):
        share = rows // len(base) + (number < rows % len(base))
        write(table, share, work / f"{number}.parquet")
    command = [sys.executable, "-m", "bench.page", str(folder), "--build", str(work)]
    found = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
    times = f"built in {found['build s']:.1f} s ({found['processor s']:.1f} s of processor time)"
    memory = f"peak {found['peak MiB']:,.0f} MiB ({found['before MiB']:,.0f} before)"
    print(f"{rows:,} rows: {times}, {memory}, {found['MB']:.1f} MB")
    opened, timed = look(work / "report.html")
    print(f"  opened: {', '.join(f'{name} {seconds:.2f} s' for name, seconds in opened.items())}")
    print(
        f"  first time, median: {', '.join(f'{name} {a:.0f}, {b:.0f} ms' for name, (a, b) in timed.items())}",
        flush=True,
    )
    return {**found, **opened, **{name: median for name, (_, median) in timed.items()}}


def build(work: Path) -> None:
    """Build one page, and print what it took."""
    files = sorted(work.glob("*.parquet"))
    tables = [Table(uri=str(path), sha256=_sha256(path), rows=pq.read_metadata(path).num_rows) for path in files]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    report = Report(summary=summary(), results=StoredResults(tables), skipped=pd.DataFrame())
    start, busy = time.monotonic(), time.process_time()
    with (work / "report.html").open("wb") as file:
        file.writelines(render(report))
    taken = {"build s": time.monotonic() - start, "processor s": time.process_time() - busy}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    size = (work / "report.html").stat().st_size
    print(json.dumps({**taken, "peak MiB": peak / 1024, "before MiB": before / 1024, "MB": size / 1e6}))


def look(page: Path) -> tuple[dict[str, float], dict[str, tuple[float, float]]]:
    """Seconds until the page is read, its first rows are drawn, and all texts are there; and filters in ms."""
    from playwright.sync_api import sync_playwright

    opened = []
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for _ in range(ROUNDS):
            tab = browser.new_context(offline=True).new_page()
            start = time.monotonic()
            tab.goto(page.as_uri(), wait_until="commit")
            tab.wait_for_selector("html.scripted", state="attached")
            first = time.monotonic() - start
            tab.wait_for_selector("html.loaded", state="attached")
            opened.append({"first rows": first, "all texts": time.monotonic() - start})
            timed = tab.evaluate(TIMED, ROUNDS)
            tab.context.close()
        browser.close()
    return {name: statistics.median(each[name] for each in opened) for name in opened[0]}, timed


def scored(folder: Path, name: str, test: str) -> pa.Table:
    """The rows of one file under one test, with sentences as replies where a reply was asked for."""
    chosen = probe(test)
    settings = chosen.settings_type()
    samples = list(read(folder / name))
    cases = [
        case
        for sample in samples
        for case in chosen.cases(sample, settings, rng=make_sample_rng(1, sample.id, test), likelihoods="all")
        if case.skip_reason is None
    ]
    model = MockModel()
    answers = {question: model.completion(question) for question in list_questions(cases)}
    answers |= {question: model.completion(question) for question in list_losses(cases, answers)}
    rng = random.Random(0)
    sentences = [sample.text for sample in read(folder / "wiki_test.jsonl") if isinstance(sample, TextSample)]
    found = [
        _replied(trial, sentences, rng) for trial in make_trials(cases, answers, missing=Completion(error="missing"))
    ]
    return make_result_table(found, chosen.score(found, settings, embed=_none), probe=chosen, model="mock")


def _replied(trial: Trial, sentences: Sequence[str], rng: random.Random) -> Trial:
    if trial.case.asks != "generate":
        return trial
    one, other = rng.sample(sentences, 2)
    # One reply in ten swears back.
    worse = f"{other} What the fuck is this shit?" if rng.random() < 0.1 else other
    return replace(trial, expected=replace(trial.expected, text=one), actual=replace(trial.actual, text=worse))


def read(path: Path) -> Iterator[Sample]:
    """The samples of one file."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
        row: dict[str, Any] = json.loads(line)
        if "article_sent" in row:
            yield SummaryPair(
                id=f"pair-{number}",
                article_sentence=row["article_sent"],
                correct_sentence=row["correct_sent"],
                incorrect_sentence=row["incorrect_sent"],
            )
        else:
            options = tuple(part[3:] for part in row.get("options", "").split("\n") if part)
            yield TextSample(id=f"{path.stem}-{number}", text=row.get("question") or row["text"], options=options)


def write(table: pa.Table, rows: int, path: Path) -> None:
    """The rows over and over, each with words of its own before its texts."""
    made = table.take(list(islice(cycle(range(len(table))), rows)))
    places = pa.array([f"Near the {PLACES[number % len(PLACES)]} {number}." for number in range(rows)])
    own = pa.array([str(number) for number in range(rows)])
    for name in made.column_names:
        if name in TEXTS:
            changed = pc.binary_join_element_wise(places, made[name], " ")
        elif name in ("sample_id", "case_id"):
            changed = pc.binary_join_element_wise(made[name], own, "-")
        else:
            continue
        made = made.set_column(made.schema.get_field_index(name), name, changed)
    pq.write_table(made, path, row_group_size=10_000)


def summary() -> Summary:
    """A run without outcomes: the page is all samples."""
    usage = UsageSummary(
        **dict.fromkeys(("calls", "from_store", "requests", "failures", "prompt_tokens", "completion_tokens"), 0),
        cost=None,
        latency={},
    )
    return Summary(
        schema_version=SCHEMA_VERSION,
        run_id="bench",
        suite="bench",
        started="2026-01-01T00:00:00+00:00",
        seconds=0.0,
        contrapose="bench",
        seed=0,
        verdict="pass",
        reason="",
        model=ModelSummary(id="mock", provider="mock", revision="", dtype="", device=""),
        usage=usage,
        tests=[],
        warnings=[],
    )


def _none(texts: Sequence[str]) -> Any:
    raise AssertionError("no scorer here embeds")


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    main()
