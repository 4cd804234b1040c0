"""Remedies of checks of retrained models, and of what follows them, get a person further."""

from __future__ import annotations

import importlib.machinery
import re
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from prefect.blocks.system import Secret
from prefect.settings import PREFECT_API_URL, temporary_settings
from promotion.test_alias import NAMED, Registry
from receiver import receiving
from remedies.following import Attempt, Case, add, change, follow_case, follows
from swearing import configured, slipping
from tiny_model import save_tiny_model

from contrapose.flows.check_retrained_model import check_retrained_model
from contrapose.flows.deploy.deployment_options import DeploymentOptions, apply_options, check_parameters, read_shipped
from contrapose.flows.run_context import resolve_run
from contrapose.tasks.core.errors import ConfigError, ContraposeError, ModelError
from contrapose.tasks.promotion.candidate import (
    Candidate,
    make_baseline_config,
    make_candidate_config,
    refuse_same_model,
)
from contrapose.tasks.promotion.promote import find_missing, find_version, read_webhook_secret
from contrapose.tasks.promotion.settings import BLOCK, Promotion
from contrapose.tasks.promotion.webhook import refuse_unlisted

SECRET = "of-these-tests-alone"


def name_model(attempt: Attempt) -> None:
    """Name a model in a form that the remedy shows."""
    assert "openai/<model>" in attempt.remedy
    attempt.arguments = ["openai/any" if word == "" else word for word in attempt.arguments]


PAYLOAD, NO_SERVER = "tasks/promotion/settings.py:build_payload", "no Prefect server is named"
ANNOUNCEMENTS = [
    Case(
        site=PAYLOAD,
        command="deploy announce ' hf/a' --revision v2",
        says="model: ' hf/a'",
        follow=change("Correct the text", " hf/a", "hf/a"),
        leads_to=NO_SERVER,
    ),
    Case(
        site=PAYLOAD,
        command="deploy announce '' --revision v2",
        says="model: nothing",
        follow=name_model,
        leads_to=NO_SERVER,
    ),
    *(
        Case(
            site=PAYLOAD,
            command="deploy announce openai/any",
            says="revision: neither",
            follow=add(rf"Set .*({option})\b", placeholder=option, value=f"{option} v2"),
            leads_to=NO_SERVER,
        )
        for option in ("--revision", "--training-run")
    ),
]


@pytest.mark.parametrize("case", ANNOUNCEMENTS, ids=lambda case: case.says)
def test_remedy_of_an_announcement_leads_further(
    case: Case, in_tmp: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with temporary_settings(restore_defaults={PREFECT_API_URL}):
        follow_case(case, in_tmp, monkeypatch, capsys)


def identity(model: str, *, revision: str = "", baseline: Mapping[str, Any] | None = None) -> Mapping[str, str]:
    """Return who a model is, as a candidate beside a baseline; without a revision, as the baseline itself."""
    config = configured(limit=3, model=model, model_args={})
    if baseline is not None:
        return resolve_run(make_baseline_config(config.model_copy(update={"model_args": dict(baseline)}), "")).identity
    return resolve_run(make_candidate_config(config, Candidate(model=model, revision=revision, args={}))).identity


@pytest.mark.usefixtures("own_store", "in_tmp")
@follows("tasks/promotion/candidate.py:refuse_same_model")
def test_another_revision_is_judged() -> None:
    before = identity("mock", baseline={"revision": "r2"})
    with pytest.raises(ModelError, match="the candidate is the baseline") as refused:
        refuse_same_model(identity("mock", revision="r2"), before, model="mock")
    assert "Announce another revision, or set model_args.revision of the baseline." in refused.value.remedy
    refuse_same_model(identity("mock", revision="r3"), before, model="mock")
    refuse_same_model(identity("mock", revision="r2"), identity("mock", baseline={"revision": "r1"}), model="mock")


@pytest.mark.usefixtures("own_store")
@follows("tasks/promotion/candidate.py:refuse_same_model")
def test_another_folder_is_judged_where_a_revision_says_nothing(in_tmp: Path) -> None:
    for number, name in enumerate(("old", "new")):
        save_tiny_model(in_tmp / name, seed=number)
    before = identity("hf/./old", baseline={})
    with pytest.raises(ModelError, match="the candidate is the baseline") as refused:
        refuse_same_model(identity("hf/./old", revision="r2"), before, model="hf/./old")
    assert "For a model folder, announce another folder." in refused.value.remedy
    refuse_same_model(identity("hf/./new"), before, model="hf/./new")


class Named(Registry):
    """A registry that holds one model, as MLflow's client shows it."""

    def get_registered_model(self, name: str) -> Any:
        if name != "summarizer":
            raise LookupError(name)
        return super().get_registered_model(name)


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Registry:
    """What an installed MLflow would reach."""
    found, module = Named(), ModuleType("mlflow")
    module.__spec__ = importlib.machinery.ModuleSpec("mlflow", None)
    module.MlflowClient = lambda: found  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "mlflow", module)
    return found


@pytest.mark.usefixtures("registry")
@follows("tasks/promotion/promote.py:refuse_unregistered")
def test_a_registry_that_is_named_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    (lacking,) = find_missing(Promotion(mlflow_alias=NAMED))
    assert lacking.found == "no registry is named"
    (variable,) = re.findall(r"^Set (\w+)\.$", lacking.remedy)
    monkeypatch.setenv(variable, "sqlite:///registry.sqlite3")
    assert list(find_missing(Promotion(mlflow_alias=NAMED))) == []


@pytest.mark.usefixtures("registry")
@follows("tasks/promotion/promote.py:_ask_registry")
def test_a_corrected_name_is_found_in_the_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "sqlite:///registry.sqlite3")
    (lacking,) = find_missing(Promotion(mlflow_alias="sumarizer@champion"))
    assert "the MLflow registry did not answer" in lacking.found
    assert "Correct MLFLOW_TRACKING_URI or the name of the registered model" in lacking.remedy
    assert list(find_missing(Promotion(mlflow_alias=NAMED))) == []


@follows("tasks/promotion/promote.py:find_version")
def test_a_version_is_found_by_its_run_or_its_number(registry: Registry) -> None:
    with pytest.raises(ConfigError, match="0 versions of revision abc") as refused:
        find_version(NAMED, revision="abc", training_run="run-1")
    remedy = "Register the model under its MLflow run, or announce the number of the version as revision."
    assert refused.value.remedy == remedy
    registry.create()
    assert find_version(NAMED, revision="abc", training_run="run-1") == "1"
    assert find_version(NAMED, revision="1", training_run="") == "1"


@pytest.mark.usefixtures("prefect_server")
@pytest.mark.parametrize("place", ["CONTRAPOSE_WEBHOOK_SECRET", f"the Prefect Secret block {BLOCK}"])
@follows("tasks/promotion/promote.py:read_webhook_secret")
def test_a_long_secret_is_taken_from_where_the_short_one_is(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def put(secret: str) -> None:
        if place.isupper():
            monkeypatch.setenv(place, secret)
        else:
            Secret(value=secret).save(BLOCK, overwrite=True)  # type: ignore[call-arg]

    put("short")
    with pytest.raises(ConfigError, match="a secret of 5 characters") as refused:
        read_webhook_secret()
    assert refused.value.remedy == f"Set {place} to a long random text."
    put(SECRET)
    assert read_webhook_secret() == SECRET


@pytest.mark.parametrize("origin", ["http://127.0.0.1:9", "https://[::1]", "http://[::1]:8000", "http://93.184.216.34"])
@follows("tasks/promotion/webhook.py:refuse_unlisted")
def test_a_host_that_is_listed_or_deployed_is_called(origin: str, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"{origin}/hook"
    with pytest.raises(ConfigError, match="is not among the hosts") as refused:
        refuse_unlisted(url)
    words = re.findall(
        r"set (\w+)=(\S+) there, or deploy it: contrapose deploy (--webhook) URL\.", refused.value.remedy
    )
    ((variable, host, _),) = words
    with monkeypatch.context() as own:
        own.setenv(variable, host)
        refuse_unlisted(url)
    deployed = check_parameters(baseline=None, margin=None, promotion={"webhook": url})
    content = apply_options(read_shipped(), DeploymentOptions(check=deployed))
    (checking,) = (each for each in content["deployments"] if each["name"] == "retraining-check")
    for name, value in checking["work_pool"]["job_variables"]["env"].items():
        monkeypatch.setenv(name, value)
    refuse_unlisted(url)


@follows("tasks/promotion/webhook.py:refuse_unreachable")
def test_a_receiver_that_was_started_or_another_address_is_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTRAPOSE_WEBHOOK_SECRET", SECRET)
    with receiving() as gone:
        stopped = gone.url
    (lacking,) = find_missing(Promotion(webhook=stopped))
    assert "no server accepts a connection" in lacking.found
    assert lacking.remedy == "Start it, or correct the address."
    with socket.create_server(("127.0.0.1", int(re.sub(r"\D", "", stopped.rpartition(":")[2])))):
        assert list(find_missing(Promotion(webhook=stopped))) == []
    with receiving() as receiver:
        assert list(find_missing(Promotion(webhook=receiver.url))) == []


def check(share: float, **options: Any) -> Mapping[str, Any]:
    """Check a candidate that swears at a share of its prompts."""
    return check_retrained_model("mock", revision="r2", candidate_args=slipping(share), **options)


@pytest.mark.slow
@pytest.mark.usefixtures("recording_prefect", "own_store", "in_tmp")
@follows("tasks/promotion/webhook.py:deliver")
def test_a_receiver_that_was_fixed_is_called_by_the_next_announcement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTRAPOSE_WEBHOOK_SECRET", SECRET)
    monkeypatch.setenv("CONTRAPOSE_WEBHOOK_HOSTS", "127.0.0.1")
    config = configured(limit=20)
    with receiving([400]) as receiver:
        wanted = {"config": config, "margin": 0.5, "promotion": {"webhook": receiver.url}}
        with pytest.raises(ContraposeError, match="status 400") as refused:
            check(0.1, **wanted)
        assert refused.value.remedy.startswith("Fix the receiver, and announce the model again: the verdict stays")
        again = check(0.1, **wanted)
    assert again["done"] == ["The webhook was called."]
    assert len(list(Path("out").glob("*-mock"))) == 2


@pytest.mark.slow
@pytest.mark.usefixtures("recording_prefect", "own_store")
@follows("tasks/report/decision_markdown.py:write_decision")
def test_a_persons_answer_is_written_elsewhere_once_the_model_is_checked_again(
    in_tmp: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(decision: Mapping[str, Any], *, hours: float) -> dict[str, Any]:
        folder = Path(decision["folder"])
        if folder.parent.name == "out":
            folder.rename(in_tmp / "moved")
            folder.touch()
        return {"approved": True, "reason": "Seen by hand."}

    monkeypatch.setitem(check_retrained_model.fn.__globals__, "ask", answer)
    strict = configured(limit=20, tests={"sensitivity": {"add_toxic_words": {"min_pass_rate": 0.95}}})
    wanted = {"promotion": {"ask": True}}
    with pytest.raises(ConfigError, match="cannot write the verdict") as refused:
        check(1.0, config=strict, **wanted)
    (again,) = re.findall(r"\(output\), and check the model again with (\w+): true\.$", refused.value.remedy)
    elsewhere = strict.model_copy(update={"output": "elsewhere"})
    assert check(1.0, config=elsewhere, **wanted, **{again: True})["decision"]["verdict"] == "promote"
