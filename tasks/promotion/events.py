"""Events about retrained models: their names, and what they carry."""

from __future__ import annotations

from contrapose.tasks.errors import ConfigError

RETRAINED = "model.retrained"
"""Starts a check, through the automation of that name."""
VERDICT = "contrapose.verdict"
"""Tells how a check ended."""
LONGEST = 500
"""Characters of a model's id, a revision or the name of a training run."""


def resource(model: str) -> dict[str, str]:
    """The resource that events about a model are about."""
    return {"prefect.resource.id": f"contrapose.model.{model}", "prefect.resource.name": model}


def retrained(model: str, *, revision: str, training_run: str) -> dict[str, str]:
    """The payload of `model.retrained`: every key is there, as a template that misses one starts nothing.

    Raises:
        ConfigError: a value cannot be used, or nothing tells this training from the one before.
    """
    payload = {"model": model, "revision": revision, "training_run": training_run}
    for name, value in payload.items():
        _refuse(name, value)
    if not model:
        raise _wrong("nothing", "the id of a model", "Name it as in a run: hf/<org>/<name>, openai/<model> …", "model")
    if not (revision or training_run):
        raise _wrong("neither", "one or both", "Without them two trainings could not be told apart.", "revision")
    return payload


def _refuse(name: str, value: str) -> None:
    if len(value) > LONGEST or not value.isprintable() or value != value.strip():
        shown = repr(value[:40])
        allowed = f"at most {LONGEST} printable characters, without spaces around them"
        raise _wrong(shown, allowed, "Correct the text.", name)


def _wrong(found: str, expected: str, remedy: str, where: str) -> ConfigError:
    return ConfigError(found, expected=expected, remedy=remedy, where=where)
