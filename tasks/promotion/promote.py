"""What is done once a candidate is to be promoted, and whether it could be."""

from __future__ import annotations

import json
from collections.abc import Callable

from contrapose.tasks.decision import Decision
from contrapose.tasks.errors import ConfigError
from contrapose.tasks.promotion import alias, webhook
from contrapose.tasks.promotion.settings import BLOCK, Promotion
from contrapose.tasks.secrets import from_block, from_environment

VARIABLE = "CONTRAPOSE_WEBHOOK_SECRET"
SHORTEST = 16
"""Characters of a secret that is not guessed."""


def refuse_unready(settings: Promotion, *, revision: str, training_run: str) -> None:
    """See that a promotion could be done, before anything is spent on a model.

    Raises:
        ContraposeError: the alias or the webhook could not be used.
    """
    if settings.mlflow_alias:
        alias.version_of(settings.mlflow_alias, revision=revision, training_run=training_run)
    if settings.webhook:
        webhook.refuse_unlisted(settings.webhook)
        webhook_secret()


def promote(settings: Promotion, decision: Decision, *, confirm: Callable[[], None]) -> list[str]:
    """Move the alias and call the webhook, as far as they are wanted; what was done, in sentences.

    Doing it again changes nothing: the alias is where it was, and the webhook has the same delivery number.

    Args:
        settings: what is wanted.
        decision: its verdict is promote.
        confirm: raises where somebody else is doing it; asked before each step.

    Raises:
        ContraposeError: a step failed.
    """
    done = []
    if settings.mlflow_alias:
        revision, training_run = decision["revision"], decision["training_run"]
        version = alias.version_of(settings.mlflow_alias, revision=revision, training_run=training_run)
        confirm()
        done.append(alias.move(settings.mlflow_alias, version))
    if settings.webhook:
        webhook.refuse_unlisted(settings.webhook)
        secret = webhook_secret()
        confirm()
        body = json.dumps(decision, ensure_ascii=False, sort_keys=True).encode()
        webhook.send(settings.webhook, body, secret=secret, delivery=decision["check"])
        done.append("The webhook was told.")
    return done


def webhook_secret() -> str:
    """The secret that webhooks are signed with.

    Raises:
        ConfigError: there is none, or it is too short.
    """
    secret = from_environment(VARIABLE, where=VARIABLE) or from_block(BLOCK, where="promotion.webhook")
    if len(secret) < SHORTEST:
        raise ConfigError(
            f"a secret of {len(secret)} characters",
            expected=f"at least {SHORTEST}",
            remedy=f"Set {VARIABLE}, or the Prefect Secret block {BLOCK}, to a long random text.",
            where="promotion.webhook",
        )
    return secret
