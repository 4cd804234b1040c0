"""Remedies of hosts, places, packages and permissions get a person further."""

from __future__ import annotations

import errno
import importlib
import json
import re
import shutil
import sys
from collections.abc import Callable
from importlib.metadata import requires
from ipaddress import ip_network
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, cast

import fsspec
import pytest
from core import test_registry
from fsspec.implementations.memory import MemoryFileSystem
from promotion.test_webhook_hosts import listed, named
from remedies.following import Attempt, Case, Follow, add, change, export, follow_case, follows, set_key

import contrapose
from contrapose.tasks.core import errors, file_servers, registry
from contrapose.tasks.core.errors import ContraposeError
from contrapose.tasks.core.places import Place
from contrapose.tasks.promotion.webhook import refuse_unlisted

OPENAI = "validate --model openai/any --test add_toxic_words --limit 1 --set model_args.base_url="
WORDINGS = "preview --model mock --test order_bias --limit 1 --set wordings=9"
ORDER_BIAS = "tests.factuality.order_bias"
CLUSTER = "tcp://127.0.0.1:1"
OWN = "{{ first }} or {{ second }}? {{ question }}"
SUITE = f"""
model: mock
runner: dask
runner_args: {{address: '{CLUSTER}'}}
tests: {{sensitivity: {{add_toxic_words: {{}}}}}}
"""

package = test_registry.package


def list_templates(named: str, *words: str) -> Follow:
    """List templates as the remedy asks, and leave out what they replace."""

    def follow(attempt: Attempt) -> None:
        assert named in attempt.remedy
        for word in words:
            place = attempt.arguments.index(word)
            del attempt.arguments[place - 1 : place + 1]
        attempt.arguments += ["--set", f"{ORDER_BIAS}.wordings={json.dumps([OWN, f'Is it {OWN}'])}"]

    return follow


class Shelves(MemoryFileSystem):  # type: ignore[misc]
    """Buckets of a server that asks for a password, and may fail."""

    protocol = "shelves"
    store: dict[str, Any] = {}  # noqa: RUF012
    pseudo_dirs = [""]  # noqa: RUF012
    buckets = {"runs"}  # noqa: RUF012
    failure: Exception | None = None

    def __init__(self, password: str = "", **options: Any) -> None:
        super().__init__(**options)
        self.password = password

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return "/" + path.removeprefix("shelves://").strip("/")

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        pass

    def pipe_file(self, path: str, *arguments: Any, **options: Any) -> None:
        if self.failure:
            raise self.failure
        if self.password != "quartz":
            raise PermissionError
        if path.split("/")[1] not in self.buckets:
            raise FileNotFoundError(path)
        super().pipe_file(path, *arguments, **options)


@pytest.fixture
def shelves(monkeypatch: pytest.MonkeyPatch) -> type[Shelves]:
    """A server whose password is configured, and which no one waits for."""
    fsspec.register_implementation("shelves", Shelves, clobber=True)
    monkeypatch.setattr(Shelves, "failure", None)
    monkeypatch.setattr(Shelves, "buckets", {"runs"})
    monkeypatch.setitem(fsspec.config.conf, "shelves", {"password": "quartz"})
    monkeypatch.setattr(file_servers, "PATIENCE_SECONDS", 0.0)
    return Shelves


def write_to(address: str) -> None:
    """See that a run could write to a place, as it does before it asks."""
    Place.at(address, setting="output").try_writing()


def refused(act: Callable[[], object], says: str) -> ContraposeError:
    """Return the error that an act raises."""
    with pytest.raises(ContraposeError) as caught:
        act()
    assert says in str(caught.value)
    return caught.value


CASES = [
    Case(
        site="tasks/config/hosts.py:refuse_forbidden",
        command=f"{OPENAI}http://169.254.169.254/v1",
        says="is where a cloud's metadata service is",
        follow=change("Name another address", "http://169.254.169.254", "{url}"),
    ),
    Case(
        site="tasks/config/permissions.py:_make_refusal",
        command="preview --suite suite.yaml --limit 1",
        says=f"{CLUSTER} may not be reached",
        follow=export(r"set (CONTRAPOSE_APPS)=(\S+)"),
        files={"suite.yaml": SUITE},
    ),
    Case(
        site="tasks/config/permissions.py:_make_refusal",
        command="preview --suite suite.yaml --limit 1",
        says=f"{CLUSTER} may not be reached",
        follow=add(r"\((--set runner_args.address=…)\)", placeholder="…", value=CLUSTER),
        files={"suite.yaml": SUITE},
    ),
    Case(
        site="tasks/config/plan.py:_resolve_wordings",
        command=WORDINGS,
        says="9 wordings, and a test that has 8",
        follow=set_key(r"Set (wordings): (1) for this test", key=f"{ORDER_BIAS}.wordings"),
    ),
    Case(
        site="tasks/config/plan.py:_resolve_wordings",
        command=WORDINGS,
        says="9 wordings, and a test that has 8",
        follow=list_templates("list your own templates there."),
    ),
    Case(
        site="tasks/config/plan.py:_resolve_wordings",
        command=f"{WORDINGS} --set '{ORDER_BIAS}.prompt={OWN}'",
        says="9 wordings, and a test that has 1",
        follow=list_templates("list your own templates there in place of prompt", f"{ORDER_BIAS}.prompt={OWN}"),
    ),
    Case(
        site="tasks/config/suite_files.py:_refuse_surrogates",
        command=f"preview --model mock --test order_bias --limit 1 --set '{ORDER_BIAS}.prompt={OWN} caf\udce9'",
        says="half of a surrogate pair alone",
        follow=change("write the text again in UTF-8", "caf\udce9", "café"),
    ),
    Case(
        site="tasks/config/suite_files.py:_refuse_surrogates",
        command=f"preview --model mock --test order_bias --limit 1 --set '{ORDER_BIAS}.prompt={OWN} caf\udce9'",
        says="half of a surrogate pair alone",
        follow=change("Remove it", "\udce9", ""),
    ),
    Case(
        site="tasks/core/file_servers.py:refusal_error",
        command="history --history github://x",
        says="github://x: it cannot be used (TypeError)",
        follow=change("Correct the address", "github://x", "past"),
        leads_to="past: no run is recorded there",
    ),
    Case(
        site="tasks/core/places.py:at",
        command="history --history nosuch://x",
        says="nosuch:// is not known here",
        follow=change("Correct the address", "nosuch://x", "past"),
        leads_to="past: no run is recorded there",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.site}: {case.says}"[-60:])
def test_remedy_leads_further(
    case: Case, endpoint: int, in_tmp: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    follow_case(case, in_tmp, monkeypatch, capsys, {"url": f"http://127.0.0.1:{endpoint}"})


@follows("tasks/config/hosts.py:refuse_inside")
@pytest.mark.parametrize("network", [False, True])
@pytest.mark.parametrize("private", ["10.1.2.3", "fd12::1"])
def test_private_address_that_the_list_names_is_called(
    private: str, network: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed(monkeypatch, "http://hooks.example")
    named(monkeypatch, "hooks.example", private)
    error = refused(lambda: refuse_unlisted("http://hooks.example/hook"), f"leads to {private}")
    match = re.search(r"add (\S+), or its network, to (\w+) where", error.remedy)
    assert match
    entry = str(ip_network(f"{match[1]}/24", strict=False)) if network else match[1]
    monkeypatch.setenv(match[2], f"http://hooks.example,{entry}")
    refuse_unlisted("http://hooks.example/hook")


@follows("tasks/core/errors.py:require_package")
@pytest.mark.parametrize(
    ("package", "words"),
    [
        ("prefect_dask", "--set runner=dask"),
        ("prefect_ray", "--set runner=ray"),
        ("mlflow", "--set mlflow=nightly"),
        ("datasets", "--data hf/rows"),
    ],
)
def test_extra_that_is_named_installs_the_package(
    package: str, words: str, in_tmp: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    installed = set[str]()
    monkeypatch.setattr(errors, "find_spec", lambda name: name in installed or None)

    def install(attempt: Attempt) -> None:
        match = re.search(r'Install it with pip install "contrapose\[(\w+)\]"', attempt.remedy)
        assert match, attempt.remedy
        brought = [line for line in requires("contrapose") or () if f'extra == "{match[1]}"' in line]
        names = {re.split(r"[^\w-]", line)[0].removesuffix("-skinny").replace("-", "_") for line in brought}
        assert package in names
        installed.update(names)

    (in_tmp / "rows").mkdir()
    (in_tmp / "rows" / "test.jsonl").write_text('{"text": "The sky is"}\n')
    case = Case(
        site="tasks/core/errors.py:require_package",
        command=f"validate --model mock --test add_toxic_words --limit 1 {words}",
        says=f"the package {package} is not installed",
        follow=install,
    )
    follow_case(case, in_tmp, monkeypatch, capsys)


@follows("tasks/core/registry.py:find")
@pytest.mark.usefixtures("package")
@pytest.mark.parametrize("again", [True, False])
def test_broken_package_is_installed_again_or_removed(again: bool, tmp_path: Path) -> None:
    module, metadata = tmp_path / "mine.py", tmp_path / "mine_probes-1.5.dist-info"
    code = module.read_text()
    module.unlink()
    error = refused(lambda: registry.find("probes", "mine"), "of the package mine-probes cannot be imported")
    assert error.remedy == "Install mine-probes again, or remove it."
    if again:
        module.write_text(code)
        importlib.invalidate_caches()
        assert registry.find("probes", "mine")().version == "7"
    else:
        shutil.rmtree(metadata)
        registry.names.cache_clear()
        registry._find_entry_points.cache_clear()
        assert "mine" not in registry.names("probes")


@follows("tasks/core/places.py:at")
def test_password_is_given_to_fsspec(shelves: type[Shelves], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(fsspec.config.conf, "shelves")
    error = refused(lambda: write_to("shelves://me:quartz@runs/here"), "an address with a password")
    assert "to fsspec by its own configuration or environment" in error.remedy
    fsspec.config.set_conf_env(fsspec.config.conf, {"FSSPEC_SHELVES_PASSWORD": "quartz"})
    write_to("shelves://runs/here")


@follows("tasks/core/places.py:at")
def test_package_of_an_address_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    fsspec.register_implementation("racks", "no_such_package.Files", clobber=True, errtxt="Install it")
    error = refused(lambda: Place.at("racks://runs/here", setting="output"), "racks:// is not known here")
    match = re.fullmatch(r"Install it with pip install (\w+)\.", error.remedy)
    assert match
    monkeypatch.setitem(sys.modules, match[1], cast(ModuleType, SimpleNamespace(Files=MemoryFileSystem)))
    Place.at("racks://runs/here", setting="output")


@follows("tasks/core/places.py:_send")
@pytest.mark.parametrize("make", [True, False])
def test_bucket_is_made_or_another_one_is_named(make: bool, shelves: type[Shelves]) -> None:
    error = refused(lambda: write_to("shelves://none/here"), "there is no such bucket")
    assert error.remedy == "Make it, or name another one."
    if make:
        shelves.buckets.add("none")
    write_to("shelves://none/here" if make else "shelves://runs/here")


@follows("tasks/core/file_servers.py:refusal_error")
@pytest.mark.parametrize(
    ("failure", "named"),
    [
        (PermissionError("no"), "permissions or the credentials in the environment"),
        (OSError(errno.ENOSPC, "full"), "Make room there"),
    ],
)
def test_server_that_refuses_is_used_once_it_allows(failure: Exception, named: str, shelves: type[Shelves]) -> None:
    shelves.failure = failure
    error = refused(lambda: write_to("shelves://runs/here"), "it cannot be used")
    assert named in error.remedy
    assert "run the same command again to continue" in error.remedy
    shelves.failure = None
    write_to("shelves://runs/here")


@follows("tasks/core/file_servers.py:ask_with_retries")
@pytest.mark.slow
@pytest.mark.usefixtures("prefect_server", "own_store", "in_tmp")
def test_run_continues_when_its_server_is_back(shelves: type[Shelves]) -> None:
    asked = list[str]()

    def answer(prompt: str) -> str:
        asked.append(prompt)
        if len(asked) == 4:
            shelves.failure = OSError("away")
        return "It is a fine day."

    def run() -> contrapose.EvaluatedRun:
        return contrapose.evaluate(
            model=answer, test="add_toxic_words", limit=2, out="shelves://runs/out", revision="v1", quiet=True
        )

    error = refused(run, "no answer within 0 s (OSError)")
    assert "run the same command again to continue; what was answered is not asked again" in error.remedy
    shelves.failure = None
    assert run().verdict
    assert len(asked) == 4
