"""A server of S3 on this machine, which can be killed and started again: SeaweedFS, which keeps what it was given."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sysconfig
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

BUCKET = "runs"
KEY, SECRET = "key-of-a-test", "secret-of-a-test"
START_SECONDS = 90.0


class ObjectServer:
    """A bucket at an endpoint."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, _free_ports(4)
        self._process: subprocess.Popen[bytes] | None = None
        credentials, actions = [{"accessKey": KEY, "secretKey": SECRET}], ["Admin", "Read", "Write", "List"]
        folder.mkdir(parents=True, exist_ok=True)
        identity = {"name": "tests", "credentials": credentials, "actions": actions}
        (folder / "s3.json").write_text(json.dumps({"identities": [identity]}))

    @property
    def environment(self) -> Mapping[str, str]:
        """What programs need to reach it."""
        return {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.port[0]}",
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_DEFAULT_REGION": "us-east-1",
        }

    def files(self) -> Any:
        """The file system of the bucket, which remembers nothing."""
        import s3fs

        return s3fs.S3FileSystem(
            endpoint_url=self.environment["AWS_ENDPOINT_URL"],
            key=KEY,
            secret=SECRET,
            client_kwargs={"region_name": "us-east-1"},
            use_listings_cache=False,
            skip_instance_cache=True,
        )

    def start(self) -> None:
        """Start it with what it kept, and wait until it answers."""
        s3, master, volume, filer = self.port
        words = [
            *("server", f"-dir={self.folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-volume.max=20"),
            *(
                f"-master.port={master}",
                f"-volume.port={volume}",
                f"-filer.port={filer}",
                "-master.volumeSizeLimitMB=64",
            ),
            *(f"-master.port.grpc={master + 10_000}", f"-volume.port.grpc={volume + 10_000}"),
            *(f"-filer.port.grpc={filer + 10_000}", "-s3", f"-s3.port={s3}", f"-s3.port.grpc={s3 + 10_000}"),
            f"-s3.config={self.folder}/s3.json",
        ]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [_program(), "-logtostderr=true", *words], stdout=log, stderr=log, start_new_session=True
            )
        end = time.monotonic() + START_SECONDS
        while True:
            try:
                files = self.files()
                if not files.exists(BUCKET):
                    files.mkdir(BUCKET)
                files.pipe_file(f"{BUCKET}/started", b"")
                files.rm_file(f"{BUCKET}/started")
                return
            except Exception:
                # Whatever its library raises while nobody listens, or while it has no place for files yet.
                assert time.monotonic() < end, (self.folder / "log").read_text()[-2000:]
                time.sleep(0.5)

    def kill(self) -> None:
        """SIGKILL: nothing is finished or said."""
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None


@contextmanager
def object_server(folder: Path) -> Iterator[ObjectServer]:
    """A server that answers."""
    server = ObjectServer(folder)
    try:
        server.start()
        yield server
    finally:
        server.kill()


def _program() -> str:
    program = shutil.which("weed", path=f"{sysconfig.get_path('scripts')}:{os.environ['PATH']}")
    assert program is not None, "SeaweedFS is missing: install the extra dev"
    return program


def _free_ports(count: int) -> list[int]:
    """Ports that nobody uses, each with room for the one 10,000 above it."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        ports = []
        for held in sockets:
            while True:
                candidate = 20_000 + int.from_bytes(os.urandom(2)) % 10_000
                try:
                    held.bind(("127.0.0.1", candidate))
                    break
                except OSError:
                    continue
            ports.append(candidate)
        return ports
    finally:
        for held in sockets:
            held.close()
