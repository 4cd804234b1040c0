"""Providers of OpenAI-compatible endpoints: `openai`, `anthropic`, `azure`, `ollama` and others, by `base_url`, too."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

from contrapose.tasks.config.hosts import is_loopback
from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.config.prices import FREE, Price, find_listed_price
from contrapose.tasks.core.errors import suggest_name
from contrapose.tasks.core.provider import Argument, Check
from contrapose.tasks.core.questions import Form, Question
from contrapose.tasks.core.records import Likelihoods
from contrapose.tasks.infer.asking.pool import Pool, PooledModel
from contrapose.tasks.infer.base import AskedKind, TryOutcome
from contrapose.tasks.infer.keys import Changes
from contrapose.tasks.infer.openai.bodies import RequestBodies
from contrapose.tasks.infer.openai.connection import OpenAITransport, is_listed, list_served_models, read_digest
from contrapose.tasks.infer.openai.form_finder import FormFinder
from contrapose.tasks.infer.openai.key import NO_KEY, describe_key_place
from contrapose.tasks.infer.openai.settings import (
    OPENAI_HOST,
    find_base_url,
    list_wanted_forms,
    make_arguments,
    read_settings,
    read_switch,
)
from contrapose.tasks.infer.openai.vendors import OPENAI, Vendor
from contrapose.tasks.text.wording import counted

if TYPE_CHECKING:
    from contrapose.tasks.infer.broker import StoreBroker

OFFLINE = (
    "model_args.offline is set, and some prompts have no stored answer: `contrapose batch prompts` writes them "
    "into a file, `contrapose batch answers` takes the results"
)

REMARKS = {
    "gen_kwargs.temperature": "The endpoint refuses temperature: replies were drawn at its own default, so the same "
    "prompt may get another reply, as with gen_kwargs.temperature: null.",
    "gen_kwargs.top_p": "The endpoint refuses top_p: replies were drawn at its own default, as with "
    "gen_kwargs.top_p: null.",
    "gen_kwargs.stop": "The endpoint refuses stop: replies run on after the texts that were to end them, as with "
    "gen_kwargs.stop: [].",
    "model_args.logprobs": "The endpoint refuses logprobs: choices were read from replies instead, as with "
    "model_args.logprobs: false.",
}
"""Warnings about settings that an endpoint makes necessary."""


class OpenAI:
    """Provider of any endpoint with the OpenAI API."""

    cases_per_task: ClassVar[int] = 2000
    local: ClassVar[bool] = False
    knows_weights: ClassVar[bool] = False

    def __init__(self, vendor: Vendor = OPENAI) -> None:
        self.vendor = vendor
        self.concurrency: int = vendor.concurrency
        self.arguments: Mapping[str, Argument] = make_arguments(vendor)

    def price(self, spec: ModelSpec) -> Price | None:
        """Return the listed price of a model at OpenAI's own address; a server on this machine is free."""
        host = urlsplit(find_base_url(spec)).hostname or ""
        if not self.vendor.needs_key and is_loopback(host):
            return FREE
        # The same name elsewhere may cost anything.
        return find_listed_price(spec.name) if self.vendor is OPENAI and host == OPENAI_HOST else None

    def check(self, spec: ModelSpec) -> Check:
        """Check that the endpoint answers and accepts the key, or raise ModelError."""
        settings = read_settings(spec)
        if settings.offline:
            return Check(state="ok", observed=f"{spec.id} is offline: only stored answers are used")
        listed = asyncio.run(list_served_models(settings, describe_key_place(spec), spec.name))
        if listed and not is_listed(spec.name, listed):
            adds = self.vendor.adds_model.format(model=spec.name)
            return Check(
                state="warning",
                observed=f"{spec.id}: {settings.address} lists {counted('models', len(listed))}, and not this one",
                remedy=suggest_name(spec.name, listed, otherwise=f"Run: {adds}" if adds else "Correct the name."),
            )
        key = "no key" if settings.key == NO_KEY else f"key from {describe_key_place(spec)}"
        return Check(state="ok", observed=f"{spec.id} at {settings.address} answers; {key}")

    def likelihoods(self, spec: ModelSpec) -> Likelihoods:
        """Return "choices" if `model_args.logprobs` says that log-probabilities of letters are returned."""
        return "choices" if read_switch(spec, "logprobs") else "none"

    def forms(self, spec: ModelSpec) -> Sequence[Form]:
        """Return the forms that `model_args.constrained` sets: all that the API may have, one of them, or none."""
        return list_wanted_forms(spec)

    def parameters(self, spec: ModelSpec, kind: AskedKind) -> Mapping[str, Any]:
        """Return the fields of a request other than the prompt, and its address."""
        bodies = RequestBodies(spec=spec.model_copy(update={"args": {**spec.args, "offline": True}}))
        served = spec.args.get("revision")
        return {**bodies.frames[kind], "address": bodies.settings.address + bodies.settings.path, "served": served}

    def concerning(self, changes: Changes, kind: AskedKind) -> Changes:
        """Return the changes that concern a kind: a choice has no sampling, and a reply has no log-probabilities."""
        of_others = "gen_kwargs." if kind == "choose" else ("model_args.logprobs", "model_args.top_logprobs")
        return {name: value for name, value in changes.items() if not name.startswith(of_others)}

    def remarks(self, changes: Changes) -> Mapping[str, str]:
        """Return warnings about refused parameters; a parameter that only has another name gives none."""
        return {f"refused {name}": REMARKS[name] for name in changes if name in REMARKS}

    def identity(self, spec: ModelSpec) -> Mapping[str, str]:
        """Return endpoint and model name; the model behind them can change unnoticed, and the report says so.

        `model_args.revision` is not sent: it keeps the answers of one version separate, as a digest does if
        the server has one.
        """
        settings, version = read_settings(spec), str(spec.args.get("revision") or "")
        if not settings.offline:
            asyncio.run(list_served_models(settings, describe_key_place(spec), spec.name))
        if self.vendor.digests and not (settings.offline or version):
            version = asyncio.run(read_digest(settings, spec.name))
        return {
            "revision": f"{settings.address}#{settings.endpoint}",
            "model": spec.name,
            "max_tokens_field": settings.length_field,
            "dtype": "unknown",
            "device": "remote",
            **({"served": version} if version else {}),
            **({"api_version": settings.api_version} if settings.api_version else {}),
        }

    def open(self, spec: ModelSpec) -> OpenAIModel:
        """Return the model with its settings and shared limits; connections are opened when it is asked."""
        return OpenAIModel(spec)


class OpenAIModel(PooledModel):
    """A model behind an OpenAI-compatible endpoint, which answers many questions at a time."""

    def __init__(self, spec: ModelSpec) -> None:
        self.bodies = RequestBodies(spec=spec)
        super().__init__(self.bodies.settings, partial(OpenAITransport, self.bodies), processes=spec.processes)

    def answer(self, questions: Sequence[Question], broker: StoreBroker) -> None:
        """Ask the open questions, and put each answer at once. Several threads may call it; they share the limits."""
        if self.bodies.settings.offline:
            return broker.stop(OFFLINE)
        # Objects that exist now are not searched for cycles while requests wait: that takes as long as a request.
        gc.freeze()
        try:
            super().answer(questions, broker)
        finally:
            gc.unfreeze()
        if (refusal := self.bodies.refused.get(broker.stopped or "")) is not None:
            raise refusal.make_error(self.bodies.spec.id)
        return None

    def try_out(
        self, questions: Sequence[Question], forms: Sequence[Form], broker: StoreBroker, *, changes: Changes | None
    ) -> TryOutcome:
        """Ask single questions until it is known which parameters the endpoint refuses, and which form works."""
        if self.bodies.settings.offline:
            return TryOutcome(None, None)
        # This model stays as it was opened: it is opened anew with what is found out.
        bodies = RequestBodies(spec=self.bodies.spec)
        transport = partial(OpenAITransport, bodies, trying=True)
        pool = Pool(questions=questions, broker=broker, endpoint=self.endpoint, open_transport=transport)
        finder = FormFinder(forms, bodies, changes=changes)
        asyncio.run(pool.try_out(lambda asker: finder.find(asker, questions)))
        if finder.refusal is not None:
            raise finder.refusal
        return TryOutcome(finder.form, finder.changes)
