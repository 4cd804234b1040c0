"""The commands of the page of the gallery, run as it shows them, in a folder with a home and stores of its own."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

BLOCK = re.compile(r"^```bash\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PROGRAM = (sys.executable, "-m", "contrapose.flows.cli")
COLUMNS = 96
"""Width of the terminal that they print to."""


def commands(page: Path) -> list[str]:
    """What stands in the blocks of a page, a block each."""
    return BLOCK.findall(page.read_text("utf-8"))


def run(block: str, folder: Path) -> str:
    """Run the commands of a block in a folder; what they print, with the colours of a terminal."""
    script = f'contrapose() {{ {shlex.join(PROGRAM)} "$@"; }}\nset -e\n{block}'
    looks = {"FORCE_COLOR": "1", "COLUMNS": str(COLUMNS)}
    # Progress goes to standard error, and is no part of a picture.
    done = subprocess.run(
        ["bash", "-c", script], cwd=folder, env=environment(folder) | looks, check=True, stdout=subprocess.PIPE
    )
    return done.stdout.decode()


def environment(folder: Path) -> dict[str, str]:
    """Variables without the settings of whoever makes the pictures, and with stores in the folder."""
    usual = {name: value for name, value in os.environ.items() if not name.startswith(("PREFECT_", "CONTRAPOSE_"))}
    return usual | {
        "PREFECT_HOME": str(folder / "prefect"),
        "CONTRAPOSE_HOME": str(folder / "home"),
        "CONTRAPOSE_STORE": f"sqlite:///{folder}/answers.sqlite3",
    }
