"""The same suite through real servers on loopback. Slow: `make test-all`."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from contrapose.flows.cli import main
from contrapose.tasks.infer.local.embedded import prepare_copy

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200), pytest.mark.usefixtures("prefect_server", "in_tmp")]


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def server(command: list[str], port: int) -> Iterator[str]:
    """Start a server, wait until it answers anything at all, stop it at the end."""
    environment = os.environ | {"HF_HUB_OFFLINE": "1"}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(240):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/models", timeout=2).close()
            except urllib.error.HTTPError:
                break
            except OSError:
                assert process.poll() is None, "the server ended"
                time.sleep(0.5)
            else:
                break
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait(20)


def summary() -> dict[str, object]:
    folder = max(Path("out").glob("[!.]*"), key=lambda each: each.stat().st_mtime_ns)
    found: dict[str, object] = json.loads((folder / "summary.json").read_text())
    return found


def run(*arguments: str) -> tuple[int, dict[str, object]]:
    code = main(["run", "--suite", "quickstart", "--out", "out", *arguments])
    return code, summary()


def test_transformers_serve_with_the_embedded_model() -> None:
    port, model = free_port(), str(prepare_copy())
    command = [str(Path(sys.executable).parent / "transformers"), "serve", model, "--port", str(port)]
    with server([*command, "--dtype", "float32"], port) as url:
        code, found = run(
            *("--model", f"openai/{model}", "--limit", "3", "--set", f"model_args.base_url={url}"),
            *("--set", "model_args.endpoint=completions", "--set", "gen_kwargs.max_new_tokens=4"),
            *("--set", "model_args.concurrency=1", "--set", "model_args.timeout=300"),
        )
    assert code in (0, 1, 3)
    assert [outcome["errors"] for outcome in found["tests"]] == [0, 0, 0]  # type: ignore[attr-defined]
