"""What a run prints at a terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import sys
import termios

import pytest

from contrapose.flows.orchestration.spinner import STEPS

RUN = ["run", "--model", "mock", "--limit", "6", "--out", "out"]

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("own_store", "in_tmp")]


def at_terminal(arguments: list[str], *, columns: int, interrupted_at: bytes | None = None) -> tuple[int, str]:
    """Run the command at a terminal, press Ctrl-C once that appears; its exit code and all it wrote there."""
    child, terminal = pty.fork()
    if child == 0:
        os.execv(sys.executable, [sys.executable, "-m", "contrapose.flows.cli", *arguments])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    written = b""
    while True:
        try:
            written += os.read(terminal, 65_536)
        except OSError:
            break
        if interrupted_at and interrupted_at in written:
            os.write(terminal, b"\x03")
            interrupted_at = None
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), written.decode()


def test_a_terminal_of_eighty_columns_is_not_overrun(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("COLUMNS", "LINES", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    code, written = at_terminal(RUN, columns=80)
    lines = [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line) for line in re.split(r"[\r\n]+", written)]
    assert code in (0, 1, 3)
    assert not [line for line in lines if len(line) > 80 and not line.startswith("Report: ")]
    assert any(re.match(r"asking mock .*\d+/\d+", line) for line in lines)
    # The second where Prefect's database is there already.
    own = (STEPS["database"], STEPS["start"])
    assert any(line.endswith(own) for line in lines)
    others = [line.lower() for line in lines if not line.endswith(own)]
    assert not [line for line in others if "traceback" in line or "warning" in line or "prefect" in line]


def test_ctrl_c_ends_a_run_in_one_line() -> None:
    code, written = at_terminal(RUN, columns=80, interrupted_at=b"checking cases")
    assert code == 130
    assert "interrupted; run the same command again to continue" in written
    assert "Traceback" not in written
    assert "ERROR" not in written
