"""On a worker that has a key: what was deployed beside it counts, what a run is given does not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from counting_server import Counting, counting
from prefect_house import House, house

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

KEY, PASSWORD = "sk-live-4f9a71c2e8", "hunter2-7d1e55b0"


@pytest.fixture(scope="module")
def named() -> Iterator[Counting]:
    with counting() as found:
        yield found


@pytest.fixture(scope="module")
def prefect(tmp_path_factory: pytest.TempPathFactory, named: Counting) -> Iterator[House]:
    with house(tmp_path_factory.mktemp("house"), OPENAI_API_KEY=KEY, MY_DB_PASSWORD=PASSWORD) as built:
        built.contrapose("deploy", "--key-host", f"127.0.0.1:{named.port}")
        yield built


def form(folder: Path, url: str, **args: Any) -> dict[str, Any]:
    """What the form sends."""
    (folder / "one.jsonl").write_text('{"text": "Is this the end?"}\n')
    given = {"base_url": url, "retries": 0, **args}
    return {"model": "openai/any", "model_args": given, "data": str(folder / "one.jsonl"), "only": ["add_toxic_words"]}


def test_the_host_that_was_deployed_gets_the_key(prefect: House, named: Counting, tmp_path: Path) -> None:
    run = prefect.run_of("on-demand", config=form(tmp_path, named.url))
    assert prefect.ended(run)["type"] == "COMPLETED"
    assert {each["authorization"] for each in named.headers} == {f"Bearer {KEY}"}


@pytest.mark.parametrize("args", [{}, {"api_key_env": "MY_DB_PASSWORD"}])
def test_the_host_that_a_run_is_given_is_not_asked(prefect: House, tmp_path: Path, args: dict[str, str]) -> None:
    with counting() as foreign:
        run = prefect.run_of("on-demand", config=form(tmp_path, foreign.url, **args))
        ended = prefect.ended(run)
        candidate = {"base_url": foreign.url, **args}
        check = prefect.run_of(
            "retraining-check", model="openai/any", revision="r2", config={"model": "mock"}, candidate_args=candidate
        )
        checked = prefect.ended(check)
    assert foreign.asked == []
    for state in (ended, checked):
        assert state["type"] == "FAILED"
        assert f"is no key for http://127.0.0.1:{foreign.port}; expected" in state["message"]
        assert "CONTRAPOSE_KEY_HOSTS=" in state["message"]
        assert "Traceback" not in state["message"]
