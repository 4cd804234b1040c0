"""A whole run at an endpoint that can be held to letters, and another one that asks nothing again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fake_endpoint import Endpoint, form_in, serving

from contrapose.flows.cli import main

pytestmark = pytest.mark.usefixtures("prefect_server", "own_store")


def run(endpoint: Endpoint, out: Path, *more: str) -> dict[str, Any]:
    """What a run leaves in its manifest and its summary."""
    address = f"model_args.base_url=http://127.0.0.1:{endpoint.port}/v1"
    tests = ("--test", "order_bias", "--test", "add_toxic_words", "--limit", "4", "--exit-zero")
    assert main(["run", "--model", "openai/any", *tests, "--out", str(out), "--set", address, *more]) == 0
    folder = next(out.glob("[!.]*"))
    return {name: json.loads((folder / f"{name}.json").read_text()) for name in ("manifest", "summary")}


@pytest.mark.slow
def test_letters_are_held_to_and_nothing_is_asked_twice(tmp_path: Path) -> None:
    with serving() as endpoint:
        endpoint.takes = ("json_schema",)
        endpoint.reply_text = "Summary B, which says 120, is wrong."
        found = run(endpoint, tmp_path / "one")
        asked = len(endpoint.bodies)
        again = run(endpoint, tmp_path / "two")
        off = run(endpoint, tmp_path / "off", "--set", "model_args.constrained=off", "--test", "add_toxic_words")
    assert asked == 16
    assert sum(form_in(body) == "json_schema" for body in endpoint.bodies[:asked]) == 8
    assert len({json.dumps(body) for body in endpoint.bodies}) == len(endpoint.bodies)
    for each in (found, again):
        assert each["summary"]["model"]["constrained"] == "json_schema"
        assert each["manifest"]["inference"]["order_bias"]["constrained"] == "json_schema"
        assert "constrained" not in each["manifest"]["inference"]["add_toxic_words"]
    assert "constrained" not in off["summary"]["model"]
