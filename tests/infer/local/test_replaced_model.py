"""A model that is replaced between the first look and the last answer."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest
from asked_case import case
from plain_broker import completions
from tiny_model import save_tiny_model

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.core.model_files import hash_files
from contrapose.tasks.core.questions import Question
from contrapose.tasks.core.records import Case
from contrapose.tasks.infer.budget import Limits
from contrapose.tasks.infer.local.huggingface import HuggingFace
from contrapose.tasks.infer.local.transformer import TransformerModel
from contrapose.tasks.infer.task import Terms, infer
from contrapose.tasks.store import Store
from contrapose.tasks.tables.table import write

CPU = {"dtype": "float32", "device": "cpu"}
QUESTION = Question(kind="loss", prompt="the sky is", text="blue and green")


@pytest.fixture(scope="module")
def trainings(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two trainings of one model."""
    folder = tmp_path_factory.mktemp("trainings")
    return save_tiny_model(folder / "one", seed=1), save_tiny_model(folder / "two", seed=2)


@pytest.fixture
def hub(tmp_path: Path, trainings: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A hub cache that holds both trainings as commits of `team/model`; the file that says where `main` is."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    for name, training in zip("ab", trainings, strict=True):
        shutil.copytree(training, tmp_path / "models--team--model" / "snapshots" / (name * 40))
    main = tmp_path / "models--team--model" / "refs" / "main"
    main.parent.mkdir()
    main.write_text("a" * 40)
    return main


def looked_at(name: str | Path) -> ModelSpec:
    """A model with what it is found to be."""
    spec = ModelSpec(id=f"hf/{name}", args=CPU)
    return spec.model_copy(update={"identity": HuggingFace().identity(spec)})


def loss(model: TransformerModel) -> float:
    found = completions(model, [QUESTION])[0].loss
    assert found is not None
    return found


def put(spec: ModelSpec, identity: Mapping[str, str], *, run: str) -> None:
    """Put one case to a model, as a run does that found it to be something."""
    Store().runs.begin(run, config="{}", folder=".")
    terms = Terms(spec=spec, identity=identity, run=run, limits=Limits())
    infer.fn(label="x", cases=write([case()], Case), rows=(0, 1), terms=terms)


def asked(run: str) -> int:
    """Answers that a run asked for itself."""
    row = Store().runs.get(run)
    return row.answers


@pytest.mark.usefixtures("own_store")
def test_no_answer_is_stored_for_weights_that_were_replaced_before_they_were_loaded(
    tmp_path: Path, trainings: tuple[Path, Path]
) -> None:
    folder = shutil.copytree(trainings[0], tmp_path / "m")
    spec = ModelSpec(id=f"hf/{folder}", args=CPU)
    identity = HuggingFace().identity(spec)
    shutil.copytree(trainings[1], folder, dirs_exist_ok=True)
    with pytest.raises(ModelError, match="replaced meanwhile: its revision"):
        put(spec, identity, run="caught")
    shutil.copytree(trainings[0], folder, dirs_exist_ok=True)
    put(spec, identity, run="later")
    assert (asked("caught"), asked("later")) == (0, 2)


def test_what_is_written_into_the_folder_later_changes_no_answer(tmp_path: Path, trainings: tuple[Path, Path]) -> None:
    folder = shutil.copytree(trainings[0], tmp_path / "m")
    model = HuggingFace().open(looked_at(folder))
    before = loss(model)
    with (folder / "model.safetensors").open("r+b") as file:
        file.write((trainings[1] / "model.safetensors").read_bytes())
    assert loss(model) == before


def test_a_file_that_vanishes_while_it_is_hashed_is_told(
    tmp_path: Path, trainings: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def late(folder: Path, files: Iterable[Path]) -> str:
        listed = list(files)
        (folder / "tokenizer.json").unlink()
        return hash_files(folder, listed)

    folder = shutil.copytree(trainings[0], tmp_path / "m")
    monkeypatch.setattr("contrapose.tasks.infer.local.huggingface.hash_files", late)
    with pytest.raises(ModelError, match=r"tokenizer\.json: a file of the model vanished"):
        HuggingFace().identity(ModelSpec(id=f"hf/{folder}", args=CPU))


def test_a_branch_that_moves_is_opened_where_it_was(hub: Path, trainings: tuple[Path, Path]) -> None:
    spec = looked_at("team/model")
    hub.write_text("b" * 40)
    assert spec.identity["revision"] == "a" * 40
    one, two = (HuggingFace().open(looked_at(training)) for training in trainings)
    assert loss(HuggingFace().open(spec)) == loss(one)
    assert loss(HuggingFace().open(looked_at("team/model"))) == loss(two) != loss(one)
