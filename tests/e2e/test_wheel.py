"""A wheel, alone in a new environment outside the checkout, does the main job. Slow: `make test-all`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from places import REPOSITORY

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]


def test_a_wheel_runs_the_quickstart(tmp_path: Path) -> None:
    wheels, venv = tmp_path / "wheels", tmp_path / "venv"
    build = [sys.executable, "-m", "build", "--wheel", "--outdir", str(wheels), str(REPOSITORY)]
    subprocess.run(build, check=True, capture_output=True)
    subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
    wheel = next(wheels.glob("*.whl"))
    # The dependencies are borrowed; a path file does not run the borrowed ones, so editable installs stay out: the
    # entry points of the example are seen, and its modules are not.
    wanted = [wheel, REPOSITORY / "examples" / "contrapose-swap-roles"]
    subprocess.run([venv / "bin" / "pip", "install", "--no-deps", *wanted], check=True, capture_output=True)
    site = next((venv / "lib").glob("python*/site-packages"))
    (site / "borrowed.pth").write_text(sysconfig.get_paths()["purelib"])
    work = tmp_path / "work"
    work.mkdir()
    command = [venv / "bin" / "contrapose", "run", "--suite", "quickstart", "--limit", "3", "--json", "--exit-zero"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["tests"]) == 3
    where = [venv / "bin" / "python", "-c", "import contrapose.flows.cli as c; print(c.__file__)"]
    assert str(venv) in subprocess.run(where, cwd=work, capture_output=True, text=True, check=True).stdout
    script = "import contrapose; print(contrapose.evaluate(model='mock', test='order_bias', limit=3, quiet=True))"
    python = [venv / "bin" / "python", "-c", script]
    done = subprocess.run(python, cwd=work, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("<EvaluatedRun "), done.stderr
    assert done.stderr == ""
    assert next(site.glob("contrapose/py.typed")).is_file()
