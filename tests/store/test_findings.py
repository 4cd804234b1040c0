"""What runs found out, for those that come after them.

In which form letters are asked: the first that found out settles it, unless it is found out again on purpose. By which
cases verdicts fell: whoever judges the same with more of them looks once more.
"""

from __future__ import annotations

import pytest

from contrapose.tasks.store import Store
from contrapose.tasks.store.findings import KEPT

pytestmark = pytest.mark.usefixtures("store")


def test_the_first_form_stays_and_a_wanted_one_replaces_it() -> None:
    forms = Store().forms
    assert forms.find("key") is None
    forms.note("key", "plain", model="m", run="first", again=False)
    forms.note("key", "json_schema", model="m", run="second", again=False)
    assert forms.find("key") == "plain"
    forms.note("key", "json_schema", model="m", run="second", again=True)
    assert forms.find("key", run="second") == forms.find("key") == "json_schema"


def test_a_form_is_known_by_its_key_and_where_that_is_asked_by_its_run() -> None:
    forms = Store().forms
    forms.note("key", "plain", model="m", run="first", again=False)
    forms.note("other", "json_schema", model="m", run="second", again=False)
    assert (forms.find("key"), forms.find("other")) == ("plain", "json_schema")
    assert (forms.find("key", run="first"), forms.find("key", run="second")) == ("plain", None)


def hashes(count: int, *, begin: int = 0) -> list[str]:
    return [f"{number:016x}" for number in range(begin, begin + count)]


def test_fewer_of_the_same_cases_were_looked_at_before() -> None:
    looks = Store().looks
    looks.note("key", hashes(40), run="first")
    assert looks.earlier_looks("key", hashes(100), run="second") == (40,)
    assert looks.earlier_looks("other key", hashes(100), run="second") == ()
    assert looks.earlier_looks("key", hashes(100), run="first") == ()


def test_as_many_cases_are_the_same_look() -> None:
    looks = Store().looks
    for run in ("first", "second"):
        looks.note("key", hashes(40), run=run)
    assert looks.earlier_looks("key", hashes(40), run="third") == ()
    assert looks.earlier_looks("key", hashes(41), run="third") == (40,)


def test_other_cases_were_no_look_at_these() -> None:
    looks = Store().looks
    looks.note("key", hashes(40, begin=1000), run="first")
    looks.note("key", hashes(40, begin=80), run="second")
    assert looks.earlier_looks("key", hashes(100), run="third") == (40,), "half of them are among these"
    assert looks.earlier_looks("key", hashes(99), run="third") == ()


def test_many_cases_are_known_by_a_few_of_them() -> None:
    looks = Store().looks
    looks.note("key", hashes(10 * KEPT), run="first")
    assert looks.earlier_looks("key", hashes(11 * KEPT), run="second") == (10 * KEPT,)
    assert looks.earlier_looks("key", hashes(11 * KEPT, begin=KEPT), run="second") == ()


def test_a_run_that_goes_on_has_one_look() -> None:
    looks = Store().looks
    looks.note("key", hashes(40), run="first")
    looks.note("key", hashes(60), run="first")
    assert looks.earlier_looks("key", hashes(100), run="second") == (60,)


def test_runs_that_are_asked_side_by_side_know_when_to_stop() -> None:
    looks = Store().looks
    assert looks.find_settled("first") is None
    for run in ("first", "second"):
        looks.settle(run, {"order_bias": 3}, beside=["first", "second"])
    settled = looks.find_settled("second")
    assert (settled.looks, settled.runs) == ({"order_bias": 3}, ["first", "second"])
    assert looks.earlier_looks("settled", hashes(9), run="third") == (), "it is no look at anything"
