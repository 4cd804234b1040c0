"""Runs of several tests, each as a series of its own."""

from __future__ import annotations

from past_runs import past_run, past_test

from contrapose.tasks.history.series import series


def test_a_point_is_held_against_the_run_before_that_asked_the_test() -> None:
    """Other tests that were asked in between, or changed, are no cause of anything here."""
    one, two = past_test(test_type="one"), past_test(test_type="two")
    runs = [
        past_run(tests=[one, two], made_of={"data": {"one.sha256": "a", "two.sha256": "a"}}),
        past_run(tests=[two], made_of={"data": {"two.sha256": "b"}}),
        past_run(tests=[one, two], made_of={"data": {"one.sha256": "a", "two.sha256": "c"}}),
        past_run(tests=[one], made_of={"data": {"one.sha256": "d"}, "scorer": {"gate": "rate"}}),
    ]
    changed = {each.test: [point.changed for point in each.points] for each in series(runs)}
    assert changed == {"one": [(), (), ("data", "scorer")], "two": [(), ("data",), ("data",)]}
