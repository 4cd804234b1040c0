"""Promotion settings: the actions after a decision on a retrained model, and the events that announce models."""

from __future__ import annotations

from pydantic import ConfigDict, Field, field_validator

from contrapose.tasks.config.hosts import origin_of, refuse_forbidden
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.secrets import holds_password
from contrapose.tasks.core.user_settings import UserSettings

BLOCK = "contrapose-webhook-secret"
"""Prefect Secret block that is looked in where the environment holds no secret."""


class Promotion(UserSettings):
    """What follows a decision; left as it is, nothing but the event `contrapose.verdict`."""

    model_config = ConfigDict(hide_input_in_errors=True)

    mlflow_alias: str = Field(
        default="",
        description="After promote: `<registered model>@<alias>` in the MLflow registry, moved to the version of the "
        "training run. Empty: none.",
    )
    webhook: str = Field(
        default="",
        description="After promote: address that receives verdict.json, signed with the secret in "
        f"CONTRAPOSE_WEBHOOK_SECRET or in the Prefect Secret block {BLOCK}; CONTRAPOSE_WEBHOOK_HOSTS names its host. "
        "Empty: none.",
    )
    ask: bool = Field(default=False, description="After hold: pause until a person approves or rejects the candidate.")
    ask_hours: float = Field(
        default=72,
        gt=0,
        le=8760,
        description="How long to wait for that person. Where nobody answers, hold stands, and Prefect ends the run "
        "of a deployment as failed.",
    )

    @property
    def wanted(self) -> bool:
        """Return whether any action follows the verdict promote."""
        return bool(self.mlflow_alias or self.webhook)

    @field_validator("mlflow_alias")
    @classmethod
    def _check_alias(cls, value: str) -> str:
        name, _, alias = value.rpartition("@")
        if value and not (name and alias and value.isprintable() and "'" not in value):
            raise ValueError(
                "no alias of a model; expected <registered model>@<alias>, such as summarizer@champion, without quotes"
            )
        return value

    @field_validator("webhook")
    @classmethod
    def _check_address(cls, value: str) -> str:
        origin = origin_of(value)
        if value and origin is None:
            raise ValueError("no address of a web server; expected one that begins with https:// or http://")
        if holds_password(value):
            # Its value is not shown: it is where secrets hide.
            raise ValueError(
                "a secret in it; expected an address without user, password and token, since it is stored: the call "
                "is signed, so that its receiver knows the sender; to a chat, send alerts through a block: contrapose "
                "deploy --notify"
            )
        if origin is not None:
            try:
                refuse_forbidden(origin.host, where="")
            except ConfigError as error:
                raise ValueError(f"{error.found}; expected {error.expected}") from None
        return value


RETRAINED = "model.retrained"
"""Starts a check, through the automation of that name."""
VERDICT = "contrapose.verdict"
"""Tells how a check ended."""
LONGEST = 500
"""Characters of a model's id, a revision or the name of a training run."""


def make_resource(model: str) -> dict[str, str]:
    """Return the Prefect resource for events about a model."""
    return {"prefect.resource.id": f"contrapose.model.{model}", "prefect.resource.name": model}


def build_payload(model: str, *, revision: str, training_run: str) -> dict[str, str]:
    """Return the payload of `model.retrained`: every key is there, as a template that misses one starts nothing.

    Raises ConfigError if a value cannot be used, or nothing tells this training from the one before.
    """
    payload = {"model": model, "revision": revision, "training_run": training_run}
    allowed = f"at most {LONGEST} printable characters, without spaces around them"
    for name, value in payload.items():
        if len(value) > LONGEST or not value.isprintable() or value != value.strip():
            raise ConfigError(repr(value[:40]), expected=allowed, remedy="Correct the text.", where=name)
    if not model:
        remedy = "Name it as in a run: hf/<org>/<name>, openai/<model> …"
        raise ConfigError("nothing", expected="the id of a model", remedy=remedy, where="model")
    if not (revision or training_run):
        remedy = "Set revision or training_run (--revision, --training-run): without one, two trainings look the same."
        raise ConfigError("neither", expected="one or both", remedy=remedy, where="revision")
    return payload
