"""Fuzz everything for a while: `python fuzz_run.py --seconds 600 [TARGET …]`, or `make fuzz`.

Hypothesis has half of a target's time. Where atheris is installed, which follows what code an input reaches, it has the
other half; elsewhere Hypothesis has all of it. What is found is written to tests/fuzz/found and is a test from
then on. The exit code is 1 where something was found.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import re
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.extend(map(str, Path(__file__).parents[1:3]))

from fuzz_targets import Target, targets
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

FOUND = Path(__file__).with_name("found")
BATCH = 500
"""Inputs after which Hypothesis looks at the clock."""
SLOWEST = 10.0
"""Seconds of processor time that no input may take."""


def main() -> int:
    """Fuzz the targets one after the other, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="TARGET", help=f"of {', '.join(targets())}; default: all")
    parser.add_argument("--seconds", type=float, default=600, help="for each target")
    given_ = parser.parse_args()
    guided = importlib.util.find_spec("atheris") is not None
    found = 0
    for name in given_.names or targets():
        share = given_.seconds / 2 if guided else given_.seconds
        by_rule, wrong = with_hypothesis(targets()[name], share)
        by_coverage, more = with_atheris(name, share) if guided else (0, [])
        kept = [keep(name, each) for each in [*wrong, *more]]
        found += len(kept)
        tried = f"{by_rule:,} inputs by Hypothesis, {by_coverage:,} by atheris"
        print(f"{name}: {tried}; found {', '.join(kept) or 'nothing'}", flush=True)
    return 1 if found else 0


def keep(name: str, data: bytes) -> str:
    """Write an input where it becomes a test; the name of its file."""
    path = FOUND / name / hashlib.sha256(data).hexdigest()[:12]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path.name


def with_hypothesis(target: Target, seconds: float) -> tuple[int, list[bytes]]:
    """How many inputs were tried, and the smallest that is wrong, if any."""
    tried, ends, wrong = [0], time.monotonic() + seconds, list[bytes]()

    def run(data: bytes) -> None:
        tried[0] += 1
        try:
            timed(target, data)
        except Exception:
            wrong.append(data)
            raise

    bounds = settings(
        max_examples=BATCH,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
    )
    number = 0
    while time.monotonic() < ends and not wrong:
        number += 1
        try:
            bounds(seed(number)(given(inputs(target.seeds))(run)))()
        except Exception:
            traceback.print_exc()
    return tried[0], wrong[-1:]


def timed(target: Target, data: bytes) -> None:
    """Run a target; what takes too long is wrong, too."""
    started = time.process_time()
    target.run(data)
    spent = time.process_time() - started
    assert spent < SLOWEST, f"{spent:.1f} s"


def inputs(seeds: Sequence[bytes]) -> st.SearchStrategy[bytes]:
    """Right inputs with parts replaced, values of any shape, and any bytes."""
    value = st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
        max_leaves=12,
    )
    words = sorted({word for each in seeds for word in re.findall(rb"[\w.-]{1,40}|[^\w\s]", each)})
    part = st.binary(max_size=8) | st.sampled_from(words) | value.map(dumped)
    change = st.tuples(st.integers(0, 2**16), st.integers(0, 12), part)
    changed = st.builds(replaced, st.sampled_from(list(seeds)), st.lists(change, max_size=8))
    made = st.lists(st.sampled_from(words) | st.sampled_from([b" ", b"\n", b": ", b"- "]), max_size=60).map(b"".join)
    texts = st.text(st.characters(), max_size=200).map(encoded)
    kinds = [changed, changed, made, value.map(dumped), st.binary(max_size=300), texts]
    if documents := [each for each in seeds if each.startswith(b"{") and b"\n" not in each]:
        odd = value | st.sampled_from([-1, 10**20, -(10**20), 1e308, float("nan"), "", [], {}, [None], {"": None}])
        part = st.builds(substituted, st.sampled_from(documents).map(json.loads), st.integers(0, 60), odd)
        kinds += [part.map(dumped)] * len(kinds)
    return st.one_of(kinds)


def substituted(document: Any, place: int, value: object) -> Any:
    """A JSON document with one of its values replaced: the shape stays right where it matters."""
    left = [place % len(json.dumps(document).split(" "))]

    def visit(inner: Any) -> Any:
        left[0] -= 1
        if left[0] == 0:
            return value
        if isinstance(inner, dict):
            return {key: visit(each) for key, each in inner.items()}
        return [visit(each) for each in inner] if isinstance(inner, list) else inner

    return visit(document)


def dumped(value: object) -> bytes:
    return json.dumps(value).encode()


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def replaced(data: bytes, changes: Sequence[tuple[int, int, bytes]]) -> bytes:
    """Data with some stretches replaced, wherever they are."""
    for place, length, new in changes:
        at = place % (len(data) + 1)
        data = data[:at] + new + data[at + length :]
    return data


def with_atheris(name: str, seconds: float) -> tuple[int, list[bytes]]:
    """The same by coverage, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        corpus, wrong = Path(folder, "corpus"), Path(folder, "wrong")
        corpus.mkdir()
        wrong.mkdir()
        for number, each in enumerate(targets()[name].seeds):
            (corpus / str(number)).write_bytes(each)
        command = [sys.executable, str(Path(__file__).with_name("fuzz_guided.py")), name, str(corpus)]
        command += ["-max_len=4096", "-timeout=20", "-rss_limit_mb=4096", f"-artifact_prefix={wrong}/"]
        command.append(f"-max_total_time={int(seconds)}")
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        counts = re.findall(r"^(?:Done |#)(\d+)", done.stderr, re.M)
        found = [each.read_bytes() for each in wrong.iterdir() if not each.name.startswith("slow-unit")]
        if found or done.returncode:
            print(done.stdout[-3000:], done.stderr[-3000:], file=sys.stderr)
        if done.returncode and not found:
            raise RuntimeError(f"{name}: atheris ended with {done.returncode} and kept no input; see above")
        return max(map(int, counts), default=0), found


if __name__ == "__main__":
    sys.exit(main())
