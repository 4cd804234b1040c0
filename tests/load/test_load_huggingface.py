"""Hugging Face datasets from local folders, without a network."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from load.sources import loaded

from contrapose.tasks.config.data_settings import DataSettings
from contrapose.tasks.core.errors import ConfigError, ContraposeError, DataError
from contrapose.tasks.core.records import TextSample
from contrapose.tasks.load.huggingface import read_rows
from contrapose.tasks.load.samples import hash_source

datasets = pytest.importorskip("datasets")

CHOICES = {"label": ["A", "B"], "text": ["blue", "green"]}
ROWS = {"question": ["The sky is", "Grass is"], "choices": [CHOICES, CHOICES], "answerKey": ["A", "B"]}
COLUMNS = {"options": "choices", "answer": "answerKey"}
SAMPLES = [
    TextSample(id="saved-0001", text="The sky is", options=("blue", "green"), answers=("blue",)),
    TextSample(id="saved-0002", text="Grass is", options=("blue", "green"), answers=("green",)),
]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keeps what datasets prepares out of the user's cache."""
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")


def settings(folder: Path, split: str = "test") -> DataSettings:
    return DataSettings(source=f"hf/{folder}", split=split, columns=COLUMNS)


def test_a_saved_dataset_loads(tmp_path: Path) -> None:
    datasets.Dataset.from_dict(ROWS).save_to_disk(str(tmp_path / "saved"))
    assert loaded(**settings(tmp_path / "saved").model_dump()).samples == SAMPLES


def test_the_split_of_a_saved_dataset_is_chosen(tmp_path: Path) -> None:
    splits = {"train": datasets.Dataset.from_dict({"text": ["x"]}), "test": datasets.Dataset.from_dict(ROWS)}
    datasets.DatasetDict(splits).save_to_disk(str(tmp_path / "saved"))
    assert loaded(**settings(tmp_path / "saved").model_dump()).samples == SAMPLES


def test_a_folder_with_a_data_file_loads(tmp_path: Path) -> None:
    folder = tmp_path / "saved"
    folder.mkdir()
    rows = datasets.Dataset.from_dict(ROWS).to_list()
    (folder / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert loaded(**settings(folder).model_dump()).samples == SAMPLES


def test_the_card_of_a_data_set_names_no_file_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTRAPOSE_DATA", "")
    (tmp_path / "project" / "set").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    (tmp_path / "secret.csv").write_text("text\nIt rained.\n")
    card = "---\nconfigs:\n- config_name: default\n  data_files:\n  - split: test\n    path: {}\n---\n"
    for path in (str(tmp_path / "secret.csv"), "../../secret.csv"):
        Path("set", "README.md").write_text(card.format(path))
        with pytest.raises(ContraposeError, match=r"secret\.csv may not be read"):
            list(read_rows(DataSettings(source="hf/set")))
    Path("set", "rows.csv").write_text("text\nIt rained.\n")
    Path("set", "README.md").write_text(card.format("rows.csv"))
    assert len(list(read_rows(DataSettings(source="hf/set")))) == 1


def test_the_hash_is_that_of_the_rows(tmp_path: Path) -> None:
    rows = datasets.Dataset.from_dict(ROWS)
    rows.save_to_disk(str(tmp_path / "one"))
    rows.save_to_disk(str(tmp_path / "two"), num_shards=2)
    rows.select([1, 0]).save_to_disk(str(tmp_path / "three"))
    one, two, three = (hash_source(settings(tmp_path / name)) for name in ("one", "two", "three"))
    assert one == two != three


def test_an_unknown_split_lists_the_splits(tmp_path: Path) -> None:
    datasets.DatasetDict(test=datasets.Dataset.from_dict(ROWS)).save_to_disk(str(tmp_path / "saved"))
    with pytest.raises(DataError, match="no split 'dev'; expected one of 'test'"):
        loaded(**settings(tmp_path / "saved", "dev").model_dump())


def test_a_folder_that_holds_no_dataset_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="the dataset cannot be loaded"):
        loaded(**settings(tmp_path / "absent").model_dump())


def test_a_damaged_file_is_named_by_our_error_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "saved").mkdir()
    (tmp_path / "saved" / "test.jsonl").write_text('{"text": "The sky')
    with pytest.raises(DataError, match="JSON parse error"):
        loaded(**settings(tmp_path / "saved").model_dump())
    assert caplog.records == []


def test_a_missing_package_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(ConfigError, match=r'pip install "contrapose\[huggingface\]"'):
        loaded(**settings(tmp_path).model_dump())
