"""Automations as code: each file of deployments/automations/ is created as one automation, or updates it.

A file holds what `prefect automation create` takes, and two keys of ours: an action may name its deployment
(`deployment: <flow>/<name>`) in place of an id, and `notify` (subject, body) is sent through every named block.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import yaml

from contrapose.tasks.config.hosts import origin_of, refuse_forbidden
from contrapose.tasks.core.errors import ConfigError

if TYPE_CHECKING:
    from prefect.client.orchestration import SyncPrefectClient


@dataclass(frozen=True, slots=True, kw_only=True)
class AutomationBlock:
    """A Prefect block that sends notifications."""

    id: str
    """Of its document."""
    webhook: bool
    """True where it is called with a payload, not notified."""

    def action(self, notify: Mapping[str, str]) -> dict[str, Any]:
        """Return the action that sends a notification through the block."""
        if not self.webhook:
            return {"type": "send-notification", "block_document_id": self.id, **notify}
        # A JSON object as a template: what is inserted is escaped as JSON.
        parts = (f'"{key}": {{% filter tojson %}}{text}{{% endfilter %}}' for key, text in notify.items())
        return {"type": "call-webhook", "block_document_id": self.id, "payload": "{" + ", ".join(parts) + "}"}


def read_automations() -> list[dict[str, Any]]:
    """Return the content of every file of deployments/automations/, in the order of their names."""
    folder = files("contrapose.deployments").joinpath("automations")
    paths = sorted((path for path in folder.iterdir() if path.name.endswith(".yaml")), key=lambda path: path.name)
    return [yaml.safe_load(path.read_text(encoding="utf-8")) for path in paths]


def find_blocks(client: SyncPrefectClient, names: Sequence[str]) -> list[AutomationBlock]:
    """Return the named blocks, each `<type>/<name>`, such as slack-webhook/team.

    Raises ConfigError for an unknown block, and for one that sends to a forbidden address.
    """
    from prefect.exceptions import ObjectNotFound

    blocks = []
    for full_name in names:
        kind, _, name = full_name.partition("/")
        try:
            document = client.read_block_document_by_name(name, kind, include_secrets=True)
        except ObjectNotFound:
            raise ConfigError(
                f"no block {full_name!r} on this Prefect server",
                expected="<type>/<name> of a notification block, such as slack-webhook/team or sendgrid-email/team",
                remedy="Create it in the Prefect UI under Blocks, or list what there is: prefect block ls.",
                where="--notify",
            ) from None
        if (origin := origin_of(str(document.data.get("url", "")))) is not None:
            # Only its host is ever shown: the path of such an address is often its secret.
            refuse_forbidden(origin.host, where=f"--notify {full_name}")
        blocks.append(AutomationBlock(id=str(document.id), webhook=kind == "webhook"))
    return blocks


def update_automation(
    client: SyncPrefectClient, specification: Mapping[str, Any], blocks: Sequence[AutomationBlock]
) -> str | None:
    """Create an automation, or update the one with its name if it differs; return None if it would do nothing.

    A trigger that is written again, though it is the same, forgets what it waits for: a run whose worker was killed
    would never be found. Without blocks, those that it notifies already are kept.
    """
    from prefect.events.schemas.automations import AutomationCore

    spec = dict(specification)
    notify = spec.pop("notify", None)
    existing = client.read_automations_by_name(spec["name"])
    first = existing[0] if existing else None
    kept = [
        AutomationBlock(id=str(action.block_document_id), webhook=action.type == "call-webhook")
        for action in (first.actions if first else [])
        if action.type in ("call-webhook", "send-notification")
    ]
    actions = []
    for own in spec.get("actions", []):
        action = dict(own)
        if name := action.pop("deployment", None):
            action |= {"source": "selected", "deployment_id": str(client.read_deployment_by_name(name).id)}
        actions.append(action)
    spec["actions"] = actions + ([block.action(notify) for block in blocks or kept] if notify else [])
    for surplus in existing[1:]:
        client.delete_automation(surplus.id)
    if not spec["actions"]:
        return None
    if first is None:
        client.create_automation(AutomationCore.model_validate(spec))
        return "created"
    wanted = AutomationCore.model_validate({**spec, "enabled": first.enabled})
    if _drop_ids(first.model_dump(mode="json")) == _drop_ids(wanted.model_dump(mode="json")):
        return "as it is"
    client.update_automation(first.id, wanted)
    return "updated"


def _drop_ids(value: object) -> object:
    """Return an automation's content without the ids that the server gives to it and its parts."""
    if isinstance(value, Mapping):
        return {key: _drop_ids(part) for key, part in value.items() if key != "id"}
    if isinstance(value, list):
        # Names of events and labels are sets, which come in any order.
        return sorted((_drop_ids(part) for part in value), key=str)
    return value
