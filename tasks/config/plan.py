"""Plans of a configuration: one for each selected test, with all settings resolved."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import metadata
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from contrapose.tasks.config.data_settings import DataSettings, data_of
from contrapose.tasks.config.permissions import Permissions
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.config.wrong_values import refused_value
from contrapose.tasks.core import registry
from contrapose.tasks.core.errors import ConfigError, Problems
from contrapose.tasks.core.outcome import LimitedBy
from contrapose.tasks.core.provider import AnswersOnly
from contrapose.tasks.probes.answers.settings import LEAST_CONTROLS
from contrapose.tasks.probes.base import ProbeSettings
from contrapose.tasks.probes.prompt_settings import ReadSettings

NOT_CALIBRATED = "default, not calibrated"
SET = "set for this run"


class Plan(BaseModel):
    """One selected test with all settings resolved."""

    model_config = ConfigDict(extra="forbid", frozen=True)

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

    @property
    def probe_settings(self) -> ProbeSettings:
        """Settings as the probe's own type."""
        return registry.probe(self.test).settings_type.model_validate(self.settings)


def plans(config: RunConfig, permissions: Permissions | None = None) -> list[Plan]:
    """Return the selected tests, in the order of the probes' table.

    Raises ConfigError where no test is selected, data of tests are wrong, repeats could not differ, a threshold needs
    more controls, or a file or folder may not be used by `permissions`, or those of this process.
    """
    problems, chosen = Problems(), list[Plan]()
    temperature = config.gen_kwargs.temperature
    with problems.gathered():
        if config.repeats > 1 and (
            temperature == 0 or (temperature is None and registry.provider(config.model_spec().known_provider).local)
        ):
            raise ConfigError(
                f"{config.repeats}",
                expected="1 for temperature 0, where replies are greedy and never differ",
                remedy="Set repeats to 1, or gen_kwargs.temperature above 0.",
                where="repeats",
            )
    for name in registry.names("probes"):
        settings = getattr(getattr(config.tests, registry.probe(name).category), name)
        if settings is not None:
            with problems.gathered():
                chosen.append(_make_plan(name, settings, config))
    with problems.gathered():
        (permissions or Permissions.here()).refuse(config, (plan.data.source for plan in chosen))
    problems.refuse()
    if not chosen:
        raise ConfigError(
            "no test is selected",
            expected="at least one test",
            remedy="Name one under tests, or use --test.",
            where="tests",
        )
    return chosen


def _make_plan(name: str, settings: ProbeSettings, config: RunConfig) -> Plan:
    """Return the plan of one test, or raise ConfigError where its settings cannot work."""
    probe, defaults = registry.probe(name), config.tests.defaults
    where = f"tests.{probe.category}.{name}"
    controls = (settings.control, defaults.control, probe.controlled)
    control = next(choice for choice in controls if choice is not None)
    rates = (rate for rate in (settings.min_pass_rate, defaults.min_pass_rate) if rate is not None)
    gate = next(rates, None)
    settings = settings if gate is None else settings.with_gate(gate)
    try:
        data = data_of(settings.data, config.data or probe.bundled_data)
    except ValidationError as error:
        # Without its cause, which repeats the values: one may hold a password.
        raise refused_value(error, DataSettings, where=f"{where}.data") from None
    limit, limited_by = _find_limit(settings, config, is_bundled=data.source == probe.bundled_data)
    # A threshold cannot come from controls where there are too few.
    asked = limit if control else 0
    if settings.calibrated and asked is not None and asked < LEAST_CONTROLS:
        raise ConfigError(
            f"auto, and a limit of {asked}" if asked else "auto, and no controls",
            expected=f"controls of at least {LEAST_CONTROLS} samples, whose noise such a threshold is taken from",
            remedy=f"{'Raise the limit' if asked else 'Set control: true for the test'}, or give a pair "
            "(lower, upper).",
            where=f"{where}.threshold",
        )
    # A probe of another package: what it rests on beyond its own code may come with another version.
    versions = registry.foreign_packages("probes", name)
    versions |= {f"probe {name}": probe.version} if versions else {}
    versions |= {package: metadata.version(package) for package in probe.rests_on}
    return Plan(
        test=name,
        settings=_resolve_reading(settings, config, where).model_dump(
            mode="json", exclude={"min_pass_rate", "data", "limit", "control"}
        ),
        versions={**versions, **settings.versions()},
        min_pass_rate=probe.default_gate if gate is None else gate,
        gate_basis=SET if gate is not None else probe.gate_basis or NOT_CALIBRATED,
        control=control,
        data=data.model_copy(update={"skip_bad_rows": data.skip_bad_rows or config.skip_bad_rows}),
        limit=limit,
        limited_by=limited_by,
        repeats=config.repeats,
    )


def _resolve_reading(settings: ProbeSettings, config: RunConfig, where: str) -> ProbeSettings:
    """Return settings with which nobody is asked about replies where nobody can be, or raise ConfigError."""
    provider = registry.provider(config.model_spec().known_provider)
    if provider.local and not config.gen_kwargs.temperature:
        settings = settings.greedy()
    if config.reader or not isinstance(provider, AnswersOnly) or not isinstance(settings, ReadSettings):
        return settings
    if settings.read_with == "ask":
        raise ConfigError(
            "ask, and nobody who could be asked",
            expected="a reader, or reply: recordings and applications are not asked what they mean",
            remedy="Name one in --reader, or set read_with to reply.",
            where=f"{where}.read_with",
        )
    return settings.model_copy(update={"read_with": "reply"}) if settings.read_with == "auto" else settings


def _find_limit(settings: ProbeSettings, config: RunConfig, *, is_bundled: bool) -> tuple[int | None, LimitedBy | None]:
    """Return the limit of a test, and whose it is: a bundled suite's is for bundled samples, and cuts no other data."""
    if settings.limit:
        return settings.limit, "test"
    if config.limit is None or (config.limit_from == "bundled" and not is_bundled):
        return None, None
    return config.limit, "given" if config.limit_from == "given" else "suite"
