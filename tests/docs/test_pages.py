"""The documentation says what is so: commands parse and run, suites load, Python compiles, links lead somewhere."""

from __future__ import annotations

import os
import re
import shlex
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml
from docs_pages import BLOCK, DOCS, Block, blocks, commands, pages
from own_process import run_process
from places import REPOSITORY
from prefect.settings import PREFECT_API_URL

from contrapose.flows.cli import make_parser
from contrapose.tasks.config.suite_files import load_config

SHELL = [block for block in blocks("bash", "console") if list(commands(block))]
LINK = re.compile(r"\]\(([^)\s]+)\)")
SUITE_KEYS = {"tests", "few_shot", "suite"}


@pytest.mark.parametrize("block", SHELL, ids=str)
def test_each_command_is_understood(block: Block) -> None:
    for arguments in commands(block):
        try:
            make_parser(arguments).parse_args(arguments)
        except SystemExit:
            pytest.fail(f"{block.page}: contrapose {shlex.join(arguments)}")


@pytest.mark.parametrize(
    "block", [block for block in blocks("yaml") if SUITE_KEYS & set(yaml.safe_load(block.text))], ids=str
)
def test_each_suite_loads(block: Block, tmp_path: Path) -> None:
    templates = {"exam.j2": "{{ text }} {{ options }}", "chat.j2": "{{ text }}: {{ options }}"}
    for name, template in {**templates, "judge.j2": "{{ first }} {{ second }}"}.items():
        (tmp_path / name).write_text(template)
    (tmp_path / "suite.yaml").write_text(block.text)
    _, warnings = load_config(str(tmp_path / "suite.yaml"))
    assert warnings == []


@pytest.mark.parametrize("block", blocks("python"), ids=str)
def test_each_program_compiles(block: Block) -> None:
    compile(block.text, block.page, "exec")


@pytest.mark.parametrize("path", pages(), ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_each_link_to_a_file_leads_to_one(path: Path) -> None:
    links = [urlsplit(target) for target in LINK.findall(BLOCK.sub("", path.read_text("utf-8")))]
    targets = [(path.parent / link.path).resolve() for link in links if link.path and not link.scheme]
    assert [str(target) for target in targets if not target.exists()] == []


def test_the_readme_is_short() -> None:
    assert len((REPOSITORY / "README.md").read_text("utf-8").split()) < 900


@pytest.mark.slow
@pytest.mark.usefixtures("prefect_server")
def test_the_tutorial_works_as_it_is_written(tmp_path: Path) -> None:
    found = [match.groups() for match in BLOCK.finditer((DOCS / "tutorial.md").read_text("utf-8"))]
    (tmp_path / "questions.csv").write_text(next(text for language, text in found if language == "csv"))
    (tmp_path / "mine.yaml").write_text(next(text for language, text in found if language == "yaml"))
    script = "\n".join(text for language, text in found if language == "bash" and "make " not in text)
    program = f'contrapose() {{ {shlex.quote(sys.executable)} -m contrapose.flows.cli "$@"; }}\nset -e\n{script}'
    environment = {**os.environ, "PREFECT_API_URL": str(PREFECT_API_URL.value())}
    done = run_process("bash", "-c", program, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert len([*tmp_path.glob("runs/*/report.html")]) == 2
    assert "add_negation: INCONCLUSIVE" in done.stdout
    assert "FAIL  Failed a gate: option_order." in done.stdout


def test_the_site_builds_without_a_broken_link_or_a_foreign_host(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason="the extra docs is not installed")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", tmp_path / "site"]
    done = run_process(*command, cwd=REPOSITORY)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "site" / "search" / "search_index.json").stat().st_size > 100_000
    commands_page = (tmp_path / "site" / "reference" / "commands.html").read_text("utf-8")
    assert "--max-cost" in commands_page
    assert "min_contrast_rate" in (tmp_path / "site" / "reference" / "settings.html").read_text("utf-8")
