"""How fast an endpoint is asked, and what faults cost: `python -m bench.api MOCK [--faults] [--dead]`.

MOCK is the path of a server script that takes --port, --latency-ms, --error, --hang, --malformed, --rps and answers
GET /stats. Ideal is calls / requests in flight x latency; the floor is aiohttp alone, in the same run.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from urllib.error import URLError
from urllib.request import urlopen

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.questions import Question
from contrapose.tasks.infer.openai import OpenAI
from tests.plain_broker import PlainBroker

FAULTS = ("--error", "0.07", "--hang", "0.06", "--malformed", "0.07")
"""One request in five, and status 429 besides."""

DEAD = (("--error", "1"), ("--hang", "1"), ("--malformed", "1"), ("--rps", "-1"))


def main() -> None:
    """Start the server, ask it in several ways, and print the times."""
    given = _arguments()
    if given.faults:
        with serving(given.mock, "--latency-ms", str(given.latency_ms), *FAULTS, "--rps", str(given.rps)) as url:
            faulty(url, given)
    elif given.dead:
        for fault in DEAD:
            with serving(given.mock, *fault) as url:
                dead(url, " ".join(fault))
    else:
        with serving(given.mock, "--latency-ms", str(given.latency_ms)) as url:
            clean(url, given)


def clean(url: str, given: argparse.Namespace) -> None:
    """Three clients in turn, several times: what else runs on the machine then meets all of them."""
    ideal = given.calls / given.in_flight * given.latency_ms / 1000
    ways = {"aiohttp alone": aiohttp_alone, "plain client": plain_client, "engine": engine}
    for _ in range(given.repeats):
        for name, way in ways.items():
            seconds, burnt = way(url, given)
            print(f"{name:14} {seconds:6.3f} s  {seconds / ideal:5.3f} x ideal  CPU {burnt:5.2f} s", flush=True)


def aiohttp_alone(url: str, given: argparse.Namespace) -> tuple[float, float]:
    """The floor: bytes out, bytes in, JSON read."""
    import aiohttp

    async def work() -> tuple[float, float]:
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

            async def one(prompt: str) -> None:
                async with session.post(f"{url}/chat/completions", json=_body(prompt)) as reply:
                    json.loads(await reply.read())["choices"][0]["message"]["content"]

            return await _timed(one, given)

    return asyncio.run(work())


def plain_client(url: str, given: argparse.Namespace) -> tuple[float, float]:
    """The official client as its documentation shows it."""
    from openai import AsyncOpenAI

    async def work() -> tuple[float, float]:
        async with AsyncOpenAI(base_url=url, api_key="none") as client:

            async def one(prompt: str) -> None:
                await client.chat.completions.create(**_body(prompt))

            return await _timed(one, given)

    return asyncio.run(work())


def engine(url: str, given: argparse.Namespace) -> tuple[float, float]:
    """Ours, at a broker in memory."""
    model, broker = OpenAI().open(_spec(url, given.in_flight)), PlainBroker()
    start, burnt = time.perf_counter(), time.process_time()
    model.answer(_questions(given.calls), broker)
    taken = time.perf_counter() - start, time.process_time() - burnt
    assert len(broker.answers) == given.calls, broker.stopped
    return taken


def faulty(url: str, given: argparse.Namespace) -> None:
    """Every prompt answered once, no request beyond its retries."""
    model, broker = OpenAI().open(_spec(url, given.in_flight, timeout=given.timeout)), PlainBroker()
    start = time.perf_counter()
    model.answer(_questions(given.calls), broker)
    print(f"{time.perf_counter() - start:.1f} s; stopped: {broker.stopped}; notes: {dict(model.notes())}")
    answers = broker.answers.values()
    print(
        f"answered {sum(answer.completion.error is None for answer in answers)} of {given.calls}, "
        f"put {sum(map(len, broker.puts))} times, requests {sum(answer.requests for answer in answers)}, "
        f"most for one prompt {max(answer.requests for answer in answers)}"
    )
    with urlopen(url.removesuffix("/v1") + "/stats") as stats:
        print(f"the server: {stats.read().decode()}")


def dead(url: str, fault: str) -> None:
    """An endpoint that never answers: how soon a run with many prompts, and with few, ends, and why."""
    for prompts in (2000, 2):
        broker = PlainBroker()
        start = time.perf_counter()
        OpenAI().open(_spec(url, 32)).answer(_questions(prompts), broker)
        last = next((answer.completion.error for answer in broker.answers.values()), None)
        took = f"{time.perf_counter() - start:5.1f} s, {broker.budget.spent.calls} requests"
        print(f"{fault:16} {prompts:4} prompts: {took}: {broker.stopped or last}", flush=True)


@contextmanager
def serving(script: str, *arguments: str) -> Iterator[str]:
    """The server in a process of its own; its base URL."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, script, "--port", str(port), *arguments]
    server = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        _await(f"http://127.0.0.1:{port}/v1/models")
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.kill()
        server.wait()


async def _timed(one: Callable[[str], Awaitable[None]], given: argparse.Namespace) -> tuple[float, float]:
    gate = asyncio.Semaphore(given.in_flight)

    async def gated(prompt: str) -> None:
        async with gate:
            await one(prompt)

    await one("a first request, for what is loaded late")
    start, burnt = time.perf_counter(), time.process_time()
    await asyncio.gather(*(gated(question.prompt) for question in _questions(given.calls)))
    return time.perf_counter() - start, time.process_time() - burnt


def _await(url: str) -> None:
    for _ in range(100):
        try:
            urlopen(url).close()
            return
        except URLError:
            time.sleep(0.1)
    raise SystemExit("the server does not start")


def _spec(url: str, in_flight: int, **args: float) -> ModelSpec:
    return ModelSpec(id="openai/mock", args={"base_url": url, "concurrency": in_flight, **args})


def _questions(count: int) -> list[Question]:
    return [
        Question(kind="generate", prompt=f"Question {number}: is the river wide? A or B?") for number in range(count)
    ]


def _body(prompt: str) -> dict[str, object]:
    return {"model": "mock", "messages": [{"role": "user", "content": prompt}], "max_tokens": 32, "temperature": 0.0}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mock")
    parser.add_argument("--calls", type=int, default=4000)
    parser.add_argument("--latency-ms", type=float, default=50)
    parser.add_argument("--in-flight", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--faults", action="store_true")
    parser.add_argument("--dead", action="store_true")
    parser.add_argument("--rps", type=float, default=600, help="with --faults: status 429 above it")
    parser.add_argument("--timeout", type=float, default=2, help="with --faults: seconds that a request may take")
    return parser.parse_args()


if __name__ == "__main__":
    main()
