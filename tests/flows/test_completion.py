"""What is printed for a shell completes verbs, options, tests and files in that shell."""

from __future__ import annotations

import subprocess
from functools import partial
from pathlib import Path

import pytest

from contrapose.flows.cli import main, parser
from contrapose.flows.cli.completion import SHELLS, completion_script

ASK = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
_shtab_contrapose
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("completion") / "contrapose.bash"
    path.write_text(completion_script("bash", partial(parser, [], complete=True)), encoding="utf-8")
    return path


def completed(script: Path, *words: str) -> list[str]:
    """What a bash offers for the last of these words."""
    done = subprocess.run(["bash", "-c", ASK, "bash", script, *words], capture_output=True, text=True, check=True)
    assert not done.stderr
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "offers"),
    [
        (["r"], {"run", "resume"}),
        (["run", "--su"], {"--suite"}),
        (["run", "--test", "add_n"], {"add_negation"}),
        (["--print-completion", "b"], {"bash"}),
        (["batch", "s"], {"submit", "status"}),
        (["batch", "prompts", "--max-l"], {"--max-lines"}),
    ],
)
def test_bash_completes(script: Path, words: list[str], offers: set[str]) -> None:
    assert set(completed(script, "contrapose", *words)) == offers


def test_bash_completes_files(script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yaml").touch()
    assert completed(script, "contrapose", "run", "--suite", "mi") == ["mine.yaml"]


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_is_printed(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["--print-completion", shell])
    assert end.value.code == 0
    assert "history" in capsys.readouterr().out
