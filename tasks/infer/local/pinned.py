"""A model that is replaced while a run goes on: what was found at first is what answers, or nothing does."""

from __future__ import annotations

from itertools import chain
from typing import Any

from contrapose.tasks.folders import existing_folder
from contrapose.tasks.model_spec import ModelSpec


def pinned(spec: ModelSpec, revision: str | None = None) -> ModelSpec:
    """The model at one commit of the hub: a branch may move between two looks.

    Args:
        spec: the model and its settings.
        revision: the commit; None: the one that was found when the run began, if it was.

    Returns:
        The same, where the model is a folder or no commit is known.
    """
    commit = revision or spec.found.get("revision")
    if commit is None or existing_folder(spec.name):
        return spec
    return spec.model_copy(update={"args": {**spec.args, "revision": commit}})


def detach_from_files(model: Any) -> None:
    """Copy the weights of a model on the CPU: transformers maps their file, and who writes into it changes them."""
    if model.device.type != "cpu":
        return
    for tensor in chain(model.parameters(), model.buffers()):
        tensor.data = tensor.data.clone()
