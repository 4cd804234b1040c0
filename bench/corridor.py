"""How long the main job takes, first and again: `python -m bench.corridor`.

The first run starts from an empty cache of tasks (the converted model is kept); the second repeats it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from contrapose.tasks.tables import home


def main() -> None:
    """Run the quickstart twice and print seconds, rooms and model calls of both."""
    with tempfile.TemporaryDirectory() as work:
        (Path(work) / "home").mkdir()
        models = home() / "models"
        models.mkdir(parents=True, exist_ok=True)
        (Path(work) / "home" / "models").symlink_to(models)
        first, second = (measure(Path(work), number) for number in ("first", "second"))
    print(f"second / first: {second / first:.2f}")


def measure(work: Path, name: str) -> float:
    """One run in a process of its own; its wall seconds."""
    environment = os.environ | {"CONTRAPOSE_HOME": str(work / "home"), "PREFECT_HOME": str(work / "prefect")}
    command = [
        sys.executable,
        "-m",
        "contrapose.flows.cli",
        "run",
        "--suite",
        "quickstart",
        "--exit-zero",
        "--json",
        "--out",
        str(work / "runs"),
    ]
    start = time.monotonic()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    seconds = time.monotonic() - start
    summary = json.loads(done.stdout)
    manifest = json.loads((work / "runs" / summary["run_id"] / "manifest.json").read_text())
    asked = summary["usage"]["calls"] - summary["usage"]["cached_calls"]
    print(f"{name}: {seconds:.1f} s, {asked} model calls, rooms in seconds: {manifest['timings']}")
    return seconds


if __name__ == "__main__":
    main()
