"""Cache keys of answers: hashes of the question, the model, and the version of the model."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from contrapose.tasks.config.model_spec import Generation, ModelSpec
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.core.questions import Form, Question, to_json

FORMAT = "1"
"""Raise this number if keys are made in another way."""

Changes = Mapping[str, Any]
"""Settings that must change for an endpoint, such as `gen_kwargs.temperature`: configuration keys with values."""


class Keys:
    """Makes the cache keys of questions to one model.

    Args:
        spec: the model and its settings. Of its arguments only what the provider's identity repeats counts:
            a time-out or a number of connections changes no answer.
        identity: of the model, by its provider.
    """

    def __init__(self, spec: ModelSpec, identity: Mapping[str, str]) -> None:
        self.spec, self.identity = spec, identity
        served = {"format": FORMAT, "provider": spec.provider, "identity": dict(identity)}
        model = {
            **served,
            "system_instruction": spec.system_instruction,
            "apply_chat_template": spec.apply_chat_template,
            # Only where there are some: answers that were stored before there could be any stay found.
            **({"few_shot": [shot.model_dump() for shot in spec.few_shot]} if spec.few_shot else {}),
        }
        self._start = {
            "generate": _hash({**model, "generation": spec.generation.model_dump(mode="json")}),
            "choose": _hash(model),
            "loss": _hash(model),
        }
        self._served = served

    def apply_changes(self, changes: Changes) -> Keys:
        """Return the keys of a run that has these settings, so that both runs find the same answers."""
        args = _settings_below("model_args", changes)
        identity = {name: str(args.get(name, value)) for name, value in self.identity.items()}
        return Keys(apply_changes(self.spec, changes), identity)

    def make_key(self, question: Question) -> str:
        """Return the cache key of a question, in hexadecimal."""
        digest = self._start[question.kind].copy()
        digest.update(to_json(question).encode("utf-8", "surrogatepass"))
        return digest.hexdigest()

    def hash_forms(self, forms: Sequence[Form]) -> str:
        """Return the key of the note about forms, in hexadecimal; it depends on endpoint and model, not on prompts."""
        return _hash({**self._served, "forms": list(forms)}).hexdigest()


def apply_changes(spec: ModelSpec, changes: Changes) -> ModelSpec:
    """Return the specification of a model with changed settings."""
    generation = Generation.model_validate({**spec.generation.model_dump(), **_settings_below("gen_kwargs", changes)})
    args = {**spec.args, **_settings_below("model_args", changes)}
    return spec.model_copy(update={"args": args, "generation": generation})


def _settings_below(key: str, changes: Changes) -> dict[str, Any]:
    """Return the changes under one key of a configuration, by the rest of their names."""
    return {name[len(key) + 1 :]: value for name, value in changes.items() if name.startswith(f"{key}.")}


def make_parameters_key(parameters: Mapping[str, Any]) -> str:
    """Return the key of the note about parameters (fields other than the prompt, and address), in hexadecimal."""
    return _hash({"parameters": dict(parameters)}).hexdigest()


def _hash(content: Mapping[str, object]) -> hashlib._Hash:
    return hashlib.sha256(json.dumps(content, sort_keys=True, ensure_ascii=True).encode())


def refuse_replaced_model(now: Mapping[str, str], before: Mapping[str, str], *, model: str) -> None:
    """Raise ModelError if the identity of a model has changed since `before`."""
    for name in {**before, **now}:
        if now.get(name) != before.get(name):
            raise ModelError(
                f"the model was replaced meanwhile: its {name} was {before.get(name)!r} and is {now.get(name)!r}",
                expected="the same model from the first look to the last answer",
                remedy="Leave it as it is until the evaluation has ended, and start again.",
                where=model,
            )
