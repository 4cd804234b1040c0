"""The notebook of examples/ as people run it: in a kernel with an event loop, and with a server of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from places import REPOSITORY

pytestmark = pytest.mark.slow

NOTEBOOK = REPOSITORY / "examples" / "quickstart.ipynb"
WRONG = "evaluate('nowhere', model=favours_a)"


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """Its cells that hold code, executed, and one more, which is wrong.

    It takes a kernel that imports everything, and a server: some ten seconds.
    """
    folder = tmp_path_factory.mktemp("notebook")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    wrong = nbformat.v4.new_code_cell(WRONG, metadata={"tags": ["raises-exception"]})
    notebook.cells.append(wrong)
    with pytest.MonkeyPatch.context() as patched:
        for name in ("JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "IPYTHONDIR"):
            patched.setenv(name, str(folder / name))
        patched.setenv("JUPYTER_PLATFORM_DIRS", "1")
        patched.setenv("CONTRAPOSE_STORE", f"sqlite:///{folder}/store.db")
        NotebookClient(notebook, timeout=240, resources={"metadata": {"path": str(folder)}}).execute()
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def shown(cell: Any) -> dict[str, str]:
    """What a cell shows at its end, by its type; nothing else comes out of it."""
    (output,) = cell.outputs
    return dict(output.data)


def test_its_outputs_are_stripped_in_the_repository() -> None:
    cells = [cell for cell in json.loads(NOTEBOOK.read_text())["cells"] if cell["cell_type"] == "code"]
    assert [(cell["outputs"], cell["execution_count"]) for cell in cells] == [([], None)] * len(cells)


def test_it_shows_what_would_be_asked(executed: list[Any]) -> None:
    assert "Which of these is a metal?" in shown(executed[1])["text/html"]


def test_a_favourite_letter_fails_and_knowledge_passes(executed: list[Any]) -> None:
    page = shown(executed[2])
    assert page["text/plain"].startswith("<EvaluatedRun fail: option_order fail; runs/")
    assert ">fail</span>" in page["text/html"]
    assert shown(executed[3])["text/html"].count("True") == 4
    compared = shown(executed[4])
    assert compared["text/plain"].startswith("<ComparedRuns better: function/favours_a, function/knows;")
    assert ">better</span>" in compared["text/html"]


def test_the_report_is_there(executed: list[Any]) -> None:
    path = Path(shown(executed[5])["text/plain"].partition("'")[2].rpartition("'")[0])
    assert "function/knows" in path.read_text()


def test_what_is_wrong_is_one_line_of_the_cell(executed: list[Any]) -> None:
    (output,) = executed[6].outputs
    assert (output.output_type, output.ename) == ("error", "ConfigError")
    (line,) = output.traceback
    assert line.startswith("ConfigError: unknown suite 'nowhere'; expected one of ")
