"""`contrapose announce --wait` ends as the check that it started does."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from prefect.client.orchestration import get_client
from prefect.states import Completed, Failed, State

from contrapose.flows.check_retrained_model import check_retrained_model
from contrapose.flows.cli import check_followed
from contrapose.flows.cli.check_followed import follow
from contrapose.flows.orchestration.verdict_state import LABEL
from contrapose.tasks.core.errors import ConfigError

pytestmark = pytest.mark.usefixtures("prefect_server")


@pytest.mark.parametrize(
    ("verdict", "state", "line", "code"),
    [
        ("promote", Completed(message="Promote. Better."), "promote: Promote. Better.", 0),
        ("hold", Completed(message="Hold. Worse."), "hold: Hold. Worse.", 1),
        ("insufficient evidence", Completed(message="Few."), "insufficient evidence: Few.", 3),
        ("", Failed(message="No model."), "Failed: No model.", 4),
    ],
)
def test_its_link_is_printed_and_its_verdict_is_the_exit_code(
    verdict: str, state: State[None], line: str, code: int
) -> None:
    announced = {"model": "mock", "revision": f"v-{code}", "training_run": ""}
    since = datetime.now(UTC)
    with get_client(sync_client=True) as client:
        run = client.create_flow_run(check_retrained_model, parameters={**announced, "config": {}})
        client.set_flow_run_state(run.id, state, force=True)
        client.update_flow_run_labels(run.id, {LABEL: verdict} if verdict else {})
    link, said, exit_code = follow(announced, since=since)
    assert str(run.id) in str(link)
    assert (said, exit_code) == (line, code)


def test_a_check_that_never_begins_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_followed, "BEGIN_SECONDS", 1.0)
    monkeypatch.setattr(check_followed, "LOOK_SECONDS", 0.5)
    with pytest.raises(ConfigError, match="--wait: no check of nobody began"):
        list(follow({"model": "nobody", "revision": "r", "training_run": ""}, since=datetime.now(UTC)))
