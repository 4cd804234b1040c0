"""What handing over a portion costs on each runner: `python -m bench.runners MOCK [--cases N] [--workers N]`.

Every answer is in the store beforehand, so a run does what it does for its portions and nothing else. The same cases
run in many portions and in few; the difference of the seconds in the infer stage, by the difference of the portions, is
what one costs, whatever starting a cluster costs. From it follows how many cases a portion must hold so that no more
than 2 % of a worker's time goes there.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path

from bench.api import serving
from bench.process import run
from bench.scale import samples

SHARE = 0.02
"""Of a worker's time that may go into handing over portions."""
RATES = (20, 100, 500)
"""Cases a second of one worker: a small endpoint, a large one, a model of the mock's speed."""
SIZES = (100, 1000)
RUNNERS = {
    "one after the other": (),
    "threads": ("runner=threads",),
    "dask": ("runner=dask",),
    "ray": ("runner=ray",),
}


def main() -> None:
    """Fill the store, run every runner with both sizes, and print what a portion costs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mock", help="script of an OpenAI-compatible server that takes --port")
    parser.add_argument("--cases", type=int, default=8000)
    parser.add_argument("--workers", type=int, default=2)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as work, serving(chosen.mock) as url:
        folder = Path(work)
        with (folder / "samples.jsonl").open("w") as file:
            file.writelines(json.dumps(row) + "\n" for row in samples("add_toxic_words", chosen.cases))
        seconds(folder, url, (), max(SIZES))
        for name, settings in RUNNERS.items():
            workers = (*settings, f"runner_args.workers={chosen.workers}") if settings else ()
            report(name, {size: seconds(folder, url, workers, size) for size in SIZES}, chosen.cases)


def seconds(folder: Path, url: str, settings: tuple[str, ...], size: int) -> float:
    """Seconds in the infer stage of one run in portions of a size."""
    words = [word for setting in settings for word in ("--set", setting)]
    done = run(
        *("--suite", "full", "--set", "tests.defaults.control=false", "--test", "add_toxic_words", "--model"),
        *("openai/any", "--set", f"model_args.base_url={url}", "--data", str(folder / "samples.jsonl")),
        *("--out", str(folder / "runs"), *words),
        *("--set", f"runner_args.portion={size}"),
        environment={"CONTRAPOSE_HOME": str(folder / "home"), "PREFECT_HOME": str(folder / "prefect")},
    )
    if done.code:
        raise SystemExit(done.err)
    manifest = json.loads((folder / "runs" / json.loads(done.out)["run_id"] / "manifest.json").read_text())
    return float(manifest["timings"]["infer"])


def report(name: str, taken: dict[int, float], cases: int) -> None:
    """One line about a runner."""
    (small, large) = sorted(taken)
    portions = cases / small - cases / large
    each = max((taken[small] - taken[large]) / portions, 0.0)
    sizes = ", ".join(f"{each / SHARE * rate:,.0f} at {rate}/s" for rate in RATES)
    print(
        f"{name}: infer {taken[small]:.1f} s in portions of {small}, {taken[large]:.1f} s of {large}, "
        f"{os.cpu_count()} cores: {1000 * each:.0f} ms a portion, {1000 * each / large * 1000:.0f} ms per 1,000 cases "
        f"in portions of {large:,}; cases of a portion that costs {SHARE:.0%}: {sizes}",
        flush=True,
    )


if __name__ == "__main__":
    main()
