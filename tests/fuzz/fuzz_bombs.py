"""Small files that want to be large, and tables that say of themselves what cannot be."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from string import ascii_lowercase

import pyarrow as pa
import pyarrow.parquet as pq

PART = 2**24
"""Characters that are packed once, and then stand in the file as often as its size wants it."""

NAMESPACE = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'


def packed(part: str, *, before: str = "", times: int = 64) -> bytes:
    """A .gz file of a gigabyte: its parts are members of their own."""
    return gzip.compress(before.encode()) + gzip.compress((part * (PART // len(part))).encode()) * times


def book(*parts: str) -> bytes:
    """A spreadsheet whose one sheet holds these parts of XML, one after the other."""
    import openpyxl

    empty, made = io.BytesIO(), io.BytesIO()
    openpyxl.Workbook().save(empty)
    with zipfile.ZipFile(empty) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            if name != "xl/worksheets/sheet1.xml":
                new.writestr(name, old.read(name))
        with new.open("xl/worksheets/sheet1.xml", "w") as sheet:
            for part in (f"<worksheet {NAMESPACE}><sheetData>", *parts, "</sheetData></worksheet>"):
                sheet.write(part.encode())
    return made.getvalue()


def cell(place: str, text: str) -> str:
    return f'<c r="{place}" t="inlineStr"><is><t>{text}</t></is></c>'


def row(number: int, *cells: str) -> str:
    return f'<row r="{number}">{"".join(cells)}</row>'


def parquet(table: pa.Table, **settings: object) -> bytes:
    made = io.BytesIO()
    pq.write_table(table, made, **settings)
    return made.getvalue()


def repeated(first: str, before: str, after: str) -> bytes:
    """Ten lines, of which each repeats the one above it nine times: billions of values."""
    pairs = pairwise(ascii_lowercase[:10])
    lines = (f"{inner}: &{inner} {before}{','.join(['*' + outer] * 9)}{after}" for outer, inner in pairs)
    return "\n".join([f"a: &a {first}", *lines]).encode()


def aliases() -> bytes:
    return repeated("[x,x,x,x,x,x,x,x,x]", "[", "]")


def merges() -> bytes:
    """Mappings that take in other mappings."""
    return repeated("{x: 1}", "{<<: [", "]}")


def names(count: int) -> Iterator[str]:
    return (f"c{number}" for number in range(count))


BOMBS: Mapping[str, Callable[[], bytes]] = {
    "rows.csv.gz": lambda: packed("x\n", before="text\n"),
    "line.csv.gz": lambda: packed("x", before="text\n"),
    "quote.csv.gz": lambda: packed("x\n", before='text\n"'),
    "breaks.csv.gz": lambda: packed("\n", before="text\n"),
    "zeros.csv.gz": lambda: packed("\0"),
    "list.json.gz": lambda: packed("0,", before="["),
    "deep.json.gz": lambda: packed("["),
    "rows.jsonl.gz": lambda: packed('{"text":"x"}\n'),
    "line.jsonl.gz": lambda: packed(" "),
    "book.xlsx.gz": lambda: packed("\0"),
    "table.parquet.gz": lambda: packed("\0", before="PAR1"),
    "quote.csv": lambda: b'text\n"' + (b"x" * 127 + b"\n") * 2**19,
    "wide.csv": lambda: ",".join(names(1_000_000)).encode() + b"\nx\n",
    "twice.csv": lambda: b",".join([b"a", b"b"] * 500_000) + b"\nx\n",
    "wide.jsonl": lambda: b"{" + b",".join(b'"%d":1' % number for number in range(1_000_000)) + b"}\n",
    "growing.jsonl": lambda: b"".join(b'{"text":"x","%d":1}\n' % number for number in range(300_000)),
    "deep.json": lambda: b"[" * 10_000_000,
    "number.json": lambda: b'[{"text":' + b"9" * 1_000_000 + b"}]",
    "rows.xlsx": lambda: book(row(1, cell("A1", "text")), *["<row/>" * 100_000] * 100),
    "part.xlsx": lambda: book("<x>" + " " * 50_000_000 + "</x>"),
    "number.xlsx": lambda: book(row(1, cell("A1", "text")), row(900_000_000, cell("A900000000", "x"))),
    "gap.xlsx": lambda: book(row(1, cell("A1", "text")), '<row r="1e300"><c><v>1</v></c></row>'),
    "wide.xlsx": lambda: book("<row>", *[f"<c><v>{number}</v></c>" for number in range(200_000)], "</row>"),
    "wide.parquet": lambda: parquet(pa.table({name: pa.array([], pa.int8()) for name in names(20_000)})),
    "rows.parquet": lambda: parquet(
        pa.table({"text": pa.DictionaryArray.from_arrays(pa.array([0] * 3_000_000, pa.int32()), ["x"])})
    ),
    "zeros.parquet": lambda: parquet(
        pa.table({"text": [" " * 30_000_000]}), use_dictionary=False, compression="zstd", write_statistics=False
    ),
    "aliases.yaml": aliases,
    "merges.yaml": merges,
    "deep.yaml": lambda: b"a: " + b"[" * 100_000,
    "indented.yaml": lambda: b"- " * 100_000,
    "nested.yaml": lambda: b"".join(b" " * level + b"a:\n" for level in range(1_000)),
    "number.yaml": lambda: b"limit: " + b"9" * 5_000,
    "sixty.yaml": lambda: b"seed: 1" + b":59" * 100_000,
    "large.yaml": lambda: b"# nothing\n" * 10_000_000,
    "values.yaml": lambda: b"a: [" + b"a," * 400_000 + b"]",
    "date.yaml": lambda: b"model: 2001-99-99",
    "aliases.expectations.yaml": aliases,
    "deep.expectations.yaml": lambda: b"expectations: " + b"[" * 100_000,
    "number.expectations.yaml": lambda: b"expectations: [" + b"9" * 5_000 + b"]",
}
"""Name of a file to its content."""
