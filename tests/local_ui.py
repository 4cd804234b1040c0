"""`contrapose ui` in a home of its own, as a program; nothing is left of it afterwards."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from prefect_house import processes_of

from contrapose.flows.serve.guard import encode_key

REPOSITORY = Path(__file__).parent.parent
READY = re.compile(r"ready: ((http://127\.0\.0\.1:\d+)/\?ticket=\w+)")


def ask(
    url: str, path: str, *, method: str = "GET", body: bytes | None = None, **headers: str
) -> tuple[int, bytes, dict[str, str]]:
    """Status, body and headers; the path goes out as it is, and `_` in names of headers stands for `-`."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.putrequest(method, path, skip_host="Host" in sent)
    for name, value in {"Content-Length": str(len(body or b"")), **sent}.items():
        connection.putheader(name, value)
    connection.endheaders(body)
    reply = connection.getresponse()
    found = reply.status, reply.read(), {name.lower(): value for name, value in reply.getheaders()}
    connection.close()
    return found


@dataclass(frozen=True, kw_only=True)
class LocalUi:
    """What it has printed, and what its home holds."""

    url: str
    link: str
    key_file: Path
    reports: str
    process: subprocess.Popen[bytes]
    environment: dict[str, str]

    @property
    def key(self) -> str:
        return self.key_file.read_text()

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """What the server's API answers to one that has the key."""
        return call(self.url, self.key, method, path, body)


def call(url: str, key: str, method: str, path: str, body: Any = None) -> Any:
    """What a server's API answers to one that has the key."""
    client, authorization = str(uuid.uuid4()), encode_key(key)
    _, token, _ = ask(url, f"/api/csrf-token?client={client}", Authorization=authorization)
    status, reply, _ = ask(
        url,
        f"/api{path}",
        method=method,
        body=json.dumps(body).encode(),
        Authorization=authorization,
        Content_Type="application/json",
        Prefect_Csrf_Client=client,
        Prefect_Csrf_Token=json.loads(token)["token"],
    )
    assert status < 300, reply
    return json.loads(reply or b"null")


@contextmanager
def local_ui(command: Sequence[str], folder: Path, **more: str) -> Iterator[LocalUi]:
    """The program, from when it is ready until it has ended as by Ctrl-C."""
    usual = {name: value for name, value in os.environ.items() if not name.startswith(("PREFECT_", "CONTRAPOSE_"))}
    environment = usual | {
        "PREFECT_HOME": str(folder / "prefect"),
        "CONTRAPOSE_HOME": str(folder / "home"),
        "CONTRAPOSE_STORE": f"sqlite:///{folder}/answers.sqlite3",
        **more,
    }
    log = folder / "ui.log"
    with log.open("wb") as said:
        process = subprocess.Popen(
            command, cwd=REPOSITORY, env=environment, stdout=said, stderr=said, start_new_session=True
        )
    try:
        while not (ready := READY.search(log.read_text())):
            assert process.poll() is None, log.read_text()
            with suppress(subprocess.TimeoutExpired):
                process.wait(0.5)
        yield LocalUi(
            url=ready[2],
            link=ready[1],
            key_file=folder / "home" / "ui" / f"{urlsplit(ready[2]).port}.key",
            reports=_reports(folder),
            process=process,
            environment=environment,
        )
    finally:
        # As Ctrl-C in a terminal does: everybody in the foreground hears it.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGINT)
        process.wait(90)
        assert processes_of(folder) == {}


def _reports(folder: Path) -> str:
    """Where its worker is told that reports are served."""
    for process in processes_of(folder):
        for each in Path(f"/proc/{process}/environ").read_bytes().decode().split("\0"):
            name, _, value = each.partition("=")
            if name == "CONTRAPOSE_REPORTS_URL":
                return value
    raise AssertionError("no worker")
