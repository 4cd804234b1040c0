"""How the choices were read: shares of every step, for each kind of test."""

from __future__ import annotations

import pandas as pd
import pytest

from contrapose.tasks.probes.answers.answer_probe import COLUMNS, AnswerProbe
from contrapose.tasks.probes.known_errors import measure_steps, name_step_shares
from contrapose.tasks.probes.option_order import OptionOrder
from contrapose.tasks.probes.order_bias import OrderBias


def test_the_shares_of_all_steps_and_of_the_unread_add_up() -> None:
    found = measure_steps([pd.Series(["letter", "asked", None]), pd.Series(["unparsed", "letter", "constrained"])])
    assert list(found) == ["read_by_constrained", "read_by_letter", "read_by_asked", "unread"]
    assert sum(found.values()) == pytest.approx(1)
    assert found["read_by_letter"] == pytest.approx(1 / 3)
    assert found["unread"] == pytest.approx(1 / 3)


def test_a_step_of_another_package_is_told_by_its_name() -> None:
    assert measure_steps([pd.Series(["dice"])]) == {"read_by_dice": 1.0, "unread": 0.0}
    assert name_step_shares({"accuracy": 0.5, "read_by_dice": 1.0, "unread": 0.0}) == {"dice": 1.0, "unread": 0.0}


def test_no_replies_have_no_shares() -> None:
    assert measure_steps([pd.Series(dtype=object)]) == {}
    assert name_step_shares({"accuracy": 0.5}) == {}


def test_order_bias_counts_both_replies_of_every_judged_pair() -> None:
    rows = pd.DataFrame(
        {
            "outcome": ["AB", "unparsed", None],
            "result_step": ["letter", "asked", "letter"],
            "swapped_step": ["pattern", "unparsed", None],
        }
    )
    found = OrderBias().summarise(rows)
    steps = {name: found[name] for name in ("read_by_letter", "read_by_pattern", "read_by_asked", "unread")}
    assert steps == dict.fromkeys(steps, 0.25)


def test_option_order_counts_the_reply_to_the_given_order_once() -> None:
    rows = pd.DataFrame(
        {
            "sample_id": ["s", "s"],
            "outcome": ["text", "text"],
            "option_count": [3, 3],
            "letter": ["A", "A"],
            "rotated_letter": ["C", "B"],
            "choice_step": ["letter", "letter"],
            "rotated_choice_step": ["asked", "unparsed"],
        }
    )
    found = OptionOrder().summarise(rows)
    assert (found["read_by_letter"], found["read_by_asked"], found["unread"]) == pytest.approx((1 / 3, 1 / 3, 1 / 3))


def test_answers_without_options_have_no_steps() -> None:
    rows = pd.DataFrame({name: [None, None] for name in COLUMNS})
    rows = rows.assign(**{"pass": [True, True], "scorer": "choice", "option_count": [4.0, None]})
    rows = rows.assign(chosen_before_step=["letter", None], chosen_after_step=["likelihood", None])
    found = AnswerProbe().summarise(rows)
    assert (found["read_by_letter"], found["read_by_likelihood"], found["unread"]) == (0.5, 0.5, 0.0)
