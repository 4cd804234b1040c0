"""Every test works in its own caches; the converted embedded model alone is shared, as users share it."""

from __future__ import annotations

import atexit
import functools
import gc
import os
import shutil
import signal
import ssl
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from databases import postgres, sqlite
from fake_endpoint import Endpoint, serving
from hypothesis import HealthCheck, settings
from places import SHARED_DATA
from plain_prefect import put_database, serving_prefect

from contrapose.flows.cli.start import set_environment_defaults
from contrapose.flows.serve.prefect_database import find_own_file
from contrapose.flows.serve.temporary_server import collect_rarely

LOOKS = ("COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE")
"""What says how wide and how colourful a terminal is, besides the terminal."""
KEPT = ("CONTRAPOSE_HOME", "CONTRAPOSE_CHAOS_KILLS", "CONTRAPOSE_CHAOS_SEED")
"""Our own variables that tests may be given: where the converted models lie, and how many kills there are at which
moments."""

MEMORY, ROOM = Path("/dev/shm"), 4_000_000_000
"""A folder that lies in memory, and bytes that must be free there."""


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts what runs in its background deaf to Ctrl-C, and so would be all that tests start.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _work_in_memory() -> None:
    """Let temporary files lie in memory, unless told otherwise: tests make thousands of databases, which sync."""
    if "TMPDIR" in os.environ or not MEMORY.is_dir():
        return
    place = os.statvfs(MEMORY)
    if place.f_bavail * place.f_frsize >= ROOM and not place.f_flag & os.ST_NOEXEC:
        own = MEMORY / f"contrapose-tests-{os.getuid()}"
        own.mkdir(mode=0o711, exist_ok=True)
        # Somebody else may have made a folder of this name.
        if own.lstat().st_uid == os.getuid():
            os.environ["TMPDIR"], tempfile.tempdir = str(own), None


def _own_folder(prefix: str) -> str:
    """A folder of this process, which goes with it."""
    own = tempfile.mkdtemp(prefix=prefix)
    atexit.register(shutil.rmtree, own, ignore_errors=True)
    return own


def _own_home() -> str:
    """A home of this test session, with a link to the models that were converted before."""
    from contrapose.tasks.core.home import home_folder

    models = home_folder() / "models"
    models.mkdir(parents=True, exist_ok=True)
    own = _own_folder("contrapose-tests-")
    (Path(own) / "models").symlink_to(models)
    return own


def _forget_the_user() -> None:
    """Remove the settings of whoever runs the tests, and ask no proxy for this machine."""
    ours = [name for name in os.environ if name.startswith("CONTRAPOSE_") and name not in KEPT]
    for name in (*LOOKS, *ours, "PREFECT_API_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        os.environ.pop(name, None)
    os.environ["TERM"] = "xterm-256color"
    # Every process of a test would compile all our files again, and each of ours all tests.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    without_proxy = os.environ.get("no_proxy") or os.environ.get("NO_PROXY")
    # Proxies themselves stay: tests that install something need them.
    os.environ["no_proxy"] = ",".join(filter(None, (without_proxy, "127.0.0.1", "localhost")))
    os.environ["NO_PROXY"] = os.environ["no_proxy"]


# Prefect, rich and our policy read these when they are imported, which is before any fixture runs.
_forget_the_user()
_work_in_memory()
if "PYTEST_XDIST_WORKER_COUNT" in os.environ:
    # The processes share the cores: threads of several models that wait for each other take ten times as long.
    os.environ["OMP_NUM_THREADS"] = str(max(1, (os.cpu_count() or 1) // int(os.environ["PYTEST_XDIST_WORKER_COUNT"])))
    # What is registered first runs last: taking apart all that tests imported takes seconds, and serves nobody.
    atexit.register(os._exit, 0)
os.environ["CONTRAPOSE_HOME"] = _own_home()
os.environ["PREFECT_HOME"] = _own_folder("prefect-tests-")
os.environ["HF_HUB_OFFLINE"] = "1"
# Configurations that a test makes name files of its own folder, wherever it works.
os.environ["CONTRAPOSE_DATA"] = f"{tempfile.gettempdir()};{SHARED_DATA}"
os.environ["CONTRAPOSE_OUTPUT"] = tempfile.gettempdir()
set_environment_defaults(logs=False)
collect_rarely()
# Each client of a server makes one, which reads all certificates; no test speaks TLS.
ssl.create_default_context = functools.cache(ssl.create_default_context)

# A busy machine is slow, which says nothing about the code.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


def pytest_xdist_auto_num_workers() -> int:
    """One process more than there are cores: tests wait for servers, browsers and other processes of theirs."""
    return (os.cpu_count() or 1) + 1


SHORT = frozenset(
    ("compare", "config", "deployments", "evaluate", "forecast", "language", "load", "perturb", "promotion", "tables")
)
"""Folders of which no module takes seconds: they come last, so that no process is left with a long one."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path.parent.name in SHORT)


@pytest.fixture(scope="session")
def prefect_server() -> Iterator[None]:
    """One Prefect server for all tests that run a flow."""
    # For the servers that tests start by a command.
    put_database(find_own_file())
    with serving_prefect():
        yield


@pytest.fixture(scope="module")
def recording_prefect(prefect_server: None) -> Iterator[None]:
    """A server that also writes down events and tasks, for tests that read them."""
    from prefect.events.worker import EventsWorker

    # What sends events stays with the server that it sent the first one to.
    EventsWorker.drain_all(at_exit=False)
    with serving_prefect(records=True):
        yield
        EventsWorker.drain_all(at_exit=False)


@pytest.fixture
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """URL of an empty response store, which the environment names."""
    url = sqlite(tmp_path)
    monkeypatch.setenv("CONTRAPOSE_STORE", url)
    yield url
    from contrapose.tasks.store.opening import open_receipts

    # Each keeps a reserve on the disk until then.
    open_receipts(url).close()


@pytest.fixture
def nothing_left_behind() -> Iterator[None]:
    """Of what other tests left, nothing is searched for garbage, which takes most of a second each time."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture
def in_tmp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A test that runs in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real input beside the checkout; tests that need it are skipped where it is absent."""
    if not SHARED_DATA.is_dir():
        pytest.skip("../shared/data is not beside this checkout")
    return SHARED_DATA


@pytest.fixture(scope="session")
def endpoint() -> Iterator[int]:
    """Port of an OpenAI-compatible server on loopback."""
    with serving() as served:
        yield served.port


@pytest.fixture
def server() -> Iterator[Endpoint]:
    """Such a server that is one test's alone."""
    with serving() as served:
        yield served


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, for all tests of pages in a module."""
    from browsers import chromium

    with chromium() as opened:
        yield opened


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A PostgreSQL database for the whole session."""
    with postgres() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """URL of an empty store, which the environment names."""
    url = sqlite(tmp_path) if request.param == "sqlite" else str(request.getfixturevalue("postgres_url"))
    monkeypatch.setenv("CONTRAPOSE_STORE", url)
    from sqlalchemy import text

    from contrapose.tasks.store.opening import connect, open_receipts
    from contrapose.tasks.store.schema import METADATA

    with connect(url).begin() as connection:
        for table in METADATA.tables:
            connection.execute(text(f"DELETE FROM {table}"))
    yield url
    open_receipts(url).close()
