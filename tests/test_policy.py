"""Cache keys: they hit for the same work, and miss when anything that matters changed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import BaseModel

from contrapose.tasks import policy
from contrapose.tasks.errors import DataError
from contrapose.tasks.policy import cache_key, code_sha256

SOURCES = ("tasks/probes", "tasks/records.py", "data/lexicons")


class Settings(BaseModel):
    """Some inputs of a task."""

    names: dict[str, int]


def test_a_key_does_not_depend_on_the_order_of_the_inputs() -> None:
    first = cache_key("t", SOURCES, {"a": 1, "b": Settings(names={"x": 1, "y": 2})})
    assert first == cache_key("t", SOURCES, {"b": Settings(names={"y": 2, "x": 1}), "a": 1})


@pytest.mark.parametrize(
    ("name", "sources", "inputs"),
    [("u", SOURCES, {"a": 1}), ("t", ("tasks/load",), {"a": 1}), ("t", SOURCES, {"a": 2}), ("t", SOURCES, {"b": 1})],
)
def test_a_key_depends_on_the_task_its_code_and_its_inputs(
    name: str, sources: tuple[str, ...], inputs: dict[str, int]
) -> None:
    assert cache_key(name, sources, inputs) != cache_key("t", SOURCES, {"a": 1})


def test_a_key_is_the_same_in_another_process() -> None:
    code = f"from contrapose.tasks.policy import cache_key; print(cache_key('t', {SOURCES!r}, {{'a': [1, 'x']}}))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == cache_key("t", SOURCES, {"a": [1, "x"]})


def test_a_changed_helper_is_another_code_hash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "files", lambda _: tmp_path)
    (tmp_path / "helper.py").write_text("x = 1")
    before = code_sha256.__wrapped__(("tasks",))
    assert code_sha256.__wrapped__(("tasks",)) == before
    (tmp_path / "helper.py").write_text("x = 2")
    changed = code_sha256.__wrapped__(("tasks",))
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "new.py").write_text("")
    assert len({before, changed, code_sha256.__wrapped__(("tasks",))}) == 3


def test_every_named_source_exists() -> None:
    from contrapose.tasks.evaluate.task import SOURCES as EVALUATE
    from contrapose.tasks.validate.task import SOURCES as VALIDATE

    for sources in (SOURCES, EVALUATE, VALIDATE, ("tasks/load", "tasks/perturb", "tasks/infer", "tasks/tables.py")):
        assert len(code_sha256(tuple(sources))) == 64


def test_a_mistake_of_the_users_is_not_tried_again() -> None:
    class State:
        def __init__(self, error: Exception) -> None:
            self.error = error

        def result(self, raise_on_failure: bool) -> Exception:
            return self.error

    assert not policy._worth_a_retry(None, None, State(DataError("x", expected="y", remedy="z")))
    assert policy._worth_a_retry(None, None, State(OSError("disk")))


@pytest.mark.usefixtures("prefect_server")
def test_what_is_not_to_be_cached_is_done_again_inside_a_flow_that_persists(tmp_path: Path) -> None:
    from prefect import flow

    done: list[int] = []

    @policy.room_task("ask", sources=(), run_name="ask", persist=False)
    def ask(number: int) -> int:
        done.append(number)
        return number

    @flow(persist_result=True, result_storage=tmp_path, result_serializer=policy.SERIALIZER)
    def twice() -> int:
        return sum(policy.call(ask, number=1).value for _ in range(2))

    assert twice() == 2
    assert done == [1, 1]
