"""Automations before they reach a server."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from prefect.events.schemas.automations import AutomationCore
from prefect.server.utilities.user_templates import render_user_template_sync, validate_user_template

from contrapose.flows.deploy.automations import AutomationBlock, specifications, update

BLOCK = "00000000-0000-0000-0000-000000000001"
AUTOMATIONS: list[dict[str, Any]] = specifications()


@pytest.mark.usefixtures("prefect_server")
def test_an_automation_that_is_the_same_is_not_written_again() -> None:
    from prefect.client.orchestration import get_client

    (lost,) = (each for each in AUTOMATIONS if each["name"] == "contrapose-lost")
    with get_client(sync_client=True) as client:
        assert update(client, lost, []) == "created"
        trigger = client.read_automations_by_name(lost["name"])[0].trigger
        assert update(client, lost, []) == "as it is"
        assert client.read_automations_by_name(lost["name"])[0].trigger == trigger
        assert update(client, {**lost, "description": "Another one."}, []) == "updated"
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
    ("payload", "revision"),
    [({"revision": "v1"}, "v1"), ({}, ""), ({"revision": None}, ""), ({"revision": 17}, "17")],
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
