"""Promote a candidate: move an alias in the MLflow model registry, and call a webhook."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from contrapose.tasks.core.decision import Decision
from contrapose.tasks.core.errors import ConfigError, ContraposeError, require_package
from contrapose.tasks.core.secrets import read_environment_secret, read_secret_block, remove_addresses
from contrapose.tasks.promotion import webhook
from contrapose.tasks.promotion.settings import BLOCK, Promotion

VARIABLE = "CONTRAPOSE_WEBHOOK_SECRET"
REGISTRIES = ("MLFLOW_TRACKING_URI", "MLFLOW_REGISTRY_URI")
"""Variables that name the registry to MLflow."""
LONGEST_CAUSE = 800
"""Characters of an error of MLflow that are shown."""
SHORTEST = 16
"""Characters of a secret that is not guessed."""


def refuse_unready(settings: Promotion, *, revision: str, training_run: str) -> None:
    """Raise ContraposeError if a promotion would fail, before the check costs anything."""
    if settings.mlflow_alias:
        find_version(settings.mlflow_alias, revision=revision, training_run=training_run)
    if settings.webhook:
        webhook.refuse_unlisted(settings.webhook)
        read_webhook_secret()


def find_missing(settings: Promotion) -> Iterator[ContraposeError]:
    """Yield an error for each thing that a promotion needs and this machine lacks; nothing is changed or sent.

    A registry is asked if one is named: without a name MLflow makes one of its own.
    """

    def refuse_unregistered() -> None:
        client, name = _make_mlflow_client(), settings.mlflow_alias.rpartition("@")[0]
        if not any(map(os.environ.get, REGISTRIES)):
            raise ConfigError(
                "no registry is named",
                expected="its address",
                remedy=f"Set {REGISTRIES[0]}.",
                where="promotion.mlflow_alias",
            )
        _ask_registry(name, client.get_registered_model, name)

    steps: list[Callable[[], object]] = [refuse_unregistered] if settings.mlflow_alias else []
    if settings.webhook:
        steps += [read_webhook_secret, partial(webhook.refuse_unreachable, settings.webhook)]
    for step in steps:
        try:
            step()
        except ContraposeError as error:
            yield error


def promote(settings: Promotion, decision: Decision, *, confirm: Callable[[], None]) -> list[str]:
    """Move the alias and call the webhook, if configured, and return sentences on what was done.

    Doing it again changes nothing: the alias is where it was, and the webhook has the same delivery number. Before each
    step `confirm` raises where somebody else is doing it. Raises ContraposeError if a step failed.
    """
    done = []
    if settings.mlflow_alias:
        revision, training_run = decision["revision"], decision["training_run"]
        version = find_version(settings.mlflow_alias, revision=revision, training_run=training_run)
        confirm()
        done.append(move_alias(settings.mlflow_alias, version))
    if settings.webhook:
        webhook.refuse_unlisted(settings.webhook)
        secret = read_webhook_secret()
        confirm()
        body = json.dumps(decision, ensure_ascii=False, sort_keys=True).encode()
        webhook.deliver(settings.webhook, body, secret=secret, delivery=decision["check"])
        done.append("The webhook was called.")
    return done


def read_webhook_secret() -> str:
    """Return the secret that webhooks are signed with, or raise ConfigError if there is none, or it is too short."""
    # The variable wins: a block would not help where it is too short.
    place, secret = VARIABLE, read_environment_secret(VARIABLE, where=VARIABLE)
    if not secret:
        place, secret = f"the Prefect Secret block {BLOCK}", read_secret_block(BLOCK, where="promotion.webhook")
    if len(secret) < SHORTEST:
        raise ConfigError(
            f"a secret of {len(secret)} characters",
            expected=f"at least {SHORTEST}",
            remedy=f"Set {place} to a long random text.",
            where="promotion.webhook",
        )
    return secret


def find_version(named: str, *, revision: str, training_run: str, client: Any = None) -> str:
    """Return the version of a registered model, `<model>@<alias>`, that belongs to an announcement.

    It is the revision where that is a number, else the version that the training run made. Raises ConfigError where
    MLflow is not installed or there is not one such version, or ContraposeError where the registry cannot be asked.
    """
    name, number = named.rpartition("@")[0], revision if revision.isascii() and revision.isdecimal() else ""
    search = (client or _make_mlflow_client()).search_model_versions
    pages = [_ask_registry(name, search, f"name='{name}'", page_token=None)]
    while token := getattr(pages[-1], "token", None):
        pages.append(_ask_registry(name, search, f"name='{name}'", page_token=token))
    versions = []
    for version in (version for page in pages for version in page):
        if number:
            # If both are known, both must fit: the version that is promoted is the one that was trained.
            trained = not training_run or version.run_id in (None, "", training_run)
            fits = str(version.version) == number and trained
        else:
            fits = bool(training_run) and version.run_id == training_run
        if fits:
            versions.append(version)
    if len(versions) != 1:
        raise ConfigError(
            f"{len(versions)} versions of revision {revision or 'none'} and training run {training_run or 'none'}",
            expected="one",
            remedy="Register the model under its MLflow run, or announce the number of the version as revision.",
            where=name,
        )
    return str(versions[0].version)


def move_alias(named: str, version: str, *, client: Any = None) -> str:
    """Move the alias to a version unless it names a newer one; return what happened, or raise ContraposeError."""
    registry = client or _make_mlflow_client()
    name, _, alias = named.rpartition("@")
    now = _ask_registry(name, registry.get_registered_model, name).aliases.get(alias)
    if now is not None and int(now) > int(version):
        return f"{named} stays at version {now}, which is newer than {version}."
    if now is None or int(now) != int(version):
        _ask_registry(name, registry.set_registered_model_alias, name, alias, version)
    return f"{named} is version {version}."


def _ask_registry(name: str, ask: Callable[..., Any], *args: Any, **options: Any) -> Any:
    try:
        return ask(*args, **options)
    except Exception as error:
        # Whatever it is built on, a registry raises errors of many kinds; MLflow's own say what to do.
        own = type(error).__module__.partition(".")[0] == "mlflow"
        why = f": {remove_addresses(str(error))[:LONGEST_CAUSE]}" if own else ""
        raise ContraposeError(
            f"the MLflow registry did not answer ({type(error).__name__}{why})",
            expected="a registry in which the model is registered",
            remedy="Correct MLFLOW_TRACKING_URI or the name of the registered model, or register the model.",
            where=name,
        ) from error


def _make_mlflow_client() -> Any:
    require_package("mlflow", extra="mlflow", where="promotion.mlflow_alias")
    from mlflow import MlflowClient

    return _ask_registry("promotion.mlflow_alias", MlflowClient)
