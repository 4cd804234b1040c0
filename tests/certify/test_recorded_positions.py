"""The figures of recorded judges: those of a public file, and those of planted ones."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from places import REPOSITORY

from contrapose.flows.cli import main
from contrapose.tasks.certify.findings import PositionMeans
from contrapose.tasks.certify.recorded import certify_verdicts, measure_positions
from contrapose.tasks.certify.verdict_log import read_verdicts
from contrapose.tasks.core.certificate import Certificate, JudgeFinding
from contrapose.tasks.statistics.means import Mean
from contrapose.tasks.statistics.shares import Interval

PUBLIC = REPOSITORY.parent / "shared" / "data" / "position_bias_mtbench.jsonl.gz"
TABLE = {
    "claude-3-haiku-20240307": (20.9, 574, 34.3, 861),
    "claude-3-opus-20240229": (9.4, 576, 22.3, 864),
    "claude-3-sonnet-20240229": (13.2, 574, 27.3, 861),
    "gemini-pro": (20.5, 560, 32.9, 840),
    "gpt-3.5-turbo-0125": (8.5, 540, 16.3, 798),
    "gpt-3.5-turbo-1106": (7.2, 572, 17.9, 858),
    "gpt-4-0125-preview": (11.3, 574, 13.5, 861),
    "gpt-4-0613": (6.1, 574, 12.9, 861),
    "gpt-4-1106-preview": (12.3, 576, 19.2, 864),
}
"""Judge: share in % of pairs of askings that differ and number of pairs, same prompt and swapped; counted apart from
this project, with the letters of each reply's one mark."""


@pytest.mark.skipif(not PUBLIC.exists(), reason="the recorded verdicts are not here")
def test_the_public_table_of_nine_judges() -> None:
    figures = {judge: measure_positions(own) for judge, own in read_verdicts([str(PUBLIC)]).groupby("judge")}
    assert figures.keys() == TABLE.keys()
    for judge, row in TABLE.items():
        means = (figures[judge].again, figures[judge].swapped)
        shown = [(round(100 * mean.value, 1), mean.rows) for mean in means if mean]
        assert tuple(cell for pair in shown for cell in pair) == row
        for mean in (figures[judge].again, figures[judge].swapped, figures[judge].net, figures[judge].lean):
            assert ends_of(mean).low <= value_of(mean) <= ends_of(mean).high


def log_of(
    path: Path, *, noise: float = 0, first: float = 0, tied: float = 0, askings: int = 3, pairs: int = 120
) -> str:
    """Verdicts of a planted judge on pairs of which each is a question of its own."""
    rng, rows = random.Random(3), []
    for pair in range(pairs):
        better, always = rng.choice("ab"), rng.random() < first
        for order in ("ab", "ba"):
            for asking in range(askings):
                chosen = better if rng.random() >= noise else {"a": "b", "b": "a"}[better]
                letter = "A" if always or order[0] == chosen else "B"
                letter = "C" if rng.random() < tied else letter
                row = {"pair": str(pair), "first": order[0], "second": order[1], "repetition": asking}
                rows.append({**row, "reply": f"[[{letter}]]"})
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return str(path)


def figures_of(path: Path, **planted: float) -> PositionMeans:
    return measure_positions(read_verdicts([log_of(path, **planted)]))  # type: ignore[arg-type]


def ends_of(mean: Mean | None) -> Interval:
    assert mean is not None
    assert mean.interval is not None
    return mean.interval


def value_of(mean: Mean | None) -> float:
    assert mean is not None
    return mean.value


def test_noise_is_no_position(tmp_path: Path) -> None:
    figures = figures_of(tmp_path / "noisy.jsonl", noise=0.2)
    assert ends_of(figures.again).low <= 2 * 0.2 * 0.8 <= ends_of(figures.again).high
    assert ends_of(figures.net).low <= 0
    assert ends_of(figures.lean).low <= 0 <= ends_of(figures.lean).high
    assert value_of(figures.again) == pytest.approx(value_of(figures.swapped), rel=0.15)


def test_a_position_is_no_noise(tmp_path: Path) -> None:
    figures = figures_of(tmp_path / "first.jsonl", first=0.3)
    assert value_of(figures.again) == 0
    assert value_of(figures.swapped) > 0
    assert value_of(figures.net) == pytest.approx(0.3, abs=0.1)
    assert value_of(figures.lean) == pytest.approx(0.3, abs=0.1)


def test_one_asking_shows_no_noise(tmp_path: Path) -> None:
    figures = figures_of(tmp_path / "once.jsonl", first=0.3, askings=1)
    assert (figures.again, figures.net) == (None, None)
    assert value_of(figures.swapped) > 0
    assert value_of(figures.lean) > 0


def finding(certificate: Certificate, name: str) -> JudgeFinding:
    return next(one for one in certificate["findings"] if one["name"] == name)


@pytest.mark.parametrize(
    ("planted", "verdict"),
    [({}, "pass"), ({"noise": 0.1, "tied": 0.1}, "pass"), ({"first": 0.4}, "fail"), ({"first": 0.1}, "inconclusive")],
)
def test_a_certificate_fails_a_planted_bias_and_no_noise(
    tmp_path: Path, planted: dict[str, float], verdict: str
) -> None:
    (certificate,) = certify_verdicts([log_of(tmp_path / "log.jsonl", **planted)])  # type: ignore[arg-type]
    assert certificate["verdict"] == verdict
    assert finding(certificate, "position")["verdict"] == verdict


def test_a_bias_that_noise_may_explain_is_undecided(tmp_path: Path) -> None:
    (certificate,) = certify_verdicts([log_of(tmp_path / "log.jsonl", noise=0.3, askings=1)])
    position = finding(certificate, "position")
    assert position["verdict"] == "inconclusive"
    assert "noise is unknown, and may be all of it" in position["reason"]


def test_one_asking_is_enough_where_orders_agree(tmp_path: Path) -> None:
    (certificate,) = certify_verdicts([log_of(tmp_path / "log.jsonl", askings=1)])
    assert certificate["verdict"] == "pass"


def test_unread_replies_keep_an_even_judge_from_passing(tmp_path: Path) -> None:
    log = Path(log_of(tmp_path / "log.jsonl"))
    rows = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    rows = [{**row, "reply": "Hm."} if place % 5 == 0 else row for place, row in enumerate(rows)]
    log.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    (certificate,) = certify_verdicts([str(log)])
    assert certificate["verdict"] == "inconclusive"
    assert "20% of the cases could not be read, and they decide it" in finding(certificate, "position")["reason"]


def test_the_command_writes_page_json_and_board(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log, out, board = log_of(tmp_path / "<b>judge.jsonl", first=0.4), tmp_path / "out", tmp_path / "board.md"
    assert main(["certify", log, "--out", str(out), "--board", str(board)]) == 1
    assert "FAIL" in capsys.readouterr().out
    page = (out / "certificate.html").read_text(encoding="utf-8")
    assert "<b>judge" not in page
    assert "&lt;b&gt;judge" in page
    (certificate,) = json.loads((out / "certificate.json").read_text(encoding="utf-8"))["certificates"]
    assert certificate["verdict"] == "fail"
    assert "| asked again | swapped | net | lean | ties |" in board.read_text(encoding="utf-8")
    assert main(["certify", log, "--json", "--gate", "0.6"]) == 0
    assert json.loads(capsys.readouterr().out)["certificates"][0]["verdict"] == "pass"


def test_a_file_without_verdicts_ends_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"text": "x"}\n', encoding="utf-8")
    assert main(["certify", str(path)]) == 2
    assert "expected pair and first and second and reply, too" in capsys.readouterr().err
