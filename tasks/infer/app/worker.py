"""The process of a callable: it is asked over pipes that the callable does not know, one prompt after the other.

It is run as a file, in the environment of the application, so it imports nothing of ours.
Each message is four bytes of its length, then JSON.
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import json
import os
import struct
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from importlib import import_module
from itertools import islice
from typing import Any, BinaryIO

LOOK_SECONDS = 1.0
"""Between two looks whether the process that asks is still there."""
LARGEST = 4 << 20
"""Characters of a reply."""
LONGEST = 2000
"""Characters of an error that are told."""
MOST_PASSAGES = 100
"""Passages of a reply that are kept."""
LONGEST_PASSAGE = 4000
"""Characters of a passage that are kept."""


def main() -> None:
    """Answer until nobody asks any more."""
    asked, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # What the callable prints goes nowhere, and what it reads is empty.
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    sys.path.insert(0, os.getcwd())
    try:
        function = _find(sys.argv[1])
    except BaseException as error:
        _tell(answers, {"failed": in_words(error)})
        return
    _tell(answers, {"ready": True})
    runner = asyncio.Runner()
    while (question := _heard(asked)) is not None:
        _tell(answers, _answer(function, question, runner))


def _find(name: str) -> Any:
    module, _, path = name.partition(":")
    target: Any = import_module(module)
    for part in path.split("."):
        target = getattr(target, part)
    if not callable(target):
        raise TypeError(f"{name} cannot be called")
    return target


def _answer(function: Any, prompt: str, runner: asyncio.Runner) -> dict[str, Any]:
    """The reply, or the error; SystemExit and the like are errors of the callable too."""
    try:
        reply = function(prompt)
        if inspect.isawaitable(reply):
            reply = runner.run(_awaited(reply))
        return {**replied(reply), "memory": _megabytes()}
    except BaseException as error:
        return {"error": in_words(error), "memory": _megabytes()}


def in_words(error: BaseException) -> str:
    """An error of a callable, in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:LONGEST]


def replied(returned: object) -> dict[str, Any]:
    """What a callable returned: a text, or a mapping with `reply` and, where it retrieved something, `context`.

    Raises:
        TypeError: the reply is no text.
        ValueError: it is longer than any may be.
    """
    if isinstance(returned, Mapping) and "reply" in returned:
        text = {"reply": _checked(returned["reply"], " as reply")}
        return {**text, **_retrieved(returned["context"])} if "context" in returned else text
    return {"reply": _checked(returned)}


def _checked(reply: object, where: str = "") -> str:
    if not isinstance(reply, str):
        raise TypeError(f"it returned {type(reply).__name__}{where}, where a text should be")
    if len(reply) > LARGEST:
        raise ValueError(f"a reply of more than {LARGEST >> 20} MiB")
    # A lone surrogate can be said by nobody.
    return reply.encode("utf-8", "replace").decode()


def _retrieved(context: Any) -> dict[str, Any]:
    """The passages, bounded here since a message is; or what else stands in their place."""
    try:
        texts = passage_texts(context)
    except ValueError as error:
        return {"no_context": str(error)}
    return {"context": bounded(texts), "context_size": len(texts)}


def passage_texts(value: Any) -> list[str]:
    """A list of texts, or of whole numbers, which name texts.

    Raises:
        ValueError: it is none.
    """
    if not isinstance(value, list | tuple):
        raise ValueError(f"{type(value).__name__} where a list of texts should be")
    for item in value:
        if isinstance(item, bool) or not isinstance(item, str | int):
            raise ValueError(f"{type(item).__name__} where the text of a passage should be")
    return [str(item) for item in value]


def bounded(passages: Iterable[str]) -> list[str]:
    """The first passages. Of a long one the beginning stays, with a sum of the whole: others end otherwise."""
    return [_shortened(text) for text in islice(passages, MOST_PASSAGES)]


def _shortened(text: str) -> str:
    if len(text) <= LONGEST_PASSAGE:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    note = f" … ({len(text):,} characters in all, sha256 {digest})"
    return text[: LONGEST_PASSAGE - len(note)] + note


async def _awaited(reply: Any) -> Any:
    return await reply


def _megabytes() -> int:
    """What the process holds now; 0 where the system does not say."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20
    except (OSError, ValueError):
        return 0


def _heard(asked: BinaryIO) -> str | None:
    size = asked.read(4)
    if len(size) < 4:
        return None
    text: str = json.loads(asked.read(struct.unpack(">I", size)[0]))
    return text


def _tell(answers: BinaryIO, message: dict[str, Any]) -> None:
    content = json.dumps(message).encode()
    answers.write(struct.pack(">I", len(content)) + content)
    answers.flush()


def _end_with(parent: int) -> None:
    """End when the process that asks has ended, whatever the callable does."""
    while os.getppid() == parent:
        time.sleep(LOOK_SECONDS)
    os._exit(1)


if __name__ == "__main__":
    main()
