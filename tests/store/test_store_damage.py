"""A store that is damaged, deleted or full: what was paid for is rescued or kept elsewhere, and it is told once."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from core.test_damage import DAMAGES, Damage, garbage
from store.kept_store import MANY, WHOLE, beginning, close, flip, found, one_letter, receipts_of
from store.test_answers import save

from contrapose.flows.cli import main
from contrapose.tasks.core.errors import ContraposeError
from contrapose.tasks.core.records import Usage
from contrapose.tasks.store import Store
from contrapose.tasks.store.answers import build_batch
from contrapose.tasks.store.engine import store_url
from contrapose.tasks.store.opening import check_database, connect
from contrapose.tasks.store.prompts import PromptRow


@pytest.mark.parametrize("damage", [*DAMAGES[:3], one_letter, beginning], ids=lambda damage: damage.__name__)
def test_a_damaged_database_is_made_anew_from_its_receipts(
    damage: Damage, path: Path, warnings: Callable[[], list[str]]
) -> None:
    damage(path)
    assert found() == WHOLE
    assert len(warnings()) == 1
    close()
    assert found() == WHOLE
    assert len(warnings()) == 1


def test_the_damaged_file_is_kept(path: Path, warnings: Callable[[], list[str]]) -> None:
    beginning(path)
    content = path.read_bytes()
    assert found() == WHOLE
    (told,) = warnings()
    assert ".damaged-" in told
    (aside,) = [each for each in path.parent.glob("*.damaged-*") if each.suffix not in ("-wal", "-shm")]
    assert aside.read_bytes() == content


def test_runs_readers_looks_forms_batches_and_checks_are_made_anew_too(path: Path) -> None:
    store, row = Store(), PromptRow("k" * 64, "{}", "m", "f" * 64, "run")
    spent = Usage(calls=9, prompt_tokens=8, completion_tokens=7)
    store.answers.keep(build_batch([], run="run", model="r", spent=spent, failures=0, again=False, reads=True))
    store.runs.add_hits("run", 3)
    store.looks.note("l" * 64, ["a", "b"], run="run")
    store.forms.note("f" * 64, "plain", model="m", run="run", again=False)
    store.prompts.note([row, row._replace(key="j" * 64)])
    assert store.prompts.prepare("batch", [row.key], spec="{}") == 1
    store.prompts.mark("batch", {"remote": "theirs"})
    checks = store.checks(flow_run="flow")
    checks.begin("c" * 64, model="m", revision="1", training_run="t")
    checks.decide("c" * 64, verdict="promote", decision="{}")
    store.runs.end("run", "incomplete")

    def content() -> tuple[object, ...]:
        its = Store()
        return (
            its.runs.get("run"),
            its.looks.earlier_looks("l" * 64, ["a", "b", "c"], run="other"),
            its.forms.find("f" * 64),
            its.prompts.find([row.key, "j" * 64]),
            its.prompts.batches(),
            replace(its.checks(flow_run="x").get("c" * 64), until=0.0, owner=""),
        )

    before = content()
    close()
    garbage(path)
    assert content() == before
    assert before[1] == (2,)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_two_hundred_flips_of_the_closed_database_lose_nothing(path: Path, tmp_path: Path) -> None:
    copy, rng = tmp_path / "whole", random.Random(1)
    shutil.copy(path, copy)
    for _ in range(200):
        shutil.copy(copy, path)
        flip(path, rng, bits=rng.choice((1, 20)))
        check_database.cache_clear()
        check_database(store_url())
        assert found() == WHOLE
        close()
        for left in path.parent.glob("*.damaged-*"):
            left.unlink()


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_two_hundred_flips_of_the_receipts_cost_the_damaged_line_at_most(
    path: Path, tmp_path: Path, warnings: Callable[[], list[str]]
) -> None:
    (receipts,) = receipts_of(path)
    copy, rng = tmp_path / "whole", random.Random(2)
    shutil.copy(receipts, copy)
    for _ in range(200):
        path.unlink()
        flip(receipts, rng)
        told = len(warnings())
        kept = found()
        close()
        assert kept.items() <= WHOLE.items()
        assert len(kept) >= len(WHOLE) - 1
        assert len(warnings()) == told + 1
        assert "damaged" in warnings()[-1] or len(kept) == len(WHOLE)
        shutil.copy(copy, receipts)


@pytest.mark.parametrize("flips", [3, pytest.param(200, marks=[pytest.mark.slow, pytest.mark.timeout(1200)])])
@pytest.mark.parametrize("end", ["", "-wal", "-shm"])
def test_flips_after_a_kill_lose_nothing(
    end: str, flips: int, own_store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, rng = Path(own_store.removeprefix("sqlite:///")), random.Random(3)
    save(Store().answers, *MANY[:300], run=Store().runs.begin("run", config="{}", folder="."))
    killed = tmp_path / "killed"
    shutil.copytree(path.parent, killed, ignore=shutil.ignore_patterns("*.lock"))
    for number in range(flips):
        folder = tmp_path / f"copy-{number}"
        shutil.copytree(killed, folder)
        flip(folder / f"{path.name}{end}", rng)
        monkeypatch.setenv("CONTRAPOSE_STORE", f"sqlite:///{folder / path.name}")
        check_database(store_url())
        assert len(found()) == 300
        close()
        shutil.rmtree(folder)


def test_a_torn_last_line_is_told_and_lost_alone(path: Path, warnings: Callable[[], list[str]]) -> None:
    (receipts,) = receipts_of(path)
    lines = receipts.read_bytes().splitlines(keepends=True)
    # As a kill leaves it: without an end, the last answer cut off.
    answers = [line for line in lines if b'"table":"answers"' in line]
    kept = [line for line in lines if line not in answers[-1:] and b'"do":"end"' not in line]
    receipts.write_bytes(b"".join(kept) + answers[-1][:100])
    path.unlink()
    assert len(found()) == len(WHOLE) - 1
    assert "1,499 answers" in warnings()[0]


def test_a_run_goes_on_its_budget_after_a_damage(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    row = Store().runs.get("run")
    assert (row.answers, row.config) == (1500, '{"naïve": 1}')


def test_a_foreign_file_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("These are notes, not answers." * 1000)
    monkeypatch.setenv("CONTRAPOSE_STORE", f"sqlite:///{notes}")
    with pytest.raises(ContraposeError, match="not a database"):
        Store()
    assert notes.read_text().startswith("These are notes")


def test_an_answer_that_was_changed_on_the_disk_is_known(store: str, warnings: Callable[[], list[str]]) -> None:
    table, run = Store().answers, Store().runs.begin("run", config="{}", folder=".")
    save(table, *MANY[:3], run=run)
    with connect(store).begin() as connection:
        connection.exec_driver_sql(
            "UPDATE answers SET answer = replace(answer, 'word', 'wird') WHERE key LIKE '%%2'"
            if store.startswith("postgres")
            else "UPDATE answers SET answer = replace(answer, 'word', 'wird') WHERE key LIKE '%2'"
        )
    keys = [each.key for each in MANY[:3]]
    if store.startswith("sqlite"):
        assert {key: answer.text for key, answer in table.find(keys).items()} == {key: WHOLE[key] for key in keys}
    else:
        assert set(table.find(keys)) == set(keys[:2])
        assert Store().claims().claim([keys[2]]) == {keys[2]}
        save(table, MANY[2], run=run)
        assert table.find(keys)[keys[2]].text == MANY[2].answer.completion.text
    assert len(warnings()) == 1


def test_a_damaged_answer_whose_receipts_were_written_from_it_is_asked_again(
    path: Path, warnings: Callable[[], list[str]]
) -> None:
    with connect(store_url()).begin() as connection:
        connection.exec_driver_sql("UPDATE answers SET answer = replace(answer, 'word', 'wird') WHERE key LIKE '%7'")
    close()
    for file in receipts_of(path):
        file.unlink()
    # The receipts are gone, and are written again from what the database holds, damage included.
    kept = found()
    assert {key for key in WHOLE if not key.endswith("7")} == set(kept)
    lost = sorted(set(WHOLE) - set(kept))
    assert Store().claims().claim(lost) == set(lost)
    assert any("deleted and are asked again" in warning for warning in warnings())


def test_the_command_says_that_a_store_is_whole(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cache", "repair"]) == 0
    assert "1,500 answers, each as it was written" in capsys.readouterr().out


def test_the_command_repairs_a_database_and_receipts(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[: path.stat().st_size // 2])
    assert main(["cache", "repair"]) == 0
    told = capsys.readouterr()
    assert "the response store was damaged" in told.err
    assert len(told.err.splitlines()) == 1
    close()
    receipts = receipts_of(path)[0]
    receipts.write_bytes(receipts.read_bytes().replace(b"word word word", b"word ward word", 1))
    assert main(["cache", "repair"]) == 0
    assert f"a damaged receipt: {receipts}:" in capsys.readouterr().out
    close()
    path.unlink()
    assert found() == WHOLE
