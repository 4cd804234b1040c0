"""The official client: opened for a call, and asked once whether anybody is there."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from contrapose.tasks.errors import ModelError
from contrapose.tasks.infer.openai.settings import Settings

if TYPE_CHECKING:
    from openai import AsyncOpenAI

REACH_SECONDS = 10.0


def connect(settings: Settings) -> AsyncOpenAI:
    """A client without retries and time limits of its own: ours count for the whole run, and cover every hang."""
    from openai import AsyncOpenAI

    from contrapose.tasks.infer.openai.lean import LeanClient

    return AsyncOpenAI(
        base_url=settings.base_url,
        api_key=settings.key,
        timeout=None,
        max_retries=0,
        http_client=LeanClient(settings.base_url),
    )


async def reach(settings: Settings, key_name: str) -> None:
    """Refuse an endpoint that cannot be reached, or a key that it rejects, before any prompt is sent.

    Servers that do not list their models answer with another status: they were reached.

    Raises:
        ModelError: nobody answers, or the key is rejected.
    """
    from aiohttp import ClientError
    from openai import APIConnectionError, AuthenticationError, OpenAIError

    async with connect(settings) as client:
        try:
            async with asyncio.timeout(REACH_SECONDS):
                await client.models.list()
        except (APIConnectionError, OSError, ClientError) as error:
            raise ModelError(
                f"no answer from the endpoint ({type(error).__name__})",
                expected="an OpenAI-compatible server at that address",
                remedy="Start the server, or correct model_args.base_url.",
                where=settings.base_url,
            ) from error
        except AuthenticationError as error:
            raise ModelError(
                "the endpoint rejected the API key",
                expected="a key that it accepts",
                remedy=f"Correct {key_name}.",
                where=settings.base_url,
            ) from error
        except OpenAIError:
            return
