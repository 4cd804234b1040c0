"""Whichever way an address comes in, no key goes with it: one line, and nothing is asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from counting_server import Counting, counting

from contrapose.flows.cli import main
from contrapose.tasks.core.errors import ContraposeError

pytestmark = pytest.mark.usefixtures("prefect_server", "own_store", "in_tmp")

KEY, PASSWORD = "sk-live-4f9a71c2e8", "hunter2-7d1e55b0"
Way = Callable[[dict[str, Any]], str]


@pytest.fixture
def server() -> Iterator[Counting]:
    with counting() as found:
        yield found


@pytest.fixture(autouse=True)
def a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("MY_DB_PASSWORD", PASSWORD)


def raised(act: Callable[[], object]) -> str:
    with pytest.raises(ContraposeError) as caught:
        act()
    return str(caught.value)


def by_parameters(args: dict[str, Any]) -> str:
    from contrapose.flows.evaluate_model import evaluate_model
    from contrapose.tasks.config.run_config import RunConfig

    return raised(lambda: evaluate_model(RunConfig(model="openai/any", model_args=args, limit=1)))


def by_the_form(args: dict[str, Any]) -> str:
    from contrapose.flows.evaluate_model import evaluate_model

    filled: Any = {"suite": "quickstart", "only": [], "model": "openai/any", "model_args": args, "advanced": {}}
    return raised(lambda: evaluate_model(filled))


def by_an_announcement(args: dict[str, Any]) -> str:
    from contrapose.flows.check_retrained_model import check_retrained_model
    from contrapose.tasks.config.run_config import RunConfig

    config = RunConfig(model="mock", limit=1)
    return raised(lambda: check_retrained_model("openai/any", config, revision="r2", candidate_args=args))


def by_a_comparison(args: dict[str, Any]) -> str:
    from contrapose.flows.compare_models import ComparedModel, compare_models
    from contrapose.tasks.config.run_config import RunConfig

    models: Any = ["mock", ComparedModel(model="openai/any", model_args=args)]
    return raised(lambda: compare_models(RunConfig(limit=1), models))


def of_the_command(*arguments: str) -> str:
    import contextlib
    import io

    told = io.StringIO()
    with contextlib.redirect_stderr(told):
        assert main(["run", *arguments]) == 2
    return told.getvalue().strip().splitlines()[-1]


def by_a_suite_file(args: dict[str, Any]) -> str:
    Path("own.yaml").write_text(json.dumps({"model": "openai/any", "model_args": args, "limit": 1}))
    return of_the_command("--suite", "own.yaml")


def by_the_command_line(args: dict[str, Any]) -> str:
    given = [word for name, value in args.items() for word in ("--set", f"model_args.{name}={value}")]
    return of_the_command("--model", "openai/any", "--limit", "1", *given)


WAYS = [by_parameters, by_the_form, by_an_announcement, by_a_comparison, by_a_suite_file, by_the_command_line]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("named", [{}, {"api_key_env": "OPENAI_API_KEY"}, {"api_key_env": "MY_DB_PASSWORD"}])
def test_no_key_goes_to_a_host_that_a_run_is_given(way: Way, named: dict[str, Any], server: Counting) -> None:
    told = way({"base_url": server.url, **named})
    assert server.asked == []
    assert f"is no key for http://127.0.0.1:{server.port}; expected " in told
    assert named.get("api_key_env", "OPENAI_API_KEY") in told
    assert "CONTRAPOSE_KEY_HOSTS=" in told
    assert "\n" not in told
    assert KEY not in told
    assert PASSWORD not in told


@pytest.mark.parametrize("way", WAYS)
def test_no_block_goes_to_a_host_that_it_does_not_name(way: Way, server: Counting) -> None:
    from prefect.blocks.system import Secret

    Secret(value=PASSWORD).save("database", overwrite=True)
    told = way({"base_url": server.url, "api_key_block": "database"})
    assert server.asked == []
    assert f"Prefect Secret block database is no key for http://127.0.0.1:{server.port}" in told
    assert PASSWORD not in told
