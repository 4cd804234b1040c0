"""How long the main job takes, first and again: `python -m bench.corridor`.

The first run starts from an empty cache of tasks (the converted model is kept); the second repeats it.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from bench.process import run
from contrapose.tasks.core.home import home_folder


def main() -> None:
    """Run the quickstart twice and print seconds, stages and model calls of both."""
    with tempfile.TemporaryDirectory() as work:
        (Path(work) / "home").mkdir()
        models = home_folder() / "models"
        models.mkdir(parents=True, exist_ok=True)
        (Path(work) / "home" / "models").symlink_to(models)
        first, second = (measure(Path(work), number) for number in ("first", "second"))
    print(f"second / first: {second / first:.2f}")


def measure(work: Path, name: str) -> float:
    """One run; its wall seconds."""
    environment = {"CONTRAPOSE_HOME": str(work / "home"), "PREFECT_HOME": str(work / "prefect")}
    done = run("--suite", "quickstart", "--out", str(work / "runs"), environment=environment)
    if done.code:
        raise SystemExit(done.err)
    summary = json.loads(done.out)
    manifest = json.loads((work / "runs" / summary["run_id"] / "manifest.json").read_text())
    asked = summary["usage"]["calls"]
    print(f"{name}: {done.seconds:.1f} s, {asked} model calls, stages in seconds: {manifest['timings']}")
    return done.seconds


if __name__ == "__main__":
    main()
