"""Progress: what the line and the artifact say."""

from __future__ import annotations

import io
import re
import time
from typing import Any

import pytest
from attacks import ATTACKS, steering
from rich.console import Console

from contrapose.flows.orchestration import progress
from contrapose.flows.orchestration.progress import (
    LogPace,
    Pace,
    ProgressLine,
    describe_answers,
    format_clock,
    watch_progress,
)
from contrapose.flows.orchestration.spinner import hide_progress
from contrapose.tasks.infer.meter import Meter, show_work, use_meter
from contrapose.tasks.text.cleaning import one_line


def line(title: str = "asking openai/gpt-4o-mini", *, seconds: float = 95, **meter: float | str) -> ProgressLine:
    counted = {"done": 1204, "from_store": 340, "failed": 3, "requests": 900, "cost": 1.2345} | meter
    made = ProgressLine(title, meter=Meter(**counted), pace=Pace(5000))  # type: ignore[arg-type]
    made.look(seconds)
    return made


def drawn(shown: ProgressLine, width: int, *, colour: bool = False) -> str:
    file = io.StringIO()
    Console(file=file, width=width, force_terminal=colour, legacy_windows=False).print(shown)
    return file.getvalue()


def test_eighty_columns_hold_rate_cost_cache_and_time_left() -> None:
    for words in ("1,204/5,000", "12.7/s", "$1.23", "340 cached", "5:00 left", "3 failed"):
        assert words in drawn(line(), 80)


NOTHING = {"done": 0, "from_store": 0, "failed": 0, "cost": 0}


@pytest.mark.parametrize(
    ("meter", "seconds", "words"),
    [
        (NOTHING, 95, ["0/5,000", "1:35 so far"]),
        (NOTHING | {"doing": "converting the model (once)"}, 12, ["0/5,000", "converting the model (once), 0:12"]),
        ({"done": 5000}, 250, ["5,000/5,000", "in 4:10", "20.0/s"]),
    ],
    ids=["before the first answer nothing is guessed", "what keeps questions waiting", "how long it took"],
)
def test_words_tell_how_far_it_is(meter: dict[str, Any], seconds: float, words: list[str]) -> None:
    assert line(seconds=seconds, **meter).words()[:3] == words


def test_a_meter_tells_what_goes_on_until_it_has_been_done() -> None:
    with use_meter(Meter()) as meter:
        with show_work("loading the model"):
            assert meter.doing == "loading the model"
            with show_work("converting the model (once)"):
                assert meter.doing == "converting the model (once)"
            assert meter.doing == "loading the model"
        with pytest.raises(OSError, match="disk"), show_work("loading the model"):
            raise OSError("disk")
        assert meter.doing == ""


def test_a_log_is_told_once_of_what_lasts_and_now_and_then_of_the_rest() -> None:
    log = LogPace()
    looks = [(second / 2, "converting" if 2 <= second / 2 < 20 else "") for second in range(1, 130)]
    assert [seconds for seconds, words in looks if log.is_due(seconds, words)] == [4.0, 34.0, 64.0]
    short = LogPace()
    assert not any(short.is_due(second / 2, "loading" if second < 4 else "") for second in range(1, 20))


@pytest.mark.parametrize("width", [120, 80, 60, 40, 24, 12, 5])
@pytest.mark.parametrize("title", ["asking mock", "asking 樣本/樣本樣本樣本樣本樣本樣本樣本樣本樣本樣本", "x" * 200])
def test_it_is_one_line_of_any_terminal(width: int, title: str) -> None:
    text = drawn(line(title), width)
    assert text.count("\n") == 1
    assert Console().render_str(text.strip("\n"), markup=False, emoji=False).cell_len <= width


def test_a_narrow_terminal_keeps_what_is_needed_most() -> None:
    assert "1,204/5,000  5:00 left" in drawn(line(), 50)
    assert "1,204/5,000" in drawn(line(), 32)


@pytest.mark.parametrize(("seconds", "shown"), [(7, "0:07"), (750, "12:30"), (7500, "2:05:00")])
def test_durations_read_as_on_a_clock(seconds: float, shown: str) -> None:
    assert format_clock(seconds) == shown


@pytest.mark.parametrize("kind", ATTACKS)
def test_a_hostile_model_steers_no_terminal(kind: str) -> None:
    for text in ATTACKS[kind]:
        shown = line(one_line(f"asking {text}"))
        assert not steering(drawn(shown, 80) + shown.as_text()), ascii(text)
        assert drawn(shown, 80).count("\n") == 1


def shown_without_terminal(monkeypatch: pytest.MonkeyPatch, *, quiet: bool) -> str:
    file = io.StringIO()
    monkeypatch.setattr(progress, "Console", lambda **_: Console(file=file))
    monkeypatch.setattr(progress, "PLAIN_SECONDS", 0.0)
    monkeypatch.setattr(progress, "create_progress_artifact", lambda **_: None)
    monkeypatch.setattr(progress, "update_progress_artifact", lambda *_, **__: None)
    with hide_progress(quiet), watch_progress(3, title="asking\x1b[31m [b]mock[/b]", ended=str) as meter:
        meter.done = 3
    return file.getvalue()


def test_a_log_gets_plain_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    last = shown_without_terminal(monkeypatch, quiet=False).splitlines()[-1]
    assert re.match(r"asking \[b\]mock\[/b\]: 3/3, in 0:\d\d", last)


def test_nothing_is_shown_where_that_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown_without_terminal(monkeypatch, quiet=True) == ""


def test_an_artifact_that_cannot_be_updated_ends_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ConnectionError

    monkeypatch.setattr(progress, "create_progress_artifact", lambda **_: None)
    monkeypatch.setattr(progress, "update_progress_artifact", broken)
    monkeypatch.setattr(progress, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(progress, "ARTIFACT_SECONDS", 0.01)
    with hide_progress(True), watch_progress(3, title="asking mock", ended=str) as meter:
        time.sleep(0.1)
        meter.done = 3


@pytest.mark.parametrize(
    ("meter", "soon"),
    [
        ({"done": 4000, "from_store": 10}, True),
        # All of it comes from the store, which takes no time.
        ({"done": 4000, "from_store": 4000}, False),
        ({"done": 100, "from_store": 10}, False),
        ({"done": 0, "from_store": 0}, False),
    ],
)
def test_the_end_is_near_when_a_model_needs_a_few_seconds_more(meter: dict[str, float], soon: bool) -> None:
    assert line(seconds=10, **meter).ends_soon is soon


def test_what_is_to_be_done_before_the_end_is_done_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "create_progress_artifact", lambda **_: None)
    monkeypatch.setattr(progress, "update_progress_artifact", lambda *_, **__: None)
    monkeypatch.setattr(progress, "LOOK_SECONDS", 0.01)
    calls: list[int] = []
    with (
        hide_progress(True),
        watch_progress(100, title="asking mock", ended=str, soon=lambda: calls.append(1)) as meter,
    ):
        time.sleep(0.05)
        assert not calls
        for _ in range(10):
            meter.done += 10
            time.sleep(0.02)
    assert calls == [1]


@pytest.mark.parametrize(
    ("meter", "words"),
    [
        (Meter(), "0 requests, 0 from the store"),
        (Meter(requests=1200, from_store=40), "1,200 requests, 40 from the store"),
        (Meter(requests=3, failed=1, cost=0.01234), "3 requests, 0 from the store, 1 failed, $0.0123"),
    ],
)
def test_what_the_answers_took_is_told(meter: Meter, words: str) -> None:
    assert describe_answers(meter) == words


def paced(total: int, *looks: tuple[float, int]) -> Pace:
    pace = Pace(total)
    for seconds, done in looks:
        pace.look(seconds, done)
    return pace


def test_a_steady_pace_tells_what_is_left() -> None:
    pace = paced(100, *((float(second), 2 * second) for second in range(1, 26)))
    assert (pace.rate, pace.seconds_left) == (2.0, 25.0)


def test_what_was_found_at_once_is_forgotten() -> None:
    pace = paced(2000, (0.1, 1000), *((float(second), 1000 + second) for second in range(1, 101)))
    assert pace.rate == pytest.approx(1.0)


@pytest.mark.parametrize("looks", [(), ((0.0, 5),), ((1.0, 0),), ((1.0, 5), (50.0, 5), (90.0, 5))])
def test_where_nothing_moves_nothing_is_told(looks: tuple[tuple[float, int], ...]) -> None:
    pace = paced(10, *looks)
    assert (pace.rate, pace.seconds_left) == (None, None)


def test_more_than_was_expected_leaves_nothing() -> None:
    assert paced(10, (1.0, 12)).seconds_left == 0
