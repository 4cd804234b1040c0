"""`contrapose run --against`: a run is compared with an earlier one, which decides the exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contrapose.flows.cli import main

pytestmark = pytest.mark.usefixtures("prefect_server", "own_store", "in_tmp")
RUN = ["run", "--model", "mock", "--test", "order_bias"]


def run(out: str, *more: str, limit: int = 12, reply: str = "") -> int:
    """Run one test on the mock, which draws its answers or always gives the same reply."""
    own = ["--set", f"model_args.reply={reply}"] if reply else []
    return main([*RUN, "--limit", str(limit), "--out", out, *own, *more])


def comparisons(out: str) -> list[str]:
    return [json.loads(path.read_text())["verdict"] for path in Path(out).glob("*-comparison/comparison.json")]


def test_the_comparison_decides_and_lies_next_to_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("main") in (1, 3)
    capsys.readouterr()
    code = run("pull", "--against", "main")
    output = capsys.readouterr().out
    (verdict,) = comparisons("pull")
    assert code == {"not worse": 0, "better": 0, "cannot tell": 3, "worse": 1}[verdict]
    assert verdict.upper() in output
    assert comparisons("main") == []
    (newest,) = Path("main").glob("*/summary.json")
    assert run("pull", "--against", str(newest.parent), "--exit-zero") == 0


def test_a_folder_without_a_run_of_the_suite_is_refused_before_anything_is_asked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("empty").mkdir()
    for folder in ("empty", "nowhere"):
        assert run("pull", "--against", folder) == 2
        assert "no finished run of the suite quickstart" in capsys.readouterr().err
    assert not Path("pull").exists()


def test_other_cases_are_refused_as_compare_refuses_them(capsys: pytest.CaptureFixture[str]) -> None:
    run("main")
    assert run("pull", "--against", "main", limit=10) == 2
    assert "expected the same in runs that are compared" in capsys.readouterr().err


def test_json_stays_json(capsys: pytest.CaptureFixture[str]) -> None:
    run("main")
    capsys.readouterr()
    run("pull", "--against", "main", "--json")
    output, error = capsys.readouterr()
    assert json.loads(output)["suite"] == "quickstart"
    assert "comparison.html" in error
