"""Contrast sets become pairs of the original and each other variant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from load import sources

from contrapose.tasks.core.errors import DataError
from contrapose.tasks.core.records import RelatedTexts
from contrapose.tasks.load.samples import LoadedSamples


def rows(clusters: int = 3, variants: str = "0123") -> list[dict[str, Any]]:
    """Rows in the layout of CondaQA."""
    return [
        {
            "QuestionID": f"q{cluster}",
            "original cue": "rarely",
            "PassageEditID": int(variant),
            "original passage": "Bees rarely sting.",
            "SampleID": 10 * cluster + int(variant),
            "label": "YES" if variant in "01" else "NO",
            "original sentence": "Bees rarely sting.",
            "sentence2": f"Is hive {cluster} quiet?",
            "PassageID": 7,
            "sentence1": f"The bees of hive {cluster} rarely sting, says edition {variant}.",
        }
        for cluster in range(clusters)
        for variant in variants
    ]


def loaded(folder: Path, content: Any, limit: int | None = None, **columns: str) -> LoadedSamples:
    source, names = sources.stored(folder, content), {"variant": "PassageEditID", **columns}
    return sources.loaded(source, RelatedTexts, limit=limit, columns=names)


def test_each_variant_is_paired_with_the_original(tmp_path: Path) -> None:
    first, second, third = loaded(tmp_path, rows(1)).samples
    assert [pair.variant for pair in (first, second, third)] == ["1", "2", "3"]
    assert (first.text, first.answers, first.answers_after) == ("Is hive 0 quiet?", ("YES",), ("YES",))
    assert third.answers_after == ("NO",)
    assert (first.context, first.context_after) == (
        "The bees of hive 0 rarely sting, says edition 0.",
        "The bees of hive 0 rarely sting, says edition 1.",
    )
    assert {pair.cluster for pair in (first, second, third)} == {"7/q0"}


def test_a_limit_draws_complete_clusters(tmp_path: Path) -> None:
    drawn = loaded(tmp_path, rows(20), limit=8).samples
    assert len(drawn) == 6
    assert len({pair.cluster for pair in drawn}) == 2


def test_rows_without_an_original_are_left_out_and_counted(tmp_path: Path) -> None:
    content = [row for row in rows(3) if row["SampleID"] != 10]
    found = loaded(tmp_path, content)
    assert len(found.samples) == 6
    assert found.warnings == ("3 rows are left out: their cluster has no original, or nothing but it",)


@pytest.mark.parametrize(
    ("changes", "columns", "words"),
    [
        ({"PassageID": None, "QuestionID": None}, {"cluster": ""}, "has no cluster"),
        ({"PassageEditID": 1}, {}, "has variant 1 twice"),
        ({"PassageEditID": None}, {}, "has no variant"),
    ],
)
def test_a_set_that_cannot_be_paired_is_refused(
    tmp_path: Path, changes: dict[str, Any], columns: dict[str, str], words: str
) -> None:
    with pytest.raises(DataError, match=words):
        loaded(tmp_path, [{**row, **changes} for row in rows(1)], **columns)
