"""Install the wheel in dist/ at one end of the declared ranges, then test it: `python .ci/ranges.py lowest-direct`.

    python .ci/ranges.py highest --python python3.13
    python .ci/ranges.py lowest-direct --extra embedded

`lowest-direct` installs every direct dependency at its lower bound, or at the first version above it with a wheel for
this Python; `highest` the newest of everything. What was installed is in build/ranges/.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
QUICK = [f"tests/{folder}" for folder in ("core", "config", "perturb", "evaluate", "tables", "compare")]
"""Tests that need no other program, but for one of them that runs everything."""
TOOLS = ["pytest", "pytest-timeout", "pytest-xdist", "hypothesis", "statsmodels"]
TEST = ["pytest", "-q", "-n", "auto", "-p", "no:cacheprovider", "--ignore=tests/core/test_secrets.py"]
EMBEDDINGS = [f"--ignore=tests/evaluate/{name}.py" for name in ("test_embeddings", "test_embedding_model")]
"""Tests of the extra `embeddings`, which `embedded` contains."""


def resolve(end: str, *, python: str, extra: str | None, target: Path) -> None:
    """Write the versions at one end of the ranges into a file."""
    extras = ["--extra", extra] if extra else []
    versions = ["--python", python, "--resolution", end, "--no-header", "--no-annotate", "--output-file", target]
    # A version without a wheel for this Python would have to be compiled, against a Python that it does not know.
    subprocess.run(["uv", "pip", "compile", "--quiet", "--no-build", "pyproject.toml", *extras, *versions], check=True)


def main() -> None:
    """Resolve, install, run one of each kind of model, then the quick tests."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("end", choices=["lowest-direct", "highest"])
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--extra")
    arguments = parser.parse_args()
    os.chdir(REPOSITORY)
    folder = REPOSITORY / "build" / "ranges"
    folder.mkdir(parents=True, exist_ok=True)
    versions, venv = folder / f"{arguments.end}.txt", folder / arguments.end
    resolve(arguments.end, python=arguments.python, extra=arguments.extra, target=versions)
    (wheel,) = (REPOSITORY / "dist").glob("*.whl")
    subprocess.run(["uv", "venv", "--quiet", "--clear", "--python", arguments.python, venv], check=True)
    install = ["uv", "pip", "install", "--quiet", "--python", venv / "bin" / "python"]
    subprocess.run([*install, "--requirement", versions, *TOOLS], check=True)
    subprocess.run([*install, "--no-deps", wheel], check=True)
    python = [venv / "bin" / "python"]
    subprocess.run([*python, REPOSITORY / ".ci" / "one_of_each.py"], check=True, cwd=folder)
    without = [] if arguments.extra == "embedded" else EMBEDDINGS
    subprocess.run([*python, "-m", *TEST, *without, *QUICK], check=True)


if __name__ == "__main__":
    main()
