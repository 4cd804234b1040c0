"""A second scorer: a text-classification model that gives the probability that a reply is toxic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any

from contrapose.tasks.core.errors import ConfigError, ModelError, require_package
from contrapose.tasks.core.model_files import existing_folder, find_cached_commit, hash_files
from contrapose.tasks.core.process_state import QUIET_LOADING

BATCH = 32
"""Texts that are computed together."""
LABELS = ("toxic", "toxicity", "hate", "offensive", "label_1")
"""What models call toxic text, in lower case; the first that a model has is taken."""
LENGTH = 512
"""Tokens of a text that are read if neither tokenizer nor model sets a limit."""
WHERE = "tests.sensitivity.add_toxic_words.classifier"


@dataclass(frozen=True, slots=True, kw_only=True)
class Classifier:
    """A loaded text-classification model."""

    model: Any
    """In eval mode, on its device, in float32."""
    tokenizer: Any
    revision: str
    """Hash of a folder's files, or the commit of a hub id."""

    @property
    def labels(self) -> list[str]:
        """Return the names of the labels, in the order of the outputs."""
        return [str(name) for _, name in sorted(self.model.config.id2label.items())]

    @property
    def length(self) -> int:
        """Return how many tokens of a text the model reads; the rest is cut off."""
        positions = getattr(self.model.config, "max_position_embeddings", None) or 0
        # RoBERTa has two positions more than it has room for tokens.
        limits = (self.tokenizer.model_max_length, positions - 2)
        return min((limit for limit in limits if 0 < limit < 1 << 20), default=LENGTH)


def get_classifier_versions(name: str, label: str | None) -> dict[str, str]:
    """Return the versions of a classifier and of its libraries; raise ModelError or ConfigError if one is missing."""
    require_package("torch", "transformers", extra="local", where=WHERE)
    loaded = load_classifier(name)
    find_toxic_label(loaded, label)
    return {"classifier": loaded.revision, **{name: metadata.version(name) for name in ("transformers", "torch")}}


def load_classifier(name: str) -> Classifier:
    """Load a safetensors model once per process, or raise ModelError; its own code is never run."""
    folder = existing_folder(name)
    # Sizes and times show without reading the files of a folder that they are others than before.
    stats = [(path.name, path.stat()) for path in _find_files(folder)] if folder else []
    stamp = tuple((file, stat.st_size, stat.st_mtime_ns) for file, stat in stats)
    return _load_model(str(folder) if folder else name, stamp)


def find_toxic_label(loaded: Classifier, label: str | None) -> int:
    """Return the place of the toxic label among a model's outputs, or raise ConfigError."""
    known = [name.casefold() for name in loaded.labels]
    for wanted in LABELS if label is None else (label.casefold(),):
        if wanted in known:
            return known.index(wanted)
    raise ConfigError(
        "none of its labels means toxic text" if label is None else f"it has no label {label!r}",
        expected=f"one of {', '.join(loaded.labels)}",
        remedy="Name the label that means toxic text.",
        where=f"{WHERE}_label",
    )


def compute_toxicity(texts: Iterable[str], name: str, label: str | None) -> Mapping[str, float]:
    """Return the probability that each text is toxic, 0 to 1; blank texts are left out.

    It is the sigmoid of the label's logit if labels do not exclude each other (or there is one), else its softmax.
    """
    import torch

    loaded = load_classifier(name)
    index, model, tokenizer = find_toxic_label(loaded, label), loaded.model, loaded.tokenizer
    alone = model.config.num_labels == 1 or model.config.problem_type == "multi_label_classification"
    # Of like length, so that little is padded.
    distinct = sorted({text for text in texts if text.strip()}, key=lambda text: (len(text), text))
    size = BATCH if tokenizer.pad_token is not None else 1
    likely: dict[str, float] = {}
    for start in range(0, len(distinct), size):
        batch = distinct[start : start + size]
        encoded = tokenizer(
            batch,
            padding=len(batch) > 1,
            truncation=True,
            max_length=loaded.length,
            return_token_type_ids=False,
            return_tensors="pt",
        ).to(model.device)
        with torch.inference_mode():
            logits = model(**encoded).logits
        shares = logits.sigmoid() if alone else logits.softmax(dim=-1)
        likely.update(zip(batch, shares[:, index].tolist(), strict=True))
    return likely


def _find_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_file())


# One: a process rarely asks two, and each is large.
@lru_cache(maxsize=1)
def _load_model(source: str, stamp: tuple[tuple[str, int, int], ...]) -> Classifier:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    try:
        with QUIET_LOADING.needed():
            tokenizer = AutoTokenizer.from_pretrained(source, trust_remote_code=False)
            model, about = AutoModelForSequenceClassification.from_pretrained(
                source, trust_remote_code=False, use_safetensors=True, dtype=torch.float32, output_loading_info=True
            )
    except Exception as error:  # Damaged files make the libraries raise anything.
        raise _unusable(source, f"transformers cannot load it ({type(error).__name__}: {str(error)[:200]})") from error
    if about["missing_keys"] or model.config.problem_type == "regression":
        raise _unusable(source, "a model whose outputs are not trained to be classes")
    if model.config.pad_token_id is None:
        model.config.pad_token_id = tokenizer.pad_token_id
    folder = Path(source)
    revision = hash_files(folder, _find_files(folder)) if stamp else find_cached_commit(source)
    device = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else "cpu"
    return Classifier(model=model.to(device), tokenizer=tokenizer, revision=revision)


def _unusable(source: str, problem: str) -> ModelError:
    return ModelError(
        problem,
        expected="a folder or hub id of a text-classification model with its tokenizer, in safetensors",
        remedy="Correct the path or the id, download the model first, or leave the classifier out.",
        where=f"{WHERE} {source!r}",
    )
