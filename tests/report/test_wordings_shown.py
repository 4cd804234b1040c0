"""What people read of wordings: sentences and tables; nothing of them where a test has one."""

from __future__ import annotations

from typing import Any

from factories import outcome, report, summary
from terminal import printed

from contrapose.tasks.core.slices import Slice, WordingSummary, WordingVariances
from contrapose.tasks.report import html, markdown
from contrapose.tasks.report.wordings import main_sentences, sentences, variance_table, wording_table


def part(name: str, passed: int, p: float | None = 0.4) -> Slice:
    return Slice(name=name, scored=20, passed=passed, pass_rate=passed / 20, interval=(0.1, 0.9), p=p)


def asked(*, longer: float | None, random: bool = True, p: float | None = 0.4, **changes: Any) -> Any:
    summary = WordingSummary(
        random=random,
        rates=[part("1", 16), part("2", 8, p), part("3", 18)],
        variances=WordingVariances(samples=0.1, wordings=0.04, askings=0.0, rest=0.06),
        longer=longer,
    )
    return outcome(wordings={**summary, **changes})


def test_one_sentence_names_worst_and_best_where_the_wording_matters() -> None:
    assert list(main_sentences(asked(longer=1.84))) == [
        "the wording matters: pass rate 40% in wording 2, 90% in wording 3; the interval is 1.8 times as long as for "
        "samples alone"
    ]
    assert list(main_sentences(asked(longer=None, random=False, p=0.01))) == [
        "the wording matters: pass rate 40% in wording 2, 90% in wording 3"
    ]


def test_nothing_is_said_first_where_it_does_not() -> None:
    assert list(main_sentences(asked(longer=1.1))) == []
    assert list(main_sentences(asked(longer=None, random=False))) == []
    assert list(main_sentences(outcome())) == []
    assert list(sentences(outcome())) == []


def test_it_is_said_what_the_interval_covers() -> None:
    assert list(sentences(asked(longer=1.1)))[1] == (
        "the 3 wordings count as a sample: interval and verdict cover samples and wordings"
    )
    assert list(sentences(asked(longer=None, random=False)))[1] == (
        "with fewer than 6 wordings, interval and verdict hold for these 3 alone"
    )


def test_tables_hold_rates_from_low_to_high_and_shares_of_the_variance() -> None:
    _, rates = wording_table(asked(longer=1.1))
    assert [name for name, _ in rates] == ["2", "1", "3"]
    _, shares = variance_table(asked(longer=1.1))
    assert shares == [("between samples", "50%"), ("between wordings", "20%"), ("the rest", "30%")]


def test_samples_in_one_wording_each_share_a_row_with_the_rest() -> None:
    variances = WordingVariances(samples=None, wordings=0.05, askings=0.0, rest=0.15)
    _, shares = variance_table(asked(longer=1.1, variances=variances))
    assert shares == [("between wordings", "25%"), ("samples and the rest", "75%")]
    assert variance_table(asked(longer=1.1, variances=None)) == ((), [])


def test_every_report_shows_them() -> None:
    own = report(summary=summary(tests=[asked(longer=1.84)]))
    page, text = b"".join(html.render(own)).decode(), markdown.render(own).decode()
    for shown in (page, text):
        assert "The wording matters: pass rate 40% in wording 2, 90% in wording 3" in shown
        assert "between wordings" in shown
    assert "wording matters" in " ".join(printed(summary(tests=[asked(longer=1.84)])).split())
    assert b"wording" not in markdown.render(report(summary=summary(tests=[outcome()])))
