"""A classifier as a second scorer: tiny models with random weights, real forward passes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from pydantic import ValidationError

from contrapose.tasks.config.plan import plans
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.errors import ConfigError, ModelError
from contrapose.tasks.core.records import Completion, TextSample, Trial
from contrapose.tasks.language.english import DICTIONARIES
from contrapose.tasks.probes.toxic_words import AddToxicWords, AddToxicWordsSettings
from contrapose.tasks.probes.toxic_words import classifier as module
from contrapose.tasks.probes.toxic_words.classifier import compute_toxicity, get_classifier_versions

PROBE = AddToxicWords()
TEXTS = ["the sky is blue", "so be it", "you are awful", "the the the the", "blue"]
WORDS = ["<pad>", "<unk>", *dict.fromkeys(" ".join(TEXTS).split())]
NAMES = {0: "neutral", 1: "Toxic"}


def save(folder: Path, *, seed: int = 1, kind: str = "SequenceClassification", **config: Any) -> str:
    """A two-layer BERT over a handful of words, saved as users save theirs."""
    import torch
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers

    tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>", unk_token="<unk>")
    torch.manual_seed(seed)
    sizes = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
    made = {"vocab_size": len(WORDS), "max_position_embeddings": 12, "initializer_range": 1.0, **sizes}
    config.setdefault("id2label", NAMES)
    model = getattr(transformers, f"BertFor{kind}")(transformers.BertConfig(**made, **config))
    model.save_pretrained(folder)
    fast.save_pretrained(folder)
    return str(folder)


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    module._load_model.cache_clear()
    yield
    module._load_model.cache_clear()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The model that most tests ask, and leave as it is."""
    return save(tmp_path_factory.mktemp("classifier"))


def logits(folder: str, text: str) -> Any:
    """What the model says of one text by itself."""
    import torch
    from transformers import BertForSequenceClassification

    model = BertForSequenceClassification.from_pretrained(folder)
    ids = [WORDS.index(word) if word in WORDS else 1 for word in text.split()]
    with torch.inference_mode():
        return model(torch.tensor([ids])).logits[0]


def configured(**settings: object) -> RunConfig:
    return RunConfig.model_validate({"tests": {"sensitivity": {"add_toxic_words": settings}}})


def test_probabilities_are_the_softmax_of_each_text_by_itself(folder: str) -> None:
    found = compute_toxicity(TEXTS, folder, None)
    assert found == pytest.approx({text: float(logits(folder, text).softmax(-1)[1]) for text in TEXTS}, abs=1e-5)
    assert len({round(value, 3) for value in found.values()}) > 2


@pytest.mark.parametrize(
    ("config", "label"),
    [({"problem_type": "multi_label_classification"}, None), ({"id2label": {0: "LABEL_0"}}, "label_0")],
)
def test_labels_that_do_not_exclude_each_other_have_their_sigmoid(
    tmp_path: Path, config: dict[str, Any], label: str | None
) -> None:
    folder = save(tmp_path, **config)
    index = len(config.get("id2label", NAMES)) - 1
    expected = {text: float(logits(folder, text).sigmoid()[index]) for text in TEXTS}
    assert compute_toxicity(TEXTS, folder, label) == pytest.approx(expected, abs=1e-5)


def test_each_distinct_text_is_read_once_and_blank_ones_never(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[list[str]] = []
    monkeypatch.setattr(module, "BATCH", 2)
    loaded = module.load_classifier(folder)
    tokenizer = Mock(wraps=loaded.tokenizer, pad_token=loaded.tokenizer.pad_token, model_max_length=32)
    tokenizer.side_effect = lambda texts, **rest: read.append(texts) or loaded.tokenizer(texts, **rest)
    monkeypatch.setattr(module, "load_classifier", lambda name: replace(loaded, tokenizer=tokenizer))
    found = compute_toxicity(["blue", " ", "so be it", "blue", "", "the sky is blue"], folder, None)
    assert read == [["blue", "so be it"], ["the sky is blue"]]
    assert list(found) == ["blue", "so be it", "the sky is blue"]


def test_what_is_longer_than_the_model_reads_is_cut(folder: str) -> None:
    found = compute_toxicity(["blue " * 10, "blue " * 400], folder, None)
    assert len(set(found.values())) == 1


def test_a_model_without_a_pad_token_reads_one_text_at_a_time(tmp_path: Path) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    folder = save(tmp_path)
    expected = compute_toxicity(TEXTS, folder, None)
    tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>").save_pretrained(folder)
    assert compute_toxicity(TEXTS, folder, None) == pytest.approx(expected, abs=1e-5)


def test_replies_get_their_columns_beside_the_count(folder: str) -> None:
    settings = AddToxicWordsSettings(classifier=folder, classifier_label="toxic")
    sample = TextSample(id="s", text="The sky is")
    (case,) = PROBE.cases(sample, settings, rng=random.Random(1), likelihoods="none")
    trials = [
        Trial(case=case, expected=Completion(text="so be it"), actual=Completion(text="you are awful")),
        Trial(case=case, expected=Completion(text=""), actual=Completion(text="blue")),
    ]
    first, second = (score.columns for score in PROBE.score(trials, settings, embed=lambda texts: pytest.fail("no")))
    assert settings.classifier is not None
    expected = compute_toxicity(TEXTS, settings.classifier, "toxic")
    assert (first["classifier_before"], first["classifier_after"]) == pytest.approx(
        (expected["so be it"], expected["you are awful"]), abs=1e-5
    )
    assert second["classifier_before"] is None
    assert first["actual_toxic"] == 0


def test_other_weights_in_the_same_folder_are_another_classifier(tmp_path: Path) -> None:
    folder = save(tmp_path)
    before, said = get_classifier_versions(folder, None), compute_toxicity(TEXTS, folder, None)
    save(tmp_path, seed=2)
    assert get_classifier_versions(folder, None)["classifier"] != before["classifier"]
    assert compute_toxicity(TEXTS, folder, None) != said
    save(tmp_path, seed=1)
    assert get_classifier_versions(folder, None) == before


def test_the_plan_names_what_the_classifier_is(folder: str) -> None:
    (plan,) = plans(configured(classifier=folder))
    assert set(plan.versions) == {"classifier", "transformers", "torch", *DICTIONARIES}
    assert set(plans(configured())[0].versions) == set(DICTIONARIES)


def test_labels_are_listed_where_none_is_known_to_be_toxic(tmp_path: Path) -> None:
    folder = save(tmp_path, id2label={0: "joy", 1: "anger"})
    with pytest.raises(ConfigError, match=r"classifier_label: none of its labels .* one of joy, anger"):
        plans(configured(classifier=folder))
    with pytest.raises(ConfigError, match="it has no label 'rage'"):
        plans(configured(classifier=folder, classifier_label="rage"))
    plans(configured(classifier=folder, classifier_label="Anger"))


@pytest.mark.parametrize("kind", ["MaskedLM", "SequenceClassification"])
def test_outputs_that_are_no_trained_classes_are_refused(tmp_path: Path, kind: str) -> None:
    folder = save(tmp_path, kind=kind, problem_type="regression" if kind == "SequenceClassification" else None)
    with pytest.raises(ModelError, match=r"add_toxic_words\.classifier .*not trained to be classes"):
        plans(configured(classifier=folder))


def test_a_folder_that_cannot_be_loaded_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"tests\.sensitivity\.add_toxic_words\.classifier"):
        plans(configured(classifier=str(tmp_path)))


def test_damaged_weights_are_refused(tmp_path: Path) -> None:
    folder = save(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"nothing of the kind")
    with pytest.raises(ModelError, match="cannot load it"):
        plans(configured(classifier=folder))


def test_pickled_weights_are_never_loaded(tmp_path: Path) -> None:
    import torch
    from safetensors.torch import load_file

    folder = save(tmp_path)
    torch.save(load_file(tmp_path / "model.safetensors"), tmp_path / "pytorch_model.bin")
    (tmp_path / "model.safetensors").unlink()
    with pytest.raises(ModelError, match="safetensors"):
        plans(configured(classifier=folder))


def test_a_label_without_a_classifier_is_refused() -> None:
    with pytest.raises(ValidationError, match="no classifier is set"):
        AddToxicWordsSettings(classifier_label="toxic")
