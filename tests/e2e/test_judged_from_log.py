"""inspect.eval holds every reply of a run: judged again from it alone, the run has the same results."""

from __future__ import annotations

import pandas as pd
import pytest
from e2e.test_recorded_runs import reply
from fake_endpoint import Endpoint, serving
from newest_run import asking, newest, results_of

from contrapose.flows.cli import main

pytestmark = pytest.mark.usefixtures("prefect_server", "own_store", "in_tmp")

ARGUMENTS = ("--suite", "full", "--limit", "6", "--out", "out", "--set", "system_instruction=Be brief.", "--exit-zero")


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_run_judged_again_from_its_log_has_the_same_results() -> None:
    repeated = ("repeats=2", "tests.factuality.order_bias.read_with=reply")
    settings = [word for value in repeated for word in ("--set", value)]
    with serving(Endpoint(says=reply, faults={3: "status 400", 7: "status 400"})) as endpoint:
        assert main(["run", *asking(endpoint.port), *settings, *ARGUMENTS]) == 0
    asked, log = results_of(), newest(file="inspect.eval")
    assert asked["repeat"].max() == 1
    assert asked["error"].notna().any()
    recorded = [word for word in ARGUMENTS if word not in ("--set", "system_instruction=Be brief.")]
    assert main(["run", "--recorded", str(log), *settings, "--set", "noise=0", *recorded]) == 0
    judged = results_of()
    assert set(asked["case_id"]) == set(judged["case_id"])
    # Of a case with a failed call the reply to the other prompt is shown as it was read only where it was scored.
    compared = ["case_id", "expected_outcome", "actual_outcome", "pass"]
    pd.testing.assert_frame_equal(asked[compared], judged[compared])
    scored = asked["error"].isna() & judged["error"].isna()
    replies = ["expected_result", "actual_result"]
    pd.testing.assert_frame_equal(asked.loc[scored, replies], judged.loc[scored, replies])
