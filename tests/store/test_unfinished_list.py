"""`contrapose resume` without an id: which runs are unfinished, and which of them still run."""

from __future__ import annotations

import os
import subprocess
import sys

from contrapose.flows.cli.run import list_unfinished
from contrapose.tasks.store import Store

BEGIN = (
    "from contrapose.tasks.store import Store\n"
    "Store().runs.begin('killed', config='{}', folder='/')\n"
    "import os; os.kill(os.getpid(), 9)"
)


def test_a_run_that_was_killed_is_interrupted_at_once(own_store: str) -> None:
    subprocess.run([sys.executable, "-c", BEGIN], env={**os.environ, "CONTRAPOSE_STORE": own_store}, check=False)
    Store().runs.begin("here", config="{}", folder="/")
    lines = {line.split()[0]: line for line in list_unfinished()}
    assert "  running, " in lines["here"]
    assert "  interrupted, " in lines["killed"]
