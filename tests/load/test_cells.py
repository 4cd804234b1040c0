"""Lists and objects in a cell are read as JSON, Python and numpy write them, and nothing of them is evaluated."""

from __future__ import annotations

from typing import Any

import pytest

from contrapose.tasks.load.rows import parse_literal

WRITTEN = [
    ("['a', 'b']", ["a", "b"]),
    ("['a' 'b'\n 'c']", ["a", "b", "c"]),
    ("('a', \"it's\")", ["a", "it's"]),
    ("(1,)", [1]),
    ("[1, -2.5, nan]", [1, -2.5, None]),
    ("{'A': 'it\\'s', 2: None}", {"A": "it's", "2": None}),
    (r"['C:\\dir', 'tab\t', '\xe9', '\u4e2d']", ["C:\\dir", "tab\t", "é", "中"]),
    ("{'text': array(['x', 'y'], dtype=object), 'n': [True, False]}", {"text": ["x", "y"], "n": [True, False]}),
    ('{"text": ["a"]}', {"text": ["a"]}),
]


@pytest.mark.parametrize(("cell", "value"), WRITTEN)
def test_what_python_and_numpy_write_is_read(cell: str, value: Any) -> None:
    assert parse_literal(cell) == value


@pytest.mark.parametrize(
    "cell",
    [
        "[a]",
        "[,]",
        "{:}",
        "['open]",
        "[print('x')]",
        "[1 + 1]",
        "[" * 200_000 + "]" * 200_000,
        "[" + r"\'" * 200_000 + "]",
    ],
    ids=lambda cell: cell[:12],
)
def test_any_other_text_stays_a_text(cell: str) -> None:
    assert parse_literal(cell) is cell
