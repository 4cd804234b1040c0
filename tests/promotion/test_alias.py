"""What a promotion does: the alias in a model registry, and a webhook that is signed."""

from __future__ import annotations

import hashlib
import hmac
import time
from types import SimpleNamespace
from typing import Any

import pytest
from receiver import receiving

from contrapose.tasks.core.errors import ConfigError, ContraposeError
from contrapose.tasks.promotion.promote import find_version, move_alias
from contrapose.tasks.promotion.settings import Promotion
from contrapose.tasks.promotion.webhook import DELIVERY, HEADER, deliver, sign_body

NAMED = "summarizer@champion"


class Registry:
    """What is used of an MLflow client, over versions in memory: for machines without MLflow."""

    def __init__(self) -> None:
        self.versions: list[Any] = []
        self.aliases: dict[str, str] = {}
        self.moves = 0

    def create(self) -> str:
        number = len(self.versions) + 1
        self.versions.append(SimpleNamespace(version=str(number), run_id=f"run-{number}"))
        return f"run-{number}"

    def search_model_versions(self, wanted: str, *, page_token: str | None) -> list[Any]:
        assert wanted == "name='summarizer'"
        return self.versions

    def get_registered_model(self, name: str) -> Any:
        return SimpleNamespace(name=name, aliases=self.aliases)

    def set_registered_model_alias(self, name: str, alias: str, version: str) -> None:
        self.aliases[alias] = version
        self.moves += 1


class Mlflow:
    """A real registry in a SQLite file."""

    def __init__(self, folder: Any) -> None:
        from mlflow import MlflowClient

        url = f"sqlite:///{folder}/registry.sqlite3"
        self.client = MlflowClient(tracking_uri=url, registry_uri=url)
        self.client.create_registered_model("summarizer")

    def create(self) -> str:
        run = self.client.create_run("0").info.run_id
        self.client.create_model_version("summarizer", source="s3://nowhere/model", run_id=run)
        return str(run)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.client, name)


@pytest.fixture(params=["memory", "mlflow"])
def registry(request: pytest.FixtureRequest, tmp_path: Any) -> Any:
    if request.param == "memory":
        return Registry()
    pytest.importorskip("mlflow", reason="needs the extra mlflow")
    return Mlflow(tmp_path)


def test_the_version_is_that_of_the_training_run_or_the_announced_number(registry: Any) -> None:
    runs = [registry.create(), registry.create()]
    assert find_version(NAMED, revision="abc", training_run=runs[1], client=registry) == "2"
    assert find_version(NAMED, revision="1", training_run="", client=registry) == "1"
    assert find_version(NAMED, revision="1", training_run=runs[0], client=registry) == "1"


@pytest.mark.parametrize(
    ("revision", "training_run"), [("abc", "no-such-run"), ("9", ""), ("abc", ""), ("", ""), ("1", "that of 2")]
)
def test_a_version_that_is_not_there_is_an_error(registry: Any, revision: str, training_run: str) -> None:
    registry.create()
    training_run = registry.create() if training_run == "that of 2" else training_run
    with pytest.raises(ConfigError, match="0 versions"):
        find_version(NAMED, revision=revision, training_run=training_run, client=registry)


def test_the_alias_moves_forward_and_never_back(registry: Any) -> None:
    for _ in range(3):
        registry.create()
    assert move_alias(NAMED, "2", client=registry) == "summarizer@champion is version 2."
    assert move_alias(NAMED, "2", client=registry) == "summarizer@champion is version 2."
    assert move_alias(NAMED, "1", client=registry) == "summarizer@champion stays at version 2, which is newer than 1."
    assert move_alias(NAMED, "3", client=registry) == "summarizer@champion is version 3."
    assert str(registry.get_registered_model("summarizer").aliases["champion"]) == "3"


def test_a_registry_that_fails_is_told_without_its_address() -> None:
    class Broken(Registry):
        def search_model_versions(self, wanted: str, *, page_token: str | None) -> list[Any]:
            raise OSError("https://me:hunter2@host")

    with pytest.raises(ContraposeError, match="did not answer") as caught:
        find_version(NAMED, revision="1", training_run="", client=Broken())
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("named", ["summarizer", "@champion", "summarizer@", "it's@champion", "a\n@b"])
def test_a_name_of_another_form_is_refused(named: str) -> None:
    with pytest.raises(ValueError, match="registered model"):
        Promotion(mlflow_alias=named)


BODY, SECRET = b'{"verdict": "promote"}', "of-these-tests-alone"


def sent(url: str, waits: list[float] | None = None) -> None:
    deliver(url, BODY, secret=SECRET, delivery="d1", pause=(waits if waits is not None else []).append)


def test_a_receiver_can_tell_who_sent_it_and_when() -> None:
    with receiving() as receiver:
        sent(receiver.url)
    assert receiver.bodies == [BODY]
    header = receiver.headers[0][HEADER]
    assert receiver.headers[0][DELIVERY] == "d1"
    moment = int(header.partition(",")[0].removeprefix("t="))
    assert abs(time.time() - moment) < 60
    assert header == sign_body(BODY, SECRET, at=moment)


def test_the_signature_is_what_its_description_says() -> None:
    expected = hmac.new(SECRET.encode(), b"1700000000." + BODY, hashlib.sha256).hexdigest()
    assert sign_body(BODY, SECRET, at=1_700_000_000) == f"t=1700000000,v1={expected}"


def test_it_is_tried_three_times_and_no_more() -> None:
    waits: list[float] = []
    with receiving([500, 429, 200]) as receiver:
        sent(receiver.url, waits)
    assert (len(receiver.bodies), waits) == (3, [2.0, 4.0])
    with receiving([500] * 9) as receiver, pytest.raises(ContraposeError, match="status 500"):
        sent(receiver.url)
    assert len(receiver.bodies) == 3


@pytest.mark.parametrize("status", [301, 302, 307, 308, 400, 401, 404])
def test_a_refusal_or_a_redirect_is_final(status: int) -> None:
    told = pytest.raises(ContraposeError, match=f"status {status}")
    with receiving() as other, receiving([status], location=other.url) as receiver, told:
        sent(receiver.url)
    assert (len(receiver.bodies), len(other.bodies)) == (1, 0)


def test_a_receiver_that_is_gone_is_told_without_its_path() -> None:
    with receiving() as receiver:
        pass
    with pytest.raises(ContraposeError, match="ConnectionRefusedError") as caught:
        sent(receiver.url)
    assert "/hook" not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "ftp://a/b", "https://me:pw@host/", "https://host/?token=pw", "host/path", "https://"]
)
def test_other_addresses_are_refused(url: str) -> None:
    with pytest.raises(ValueError, match="webhook") as caught:
        Promotion(webhook=url)
    assert "pw" not in str(caught.value)
