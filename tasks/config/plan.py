"""What a configuration comes to: one plan for each selected test, with nothing left open."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
    """One selected test with nothing left open."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    test: str
    """Name of the probe."""
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
        """The settings as the probe's own type."""
        return registry.probe(self.test).settings_type.model_validate(self.settings)


def plans(config: RunConfig, permissions: Permissions | None = None) -> list[Plan]:
    """The selected tests, in the order of the probes' table.

    Args:
        config: the run.
        permissions: what it may name; None: what runs of this process may.

    Raises:
        ConfigError: no test is selected, data of tests are wrong, repeats are asked for that could not differ,
            thresholds are to come from controls that are not asked, or too few, or a file or folder may not be used.
    """
    problems, chosen = Problems(), list[Plan]()
    with problems.gathered():
        _refuse_equal_replies(config)
    for name in registry.names("probes"):
        settings = getattr(getattr(config.tests, registry.probe(name).category), name)
        if settings is not None:
            with problems.gathered():
                chosen.append(_plan(name, settings, config))
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


def _plan(name: str, settings: ProbeSettings, config: RunConfig) -> Plan:
    defaults = config.tests.defaults
    control = next(
        choice for choice in (settings.control, defaults.control, registry.probe(name).controlled) if choice is not None
    )
    gate, basis = _gate(name, settings, config)
    data = _data(name, settings, config)
    limit, limited_by = _limit(name, settings, config, data)
    if settings.calibrated:
        _refuse_few_controls(limit if control else 0, f"tests.{registry.probe(name).category}.{name}.threshold")
    return Plan(
        test=name,
        settings=_askable(name, settings, config).model_dump(
            mode="json", exclude={"min_pass_rate", "data", "limit", "control"}
        ),
        versions={**_foreign(name), **_versions(registry.probe(name).rests_on), **settings.versions()},
        min_pass_rate=gate,
        gate_basis=basis,
        control=control,
        data=data,
        limit=limit,
        limited_by=limited_by,
        repeats=config.repeats,
    )


def _askable(name: str, settings: ProbeSettings, config: RunConfig) -> ProbeSettings:
    """The settings, by which replies are read as they are where nobody can be asked about them, or would say the same.

    Raises:
        ConfigError: somebody is to be asked all the same.
    """
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
            where=f"tests.{registry.probe(name).category}.{name}.read_with",
        )
    return settings.model_copy(update={"read_with": "reply"}) if settings.read_with == "auto" else settings


def _gate(name: str, settings: ProbeSettings, config: RunConfig) -> tuple[float, str]:
    """The least pass rate of a test, and what it rests on: the test's own, the run's, or the probe's."""
    probe = registry.probe(name)
    for rate in (settings.min_pass_rate, config.tests.defaults.min_pass_rate):
        if rate is not None:
            return rate, SET
    return probe.default_gate, probe.gate_basis or NOT_CALIBRATED


def _data(name: str, settings: ProbeSettings, config: RunConfig) -> DataSettings:
    probe = registry.probe(name)
    try:
        data = data_of(settings.data, config.data or probe.bundled_data)
    except ValidationError as error:
        # Without its cause, which repeats the values: one may hold a password.
        raise refused_value(error, DataSettings, where=f"tests.{probe.category}.{name}.data") from None
    return data.model_copy(update={"skip_bad_rows": data.skip_bad_rows or config.skip_bad_rows})


def _limit(
    name: str, settings: ProbeSettings, config: RunConfig, data: DataSettings
) -> tuple[int | None, LimitedBy | None]:
    """The limit of a test, and whose it is: a bundled suite's is for its bundled samples, and cuts no other data."""
    if settings.limit:
        return settings.limit, "test"
    if config.limit is None or (config.limit_from == "bundled" and data.source != registry.probe(name).bundled_data):
        return None, None
    return config.limit, "given" if config.limit_from == "given" else "suite"


def _versions(packages: Iterable[str]) -> dict[str, str]:
    return {package: metadata.version(package) for package in packages}


def _foreign(name: str) -> dict[str, str]:
    """Versions of a probe of another package: what it rests on beyond its own code may come with another version."""
    distributions = registry.foreign("probes", name)
    return distributions and distributions | {f"probe {name}": registry.probe(name).version}


def _refuse_few_controls(most: int | None, where: str) -> None:
    """Raise ConfigError where a threshold cannot come from the controls, for there are too few; None: no limit."""
    if most is None or most >= LEAST_CONTROLS:
        return
    raise ConfigError(
        f"auto, and a limit of {most}" if most else "auto, and no controls",
        expected=f"controls of at least {LEAST_CONTROLS} samples, whose noise such a threshold is taken from",
        remedy=f"{'Raise the limit' if most else 'Set control: true for the test'}, or give a pair (lower, upper).",
        where=where,
    )


def _refuse_equal_replies(config: RunConfig) -> None:
    """Raise ConfigError where replies to the same prompt would be the same every time."""
    temperature = config.gen_kwargs.temperature
    if config.repeats == 1 or temperature:
        return
    if temperature is None and not registry.provider(config.model_spec().known_provider).local:
        return
    raise ConfigError(
        f"{config.repeats}",
        expected="1 for temperature 0, where replies are greedy and never differ",
        remedy="Set repeats to 1, or gen_kwargs.temperature above 0.",
        where="repeats",
    )
