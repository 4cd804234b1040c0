"""Make the plans of a configuration: one for each selected test, with all settings resolved."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import metadata
from typing import Any

from pydantic import Field, ValidationError

from contrapose.tasks.config.chosen_tests import find_settings, list_named_tests
from contrapose.tasks.config.data_settings import DataSettings, merge_data_settings
from contrapose.tasks.config.permissions import Permissions
from contrapose.tasks.config.run_config import NOISE_SAMPLES, RunConfig
from contrapose.tasks.config.wrong_values import make_value_error
from contrapose.tasks.core import registry
from contrapose.tasks.core.errors import ConfigError, Problems
from contrapose.tasks.core.outcome import LimitedBy
from contrapose.tasks.core.provider import AnswersOnly
from contrapose.tasks.core.user_settings import UserSettings
from contrapose.tasks.probes.answers.settings import LEAST_CONTROLS
from contrapose.tasks.probes.base import ProbeSettings
from contrapose.tasks.probes.prompt_settings import PromptSettings, ReadSettings

NOT_CALIBRATED = "default, not calibrated"
SET = "set for this run"


class Plan(UserSettings):
    """One selected test with all settings resolved."""

    test: str
    settings: dict[str, Any]
    """Its settings, as JSON, without what is resolved below."""
    versions: Mapping[str, str] = Field(default_factory=dict)
    """What the probe and its settings depend on outside this project: part of every cache key, as the plan is."""
    min_pass_rate: float
    gate_basis: str = NOT_CALIBRATED
    """What the gate rests on, for people."""
    control: bool
    """Whether every sample that is asked gets a control too."""
    data: DataSettings
    limit: int | None
    limited_by: LimitedBy | None = Field(default=None, exclude=True)
    """Whose limit it is, for the reports: it changes no outcome, and so is no part of a cache key."""
    repeats: int = 1
    """How often a case is asked whose replies are generated."""
    noise: int = 0
    """Number of samples whose two prompts are asked once more."""

    @property
    def probe_settings(self) -> ProbeSettings:
        """Return the settings as the probe's own type."""
        return registry.probe(self.test).settings_type.model_validate(self.settings)


def plans(config: RunConfig, permissions: Permissions | None = None) -> list[Plan]:
    """Return a plan for each selected test, in the order of the registry of probes.

    Raises ConfigError if no test is selected, data of tests are wrong, repeats could not differ, a threshold needs
    more controls, or a file or folder may not be used by `permissions`, or those of this process.
    """
    problems, chosen = Problems(), list[Plan]()
    allowed = permissions or Permissions.here()
    with problems.gathered():
        for name in ("repeats", "noise"):
            _refuse_equal_replies(name, config)
    for name in (*registry.names("probes"), *list_named_tests(config.tests)):
        settings = find_settings(config.tests, name)
        if settings is not None:
            with problems.gathered():
                for setting, function in settings.functions().items():
                    allowed.refuse_function(function, where=f"{registry.probe(name).where}.{setting}")
                chosen.append(_make_plan(name, settings, config))
    with problems.gathered():
        allowed.refuse(config, (plan.data.source for plan in chosen))
    problems.refuse()
    if not chosen:
        raise ConfigError(
            "no test is selected",
            expected="at least one test",
            remedy="Add a test under tests:, or use --test.",
            where="tests",
        )
    return chosen


def _make_plan(name: str, settings: ProbeSettings, config: RunConfig) -> Plan:
    """Return the plan of one test, or raise ConfigError if its settings cannot work."""
    probe, defaults = registry.probe(name), config.tests.defaults
    where = probe.where
    controls = (settings.wants_control, defaults.control, probe.controlled)
    control = next(choice for choice in controls if choice is not None)
    rates = (rate for rate in (settings.min_pass_rate, defaults.min_pass_rate) if rate is not None)
    gate = next(rates, None)
    settings = settings if gate is None else settings.with_gate(gate)
    try:
        data = merge_data_settings(settings.data, config.data or probe.bundled_data)
    except ValidationError as error:
        # Without its cause, which repeats the values: one may hold a password.
        raise make_value_error(error, DataSettings, where=f"{where}.data") from None
    limit, limited_by = _find_limit(settings, config, is_bundled=data.source == probe.bundled_data)
    # A threshold cannot come from controls where there are too few.
    asked = limit if control else 0
    if settings.calibrated and asked is not None and asked < LEAST_CONTROLS:
        raise ConfigError(
            f"threshold: auto with a limit of {asked}" if asked else "threshold: auto without controls",
            expected=f"controls of at least {LEAST_CONTROLS} samples, which set such a threshold",
            remedy=f"{f'Set the limit to {LEAST_CONTROLS} or more' if asked else 'Set control: true for the test'}, or "
            "set threshold to a pair, such as [-0.2, 0.2].",
            where=f"{where}.threshold",
        )
    # A probe of another package: what it rests on beyond its own code may come with another version.
    versions = registry.find_foreign_packages("probes", name)
    versions |= {f"probe {name}": probe.version} if versions else {}
    versions |= {package: metadata.version(package) for package in probe.rests_on}
    settings = _resolve_wordings(_resolve_reading(settings, config, where), config, where)
    return Plan(
        test=name,
        settings=settings.model_dump(
            mode="json", exclude={"min_pass_rate", "data", "limit", "control", *_list_unused_wordings(settings)}
        ),
        versions={**versions, **settings.versions()},
        min_pass_rate=probe.default_gate if gate is None else gate,
        gate_basis=SET if gate is not None else probe.gate_basis or NOT_CALIBRATED,
        control=control,
        data=data.model_copy(
            update={
                "skip_bad_rows": data.skip_bad_rows or config.skip_bad_rows,
                "columns": {**_find_columns_of_other_tests(config), **data.columns, **settings.data_columns()},
            }
        ),
        limit=limit,
        limited_by=limited_by,
        repeats=config.repeats,
        noise=_count_noise_samples(config) if probe.shows_noise else 0,
    )


def _find_columns_of_other_tests(config: RunConfig) -> Mapping[str, str]:
    """Return the columns that relations in the configuration name, so that other tests do not warn about them."""
    return {
        f"{test}.{name}": column
        for test in list_named_tests(config.tests)
        if (settings := find_settings(config.tests, test)) is not None
        for name, column in settings.data_columns().items()
    }


def is_greedy(config: RunConfig) -> bool:
    """Return whether a prompt always gets the same reply, as only a local model at temperature 0 gives it."""
    provider = registry.provider(config.model_spec().known_provider)
    return provider.local and not isinstance(provider, AnswersOnly) and not config.gen_kwargs.temperature


def _refuse_equal_replies(name: str, config: RunConfig) -> None:
    """Raise ConfigError if a local model at temperature 0 shall be asked several times."""
    least = 1 if name == "repeats" else 0
    count = getattr(config, name)
    if isinstance(count, int) and count > least and is_greedy(config):
        raise ConfigError(
            f"{count}",
            expected=f"{least} for a local model at temperature 0, whose replies to a prompt never differ",
            remedy=f"Set {name} to {least}, or gen_kwargs.temperature above 0.",
            where=name,
        )


def _count_noise_samples(config: RunConfig) -> int:
    """Return how many samples of each test are asked again to measure noise; 0 if repeats already show it."""
    provider = registry.provider(config.model_spec().known_provider)
    if config.repeats > 1 or is_greedy(config):
        return 0
    if config.noise != "auto":
        return config.noise
    if not isinstance(provider, AnswersOnly):
        return NOISE_SAMPLES
    # A recording costs nothing; an application is asked again only where that is wanted.
    return sys.maxsize if provider.local else 0


def _resolve_reading(settings: ProbeSettings, config: RunConfig, where: str) -> ProbeSettings:
    """Return settings without a reader model if no model can read replies, or raise ConfigError."""
    provider = registry.provider(config.model_spec().known_provider)
    if config.reader or not isinstance(provider, AnswersOnly) or not isinstance(settings, ReadSettings):
        return settings
    if settings.read_with == "ask":
        raise ConfigError(
            "read_with: ask needs a reader model",
            expected="a reader, because recordings and applications do not read replies",
            remedy="Name a model with --reader, or set read_with: reply.",
            where=f"{where}.read_with",
        )
    return settings.model_copy(update={"read_with": "reply"}) if settings.read_with == "auto" else settings


def _resolve_wordings(settings: ProbeSettings, config: RunConfig, where: str) -> ProbeSettings:
    """Return settings with the run's number of wordings if the test sets none, or raise ConfigError."""
    if not isinstance(settings, PromptSettings) or settings.wordings is not None or config.wordings == 1:
        return settings
    if settings.prompt is not None or settings.wording > 1 or settings.built_in_count < config.wordings:
        count = settings.built_in_count if settings.prompt is None and settings.wording == 1 else 1
        raise ConfigError(
            f"{config.wordings} wordings, and a test that has {count}",
            expected=f"at most {count}, or a list of templates",
            remedy="Set wordings: 1 for this test, or list your own templates there"
            + (" in place of prompt." if settings.prompt is not None else "."),
            where=f"{where}.wordings",
        )
    return settings.model_copy(update={"wordings": config.wordings})


def _list_unused_wordings(settings: ProbeSettings) -> set[str]:
    """Return the settings that a test with one wording does not use, so that its plan equals that of older versions."""
    if not isinstance(settings, PromptSettings) or settings.wording_count > 1:
        return {"wording"} if isinstance(settings, PromptSettings) else set()
    return {"wordings", "wordings_each", *(["wording"] if settings.wording == 1 else [])}


def _find_limit(settings: ProbeSettings, config: RunConfig, *, is_bundled: bool) -> tuple[int | None, LimitedBy | None]:
    """Return the limit of a test and its origin; a bundled suite's limit only cuts bundled samples."""
    if settings.limit:
        return settings.limit, "test"
    if config.limit is None or (config.limit_from == "bundled" and not is_bundled):
        return None, None
    return config.limit, "given" if config.limit_from == "given" else "suite"
