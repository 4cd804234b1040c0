"""Which one-line changes of the code no test notices: `python -m bench.mutation --package statistics --all`.

Each change (bench/mutation_operators.py) is made in memory, in a process of its own, and the tests beside the package
that run through the line are run until one fails. The score is the share of changes that were noticed; of a sample it
has Wilson's interval. Every change that survives is printed, and is to stand in bench/mutation_survivors.md with the
reason why no test notices it: the exit status is 1 where one does not, or where the score misses its bar.

PostgreSQL is left out, since each of the processes would start one: what only it runs through is listed as such.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.mutation_operators import Mutant, mutants
from bench.mutation_template import Job, try_jobs
from bench.mutation_worker import Covered, cover, module_of, preload, try_mutant

ROOT = Path(__file__).parent.parent
SURVIVORS = Path(__file__).with_name("mutation_survivors.md")
BAR = 0.85
"""Share of the changes that are to be noticed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """Code, and the tests beside it."""

    folder: str
    tests: tuple[str, ...]
    without: tuple[str, ...] = ()
    """Folders below that belong to another package."""
    unless: str = ""
    """Which of the tests, in pytest's words; all where it is empty."""


TIMED = "not llmbar and not linear and not probabilities_are"
"""Leaves out tests of the time that something takes, and those of thousands of replies."""
PACKAGES = {
    "statistics": Package(folder="tasks/statistics", tests=("tests/statistics",)),
    "evaluate": Package(folder="tasks/evaluate", tests=("tests/evaluate",)),
    "store": Package(
        folder="tasks/store",
        tests=(
            "tests/store",
            "tests/core/test_secrets.py",
            "tests/infer/test_constrained.py",
            "tests/flows/test_cache.py",
        ),
    ),
    "probes": Package(
        folder="tasks/probes",
        tests=("tests/probes", "tests/golden"),
        unless=TIMED,
    ),
    "english": Package(
        folder="tasks/language",
        without=("tasks/language/replies",),
        tests=(
            *("tests/language", "tests/probes/edits", "tests/golden"),
            *(f"tests/probes/test_negation_{what}.py" for what in ("rules", "skips", "remove", "options")),
        ),
        unless=f"{TIMED} and not grows",
    ),
    "replies": Package(
        folder="tasks/language/replies",
        tests=(
            *(f"tests/probes/test_read_{what}.py" for what in ("choice", "explained", "option")),
            *("tests/language/test_spoken.py", "tests/probes/test_refusals.py", "tests/golden/test_outputs.py"),
        ),
        unless=TIMED,
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """A change and what became of it."""

    file: str
    line: int
    name: str
    kind: str
    before: str
    after: str
    outcome: str
    seconds: float

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it from other changes while lines move."""
        return self.file, self.name, self.after


def main() -> int:
    """Try the changes, and print which survive."""
    given = _arguments()
    tried: list[Tried] = []
    for name in given.package or PACKAGES:
        tried += _tried(name, given)
        if given.into:
            given.into.write_text(json.dumps([asdict(each) for each in tried], indent=1), encoding="utf-8")
    return report(tried, reasons(SURVIVORS.read_text(encoding="utf-8")))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", action="append", choices=PACKAGES, help="one of them; all if none is named")
    parser.add_argument("--sample", type=int, default=200, help="changes of each package (%(default)s)")
    parser.add_argument("--all", action="store_true", help="every change")
    parser.add_argument("--seed", type=int, default=0, help="of the sample (%(default)s)")
    parser.add_argument("--budget", type=float, default=60, help="seconds of tests for a change (%(default)s)")
    parser.add_argument("--below", default="", help="only files whose path begins so")
    parser.add_argument("--again", type=Path, help="only what survived in a file that --into has written")
    parser.add_argument("--into", type=Path, help="JSON file for the outcomes")
    return parser.parse_args()


def _tried(name: str, given: argparse.Namespace) -> Iterator[Tried]:
    package, start = PACKAGES[name], time.monotonic()
    chosen = _chosen(package, given)
    covered = cover(ROOT, package.folder, package.tests, without=package.unless)
    preload(covered.modules)
    print(f"{name}: {len(chosen)} changes, {len(covered.seconds)} tests, {time.monotonic() - start:.0f} s", flush=True)
    jobs = [job for number, (file, place) in enumerate(chosen) if (job := _job(number, file, place, covered, given))]
    outcomes = {}
    for answer in try_jobs(package.tests, jobs, without=package.unless):
        if "failing" in answer:
            covered.failed += answer["failing"]
        else:
            outcomes[answer["number"]] = answer["outcome"]
    print(f"{name}: {Counter(outcomes.values())}, {time.monotonic() - start:.0f} s", flush=True)
    for failed in covered.failed:
        print(f"  is left out, for it fails unchanged: {failed}", flush=True)
    for number, (file, place) in enumerate(chosen):
        found = _try(file, place, covered, given.budget, outcomes.get(number))
        if found.outcome in ("survived", "error"):
            print(f"  {told(found)}", flush=True)
        yield found


def _job(number: int, file: str, place: int, covered: Covered, given: argparse.Namespace) -> Job | None:
    mutant = _mutants_of(file)[1][place]
    if mutant.at_import:
        return None

    def after() -> ast.Module:
        tree, found = _mutants_of(file)
        found[place].put()
        return tree

    tests = _tests(mutant, file, covered, given.budget)
    return Job(number=number, file=ROOT / file, before=lambda: _mutants_of(file)[0], after=after, tests=tests)


def _tests(mutant: Mutant, file: str, covered: Covered, budget: float) -> dict[str, float]:
    lines = range(mutant.first, mutant.last + 1)
    return covered.noticing(file, lines, everywhere=mutant.at_import, most=budget)


def _chosen(package: Package, given: argparse.Namespace) -> list[tuple[str, int]]:
    """Files and places of the changes to try: all, a sample, or what survived before."""
    every = [(file, place) for file in _files(package, given.below) for place in range(len(_mutants_of(file)[1]))]
    if given.again:
        before = [Tried(**each) for each in json.loads(given.again.read_text(encoding="utf-8"))]
        wanted = {each.key for each in before if each.outcome in ("survived", "error")}
        return [(file, place) for file, place in every if _key(file, place) in wanted]
    if given.all or len(every) <= given.sample:
        return every
    return sorted(random.Random(given.seed).sample(every, given.sample))


def _files(package: Package, below: str) -> list[str]:
    files = sorted(str(file.relative_to(ROOT)) for file in (ROOT / package.folder).rglob("*.py"))
    return [file for file in files if file.startswith(below) and not file.startswith(package.without)]


def _mutants_of(file: str) -> tuple[ast.Module, list[Mutant]]:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return tree, mutants(tree)


def _key(file: str, place: int) -> tuple[str, str, str]:
    mutant = _mutants_of(file)[1][place]
    return file, mutant.name, mutant.after


def _try(file: str, place: int, covered: Covered, budget: float, known: str | None) -> Tried:
    """A change tried with its modules imported anew, unless it is known to be noticed."""
    tree, found = _mutants_of(file)
    mutant = found[place]
    mutant.put()
    tests = _tests(mutant, file, covered, budget)
    start = time.monotonic()
    outcome = known if known in ("killed", "timeout") else "survived"
    if tests and outcome == "survived":
        outcome = try_mutant(module_of(file), ROOT / file, tree, tests)
    return Tried(
        file=file,
        line=mutant.first,
        name=mutant.name,
        kind=mutant.kind,
        before=mutant.before,
        after=mutant.after,
        outcome=outcome,
        seconds=round(time.monotonic() - start, 2),
    )


def reasons(text: str) -> dict[tuple[str, str, str], str]:
    """The changes that are known to survive, and why: by file, function and changed statement."""
    found, file = {}, ""
    for line in text.splitlines():
        if heading := re.fullmatch(r"## `?(\S+?)`?", line):
            file = heading[1]
        elif entry := re.fullmatch(r"- `([^`]+)`: ``? ?(.+?) ?``?: (.+)", line):
            found[file, entry[1], entry[2]] = entry[3]
    return found


def report(tried: Sequence[Tried], known: dict[tuple[str, str, str], str]) -> int:
    """Print the scores by package and the survivors; 1 where a score misses its bar or a survivor has no reason."""
    print(f"\n{'package':<14}{'tried':>7}{'noticed':>9}{'score':>8}   95 % interval   of these without reason")
    unknown = [each for each in tried if each.outcome in ("survived", "error") and each.key not in known]
    missed = False
    for name, package in PACKAGES.items():
        own = [each for each in tried if _belongs(each.file, package)]
        if own:
            missed |= _row(name, own, unknown)
    for each in unknown:
        print(f"no reason given: {told(each)}")
    print("kinds: " + ", ".join(f"{kind} {share}" for kind, share in _by_kind(tried)))
    return int(missed or bool(unknown))


def _row(name: str, own: Sequence[Tried], unknown: Sequence[Tried]) -> bool:
    """Print one package; whether its score misses the bar."""
    from contrapose.tasks.statistics.shares import make_independent, wilson

    noticed = sum(each.outcome in ("killed", "timeout") for each in own)
    share = make_independent(noticed, len(own))
    low, high = wilson(share)
    without = sum(each in own for each in unknown)
    print(f"{name:<14}{len(own):>7}{noticed:>9}{share.rate:>8.1%}   {low:.1%} to {high:.1%}   {without}")
    return share.rate < BAR


def _belongs(file: str, package: Package) -> bool:
    return file.startswith(package.folder + "/") and not file.startswith(package.without)


def _by_kind(tried: Iterable[Tried]) -> list[tuple[str, str]]:
    every, survived = Counter(each.kind for each in tried), Counter(e.kind for e in tried if e.outcome == "survived")
    return [(kind, f"{count - survived[kind]}/{count}") for kind, count in every.most_common()]


def told(each: Tried) -> str:
    """A change in one line."""
    return f"{each.outcome} {each.file}:{each.line} {each.name} ({each.kind}): {each.before}  =>  {each.after}"


def _alone() -> None:
    """Prefect and others read these when they are imported; and one core is enough for a mutant."""
    os.environ["PREFECT_HOME"] = tempfile.mkdtemp(prefix="mutation-prefect-")
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    os.chdir(ROOT)
    import contrapose.tasks

    if not (ROOT / "tasks").samefile(next(iter(contrapose.tasks.__path__))):
        raise SystemExit(f"contrapose is imported from another folder than {ROOT}; set PYTHONPATH to its .typecheck")


if __name__ == "__main__":
    _alone()
    sys.exit(main())
