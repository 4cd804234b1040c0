"""A process beside ours says of sound tables what would be said here, and of all others nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from sound import sound

from contrapose.tasks.validate import beside, gates
from contrapose.tasks.validate.beside import let_go, prepare_to_look, sound_beside
from contrapose.tasks.validate.expectations import SeenRows, look_at

ROWS = pa.table({"id": ["a", "b", "c"], "score": [0.0, 0.5, None], "labels": [["A", "B"], [], None]})


def column(name: str, kind: str, **others: object) -> dict[str, object]:
    return {"type": f"expect_column_values_to_{kind}", "kwargs": {"column": name, **others}}


SOUND = [
    column("id", "not_be_null"),
    column("id", "be_unique"),
    column("score", "be_between", min_value=0, max_value=1),
    column("id", "be_in_set", value_set={"$PARAMETER": "known"}),
    {"type": "expect_table_row_count_to_be_between", "kwargs": {"min_value": 1}},
    {"type": "expect_column_mean_to_be_between", "kwargs": {"column": "score", "min_value": 0}},
]


AT_ONCE = beside.PROGRAM.replace("at_leisure(imported)", "imported()")


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The process, though the library is imported here, too; files of the folder it is begun in are no modules."""
    folder = tmp_path_factory.mktemp("folder")
    (folder / "pandas.py").write_text("raise SystemExit('a file of the user')")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(beside, "is_imported", lambda: False)
        # On a machine with other work it would be given nothing of the processor.
        patch.setattr(beside, "PROGRAM", AT_ONCE)
        patch.setattr(beside, "SECONDS", 120.0)
        beside._process.cache_clear()
        with let_go():
            prepare_to_look()
            yield
    beside._process.cache_clear()


def looked(expectations: list[dict[str, object]]) -> tuple[list[SeenRows] | None, list[SeenRows]]:
    """What is said there, and here."""
    numbers, parameters = (7, 7 + len(ROWS)), {"known": ["a", "b", "c"]}
    return (
        sound_beside(expectations, ROWS, numbers=numbers, parameters=parameters),
        look_at(expectations, ROWS, numbers=numbers, parameters=parameters),
    )


def test_where_it_was_not_begun_nothing_is_asked() -> None:
    # This process has the library, since it looks itself.
    there, here = looked(SOUND)
    assert there is None
    assert all(seen.holds for seen in here)
    prepare_to_look()
    assert not beside._process().begun


@pytest.mark.usefixtures("begun")
def test_a_sound_table_is_told_of_as_it_would_be_here_and_a_broken_one_is_not() -> None:
    there, here = looked(SOUND)
    assert there == here
    nothing, broken = looked([*SOUND, column("score", "not_be_null")])
    assert nothing is None
    assert broken[-1].broken == [9]
    assert looked([column("id", "be_between", min_value=0)])[0] is None
    assert looked([])[0] == []
    there, here = looked(SOUND)
    assert there == here


@pytest.mark.usefixtures("begun")
def test_a_gate_takes_what_it_says_and_looks_itself_where_it_has_ended(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CONTRAPOSE_HOME", str(tmp_path / "one"))
    here: list[int] = []

    def counted(*arguments: object, **others: object) -> list[SeenRows]:
        here.append(1)
        return look_at(*arguments, **others)  # type: ignore[arg-type]

    monkeypatch.setattr(gates, "look_at", counted)
    there = sound("order_bias").sifted("completions")
    assert all(finding["holds"] for finding in there.findings)
    assert not here
    with pytest.raises(KeyboardInterrupt), let_go():
        raise KeyboardInterrupt
    monkeypatch.setenv("CONTRAPOSE_HOME", str(tmp_path / "two"))
    assert sound("order_bias").sifted("completions") == there
    assert here
