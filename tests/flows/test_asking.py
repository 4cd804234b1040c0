"""What a person is asked about a candidate that is held."""

from __future__ import annotations

from typing import Any

import pytest
from prefect.types.names import raise_on_name_alphanumeric_dashes_only

from contrapose.flows.retraining.decision import ApprovalReply, ask


def test_an_answer_belongs_to_one_decision(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = []

    def pause(*, key: str, **_: Any) -> ApprovalReply:
        keys.append(raise_on_name_alphanumeric_dashes_only(key))
        return ApprovalReply(approve=True, reason="Seen by hand.")

    monkeypatch.setattr("contrapose.flows.retraining.decision.pause_flow_run", pause)
    monkeypatch.setattr("contrapose.flows.retraining.decision.render", lambda _: b"")
    for second in (1, 1, 2):
        decided: Any = {"decided": f"2026-01-01T00:00:0{second}.000001+00:00"}
        ask(decided, hours=1)
    assert keys[0] == keys[1] != keys[2]


def test_a_mouse_can_answer() -> None:
    # In Prefect's older interface a list inside a dialog closes as soon as a mouse has opened it.
    properties = ApprovalReply.model_json_schema()["properties"]
    assert not [name for name, schema in properties.items() if "enum" in schema]
    assert properties["approve"]["default"] is False
