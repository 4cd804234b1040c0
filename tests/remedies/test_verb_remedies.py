"""Remedies of commands that need a past, a person, a server or a disk get a person further."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path
from time import sleep
from types import SimpleNamespace

import pytest
from newest_run import summary_of
from past_runs import past_run
from prefect.client.orchestration import get_client
from prefect.settings import PREFECT_API_URL, PREFECT_SERVER_DATABASE_CONNECTION_URL, temporary_settings
from prefect.states import Completed
from remedies.following import Attempt, Case, Follow, add, change, drop, export, follow_case, follows, refused
from sqlalchemy import update

from contrapose.flows import run_lifecycle
from contrapose.flows.cli import deploy, main, start
from contrapose.flows.evaluate_model import evaluate_model
from contrapose.flows.orchestration.options import select_tests
from contrapose.flows.run_lifecycle import read_begun_config
from contrapose.tasks.config.suite_files import load_config
from contrapose.tasks.history.dataset import append_run
from contrapose.tasks.store import Store
from contrapose.tasks.store.opening import connect
from contrapose.tasks.store.schema import RUNS

WORDS = ["--model", "mock", "--test", "option_order", "--limit", "2"]
RUN = f"run {' '.join(WORDS)} --exit-zero"
CHECKED, UNCOMPARED = f"{RUN} --against nowhere", "no finished run of the suite quickstart"
"""A run that is checked as any other, and then has nothing to be compared with."""
BATCH = "batch prompts --model openai/x --test add_toxic_words --limit 1 --out p.jsonl"


def write_history(folder: Path) -> None:
    append_run(str(folder / "own"), past_run(), key="0")


def write_old_part(folder: Path) -> None:
    """Write what a killed run left behind long ago."""
    part = folder / "runs" / ".20200101T000000Z-s-m.part"
    part.mkdir(parents=True)
    os.utime(part, (0, 0))


def clear_cache(attempt: Attempt) -> None:
    """Forget the answers with the command that the remedy names, and leave the setting out."""
    assert "`contrapose cache clear`" in attempt.remedy
    assert main(["cache", "clear", "--yes"]) == 0
    drop("Leave refresh out", "refresh=true")(attempt)


def run_into(named: str, *words: str) -> Follow:
    """Finish a run, as the remedy asks."""

    def follow(attempt: Attempt) -> None:
        assert named in attempt.remedy
        assert main([*RUN.split(), *words]) == 0

    return follow


CASES = [
    Case(
        site="flows/batching.py:find_unanswered",
        command=f"{BATCH} --set refresh=true",
        says="refresh: a batch cannot ask again",
        follow=clear_cache,
        variables={"OPENAI_API_KEY": "sk-1"},
    ),
    Case(
        site="flows/cli/cache.py:_confirm",
        command="cache prune --runs runs",
        says="no confirmation to delete the files above",
        follow=add(r"(--yes)"),
        prepare=write_old_part,
    ),
    Case(
        site="flows/cli/history.py:read_past_runs",
        command="history",
        says="no run is recorded there",
        follow=add(r"(--history)", placeholder="--history", value="--history own"),
        prepare=write_history,
    ),
    Case(
        site="flows/cli/history.py:read_past_runs",
        command="history",
        says="no run is recorded there",
        follow=run_into("every run that is published adds itself"),
    ),
    Case(
        site="flows/cli/history.py:read_past_runs",
        command="history --history own --model other",
        says="no run of other; expected harbour on mock.",
        follow=change("Choose another suite, model or test", "other", "mock"),
        prepare=write_history,
    ),
    Case(
        site="flows/cli/history.py:read_past_runs",
        command="history --history own --test other",
        says="no run of other; expected harbour on mock, with add_negation.",
        follow=change("Choose another suite, model or test", "other", "add_negation"),
        prepare=write_history,
    ),
    Case(
        site="flows/cli/validate.py:validate_run",
        command=f"{CHECKED} --out file",
        says="runs cannot be written there",
        follow=change("Choose another one with --out", "--out file", "--out other"),
        files={"file": ""},
        leads_to=UNCOMPARED,
    ),
    Case(
        site="flows/cli/validate.py:validate_run",
        command=CHECKED,
        says="what is cached cannot be written there",
        follow=export(r"in (CONTRAPOSE_HOME)", "home"),
        files={"file": ""},
        leads_to=UNCOMPARED,
        variables={"CONTRAPOSE_HOME": "file"},
    ),
    Case(
        site="flows/cli/validate.py:validate_run",
        command=CHECKED,
        says="tables cannot be written there",
        follow=export(r"in (CONTRAPOSE_STORAGE)", "tables"),
        files={"file": ""},
        leads_to=UNCOMPARED,
        variables={"CONTRAPOSE_STORAGE": "file"},
    ),
    Case(
        site="tasks/compare/runs.py:_find_baseline",
        command=f"{RUN} --against main",
        says=UNCOMPARED,
        follow=run_into("Run the suite on the main branch first", "--out", "main"),
    ),
]


@pytest.mark.usefixtures("own_store", "prefect_server")
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.site}: {case.says}"[-60:])
def test_remedy_leads_further(
    case: Case, in_tmp: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    follow_case(case, in_tmp, monkeypatch, capsys)


@follows("flows/cli/init.py:_ask_goals")
def test_goal_that_is_no_goal_is_typed_again(
    in_tmp: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    typed = iter(["mock", "", "optoins", "mock", "", "options"])
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr("builtins.input", lambda _: next(typed))
    assert main(["init"]) == 2
    assert "Did you mean 'options'?" in capsys.readouterr().err
    assert main(["init"]) == 0


@follows("flows/cli/terminal.py:write")
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_output_onto_a_full_disk_is_sent_elsewhere(
    in_tmp: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, code in (("/dev/full", 2), ("list.txt", 0)):
        with open(name, "w") as disk, monkeypatch.context() as streams:
            streams.setattr(sys, "stdout", disk)
            streams.setattr(sys, "__stdout__", disk)
            assert main(["list"]) == code
    assert "Make room, or send it elsewhere" in capsys.readouterr().err
    assert "quickstart" in (in_tmp / "list.txt").read_text()


@follows("flows/cli/run.py:_resume")
@pytest.mark.usefixtures("own_store", "prefect_server")
def test_folder_of_an_unfinished_run_is_created_again(
    in_tmp: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (in_tmp / "project").mkdir()
    with monkeypatch.context() as place:
        place.chdir("project")
        run = noted_run()
    shutil.rmtree("project")
    assert main(["resume", run]) == 2
    assert (
        "no longer exists; expected a folder that its relative paths start from. Create it" in capsys.readouterr().err
    )
    (in_tmp / "project").mkdir()
    assert main(["resume", run, "--max-calls", "99"]) in (0, 1, 3)


def begun_run() -> str:
    """Return the id of a run that its budget ended."""
    assert main(["run", *WORDS, "--max-calls", "1"]) == 4
    return Store().runs.find_unfinished()[0].id


def noted_run() -> str:
    """Return the id of an unfinished run that has asked nothing yet."""
    config = select_tests(load_config("quickstart", {"model": "mock", "limit": 2})[0], ["option_order"])
    run = run_lifecycle.begin_run(config).id
    Store().runs.end(run, "incomplete")
    return run


@follows("flows/run_lifecycle.py:read_begun_config")
@pytest.mark.usefixtures("own_store", "prefect_server", "in_tmp")
def test_run_of_another_version_is_started_anew(own_store: str, capsys: pytest.CaptureFixture[str]) -> None:
    run = begun_run()
    with connect(own_store).begin() as connection:
        connection.execute(update(RUNS).values(config='{"colour": "blue"}'))
    assert main(["resume", run]) == 2
    assert "Start a new run: cached answers are reused" in capsys.readouterr().err
    assert main(["run", *WORDS]) in (0, 1, 3)
    assert summary_of("runs")["usage"]["from_store"] == 1


@follows("flows/run_lifecycle.py:refuse_other_config")
@pytest.mark.usefixtures("own_store", "prefect_server", "in_tmp")
def test_run_with_another_configuration_is_resumed_with_its_own() -> None:
    run = noted_run()
    row = Store().runs.get(run)
    assert row is not None
    config = read_begun_config(row).model_copy(update={"seed": 5, "max_calls": 99})
    error = refused(lambda: evaluate_model(config, resumed=run), "not the run's own: seed")
    command = re.match(r"`contrapose (resume .*?)` uses the run's own, or start a new run", error.remedy)
    assert command, error.remedy
    assert main([*command[1].split(), "--max-calls", "99"]) in (0, 1, 3)
    assert evaluate_model(config)["summary"]["usage"]["calls"]


@pytest.mark.slow
@follows("flows/run_lifecycle.py:find_earlier_start")
@pytest.mark.usefixtures("own_store", "prefect_server", "in_tmp")
def test_run_that_never_ended_is_started_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_lifecycle, "STARTS", 1)
    config = load_config("quickstart", {"model": "mock", "limit": 2})[0]

    def fail(*_: object) -> None:
        raise RuntimeError("the machine is too small")

    with monkeypatch.context() as small:
        small.setitem(evaluate_model.fn.__globals__, "evaluate", fail)
        error = refused(lambda: evaluate_model.with_options(retries=1)(config), "started 2 times")
    assert "Its log shows why it ended. Start a new run: cached answers are reused" in error.remedy
    assert evaluate_model(config)["summary"]["usage"]["requests"] == 0


@follows("flows/cli/start.py:start_server")
@pytest.mark.usefixtures("prefect_server")
@pytest.mark.parametrize("wrong", ["CONTRAPOSE_HOME", "PREFECT_SERVER_DATABASE_CONNECTION_URL"])
def test_database_of_a_temporary_server_has_another_place(
    wrong: str, in_tmp: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (in_tmp / "file").touch()
    begun = list[str]()
    server = SimpleNamespace(begin=lambda: begun.append("begin"), start=dict)
    monkeypatch.setattr(start, "get_own_server", lambda: server)

    def starts(folder: Path, url: str | None = None) -> None:
        home = wrong == "CONTRAPOSE_HOME"
        monkeypatch.setenv("CONTRAPOSE_HOME", str(folder if home else in_tmp))
        database = None if home else f"sqlite+aiosqlite:///{folder}/prefect.db"
        with (
            temporary_settings({PREFECT_API_URL: url, PREFECT_SERVER_DATABASE_CONNECTION_URL: database}),
            start.start_server(),
        ):
            pass

    served = PREFECT_API_URL.value()
    remedy = refused(lambda: starts(in_tmp / "file"), "the database of a temporary Prefect server").remedy
    assert f"in {wrong}, or a server in PREFECT_API_URL" in remedy
    starts(in_tmp / "file", served)
    assert not begun
    starts(in_tmp / "other")
    assert begun


@pytest.mark.slow
@follows("flows/cli/deploy.py:_make_server_error")
@pytest.mark.usefixtures("recording_prefect")
@pytest.mark.parametrize("named", [None, "http://127.0.0.1:1/api"])
def test_event_without_a_server_is_announced_to_one(named: str | None, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["deploy", "announce", "hf/team/model", "--revision", "v2"]
    with temporary_settings({PREFECT_API_URL: named}):
        assert main(words) == 2
    assert "Set PREFECT_API_URL to a running server; contrapose ui starts one" in capsys.readouterr().err
    assert main(words) == 0


@pytest.mark.slow
@follows("flows/cli/deploy.py:follow_check")
@pytest.mark.usefixtures("recording_prefect", "in_tmp", "own_store")
def test_check_that_never_began_begins_once_its_automation_is_deployed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["deploy", "announce", "mock", "--revision", "v2", "--wait"]
    # `prefect deploy` is a process of its own.
    monkeypatch.setenv("PREFECT_API_URL", str(PREFECT_API_URL.value()))
    with monkeypatch.context() as short:
        short.setattr(deploy, "BEGIN_SECONDS", 0.1)
        short.setattr(deploy, "LOOK_SECONDS", 0.1)
        assert main(words) == 2
    line = capsys.readouterr().err
    assert "no check of mock began within 0 seconds" in line
    command = re.search(r"Run `contrapose (deploy)` to create it, or `contrapose doctor`", line)
    assert command, line
    assert main([command[1]]) == 0
    with get_client(sync_client=True) as client:

        def complete(_: float) -> None:
            sleep(0.2)
            for run in client.read_flow_runs():
                client.set_flow_run_state(run.id, Completed(message="Hold."), force=True)

        monkeypatch.setattr(deploy, "sleep", complete)
        assert main(words) == 4
    assert "Hold." in capsys.readouterr().out
