"""Remedies of data that cannot be read, or do not fit a test, get a person further."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from remedies.following import Attempt, Case, Follow, add, change, drop, follow_case, take, write

MOCK, CHECK = (f"{verb} --model mock --test add_negation --data" for verb in ("preview", "validate"))
"""What a preview finds, and what only a check does."""
TOXIC = "preview --model mock --test add_toxic_words --data"
GOOD = {"text": "The sky is blue."}
QUESTION = {"question": "The sky is", "options": ["blue", "green", "red"]}
PAIR = {"article_sent": "It rained on Monday.", "correct_sent": "It rained."}
LINE = '{"text": "The sky is blue."}\n'


def lines(*rows: object) -> str:
    """The text of a file of JSON lines."""
    return "".join(json.dumps(row) + "\n" for row in rows)


def to_records(named: str, frame: pd.DataFrame) -> Follow:
    """Write a table with pandas as the remedy says."""

    def follow(attempt: Attempt) -> None:
        assert named in attempt.remedy
        assert "to_json(orient='records')" in attempt.remedy
        (attempt.folder / "rows.json").write_text(frame.to_json(orient="records"))

    return follow


SKIP = add(r"(--skip-bad-rows)")
FILES = [
    Case(
        site="tasks/load/bundled.py:_find_bundled_file",
        command="preview --model mock --test add_negation --limit 1 --data negatoin",
        says="unknown bundled data 'negatoin'",
        follow=take("negatoin"),
    ),
    Case(
        site="tasks/load/opening.py:_opening_error",
        command=f"{MOCK} nope.jsonl",
        says="nope.jsonl: there is no such file",
        follow=change("Correct the path", "nope.jsonl", "rows.jsonl"),
        files={"rows.jsonl": LINE},
    ),
    Case(
        site="tasks/load/opening.py:folder_error",
        command=f"{MOCK} rows",
        says="rows: this is a folder",
        follow=change("Name a file in it", "rows", "rows/own.jsonl"),
        files={"rows/own.jsonl": LINE},
    ),
    Case(
        site="tasks/load/opening.py:_opening_error",
        command=f"{MOCK} nope://a/rows.jsonl",
        says="Protocol not known: nope",
        follow=change("Correct the address", "nope://a/rows.jsonl", "rows.jsonl"),
        files={"rows.jsonl": LINE},
    ),
    Case(
        site="tasks/load/source_reader.py:samples",
        command=f"{MOCK} rows.csv",
        says="rows.csv: there are no rows",
        follow=write("Add rows to it", "rows.csv", "text\nThe sky is blue.\n"),
        files={"rows.csv": "text\n"},
    ),
    Case(
        site="tasks/load/source_reader.py:samples",
        command=f"{MOCK} rows.csv --limit 1",
        says="rows.csv: there are no rows",
        follow=change("--data", "rows.csv", "negation"),
        files={"rows.csv": "text\n"},
    ),
    Case(
        site="",
        command=f"{MOCK} rows.jsonl",
        says="rows.jsonl: the file is empty",
        follow=write("Correct the file", "rows.jsonl", LINE),
        files={"rows.jsonl": ""},
    ),
    Case(
        site="tasks/load/source_reader.py:detect_format",
        command=f"{MOCK} rows.txt",
        says="rows.txt: unknown suffix '.txt'",
        follow=add(r"(set format)", placeholder="set format", value="--set data.format=csv"),
        files={"rows.txt": "text,id\nThe sky is blue.,1\n"},
    ),
    Case(
        site="tasks/load/source_reader.py:_bad_rows_error",
        command=f"{MOCK} rows.jsonl",
        says="rows.jsonl, row 1: byte 12",
        follow=write("Save the file as UTF-8", "rows.jsonl", LINE),
        files={"rows.jsonl": b'{"text":"caf\xe9 is"}\n'},
    ),
    Case(
        site="tasks/load/delimited.py:_read_records",
        command=f"{MOCK} rows.csv",
        says="a quote is never closed",
        follow=write("Close the quote", "rows.csv", 'text,id\n"The sky is blue.",1\nIt is late.,2\n'),
        files={"rows.csv": 'text,id\n"The sky is blue.,1\nIt is late.,2\n'},
    ),
    Case(
        site="tasks/load/delimited.py:__iter__",
        command=f"{MOCK} rows.csv",
        says="the file holds a NUL byte",
        follow=write("Save the file as UTF-8 text", "rows.csv", "text\nThe sky is blue.\n"),
        files={"rows.csv": b"text\nThe\x00 sky is blue.\n"},
    ),
    Case(
        site="tasks/load/header.py:_read_header",
        command=f"{MOCK} rows.csv",
        says="two columns are called 'text'",
        follow=write("Correct the header", "rows.csv", "text,other\nThe sky is blue.,b\n"),
        files={"rows.csv": "text,text\nThe sky is blue.,b\n"},
    ),
    Case(
        site="tasks/load/header.py:_refuse_row",
        command=f"{MOCK} rows.csv",
        says="the first row looks like data",
        follow=write("Add a first row with names", "rows.csv", "question\nIs the sky blue?\nIs it red?\nIs it so?\n"),
        files={"rows.csv": "Is the sky blue?\nIs it red?\nIs it so?\n"},
    ),
    Case(
        site="tasks/load/header.py:_refuse_row",
        command=f"{MOCK} rows.csv",
        says="the first row looks like data",
        follow=add(r"(--set data.columns.text=COLUMN)", placeholder="COLUMN", value="'Is the sky blue?'"),
        files={"rows.csv": "Is the sky blue?\nIs it red?\nIs it so?\n"},
    ),
    Case(
        site="tasks/load/source_reader.py:_bad_rows_error",
        command=f"{MOCK} rows.csv",
        says="rows.csv, row 2: 3 fields",
        follow=write("Put quotes around a text", "rows.csv", 'text,id\n"The sky is blue, I think.",1\n'),
        files={"rows.csv": "text,id\nThe sky is blue, I think.,1\n"},
    ),
    Case(
        site="tasks/load/jsonl.py:_nameless_rows",
        command=f"{MOCK} rows.json",
        says="the rows are lists without column names",
        follow=to_records("Write the rows as a list of objects", pd.DataFrame({"text": ["The sky is blue."]})),
        files={"rows.json": json.dumps([["The sky is blue."], ["It is late."]])},
    ),
    Case(
        site="tasks/load/jsonl.py:_read_column_lists",
        command=f"{MOCK} rows.json",
        says="the lists differ in length",
        follow=to_records("Write the rows as a list", pd.DataFrame({"text": ["The sky is blue."], "id": [1]})),
        files={"rows.json": json.dumps({"text": ["The sky is blue.", "It is late."], "id": [1]})},
    ),
    Case(
        site="tasks/load/jsonl.py:_find_records",
        command=f"{MOCK} rows.json",
        says="rows.json: the file holds",
        follow=add(r"(--set data.record_path=KEY)", placeholder="KEY", value="a.rows.x"),
        files={"rows.json": json.dumps({"a": {"rows": {"x": [GOOD]}}, "b": 2})},
    ),
    Case(
        site="tasks/load/jsonl.py:_find_records",
        command=f"{MOCK} rows.json",
        says="several lists may be the rows",
        follow=add(r"(--set data.record_path=train)"),
        files={"rows.json": json.dumps({"train": [GOOD], "test": [GOOD]})},
    ),
    Case(
        site="tasks/load/jsonl.py:read_rows",
        command=f"{MOCK} rows.json --set data.record_path=rws",
        says="record_path 'rws': there is no key 'rws'",
        follow=drop("leave it out", "data.record_path=rws"),
        files={"rows.json": json.dumps({"rows": [GOOD]})},
    ),
    Case(
        site="tasks/load/describing.py:refuse_table_without_question",
        command=f"{MOCK} rows.jsonl --set data.layout=squad",
        says="the columns do not match layout 'squad'",
        follow=drop("Leave layout out", "data.layout=squad"),
        files={"rows.jsonl": LINE},
    ),
]

COLUMNS = [
    Case(
        site="tasks/load/describing.py:_make_missing_column_error",
        command=f"{MOCK} rows.jsonl",
        says="no column can be the question",
        follow=add(r"(--set data.columns.text=COLUMN)", placeholder="COLUMN", value="category"),
        files={"rows.jsonl": lines({"category": "The sky is blue."})},
    ),
    Case(
        site="tasks/load/describing.py:_make_missing_column_error",
        command="preview --model mock --test order_bias --data rows.jsonl",
        says="there is no column 'incorrect_sentence'",
        follow=add(r"(--set data.columns.incorrect_sentence=COLUMN)", placeholder="COLUMN", value="lie"),
        files={"rows.jsonl": lines({**PAIR, "lie": "It snowed."})},
    ),
    Case(
        site="tasks/load/describing.py:refuse_table_without_question",
        command=f"{MOCK} rows.jsonl --set data.slice_by=topci",
        says="slice_by names column 'topci'",
        follow=take("topci"),
        files={"rows.jsonl": lines({**GOOD, "topic": "x"})},
    ),
    Case(
        site="tasks/load/describing.py:refuse_table_without_question",
        command=f"{MOCK} rows.jsonl --set data.cluster_by=group",
        says="cluster_by names column 'group'",
        follow=change("Set cluster_by to one of these", "group", "topic"),
        files={"rows.jsonl": lines({**GOOD, "topic": "x"})},
    ),
    Case(
        site="tasks/load/describing.py:refuse_table_without_question",
        command="preview --model mock --test option_order --data rows.jsonl",
        says="may count options from 0 or from 1",
        follow=add(r"(--set data.answer_index=0)"),
        files={"rows.jsonl": lines({**QUESTION, "answer": 1}, {**QUESTION, "answer": 2})},
    ),
    Case(
        site="tasks/load/source_reader.py:_bad_rows_error",
        command=f"{CHECK} rows.jsonl",
        says="row 2: column 'text': null",
        follow=SKIP,
        files={"rows.jsonl": lines(GOOD, {"text": None})},
    ),
    Case(
        site="tasks/load/source_reader.py:_bad_rows_error",
        command=f"{MOCK} rows.jsonl",
        says="2 rows cannot be used",
        follow=SKIP,
        files={"rows.jsonl": lines(GOOD, {"text": None}, {"text": 5})},
    ),
    Case(
        site="tasks/load/source_reader.py:_bad_rows_error",
        command=f"{CHECK} rows.jsonl",
        says="id 'l' is that of row 1 too",
        follow=SKIP,
        files={"rows.jsonl": lines(*({"id": word[0], "text": f"It is {word}."} for word in ("late", "early", "lost")))},
    ),
    Case(
        site="tasks/load/source_reader.py:_bad_rows_error",
        command="validate --model mock --test option_order --data rows.jsonl",
        says="'white' is none of the options",
        follow=SKIP,
        files={"rows.jsonl": lines({**QUESTION, "answer": "white"}, {**QUESTION, "answer": "blue"})},
    ),
    Case(
        site="tasks/load/source_reader.py:_bad_rows_error",
        command="validate --model mock --test option_order --data rows.jsonl",
        says="1 option; expected 2 to 26",
        follow=SKIP,
        files={"rows.jsonl": lines({**QUESTION, "options": ["blue"]}, QUESTION)},
    ),
    Case(
        site="tasks/load/source_reader.py:_bad_rows_error",
        command=f"{MOCK} rows.jsonl",
        says="rows.jsonl, row 2: invalid JSON",
        follow=SKIP,
        files={"rows.jsonl": LINE + '{"text": "It is."\n'},
    ),
    Case(
        site="flows/cli/validate.py:make_nothing_to_ask_error",
        command=f"{CHECK} rows.jsonl",
        says="2 of 2 rows are not in English",
        follow=take("add_negation", r"--test (casing)"),
        files={
            "rows.jsonl": lines(
                {"text": "Der alte Hafen liegt im Norden."}, {"text": "Wir haben gestern lange im Garten gesessen."}
            )
        },
    ),
    Case(
        site="flows/cli/validate.py:make_nothing_to_ask_error",
        command="validate --model mock --test relation --before text --after other --data rows.jsonl",
        says="1 of 1 row is not in English",
        follow=add(r"(--set data.columns.options=A,B,C,D)", placeholder="A,B,C,D", value="one,two"),
        files={
            "rows.jsonl": lines(
                {"text": "Ist der Himmel blau?", "other": "Der Himmel ist blau, ja?", "one": "Ja", "two": "Nein"}
            )
        },
    ),
    Case(
        site="flows/cli/validate.py:make_nothing_to_ask_error",
        command=f"{CHECK} rows.jsonl",
        says="1 negated already",
        follow=add(r"(--set tests\S+=remove)"),
        files={"rows.jsonl": lines({"text": "The sky is not blue."})},
    ),
    Case(
        site="flows/cli/validate.py:make_nothing_to_ask_error",
        command="validate --model mock --test option_order --data rows.jsonl",
        says="1 without two answer options",
        follow=add(r"(--set data.columns.options=A,B,C,D)", placeholder="A,B,C,D", value="one,two"),
        files={"rows.jsonl": lines({"text": "The sky is", "one": "light blue", "two": "dark green"})},
    ),
]


@pytest.mark.parametrize("case", [*FILES, *COLUMNS], ids=lambda case: f"{case.site}: {case.says}"[-60:])
def test_remedy_leads_further(
    case: Case, in_tmp: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    follow_case(case, in_tmp, monkeypatch, capsys)
