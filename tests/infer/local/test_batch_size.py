"""The size of a batch where nobody says it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contrapose.tasks.infer.local import memory
from contrapose.tasks.infer.local.memory import FIRST, LAST, found_tokens


def test_tokens_double_until_speed_stops_growing() -> None:
    assert found_tokens(lambda tokens: max(1.0, tokens / 8192)) == 8192


def test_tokens_double_until_the_last() -> None:
    assert found_tokens(lambda _: 1.0) == LAST


def test_where_memory_ends_half_of_what_fitted_is_taken() -> None:
    def seconds(tokens: int) -> float:
        if tokens > 8 * FIRST:
            raise RuntimeError("MPS backend out of memory")
        return 1.0

    assert found_tokens(seconds) == 4 * FIRST


def test_what_was_found_is_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTRAPOSE_HOME", str(tmp_path))
    assert memory._remembered("model cuda", lambda: 4096) == 4096
    assert memory._remembered("model cuda", lambda: 1) == 4096
    assert memory._remembered("other cuda", lambda: 1) == 1
    assert json.loads((tmp_path / "batching.json").read_text()) == {"model cuda": 4096, "other cuda": 1}
