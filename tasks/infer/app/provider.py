"""Provider `app`: what people ship, asked as its users ask it."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any, ClassVar, Literal

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.config.prices import Price
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.core.provider import Argument, Check
from contrapose.tasks.core.questions import Question
from contrapose.tasks.core.records import Likelihoods
from contrapose.tasks.infer.app.http_way import open_http
from contrapose.tasks.infer.app.process_way import find_callable, open_callable, open_command
from contrapose.tasks.infer.app.settings import ARGUMENTS, CONCURRENCY, AppSettings, Kind, read_settings
from contrapose.tasks.infer.asking.asker import Way
from contrapose.tasks.infer.asking.endpoint import Endpoint
from contrapose.tasks.infer.asking.pool import Pool
from contrapose.tasks.infer.base import Broker

OPENS: Mapping[Kind, Callable[[AppSettings], AbstractAsyncContextManager[Way]]] = {
    "http": open_http,
    "callable": open_callable,
    "command": open_command,
}
"""How each kind of application is asked."""


class App:
    """An application: `app/package.module:function`, `app/https://host/path` or `app/cmd:<command>`."""

    cases_per_task: ClassVar[int] = 2000
    local: ClassVar[bool] = False
    knows_weights: ClassVar[bool] = False
    concurrency: ClassVar[int] = CONCURRENCY
    answers_only: ClassVar[Literal[True]] = True
    arguments: ClassVar[Mapping[str, Argument]] = ARGUMENTS

    def price(self, spec: ModelSpec) -> Price | None:
        """Unknown: whoever built it knows."""
        return None

    def check(self, spec: ModelSpec) -> Check:
        """Whether the callable or the command is there; an address is not asked, since it knows no other questions."""
        settings = read_settings(spec)
        self._find(settings)
        return Check(state="ok", observed=f"{spec.id} is there" if settings.kind != "http" else f"{spec.id} is named")

    def likelihoods(self, spec: ModelSpec) -> Likelihoods:
        """None: replies are all that an application gives."""
        return "none"

    def identity(self, spec: ModelSpec) -> Mapping[str, str]:
        """What is asked, how, and the version that the user names: nobody else knows it."""
        settings = read_settings(spec)
        self._find(settings)
        named = {"served": str(spec.args["revision"])} if spec.args.get("revision") else {}
        asked = {name: repr(spec.args[name]) for name in ("method", "body", "reply", "context") if name in spec.args}
        return {"revision": settings.address, "dtype": "unknown", "device": "remote", **asked, **named}

    def returns_passages(self, spec: ModelSpec) -> bool:
        """Whether its settings name where they stand."""
        return bool(read_settings(spec).context)

    def open(self, spec: ModelSpec) -> AppModel:
        """Settings and shared limits; it is asked when there are prompts."""
        return AppModel(read_settings(spec), processes=spec.processes)

    def _find(self, settings: AppSettings) -> None:
        if settings.kind == "callable":
            asyncio.run(find_callable(settings.address))
        if settings.kind == "command" and shutil.which(settings.command[0]) is None:
            raise ModelError(
                f"there is no command {settings.command[0]}",
                expected="a program on the path, or the path of one",
                remedy="Correct the model.",
                where=f"app/{settings.address}",
            )


class AppModel:
    """Answers of an application, some at a time."""

    def __init__(self, settings: AppSettings, *, processes: int = 1) -> None:
        own = max(1, settings.concurrency // processes)
        self.settings = settings
        self.endpoint = Endpoint(replace(settings, concurrency=own), processes=processes)

    def answer(self, questions: Sequence[Question], broker: Broker) -> None:
        """Ask what is open, and put each answer as it comes."""
        way: Any = OPENS[self.settings.kind]
        asyncio.run(
            Pool(questions=questions, broker=broker, endpoint=self.endpoint, opened=lambda: way(self.settings)).run()
        )

    def notes(self) -> Mapping[str, str | float]:
        """Lowest and final concurrency, pauses for rate limits, and retries by kind."""
        return self.endpoint.notes()
