"""Remedies of files, folders, data sets and frames that cannot be read get a person further."""

from __future__ import annotations

import gzip
import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import openpyxl
import pandas as pd
import pytest
from remedies.following import Attempt, Case, Follow, change, drop, follow_case, follows, write

import contrapose
from contrapose.tasks.core.errors import ContraposeError
from contrapose.tasks.load import jsonl, opening, tabular

MOCK = "preview --model mock --test add_negation --limit 3 --data"
LINE = '{"text": "The sky is blue."}\n'
GOOD = {"text": "The sky is blue."}
CSV = "text\nThe sky is blue.\n"
PARTED = '"text":"topic"\n"The sky is blue.":"sky"\n'
"""With a separator that nothing detects."""
ROOM = 9 * 2**20
"""Bytes of nothing that make a packed file a bomb."""
MANY = opening.MOST_COLUMNS + 1
"""Columns."""


def save_as(named: str, old: str, new: str, content: str | bytes) -> Follow:
    """Save a file under another name as the remedy asks, and name it in the command."""

    def follow(attempt: Attempt) -> None:
        write(named, new, content)(attempt)
        attempt.replace(old, new)

    return follow


def save_book(folder: Path, *rows: tuple[str, ...], hidden: bool = False) -> Path:
    """Save a workbook with rows in a sheet that may be hidden."""
    book = openpyxl.Workbook()
    sheet = book.create_sheet("rows", 0)
    for row in rows:
        sheet.append(row)
    sheet.sheet_state = "hidden" if hidden else "visible"
    book.save(folder / "rows.xlsx")
    return folder / "rows.xlsx"


def swell_book(folder: Path) -> None:
    """Save a workbook with a part that unpacks to nothing but blanks."""
    with zipfile.ZipFile(save_book(folder, *BOOK), "a", zipfile.ZIP_DEFLATED) as book:
        book.writestr("blanks.xml", " " * ROOM)


def write_rows(named: str, **options: object) -> Follow:
    """Write the rows with pandas, with the options that the remedy names."""

    def follow(attempt: Attempt) -> None:
        assert named in attempt.remedy
        shown = ", ".join(f"{name}={value!r}" for name, value in options.items())
        assert f"to_json({shown})" in attempt.remedy
        path = next(attempt.folder.glob("rows.json*"))
        path.write_text(pd.DataFrame([GOOD]).to_json(**options))  # type: ignore[call-overload]

    return follow


BOOK = (("text",), ("The sky is blue.",))
DOCUMENT = json.dumps([GOOD] * 3, indent=1)


def save_again(named: str, *rows: tuple[str, ...]) -> Follow:
    """Save the workbook with other rows, in a sheet that is shown."""

    def follow(attempt: Attempt) -> None:
        assert named in attempt.remedy
        save_book(attempt.folder, *rows)

    return follow


def choose(key: str, value: str) -> Follow:
    """Set a key to the value that the error names."""

    def follow(attempt: Attempt) -> None:
        assert f"Set {key} to one of these" in attempt.remedy
        assert f"'{value}'" in attempt.error
        attempt.arguments += ["--set", f"{key}={value}"]

    return follow


CASES = [
    Case(
        site="tasks/load/bundled.py:_parse_line",
        command=f"{MOCK} rows.jsonl",
        says="row 2: byte 46 is not UTF-8 (0xe9)",
        follow=write("Save the file as UTF-8", "rows.jsonl", f'{LINE}{{"text": "The café is open."}}\n'),
        files={"rows.jsonl": f'{LINE}{{"text": "The café is open."}}\n'.encode("cp1252")},
    ),
    Case(
        site="tasks/load/delimited.py:_read_records",
        command=f"{MOCK} rows.csv",
        says="nothing known separates the names of the header",
        follow=write("Save the file with one of these", "rows.csv", PARTED.replace(":", ";")),
        files={"rows.csv": PARTED},
    ),
    Case(
        site="tasks/load/delimited.py:_read_records",
        command=f"{MOCK} rows.csv",
        says="nothing known separates the names of the header",
        follow=write("add a first line that names the separator, such as sep=:", "rows.csv", f"sep=:\n{PARTED}"),
        files={"rows.csv": PARTED},
    ),
    Case(
        site="tasks/load/header.py:_read_record",
        command=f"{MOCK} rows.xlsx",
        says="row 3: 2 fields",
        follow=save_again("Correct that row", *BOOK, ("Grass is green.",)),
        prepare=lambda folder: save_book(folder, *BOOK, ("Grass is green.", "stray")),
    ),
    Case(
        site="tasks/load/jsonl.py:_read_document",
        command=f"{MOCK} rows.jsonl",
        says="each line is a list",
        follow=write_rows("Write each row as an object", orient="records", lines=True),
        files={"rows.jsonl": '["The sky is blue.", 1]\n["It is late.", 2]\n'},
    ),
    Case(
        site="tasks/load/jsonl.py:_read_labelled_objects",
        command=f"{MOCK} rows.json",
        says="may be rows or columns",
        follow=write_rows("Write the rows as a list of objects", orient="records"),
        files={"rows.json": json.dumps({name: {"tief": "x", "lang": "y"} for name in ("lake", "berg")})},
    ),
    Case(
        site="tasks/load/jsonl.py:_yield_split_rows",
        command=f"{MOCK} rows.json",
        says="two columns are called 'text'",
        follow=write(
            "Rename one", "rows.json", json.dumps({"columns": ["text", "topic"], "data": [["The sky is blue.", "x"]]})
        ),
        files={"rows.json": json.dumps({"columns": ["text", "text"], "data": [["The sky is blue.", "x"]]})},
    ),
    Case(
        site="tasks/load/opening.py:refuse_bomb",
        command=f"{MOCK} rows.jsonl.gz",
        says="or more; expected at most 100 times as many",
        follow=save_as("unpack it", "rows.jsonl.gz", "rows.jsonl", LINE + " " * ROOM),
        files={"rows.jsonl.gz": gzip.compress((LINE + " " * ROOM).encode())},
    ),
    Case(
        site="tasks/load/opening.py:refuse_bomb",
        command=f"{MOCK} rows.xlsx",
        says="or more; expected at most 100 times as many",
        follow=save_as("save it as CSV", "rows.xlsx", "rows.csv", CSV),
        prepare=swell_book,
    ),
    Case(
        site="tasks/load/opening.py:refuse_bomb",
        command=f"{MOCK} rows.parquet",
        says="or more; expected at most 100 times as many",
        follow=save_as("save it as CSV", "rows.parquet", "rows.csv", CSV),
        prepare=lambda folder: pd.DataFrame([{**GOOD, "blank": " " * ROOM}]).to_parquet(
            folder / "rows.parquet", compression="zstd"
        ),
    ),
    Case(
        site="tasks/load/opening.py:refuse_wide",
        command=f"{MOCK} rows.csv",
        says="16,385 columns",
        follow=write("Leave out columns", "rows.csv", CSV),
        files={"rows.csv": "\n".join((",".join(["text", *map(str, range(MANY - 1))]), f"It is.{',x' * (MANY - 1)}"))},
    ),
    Case(
        site="tasks/load/opening.py:decoding_error",
        command=f"{MOCK} rows.csv",
        says="the file ends within a character",
        follow=write("Save it as UTF-8", "rows.csv", CSV),
        files={"rows.csv": CSV.encode("utf-16")[:-1]},
    ),
    Case(
        site="tasks/load/opening.py:_open_raw",
        command=f"{MOCK} pipe.jsonl",
        says="this is a pipe or a device",
        follow=save_as("Copy its content to a file", "pipe.jsonl", "rows.jsonl", LINE),
        prepare=lambda folder: os.mkfifo(folder / "pipe.jsonl"),
    ),
    Case(
        site="tasks/load/tabular.py:_choose_sheet",
        command=f"{MOCK} rows.xlsx",
        says="only hidden sheets hold something: 'rows'",
        follow=choose("data.sheet", "rows"),
        prepare=lambda folder: save_book(folder, *BOOK, hidden=True),
    ),
    Case(
        site="tasks/load/tabular.py:_choose_sheet",
        command=f"{MOCK} rows.xlsx",
        says="only hidden sheets hold something: 'rows'",
        follow=save_again("show one in Excel", *BOOK),
        prepare=lambda folder: save_book(folder, *BOOK, hidden=True),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.site}: {case.says}"[-60:])
def test_remedy_leads_further(
    case: Case, in_tmp: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    follow_case(case, in_tmp, monkeypatch, capsys)


Following = Callable[[Case], None]


@pytest.fixture
def following(in_tmp: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Following:
    """Follow a case under conditions that the test makes."""
    return lambda case: follow_case(case, in_tmp, monkeypatch, capsys)


@follows("tasks/load/jsonl.py:_parse_document")
def test_document_that_is_too_large_is_read_as_json_lines(
    following: Following, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jsonl, "MOST_DOCUMENT", len(DOCUMENT) - 1)
    following(
        Case(
            site="tasks/load/jsonl.py:_parse_document",
            command=f"{MOCK} rows.json",
            says=f"a document of more than {len(DOCUMENT) - 1} bytes",
            follow=save_as("Save it as JSON lines (.jsonl)", "rows.json", "rows.jsonl", LINE * 3),
            files={"rows.json": DOCUMENT},
        )
    )


@follows("tasks/load/opening.py:open_source")
def test_document_that_needs_too_much_memory_is_read_as_json_lines(
    following: Following, monkeypatch: pytest.MonkeyPatch
) -> None:
    def parse(text: str) -> object:
        if len(text) > len(LINE):
            raise MemoryError
        return json.loads(text)

    monkeypatch.setattr(jsonl, "json", SimpleNamespace(loads=parse, JSONDecodeError=json.JSONDecodeError))
    following(
        Case(
            site="tasks/load/opening.py:open_source",
            command=f"{MOCK} rows.json",
            says="the file needs more memory than there is",
            follow=save_as("Save it as JSON lines (.jsonl)", "rows.json", "rows.jsonl", LINE),
            files={"rows.json": DOCUMENT},
        )
    )


@follows("tasks/load/tabular.py:_open_book")
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_book_that_is_too_large_is_read_as_a_table(
    suffix: str, following: Following, in_tmp: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tabular, "MOST_DOCUMENT", 1_000)
    pd.DataFrame([GOOD]).to_parquet(in_tmp / "table")
    content = CSV if suffix == "csv" else (in_tmp / "table").read_bytes()
    following(
        Case(
            site="tasks/load/tabular.py:_open_book",
            command=f"{MOCK} rows.xlsx",
            says="bytes, unpacked",
            follow=save_as("Save it as CSV or Parquet", "rows.xlsx", f"rows.{suffix}", content),
            prepare=lambda folder: save_book(folder, *BOOK),
        )
    )


@pytest.fixture
def hub_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what datasets prepares out of the user's cache."""
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")


HUB = [
    Case(
        site="tasks/load/huggingface.py:_load_split",
        command=f"{MOCK} hf/rows",
        says="there is no split 'test'; expected one of 'train'",
        follow=choose("data.split", "train"),
        files={"rows/train.jsonl": LINE},
    ),
    Case(
        site="tasks/load/huggingface.py:_load_split",
        command=f"{MOCK} hf/rwos",
        says="the dataset cannot be loaded",
        follow=change("Correct the name", "rwos", "rows"),
        files={"rows/test.jsonl": LINE},
    ),
    Case(
        site="tasks/load/huggingface.py:_load_split",
        command=f"{MOCK} hf/rows --set data.subset=nope",
        says="BuilderConfig 'nope' not found",
        follow=drop("data.subset", "data.subset=nope"),
        files={"rows/test.jsonl": LINE},
    ),
    Case(
        site="tasks/load/huggingface.py:_load_split",
        command=f"{MOCK} hf/rows",
        says="(ArrowInvalid: JSON parse error",
        follow=write("Correct the files in this folder", "rows/test.jsonl", LINE),
        files={"rows/test.jsonl": '{"text": "The sky'},
    ),
]


@pytest.mark.usefixtures("hub_cache")
@pytest.mark.parametrize("case", HUB, ids=lambda case: case.says)
def test_remedy_of_a_data_set_leads_further(case: Case, following: Following) -> None:
    following(case)


FRAMES = [
    (pd.DataFrame({"text": []}), "runs", "there are no rows", "Add rows to the DataFrame"),
    (pd.DataFrame([["a", "b"]], columns=["text", "text"]), "runs", "two columns are called 'text'", "Rename or drop"),
    (pd.DataFrame([GOOD]), "file/runs", "the rows of the DataFrame cannot be written", "Choose another one with out"),
]
"""Frames and folders, and what is wrong with them."""


@follows(
    "tasks/load/frame.py:convert_frame_to_lines",
    "tasks/load/frame.py:convert_frame_to_lines",
    "tasks/load/frame.py:keep_frame",
)
def test_remedies_of_a_frame_lead_further(in_tmp: Path) -> None:
    (in_tmp / "file").write_text("")

    def refused(frame: pd.DataFrame, out: str) -> ContraposeError:
        with pytest.raises(ContraposeError) as caught:
            contrapose.evaluate(model="hf/no-folder", test="add_negation", data=frame, out=out)
        return caught.value

    for frame, out, says, named in FRAMES:
        error = refused(frame, out)
        assert says in error.found
        assert named in error.remedy
    # Rows, distinct names, another folder.
    assert "hf/no-folder" in str(refused(pd.DataFrame([GOOD]), "runs"))
