"""Worker process of a callable: it reads prompts from a pipe, one after the other, and writes replies.

It is run as a file, in the environment of the application, so it imports nothing of ours.
Each message is a line of JSON.
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import json
import os
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from importlib import import_module
from itertools import islice
from typing import Any

LOOK_SECONDS = 1.0
"""Seconds between two checks whether the parent process still runs."""
LARGEST = 4 << 20
"""Characters of a reply."""
LONGEST = 2000
"""Characters of an error that are reported."""
MOST_PASSAGES = 100
"""Passages of a reply that are kept."""
LONGEST_PASSAGE = 4000
"""Characters of a passage that are kept."""


def main() -> None:
    """Answer prompts until the pipe is closed."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # What the callable prints goes nowhere, and what it reads is empty.
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    threading.Thread(target=_end_after_parent, args=(os.getppid(),), daemon=True).start()
    sys.path.insert(0, os.getcwd())

    def send(message: dict[str, Any]) -> None:
        answers.write(json.dumps(message).encode() + b"\n")
        answers.flush()

    try:
        function = _find(sys.argv[1])
    except BaseException as error:
        send({"failed": format_callable_error(error)})
        return
    send({"ready": True})
    runner = asyncio.Runner()
    for line in requests:
        try:
            reply = function(json.loads(line))
            message = make_reply_message(runner.run(_await(reply)) if inspect.isawaitable(reply) else reply)
        except BaseException as error:
            # SystemExit and the like are errors of the callable too.
            message = {"error": format_callable_error(error)}
        send({**message, "memory": _measure_megabytes()})


def _find(name: str) -> Any:
    module, _, path = name.partition(":")
    target: Any = import_module(module)
    for part in path.split("."):
        target = getattr(target, part)
    if not callable(target):
        raise TypeError(f"{name} cannot be called")
    return target


def format_callable_error(error: BaseException) -> str:
    """Return an error that a callable raised as one line of text."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:LONGEST]


def make_reply_message(returned: object) -> dict[str, Any]:
    """Return the message for a reply: a text, or a mapping with `reply`, the `calls` of tools and `context`.

    Passages are cut here, because a message has a limit; if there are none, `no_context` says why.
    """
    parts = returned if isinstance(returned, Mapping) and returned.keys() & {"reply", "calls"} else {}
    reply = parts.get("reply", "" if parts else returned)
    if not isinstance(reply, str):
        where = " as reply" if parts else ""
        raise TypeError(f"it returned {type(reply).__name__}{where}, where a text should be")
    if len(reply) > LARGEST:
        raise ValueError(f"a reply of more than {LARGEST >> 20} MiB")
    # A lone surrogate can be said by nobody.
    message: dict[str, Any] = {"reply": reply.encode("utf-8", "replace").decode()}
    if "calls" in parts:
        # What JSON cannot hold, such as a date, is said as text.
        message["calls"] = json.loads(json.dumps(parts["calls"], default=str))
    if "context" in parts:
        try:
            texts = convert_passages(parts["context"])
            message |= {"context": bound_passages(texts), "context_size": len(texts)}
        except ValueError as error:
            message["no_context"] = str(error)
    return message


def convert_passages(value: Any) -> list[str]:
    """Return a list of texts; whole numbers, which are ids of texts, become texts."""
    if not isinstance(value, list | tuple):
        raise ValueError(f"{type(value).__name__} where a list of texts should be")
    for item in value:
        if isinstance(item, bool) or not isinstance(item, str | int):
            raise ValueError(f"{type(item).__name__} where the text of a passage should be")
    return [str(item) for item in value]


def bound_passages(passages: Iterable[str]) -> list[str]:
    """Return the first passages; a long one is cut and ends with a hash of its complete text."""
    texts = list(islice(passages, MOST_PASSAGES))
    for number, text in enumerate(texts):
        if len(text) > LONGEST_PASSAGE:
            digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
            note = f" … ({len(text):,} characters in all, sha256 {digest})"
            texts[number] = text[: LONGEST_PASSAGE - len(note)] + note
    return texts


async def _await(reply: Any) -> Any:
    return await reply


def _measure_megabytes() -> int:
    """Return the megabytes that the process uses now; 0 if the system does not report it."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20
    except (OSError, ValueError):
        return 0


def _end_after_parent(parent: int) -> None:
    """End this process as soon as its parent has ended, whatever the callable does."""
    while os.getppid() == parent:
        time.sleep(LOOK_SECONDS)
    os._exit(1)


if __name__ == "__main__":
    main()
