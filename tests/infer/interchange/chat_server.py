"""A server of the OpenAI API on loopback that notes what it is sent and what it replies, by the name in its address.

It needs the standard library alone, since tools in environments of their own are pointed at it.
"""

from __future__ import annotations

import json
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "weather", "arguments": json.dumps({"city": "Paris"})},
}
REFUSED = {"error": {"message": "This prompt is too odd.", "type": "invalid_request_error", "code": "odd_prompt"}}


def text_of(content: Any) -> str:
    """The text of a message."""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content or [])


class Handler(BaseHTTPRequestHandler):
    """Replies as the words in the last message of the user want it."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        status, answer = self.server.answer(self.path.split("/")[1], body, chat="/chat/" in self.path)
        content = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    """Its exchanges are pairs of a request and its replies, in their order."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.exchanges: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self.times: Counter[tuple[str, str]] = Counter()
        self.lock = threading.Lock()

    def answer(self, name: str, body: dict[str, Any], *, chat: bool) -> tuple[int, dict[str, Any]]:
        """The status and the body of a reply, which are noted."""
        messages = body["messages"] if chat else [{"role": "user", "content": body["prompt"]}]
        prompt = text_of([each for each in messages if each["role"] == "user"][-1]["content"])
        with self.lock:
            self.times[name, json.dumps(messages)] += 1
            time = self.times[name, json.dumps(messages)]
        called = any(each["role"] == "tool" for each in messages)
        choices = [
            self.choice(prompt, f"{time}.{number}" if number else str(time), tools="tools" in body and not called)
            for number in range(body.get("n") or 1)
        ]
        refused = "break" in prompt
        replies = [{"text": choice["message"]["content"], "finish": choice["finish_reason"]} for choice in choices]
        noted = {"prompt": prompt, "messages": messages}
        with self.lock:
            self.exchanges[name].append({**noted, "error": REFUSED} if refused else {**noted, "replies": replies})
        if refused:
            return 400, REFUSED
        if not chat:
            choices = [
                {"index": 0, "text": each["message"]["content"], "finish_reason": each["finish_reason"]}
                for each in choices
            ]
        usage = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}
        kind = "chat.completion" if chat else "text_completion"
        return 200, {"id": "1", "object": kind, "created": 0, "model": "m", "choices": choices, "usage": usage}

    def choice(self, prompt: str, time: str, *, tools: bool) -> dict[str, Any]:
        """One of the choices of a reply, which no other one has."""
        finish, text, more = "stop", f"Reply {time}, “to”: {prompt.split(chr(10))[-1][-60:]}\nIt has two lines.", {}
        if "weather" in prompt and tools:
            finish, text, more = "tool_calls", None, {"tool_calls": [CALL]}
        elif "long" in prompt:
            finish, text = "length", f"{time}: it goes on and"
        elif "filter" in prompt:
            finish, text = "content_filter", ""
        return {
            "index": int(time.partition(".")[2] or 0),
            "finish_reason": finish,
            "message": {"role": "assistant", "content": text, **more},
        }


@contextmanager
def serving() -> Iterator[Server]:
    """A server in a thread."""
    server = Server()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
