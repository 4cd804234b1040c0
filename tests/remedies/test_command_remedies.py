"""Remedies of commands about runs, caches, batches and deployments get a person further."""

from __future__ import annotations

import json
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from finished import rows_from, write_run
from remedies.following import Attempt, Case, Follow, add, change, drop, export, follow_case, run_first, take, write

from contrapose.flows.cli import main

RECORDED = '{"prompt": "Is it so?", "answer": "yes"}\n'
LANGTEST = "tests:\n  robustness:\n    {test}: {{min_pass_rate: 0.5}}\n"


def write_runs(folder: Path, **changes: object) -> None:
    """Write two finished runs on the same rows, the second with other values."""
    write_run(folder / "runs" / "first", rows_from([True] * 20))
    write_run(folder / "runs" / "second", rows_from([True] * 20), model="embedded", **changes)  # type: ignore[arg-type]


def evaluate_again(named: str) -> Follow:
    """Write the second run again, as an evaluation with the same settings would."""

    def follow(attempt: Attempt) -> None:
        assert named in attempt.remedy
        write_run(attempt.folder / "runs" / "third", rows_from([True] * 20), model="embedded")
        attempt.replace("second", "third")

    return follow


def record_all(attempt: Attempt) -> None:
    """Record a reply to every prompt that the command of the remedy lists."""
    assert "ids or prompts that `contrapose preview --json`" in attempt.remedy
    with redirect_stdout(StringIO()) as printed:
        assert main(["preview", "--json", "--test", "add_toxic_words", "--data", "rows.jsonl"]) == 0
    rows = [json.loads(line) for line in printed.getvalue().splitlines()]
    replies = [{"id": row["sample_id"], "original": "Yes.", "perturbed": "Yes."} for row in rows]
    (attempt.folder / "replies.jsonl").write_text("".join(json.dumps(row) + "\n" for row in replies))


COMMANDS = [
    Case(
        site="flows/cli/init.py:_init",
        command="init --model mock --out suite.txt",
        says="'suite.txt' is no name of a suite",
        follow=take("suite.txt", r"--out (suite.yaml)"),
    ),
    Case(
        site="flows/cli/init.py:_refuse_existing",
        command="init --model mock",
        says="suite.yaml: the file exists already",
        follow=add(r"(--force)"),
        files={"suite.yaml": "x"},
    ),
    Case(
        site="flows/cli/init.py:_refuse_existing",
        command="init --model mock --out suite.yaml",
        says="suite.yaml: the file exists already",
        follow=change("Name another file with --out", "--out suite.yaml", "--out other.yaml"),
        files={"suite.yaml": "x"},
    ),
    Case(
        site="flows/cli/init.py:_write",
        command="init --model mock --out file/suite.yaml",
        says="the file cannot be written",
        follow=change("with --out", "file/suite.yaml", "suite.yaml"),
        files={"file": "x"},
    ),
    Case(
        site="flows/cli/init.py:_import_langtest",
        command="init --langtest config.yaml",
        says="none of its tests has a counterpart",
        follow=run_first(
            r"`contrapose (list tests)`", then=write("Choose one", "config.yaml", LANGTEST.format(test="add_typo"))
        ),
        files={"config.yaml": LANGTEST.format(test="zzz")},
    ),
    Case(
        site="flows/cli/cache.py:_confirm",
        command="cache clear",
        says="no confirmation to delete answers",
        follow=add(r"(--yes)"),
    ),
    Case(
        site="flows/cli/cache.py:_prune",
        command="cache prune --dry-run --older-than 0",
        says="0 days",
        follow=change("Write --older-than 1", "0", "1"),
    ),
    Case(
        site="flows/cli/run.py:_run_once",
        command="run --recorded replies.jsonl --column reply",
        says="--column: 'reply'",
        follow=change("Write --column name=value", "--column reply", "--column reply=answer"),
        files={"replies.jsonl": RECORDED},
        leads_to="no case has recorded replies",
    ),
    Case(
        site="flows/cli/run.py:_run_once",
        command="run --recorded replies.jsonl --model mock --column reply=answer",
        says="mock together with recorded replies",
        follow=drop("Remove --model", "mock"),
        files={"replies.jsonl": RECORDED},
        leads_to="no case has recorded replies",
    ),
    Case(
        site="flows/cli/run.py:_resume",
        command="resume nope",
        says="no unfinished runs begin with 'nope'",
        follow=run_first(r"`contrapose (resume)`", then=drop("resume", "nope")),
    ),
    Case(
        site="flows/cli/history.py:read_past_runs",
        command="history --last -1",
        says="--last: -1",
        follow=take("-1", r"--last (0)"),
        leads_to="no run is recorded there",
    ),
    Case(
        site="flows/cli/batch.py:_cancel",
        command="batch cancel nope",
        says="no such batch is under way",
        follow=run_first(r"`contrapose (batch status)`", then=change("batch status", "cancel nope", "status")),
    ),
    Case(
        site="flows/cli/batch.py:_write_prompts",
        command="batch prompts --model openai/x --test add_toxic_words --limit 1 --max-lines 0 --out p.jsonl",
        says="--max-lines: 0",
        follow=take("lines 0", r"--max-(lines 1)"),
        variables={"OPENAI_API_KEY": "sk-1"},
    ),
    Case(
        site="flows/cli/batch.py:_write_prompts",
        command="batch prompts --model openai/x --test add_toxic_words --limit 1 --out file/p.jsonl",
        says="file/p.jsonl: File exists",
        follow=change("Name another file with --out", "file/p.jsonl", "p.jsonl"),
        files={"file": "x"},
        variables={"OPENAI_API_KEY": "sk-1"},
    ),
    Case(
        site="flows/cli/batch.py:lines",
        command="batch answers nope.jsonl",
        says="nope.jsonl: No such file",
        follow=change("Name the file of results", "nope.jsonl", "results.jsonl"),
        files={"results.jsonl": "{}\n"},
        leads_to="results.jsonl, row 1",
    ),
    Case(
        site="flows/batching.py:find_unanswered",
        command="batch prompts --model mock --test add_toxic_words --limit 1 --out p.jsonl",
        says="mock",
        follow=change("Name one in --model", "--model mock", "--model openai/x"),
        variables={"OPENAI_API_KEY": "sk-1"},
    ),
    Case(
        site="flows/cli/view.py:choose_folder",
        command="view",
        says="runs: no such folder",
        follow=add(r"(Name it)", placeholder="Name it", value="own --port 0"),
        leads_to="own",
    ),
    Case(
        site="tasks/store/engine.py:refuse_unreadable",
        command="cache info",
        says="CONTRAPOSE_STORE",
        follow=export(r"(CONTRAPOSE_STORE)", "sqlite:///own.sqlite3"),
        variables={"CONTRAPOSE_STORE": "no address"},
    ),
    Case(
        site="tasks/infer/recorded.py:read_selection",
        command="validate --model recorded --test add_negation",
        says="no file is named",
        follow=change("--model recorded/<file>", "recorded", "recorded/replies.jsonl"),
        files={"replies.jsonl": RECORDED.replace("answer", "reply")},
    ),
    Case(
        site="tasks/infer/recorded.py:_read_recording",
        command="validate --model recorded/no.jsonl --test add_negation",
        says="no.jsonl: No such file",
        follow=change("--model recorded/<file>", "no.jsonl", "replies.jsonl"),
        files={"replies.jsonl": RECORDED.replace("answer", "reply")},
    ),
    Case(
        site="tasks/infer/recordings.py:_find_columns",
        command="validate --model recorded/replies.jsonl --test add_negation",
        says="columns prompt, said",
        follow=add(r"(--set model_args.columns.reply=answer)", placeholder="answer", value="said"),
        files={"replies.jsonl": RECORDED.replace("answer", "said")},
    ),
    Case(
        site="tasks/infer/recordings.py:_make_column_error",
        command="validate --model recorded/replies.jsonl --test add_negation --set model_args.columns.reply=said",
        says="there is no column 'said'",
        follow=change("Set model_args.columns.reply to one of these", "said", "answer"),
        files={"replies.jsonl": RECORDED},
    ),
    Case(
        site="tasks/infer/recorded.py:read_selection",
        command="validate --model recorded/replies.jsonl --test add_negation --set model_args.columns.repyl=answer",
        says="'repyl'; expected one of",
        follow=take("repyl"),
        files={"replies.jsonl": RECORDED},
    ),
    Case(
        site="tasks/infer/recorded.py:read_selection",
        command="validate --model recorded/replies.jsonl --test add_negation --set model_args.columns=answer",
        says="model_args.columns: 'answer'",
        follow=change("--set model_args.columns.<name>=<column>", "columns=answer", "columns.reply=answer"),
        files={"replies.jsonl": RECORDED},
    ),
    Case(
        site="tasks/infer/recorded.py:make_nothing_recorded_error",
        command="run --recorded replies.jsonl --test add_toxic_words --data rows.jsonl",
        says="no case has recorded replies to both prompts",
        follow=record_all,
        files={"replies.jsonl": RECORDED.replace("answer", "reply"), "rows.jsonl": '{"text": "The sky is blue."}\n'},
    ),
]

DEPLOYMENTS = [
    Case(
        site="flows/deploy/deployment_options.py:refuse_wrong",
        command="deploy --cron x",
        says="--cron: 'x'",
        follow=change('--cron "0 2 * * *"', "x", "0 2 * * *"),
        leads_to="no Prefect server is named",
    ),
    Case(
        site="flows/deploy/deployment_options.py:refuse_wrong",
        command="deploy --timezone Nowhere",
        says="--timezone: 'Nowhere'",
        follow=take("Nowhere", r"--timezone ([\w/]+)"),
        leads_to="no Prefect server is named",
    ),
]

COMPARISONS = [
    Case(
        site="tasks/compare/runs.py:_unfit_error",
        command="compare first second",
        says="first: no such folder, and no run of that id in runs",
        follow=add(r"(--runs)", placeholder="--runs", value="--runs own"),
        prepare=lambda folder: (write_runs(folder), (folder / "runs").rename(folder / "own")),
    ),
    Case(
        site="tasks/compare/compare.py:refuse_margin",
        command="compare first second --margin 5",
        says="margin: 5.0",
        follow=take("5", r"--margin (0.05)"),
        prepare=write_runs,
    ),
    Case(
        site="tasks/compare/compare.py:compare",
        command="compare first second --baseline thrid",
        says="baseline: 'thrid'",
        follow=take("thrid", r"--baseline (\w+)"),
        prepare=write_runs,
    ),
    Case(
        site="tasks/compare/runs.py:refuse_unlike",
        command="compare first",
        says="1 different among 1 named",
        follow=change("Name the folders", "compare first", "compare first second"),
        prepare=write_runs,
    ),
    Case(
        site="tasks/compare/runs.py:make_unlike_error",
        command="compare first second",
        says="seed",
        follow=evaluate_again("with the same seed"),
        prepare=lambda folder: write_runs(folder, config={"seed": 7}),
    ),
    Case(
        site="tasks/compare/rows.py:_read_from",
        command="compare first second",
        says="table cannot be read",
        follow=evaluate_again("Evaluate the model again"),
        prepare=lambda folder: (
            write_runs(folder),
            (folder / "runs" / "second" / "results.parquet").write_text("x"),
        ),
    ),
]


@pytest.mark.parametrize("case", [*COMMANDS, *COMPARISONS], ids=lambda case: f"{case.site}: {case.says}"[-60:])
def test_remedy_leads_further(
    case: Case,
    own_store: str,
    prefect_server: None,
    in_tmp: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    follow_case(case, in_tmp, monkeypatch, capsys)


@pytest.mark.parametrize("case", DEPLOYMENTS, ids=lambda case: case.says)
def test_remedy_of_a_deployment_leads_further(
    case: Case, in_tmp: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from prefect.settings import PREFECT_API_URL, temporary_settings

    with temporary_settings(restore_defaults={PREFECT_API_URL}):
        follow_case(case, in_tmp, monkeypatch, capsys)
