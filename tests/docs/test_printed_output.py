"""A page prints what its command prints; an ellipsis stands for anything, on a line of its own for any lines."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest
from docs_pages import BLOCK, DOCS, Block, blocks, commands
from own_process import run_process
from prefect.settings import PREFECT_API_URL

COMMAND = re.compile(r"^\$ .*(?:(?<=\\)\n.*)*\n?", re.MULTILINE)


def printed(block: Block) -> str:
    """What a block shows below its command."""
    return COMMAND.sub("", block.text)


def pattern(text: str) -> re.Pattern[str]:
    """What a command has to print."""
    lines = [r"(?:.*\n)*?" if line == "…" else re.escape(line).replace("…", ".*") + r"\n" for line in text.splitlines()]
    return re.compile("".join(lines))


SHOWN = [block for block in blocks("console") if block.text.startswith("$ ") and printed(block).strip()]


def test_pages_show_output() -> None:
    assert {block.page for block in SHOWN} >= {f"docs/how-to/{name}.md" for name in ("costs", "preview", "stop-early")}


@pytest.mark.slow
@pytest.mark.usefixtures("prefect_server")
@pytest.mark.parametrize("block", SHOWN, ids=str)
def test_page_prints_what_its_command_prints(block: Block, tmp_path: Path) -> None:
    (questions,) = [
        match[2] for match in BLOCK.finditer((DOCS / "tutorial.md").read_text("utf-8")) if match[1] == "csv"
    ]
    (tmp_path / "questions.csv").write_text(questions, "utf-8")
    (arguments,) = commands(block)
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("CONTRAPOSE_", "OPENAI_"))},
        "CONTRAPOSE_HOME": str(tmp_path / "home"),
        "PREFECT_API_URL": str(PREFECT_API_URL.value()),
        "COLUMNS": "80",
    }
    done = run_process(sys.executable, "-m", "contrapose.flows.cli", *arguments, cwd=tmp_path, env=environment)
    output = "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())
    assert done.returncode == 0, done.stderr
    assert pattern(printed(block)).fullmatch(output), output
