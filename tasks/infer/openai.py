"""Any OpenAI-compatible endpoint, through the official client."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

from contrapose.tasks.config import ModelSpec
from contrapose.tasks.errors import ModelError
from contrapose.tasks.infer.base import refuse_unknown
from contrapose.tasks.records import Completion, Usage

if TYPE_CHECKING:
    from openai import AsyncOpenAI

ARGUMENTS = ("base_url", "endpoint", "concurrency", "timeout", "retries", "api_key_env", "max_tokens_field")
REACH_SECONDS = 10.0
RETRY_SECONDS = 0.5

NO_KEY = "none"
"""What the client is given for a server that wants no key."""


class OpenAI:
    """Provider `openai`: OpenAI itself, or vLLM, Ollama, TGI, llama.cpp, LM Studio … by `base_url`."""

    likelihoods: ClassVar[bool] = False
    cases_per_task: ClassVar[int] = 500

    def identity(self, spec: ModelSpec) -> Mapping[str, str]:
        """Endpoint and model name; what stands behind them can change without notice, and a report says so."""
        _check(spec)
        _key(spec)
        asyncio.run(_reach(spec))
        endpoint = str(spec.args.get("endpoint", "chat"))
        return {
            "revision": f"{_base_url(spec)}#{endpoint}",
            "dtype": "unknown",
            "device": "remote",
        }

    def open(self, spec: ModelSpec) -> OpenAIModel:
        """A client; connections are made when it is asked."""
        return OpenAIModel(spec)


class OpenAIModel:
    """Replies of an OpenAI-compatible endpoint, many at a time."""

    def __init__(self, spec: ModelSpec) -> None:
        self.spec = spec

    def generate(self, prompts: Sequence[str]) -> list[Completion]:
        """One reply per prompt; a call that fails for good is a completion with `error`."""
        return asyncio.run(self._generate(prompts))

    def choose(self, questions: Sequence[tuple[str, tuple[str, ...]]]) -> list[Completion]:
        """Not offered: this provider declares no likelihoods."""
        raise _no_likelihoods(self.spec)

    def losses(self, pairs: Sequence[tuple[str, str]]) -> list[float | None]:
        """Not offered: this provider declares no likelihoods."""
        raise _no_likelihoods(self.spec)

    async def _generate(self, prompts: Sequence[str]) -> list[Completion]:
        gate = asyncio.Semaphore(int(self.spec.args.get("concurrency", 16)))
        async with _client(self.spec) as client:
            ask = partial(self._ask, client=client, gate=gate)
            return list(await asyncio.gather(*(ask(prompt) for prompt in prompts)))

    async def _ask(self, prompt: str, *, client: AsyncOpenAI, gate: asyncio.Semaphore) -> Completion:
        async with gate:
            for left in reversed(range(_retries(self.spec) + 1)):
                try:
                    return await self._complete(prompt, client)
                except ValueError as error:
                    # A broken body is worth another try, which the client itself does not make.
                    failure: Exception = error
                    await asyncio.sleep(RETRY_SECONDS if left else 0)
                except Exception as error:
                    failure = error
                    break
        # Whatever broke this one call, the others go on: an error is recorded, never answered.
        return Completion(error=_told(failure, _key(self.spec)))

    async def _complete(self, prompt: str, client: AsyncOpenAI) -> Completion:
        if self.spec.args.get("endpoint", "chat") == "chat":
            reply: Any = await client.chat.completions.create(
                model=self.spec.name, messages=_messages(prompt, self.spec), **_sampling(self.spec)
            )
            text = _chat_text(reply)
        else:
            system = self.spec.system_instruction
            whole = f"{system}\n\n{prompt}" if system else prompt
            reply = await client.completions.create(model=self.spec.name, prompt=whole, **_sampling(self.spec))
            text = reply.choices[0].text
        if text is None:
            raise ValueError("the endpoint returned a choice without text")
        used = reply.usage
        return Completion(
            text=text,
            usage=Usage(
                calls=1,
                prompt_tokens=used.prompt_tokens if used else 0,
                completion_tokens=used.completion_tokens if used else 0,
            ),
        )


def _told(failure: Exception, key: str) -> str:
    """An error in one line. Some servers repeat the key that they were sent: it never gets into a file."""
    words = " ".join(str(failure).replace(key, "…").split()) if key != NO_KEY else " ".join(str(failure).split())
    return f"{type(failure).__name__}: {words[:300]}"


def _chat_text(reply: Any) -> str | None:
    message = reply.choices[0].message
    # A refusal is what the model said: it is read as a reply.
    text: str | None = message.content if message.content is not None else getattr(message, "refusal", None)
    return text


def _messages(prompt: str, spec: ModelSpec) -> Any:
    system = [{"role": "system", "content": spec.system_instruction}] if spec.system_instruction else []
    return [*system, {"role": "user", "content": prompt}]


def _sampling(spec: ModelSpec) -> dict[str, Any]:
    """Request fields for the generation settings; OpenAI's own chat API renamed one of them."""
    generation = spec.generation
    own_chat = not spec.args.get("base_url") and spec.args.get("endpoint", "chat") == "chat"
    length = spec.args.get("max_tokens_field") or ("max_completion_tokens" if own_chat else "max_tokens")
    fields: dict[str, Any] = {length: generation.max_new_tokens}
    if generation.temperature is not None:
        fields["temperature"] = generation.temperature
    if generation.top_p is not None:
        fields["top_p"] = generation.top_p
    if generation.stop:
        fields["stop"] = list(generation.stop)
    return fields


def _client(spec: ModelSpec) -> AsyncOpenAI:
    from openai import AsyncOpenAI, DefaultAioHttpClient

    return AsyncOpenAI(
        base_url=_base_url(spec),
        api_key=_key(spec),
        timeout=float(spec.args.get("timeout", 60)),
        max_retries=_retries(spec),
        http_client=DefaultAioHttpClient(),
    )


def _retries(spec: ModelSpec) -> int:
    return int(spec.args.get("retries", 4))


def _base_url(spec: ModelSpec) -> str:
    return str(spec.args.get("base_url") or os.environ.get("OPENAI_BASE_URL") or "https://api.openai.com/v1")


def _key(spec: ModelSpec) -> str:
    """The API key from the environment. A server of one's own may need none."""
    name = str(spec.args.get("api_key_env", "OPENAI_API_KEY"))
    key = os.environ.get(name)
    if key:
        return key
    if urlsplit(_base_url(spec)).hostname == "api.openai.com" or "api_key_env" in spec.args:
        raise ModelError(
            f"environment variable {name} is not set",
            expected="an API key in it",
            remedy=f"export {name}=…, or set model_args.base_url for a server of your own.",
            where=spec.id,
        )
    return NO_KEY


def _check(spec: ModelSpec) -> None:
    if not spec.name:
        raise ModelError(
            "no model name",
            expected="openai/<model>, such as openai/gpt-4.1-mini",
            remedy="Name the model as the endpoint knows it.",
            where=spec.id,
        )
    refuse_unknown(spec, ARGUMENTS)
    url = urlsplit(_base_url(spec))
    if url.scheme not in ("http", "https") or not url.hostname:
        raise ModelError(
            f"base_url {_base_url(spec)!r} is not a web address",
            expected="http://host:port/v1 or https://…",
            remedy="Correct model_args.base_url.",
            where="model_args.base_url",
        )
    if spec.args.get("endpoint", "chat") not in ("chat", "completions"):
        raise ModelError(
            f"endpoint {spec.args['endpoint']!r}",
            expected="chat or completions",
            remedy="Correct model_args.endpoint.",
            where="model_args.endpoint",
        )


async def _reach(spec: ModelSpec) -> None:
    """Refuse an endpoint that cannot be reached, or a key that it rejects, before any prompt is sent.

    Servers that do not list their models answer with another status: they were reached.
    """
    from openai import APIConnectionError, AuthenticationError, OpenAIError

    async with _client(spec).with_options(max_retries=1, timeout=REACH_SECONDS) as client:
        try:
            await client.models.list()
        except APIConnectionError as error:
            raise ModelError(
                f"no answer from the endpoint ({type(error).__name__})",
                expected="an OpenAI-compatible server at that address",
                remedy="Start the server, or correct model_args.base_url.",
                where=_base_url(spec),
            ) from error
        except AuthenticationError as error:
            raise ModelError(
                "the endpoint rejected the API key",
                expected="a key that it accepts",
                remedy=f"Correct {spec.args.get('api_key_env', 'OPENAI_API_KEY')}.",
                where=_base_url(spec),
            ) from error
        except OpenAIError:
            return


def _no_likelihoods(spec: ModelSpec) -> ModelError:
    return ModelError(
        "this provider gives no log-likelihoods",
        expected="a local model",
        remedy="Use scorer embedding or choice, and read_with reply.",
        where=spec.id,
    )
