"""`contrapose deploy announce`, and automations before they reach a server."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from prefect.client.orchestration import get_client
from prefect.events.schemas.automations import AutomationCore
from prefect.server.utilities.user_templates import render_user_template_sync, validate_user_template
from prefect.settings import PREFECT_API_URL, temporary_settings
from prefect.states import Completed, Failed, State, Suspended

from contrapose.flows.check_retrained_model import check_retrained_model
from contrapose.flows.cli import deploy, main
from contrapose.flows.cli.deploy import follow_check
from contrapose.flows.deploy.automations import AutomationBlock, read_automations, update_automation
from contrapose.flows.orchestration.verdict_state import LABEL
from contrapose.tasks.core.errors import ConfigError


def test_server_that_does_not_answer_is_named_without_its_password(capsys: pytest.CaptureFixture[str]) -> None:
    with temporary_settings({PREFECT_API_URL: "http://user:s3cret@127.0.0.1:1/api"}):
        assert main(["deploy", "announce", "hf/team/model", "--revision", "v2"]) == 2
    err = capsys.readouterr().err
    assert "http://127.0.0.1:1/api: the Prefect server did not take the event" in err
    assert "s3cret" not in err
    assert len(err.splitlines()) == 1


@pytest.mark.usefixtures("prefect_server")
@pytest.mark.parametrize(
    ("verdict", "state", "line", "code"),
    [
        ("promote", Completed(message="Promote. Better."), "promote: Promote. Better.", 0),
        ("hold", Completed(message="Hold. Worse."), "hold: Hold. Worse.", 1),
        ("insufficient evidence", Completed(message="Few."), "insufficient evidence: Few.", 3),
        ("", Failed(message="No model."), "Failed: No model.", 4),
    ],
)
def test_link_of_the_check_is_printed_and_its_verdict_is_the_exit_code(
    verdict: str, state: State[None], line: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    announced = {"model": "mock", "revision": f"v-{code}", "training_run": ""}
    since = datetime.now(UTC)
    with get_client(sync_client=True) as client:
        run = client.create_flow_run(check_retrained_model, parameters={**announced, "config": {}})
        client.set_flow_run_state(run.id, state, force=True)
        client.update_flow_run_labels(run.id, {LABEL: verdict} if verdict else {})
    assert follow_check(announced, since=since) == code
    link, outcome = capsys.readouterr().out.splitlines()
    assert str(run.id) in link
    assert outcome == line


@pytest.mark.usefixtures("prefect_server")
def test_held_candidate_is_named_once_while_a_person_decides(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    announced = {"model": "mock", "revision": "v-asked", "training_run": ""}
    since = datetime.now(UTC)
    with get_client(sync_client=True) as client:
        run = client.create_flow_run(check_retrained_model, parameters={**announced, "config": {}})
        client.set_flow_run_state(run.id, Suspended(timeout_seconds=600), force=True)
        looks = iter((lambda: None, lambda: client.set_flow_run_state(run.id, Completed(message="Hold."), force=True)))
        monkeypatch.setattr(deploy, "sleep", lambda _: next(looks)())
        assert follow_check(announced, since=since) == 4
    _, waits, _ = capsys.readouterr().out.splitlines()
    assert waits == "The candidate is held. Approve or reject it on that page; this command waits."


BLOCK = "00000000-0000-0000-0000-000000000001"
AUTOMATIONS: list[dict[str, Any]] = read_automations()


@pytest.mark.usefixtures("prefect_server")
def test_an_automation_that_is_the_same_is_not_written_again() -> None:
    from prefect.client.orchestration import get_client

    (lost,) = (each for each in AUTOMATIONS if each["name"] == "contrapose-lost")
    with get_client(sync_client=True) as client:
        assert update_automation(client, lost, []) == "created"
        trigger = client.read_automations_by_name(lost["name"])[0].trigger
        assert update_automation(client, lost, []) == "as it is"
        assert client.read_automations_by_name(lost["name"])[0].trigger == trigger
        assert update_automation(client, {**lost, "description": "Another one."}, []) == "updated"
        client.delete_automation(client.read_automations_by_name(lost["name"])[0].id)


@pytest.mark.parametrize("specification", AUTOMATIONS, ids=lambda each: each["name"])
@pytest.mark.parametrize("webhook", [False, True])
def test_an_automation_is_one_that_prefect_accepts(specification: dict[str, Any], webhook: bool) -> None:
    spec = dict(specification)
    notify = spec.pop("notify", None)
    sent = [AutomationBlock(id=BLOCK, webhook=webhook).action(notify)] if notify else []
    own = [{**each, "deployment_id": BLOCK} for each in spec.get("actions", [])]
    core = AutomationCore.model_validate({**spec, "actions": own + sent})
    assert core.actions
    assert core.description
    for text in (notify or {}).values():
        validate_user_template(text)


def test_alerts_cover_what_can_go_wrong() -> None:
    names = {each["name"].removeprefix("contrapose-") for each in AUTOMATIONS}
    assert {"failed", "verdict", "held", "asked", "idle", "late", "stuck", "waiting", "lost"} <= names


@pytest.mark.parametrize(
    ("payload", "revision"), [({"revision": "v1"}, "v1"), ({}, ""), ({"revision": None}, ""), ({"revision": 17}, "17")]
)
def test_an_event_that_lacks_a_key_starts_a_check_that_can_refuse_it(payload: dict[str, Any], revision: str) -> None:
    (action,) = next(each for each in AUTOMATIONS if each["name"] == "contrapose-model-retrained")["actions"]
    event = SimpleNamespace(payload=payload, received=datetime(2026, 11, 22, 6, 30, tzinfo=UTC))
    # Prefect turns what a single expression gives into JSON, and back.
    templates = {key: template.replace(" }}", " | tojson }}") for key, template in action["parameters"].items()}
    told = {key: json.loads(render_user_template_sync(each, {"event": event})) for key, each in templates.items()}
    assert told["revision"] == revision
    assert told["model"] == told["training_run"] == ""
    assert datetime.fromisoformat(told["announced"]) == event.received


def test_a_webhook_gets_json_whatever_is_inserted() -> None:
    action = AutomationBlock(id=BLOCK, webhook=True).action({"subject": "{{ name }}", "body": "a\nb"})
    rendered = render_user_template_sync(action["payload"], {"name": 'x", "admin": "yes'})
    assert json.loads(rendered) == {"subject": 'x", "admin": "yes', "body": "a\nb"}


@pytest.mark.usefixtures("prefect_server")
def test_check_that_never_begins_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deploy, "BEGIN_SECONDS", 1.0)
    monkeypatch.setattr(deploy, "LOOK_SECONDS", 0.5)
    with pytest.raises(ConfigError, match="--wait: no check of nobody began"):
        follow_check({"model": "nobody", "revision": "r", "training_run": ""}, since=datetime.now(UTC))
