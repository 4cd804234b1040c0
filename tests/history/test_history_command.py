"""`contrapose history`: rates over time and what changed, for people and for programs."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from past_runs import past_run, past_test
from rich.console import Console

from contrapose.flows.cli import main
from contrapose.flows.cli.history import BLOCKS, show_runs
from contrapose.tasks.history.dataset import append_run

HOSTILE = (
    '=HYPERLINK("http://evil.example")',
    "[bold]x[/bold]",
    "\x1b[31mred\x1b]0;t\x07",
    "\u202egnp\u200b",
    "@x\r\ny",
)


def history(where: Path, *runs: object) -> str:
    for number, run in enumerate(runs):
        append_run(str(where), run, key=f"{number}")  # type: ignore[arg-type]
    return str(where)


@pytest.fixture
def three(tmp_path: Path) -> str:
    """Green, red with a new torch, red with a new seed, too."""
    made = past_run()["made_of"]
    untold = past_test(test_type="order_bias", pass_rate=None, interval=None)
    newer = {**made, "library": {"python": "3.11.7", "torch": "2.14.0"}}
    return history(
        tmp_path,
        past_run(0, verdict="pass", tests=[past_test(verdict="pass", pass_rate=0.9)]),
        past_run(1, verdict="fail", made_of=newer, tests=[past_test(verdict="fail", pass_rate=0.5)]),
        past_run(2, verdict="fail", made_of={**newer, "prompt": {"seed": "7"}}, tests=[past_test(), untold]),
    )


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["history", *arguments]) == 0
    return capsys.readouterr().out


def test_the_table_tells_rate_interval_gate_verdict_and_what_changed(
    three: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = told(capsys, "--history", three)
    assert "add_negation · mock · harbour" in text
    assert "▇▄▆ 90% to 75%" in text or "█▅▇ 90% to 75%" in text
    assert "2026-03-02 08:30" in text
    assert "55.1-88.0%" in text
    assert "FAIL" in text
    assert "library" in text
    assert "order_bias · mock · harbour" in text


@pytest.mark.parametrize("changes", [False, True])
@pytest.mark.parametrize("text", ["x" * 200, *HOSTILE])
def test_everything_fits_eighty_columns_and_nothing_steers_the_terminal(text: str, changes: bool) -> None:
    runs = [
        past_run(day, suite=text, model=text, tests=[past_test(test_type=text)], made_of={"prompt": {text: text * day}})  # type: ignore[dict-item]
        for day in (1, 2)
    ]
    console = Console(width=80, force_terminal=False, file=io.StringIO())
    shown = "".join(show_runs(runs, changes=changes, console=console))
    assert all(len(line) <= 80 for line in shown.splitlines())
    assert not set("\x1b\x07\u202e\u200b\r") & set(shown)


def test_a_terminal_without_blocks_gets_plain_signs(three: str) -> None:
    from contrapose.flows.cli.history import read_past_runs

    class Ascii(io.StringIO):
        encoding = "ascii"

    found, _ = read_past_runs(three, "runs")
    for changes in (False, True):
        shown = "".join(show_runs(found, changes=changes, console=Console(width=80, file=Ascii())))
        assert shown.isascii()
        assert not set(BLOCKS) & set(shown)


def test_the_changes_are_those_since_the_last_run_that_passed(three: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = told(capsys, "--history", three, "--changes")
    assert "compared with 2026-03-01 08:30:00 (the last one that passed)" in " ".join(text.split())
    assert "prompt, library" in text
    assert "2.13.0" in text
    assert "2.14.0" in text


def test_programs_get_json(three: str, capsys: pytest.CaptureFixture[str]) -> None:
    rows = json.loads(told(capsys, "--history", three, "--format", "json"))
    assert len(rows) == 4
    assert rows[0]["pass_rate"] == 0.9
    assert (rows[3]["test_type"], rows[3]["pass_rate"], rows[3]["low"]) == ("order_bias", None, None)
    changes = json.loads(told(capsys, "--history", three, "--format", "json", "--changes"))
    assert [(each["facet"], each["name"], each["before"], each["after"]) for each in changes] == [
        ("prompt", "order_bias", "", "asked"),
        ("prompt", "seed", "0", "7"),
        ("library", "torch", "2.13.0", "2.14.0"),
    ]


def test_spreadsheets_get_no_formula(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = history(
        tmp_path, past_run(model=HOSTILE[0], made_of={}), past_run(1, model=HOSTILE[0], made_of={"data": {"=x": "+1"}})
    )
    for arguments in ((), ("--changes",)):
        rows = list(csv.reader(io.StringIO(told(capsys, "--history", where, "--format", "csv", *arguments))))
        assert len(rows) == (2 if arguments else 3)
        assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row)


def test_runs_can_be_chosen(three: str, capsys: pytest.CaptureFixture[str]) -> None:
    chosen = told(capsys, "--history", three, "--test", "order_bias", "--json")
    assert [row["test_type"] for row in json.loads(chosen)] == ["order_bias"]
    last = told(capsys, "--history", three, "--last", "1", "--suite", "harbour", "--model", "mock", "--format", "json")
    assert {row["started"] for row in json.loads(last)} == {past_run(2)["started"]}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--history", "none"), "no run is recorded there"),
        (("--out", "none"), "none/.history"),
        (("--model", "other"), "no run of other; expected harbour on mock"),
        (("--last", "-1"), "expected 0 or more"),
        (("--history", "sftp://user:quartz@host/x"), "an address with a password"),
        (("--history", "nosuchprotocol://x"), "nosuchprotocol:// is not known here"),
    ],
)
def test_what_is_wrong_is_said(
    arguments: tuple[str, ...],
    said: str,
    three: str,
    in_tmp: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if arguments[0] != "--out":
        monkeypatch.setenv("CONTRAPOSE_HISTORY", three)
    assert main(["history", *arguments]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert "quartz" not in error


def test_a_broken_file_is_told_beside_the_table(three: str, capsys: pytest.CaptureFixture[str]) -> None:
    (Path(three) / "x.parquet").write_bytes(b"")
    assert main(["history", "--history", three]) == 0
    assert "skipped x.parquet" in capsys.readouterr().err


def test_toxic_words_in_settings_are_masked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = {"prompt": {"add_toxic_words.starting_context": "fucking hell"}}
    where = history(tmp_path, past_run(0), past_run(1, made_of=made))
    assert "fucking" not in told(capsys, "--history", where, "--changes")
