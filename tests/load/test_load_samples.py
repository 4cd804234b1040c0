"""Drawing samples, their ids, slices and clusters, and the bundled and real sets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from load.sources import loaded, refusal, stored

from contrapose.tasks.config.data_settings import DataSettings
from contrapose.tasks.core.errors import DataError
from contrapose.tasks.core.records import AnswerPair, ItemSample, Sample, SummaryPair, TextSample
from contrapose.tasks.load.bundled import list_bundled_sets
from contrapose.tasks.load.samples import Drawing

PAIR = {"article_sent": "It rained.", "correct_sent": "Rain.", "incorrect_sent": "Snow."}


def texts(folder: Path, count: int) -> str:
    return stored(folder, [{"text": f"text {number}"} for number in range(count)])


def ids(source: str, limit: int | None, seed: int = 0, *, shuffle: bool = True) -> list[str]:
    return [each.id for each in loaded(source, limit=limit, seed=seed, shuffle=shuffle).samples]


def one(folder: Path, row: dict[str, Any], kind: type[Sample] = TextSample, **settings: Any) -> Any:
    return loaded(stored(folder, [row]), kind, **settings).samples[0]


def test_a_smaller_limit_draws_a_part_of_a_larger_one(tmp_path: Path) -> None:
    source = texts(tmp_path, 100)
    assert set(ids(source, 10)) < set(ids(source, 20)) < set(ids(source, None))


def test_what_is_drawn_keeps_the_order_of_the_file(tmp_path: Path) -> None:
    drawn = ids(texts(tmp_path, 100), 20)
    assert drawn == sorted(drawn)


def test_the_seed_decides_what_is_drawn(tmp_path: Path) -> None:
    source = texts(tmp_path, 100)
    assert ids(source, 10, seed=1) == ids(source, 10, seed=1) != ids(source, 10, seed=2)


def test_without_shuffle_a_limit_takes_the_first_rows(tmp_path: Path) -> None:
    assert ids(texts(tmp_path, 9), 2, shuffle=False) == ["rows-0001", "rows-0002"]


def test_samples_come_while_the_source_is_read(tmp_path: Path) -> None:
    source = stored(tmp_path, [{"text": "x"}, {"text": "y"}, {"text": None}])
    drawing = Drawing(data=DataSettings(source=source), sample_type=TextSample, limit=None, seed=0)
    samples = drawing.samples()
    assert [next(samples).text, next(samples).text] == ["x", "y"]
    with pytest.raises(DataError, match="row 3"):
        next(samples)


@pytest.mark.parametrize("limit", [None, 9])
def test_only_so_many_rows_are_read(tmp_path: Path, limit: int | None) -> None:
    found = loaded(stored(tmp_path, [{"text": "x"}, {"text": "y"}, {"text": None}]), limit=limit, most=2)
    assert (found.rows, [each.text for each in found.samples]) == (2, ["x", "y"])


def test_a_repeated_id_far_away_is_told_with_both_rows(tmp_path: Path) -> None:
    rows = [{"id": number, "text": "x"} for number in range(5_000)]
    told = refusal(stored(tmp_path, [*rows, {"text": None}, {"id": 7, "text": "x"}, {"id": 7, "text": "x"}]))
    assert "3 rows cannot be used; expected all 5003 to be usable" in told
    assert "row 5002: id '7' is that of row 8 too" in told
    assert "row 5003: id '7' is that of row 8 too" in told


def test_a_number_is_good_as_an_id(tmp_path: Path) -> None:
    assert one(tmp_path, {"id": 7, "text": "x"}).id == "7"


def test_question_comes_before_text(tmp_path: Path) -> None:
    assert one(tmp_path, {"text": "a passage", "question": "a question"}).text == "a question"


def test_an_open_question_keeps_its_answer(tmp_path: Path) -> None:
    assert one(tmp_path, {"text": "x", "options": None, "answer": "because"}).answers == ("because",)


def test_slice_and_cluster_are_texts(tmp_path: Path) -> None:
    sample = one(tmp_path, {"text": "x", "year": 2020, "doc": 5}, slice_by="year", cluster_by="doc")
    assert (sample.slice, sample.cluster) == ("2020", "5")


def test_an_article_is_a_cluster(tmp_path: Path) -> None:
    assert one(tmp_path, {**PAIR, "article_id": "news-1"}, SummaryPair).cluster == "news-1"


def test_equal_summaries_load(tmp_path: Path) -> None:
    pair = one(tmp_path, {**PAIR, "incorrect_sent": "Rain."}, SummaryPair)
    assert pair.correct_sentence == pair.incorrect_sentence


@pytest.mark.parametrize("name", list_bundled_sets())
def test_every_bundled_set_loads(name: str) -> None:
    kinds: dict[str, type[Sample]] = {"judge_pairs": AnswerPair, "summary_pairs": SummaryPair, "item_lists": ItemSample}
    kind = kinds.get(name, TextSample)
    slice_by = "kind" if name == "judge_pairs" else "topic"
    found = loaded(name, kind, slice_by=slice_by)
    assert len(found.samples) == found.rows > 0
    assert all(each.slice for each in found.samples)


@pytest.mark.parametrize(
    ("name", "kind", "rows", "clusters"),
    [
        ("factual_summary_pairs.jsonl", SummaryPair, 371, 1),
        ("anyscale_sentence_pairs.json", SummaryPair, 373, 145),
        ("openbookqa_test.jsonl", TextSample, 500, 1),
        ("wiki_test.jsonl", TextSample, 1000, 1),
    ],
)
def test_real_data_loads_without_a_mapping(
    name: str, kind: type[Sample], rows: int, clusters: int, shared_data: Path
) -> None:
    found = loaded(shared_data / name, kind)
    assert (found.rows, len({each.id for each in found.samples})) == (rows, rows)
    assert len({each.cluster for each in found.samples}) == clusters
    if name.startswith("openbookqa"):
        assert all(len(each.options) == 4 and set(each.answers) <= set(each.options) for each in found.samples)
