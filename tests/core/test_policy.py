"""Cache keys: they hit for the same work, and miss when anything that matters changed."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel

from contrapose.flows.orchestration.options import select_tests
from contrapose.tasks.config.plan import Plan, plans
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core import policy
from contrapose.tasks.core.errors import DataError
from contrapose.tasks.core.policy import cache_key
from contrapose.tasks.core.registry import list_modules
from contrapose.tasks.evaluate.task import judge

FILES = {
    "elsewhere/task.py": "def run():\n    return 1\n",
    "elsewhere/deep/words.txt": "one",
    "elsewhere/README.md": "text",
    "alone.py": "x = 1\n",
}


class Settings(BaseModel):
    """Some inputs of a task."""

    names: dict[str, int]


def test_a_key_does_not_depend_on_the_order_of_the_inputs() -> None:
    first = cache_key("t", (), {"a": 1, "b": Settings(names={"x": 1, "y": 2})})
    assert first == cache_key("t", (), {"b": Settings(names={"y": 2, "x": 1}), "a": 1})


@pytest.mark.parametrize(
    ("name", "inputs", "rests_on"),
    [("u", {"a": 1}, ()), ("t", {"a": 2}, ()), ("t", {"b": 1}, ()), ("t", {}, ("rich",))],
)
def test_a_key_depends_on_the_task_its_inputs_and_versions(
    name: str, inputs: dict[str, int], rests_on: tuple[str, ...]
) -> None:
    assert cache_key(name, (), inputs, rests_on=rests_on) != cache_key("t", (), {"a": 1})


def test_a_key_is_the_same_in_another_process() -> None:
    code = "from contrapose.tasks.core.policy import cache_key; print(cache_key('t', (), {'a': [1, 'x']}))"
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.strip() == cache_key("t", (), {"a": [1, "x"]})


@pytest.mark.parametrize(
    ("extension", "file", "another"),
    [
        ("elsewhere.task", "elsewhere/task.py", True), ("elsewhere.task", "elsewhere/deep/words.txt", True),
        ("elsewhere.task", "elsewhere/new.py", True), ("elsewhere.task", "elsewhere/README.md", False),
        ("elsewhere.task", "alone.py", False), ("alone", "alone.py", True),
        ("contrapose.tasks.core.records", "elsewhere/task.py", False),
    ],
)  # fmt: skip
def test_sources_of_an_extension_are_in_the_key_and_documents_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, extension: str, file: str, another: bool
) -> None:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(policy, "_package_sha256", policy._package_sha256.__wrapped__)
    before = cache_key("t", (extension,), {})
    (tmp_path / file).write_text("changed")
    assert (cache_key("t", (extension,), {}) != before) is another


@pytest.mark.parametrize("package", ["contrapose.tasks", "contrapose.data"])
def test_all_files_of_ours_are_in_the_key(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before, hash_of = cache_key("t", (), {}), policy._package_sha256
    monkeypatch.setattr(policy, "_package_sha256", lambda name: "another" if name == package else hash_of(name))
    assert cache_key("t", (), {}) != before


def test_an_extension_that_is_not_installed_is_an_error() -> None:
    with pytest.raises(ModuleNotFoundError, match="nowhere"):
        cache_key("t", ("nowhere.task",), {})


def test_a_table_of_names_leads_to_code() -> None:
    assert list_modules("probes", "order_bias") == ["contrapose.tasks.probes.order_bias"]
    assert "contrapose.tasks.load.jsonl" in list_modules("sources", "")


@pytest.mark.parametrize(
    ("test", "package", "another"),
    [
        ("add_negation", "lemminflect", True), ("add_toxic_words", "textblob", True), ("antonym", "py3langid", True),
        ("order_bias", "lemminflect", False), ("add_negation", "rich", False), ("add_negation", "prefect", False),
    ],
)  # fmt: skip
def test_cases_are_made_again_with_another_version_of_what_their_probe_rests_on(
    monkeypatch: pytest.MonkeyPatch, test: str, package: str, another: bool
) -> None:
    def key() -> str:
        return cache_key("perturb", list_modules("probes", test), {"plan": _plan(test)})

    before = key()
    _upgrade(package, monkeypatch)
    assert (key() != before) is another


@pytest.mark.parametrize(("package", "another"), [("scipy", True), ("prefect", False)])
def test_a_task_names_the_packages_that_decide_its_outcome(
    monkeypatch: pytest.MonkeyPatch, package: str, another: bool
) -> None:
    def key() -> str:
        policy_of_judge: Any = judge.cache_policy
        return str(policy_of_judge.cache_key_fn(SimpleNamespace(task=judge), {"plan": _plan("order_bias")}))

    before = key()
    _upgrade(package, monkeypatch)
    assert (key() != before) is another


def _plan(test: str) -> Plan:
    return plans(select_tests(RunConfig(model="mock"), [test]))[0]


def _upgrade(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = metadata.version
    monkeypatch.setattr(metadata, "version", lambda name: installed(name) + (".1" if name == package else ""))


def test_a_mistake_of_the_users_is_not_tried_again() -> None:
    class State:
        def __init__(self, error: Exception) -> None:
            self.error = error

        def result(self, raise_on_failure: bool) -> Exception:
            return self.error

    assert not policy._should_retry(None, None, State(DataError("x", expected="y", remedy="z")))
    assert policy._should_retry(None, None, State(OSError("disk")))


@pytest.mark.usefixtures("prefect_server")
def test_what_is_not_to_be_cached_is_done_again_inside_a_flow_that_persists(tmp_path: Path) -> None:
    from prefect import flow

    done: list[int] = []

    @policy.room_task("ask", run_name="ask", persist=False)
    def ask(number: int) -> int:
        done.append(number)
        return number

    @flow(persist_result=True, result_storage=tmp_path, result_serializer=policy.SERIALIZER)
    def twice() -> int:
        return sum(policy.call_task(ask, number=1) for _ in range(2))

    assert twice() == 2
    assert done == [1, 1]


def test_no_server_is_asked_for_the_limits_of_a_task() -> None:
    # Prefect asks for those of each tag.
    assert not policy.room_task("say", run_name="say")(lambda: None).tags
