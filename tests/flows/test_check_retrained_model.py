"""A better, an equal and a worse candidate, those that cannot be judged, and announcements that come twice."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path
from typing import Any, cast

import pytest
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import FlowRunFilter
from prefect.flow_runs import resume_flow_run
from prefect.types.names import raise_on_name_alphanumeric_dashes_only
from receiver import receiving
from swearing import configured, slipping

from contrapose.flows.check_retrained_model import (
    ApprovalReply,
    RetrainedCheck,
    _apply_answer,
    _promote,
    ask_person,
    check_retrained_model,
    evaluate_and_decide,
)
from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.decision import Decision
from contrapose.tasks.core.errors import ContraposeError, ModelError
from contrapose.tasks.infer.mock import Mock
from contrapose.tasks.promotion.candidate import Candidate, make_check_key
from contrapose.tasks.promotion.settings import Promotion
from contrapose.tasks.promotion.webhook import DELIVERY, HEADER, sign_body
from contrapose.tasks.store import Store
from contrapose.tasks.store.checks import CheckRow, CheckTakenOverError

pytestmark = pytest.mark.usefixtures("recording_prefect", "own_store", "in_tmp")

SECRET = "of-these-tests-alone"


def check(share: float = 0.1, *, revision: str = "r2", config: Any = None, **options: Any) -> Mapping[str, Any]:
    """Check a candidate that swears at a share of its prompts, which are others than the baseline's."""
    wanted = {"candidate_args": slipping(share), "training_run": "t1", **options}
    return check_retrained_model("mock", config or configured(), revision=revision, **wanted)


def held(left: Mapping[str, Any]) -> CheckRow:
    row = Store().checks(flow_run="").get(left["decision"]["check"])
    assert row is not None
    return row


def told(check: str) -> list[dict[str, Any]]:
    """Payloads of the events about a check, once there are any."""
    wanted = {"filter": {"event": {"name": ["contrapose.verdict"]}}, "limit": 50}
    with get_client(sync_client=True) as client:
        for _ in range(100):
            events = client.request("POST", "/events/filter", json=wanted).json()["events"]
            if found := [event["payload"] for event in events if event["payload"]["check"] == check]:
                return found
            time.sleep(0.2)
    return []


def asked(side: Mapping[str, Any]) -> int:
    """Answers that a run asked for itself."""
    found: int = json.loads((Path(side["folder"]) / "summary.json").read_text())["usage"]["calls"]
    return found


@pytest.mark.parametrize(
    ("share", "verdict"),
    [
        pytest.param(0.0, "promote", marks=pytest.mark.slow),
        pytest.param(0.1, "promote", marks=pytest.mark.slow),
        (0.3, "hold"),
    ],
)
def test_a_better_an_equal_and_a_worse_candidate(share: float, verdict: str) -> None:
    left = check(share, training_run="")
    decision = left["decision"]
    assert (decision["verdict"], left["duplicate"]) == (verdict, False)
    assert held(left).state == ("told" if verdict == "promote" else "decided")
    (event,) = told(decision["check"])
    assert (event["verdict"], event["reasons"]) == (verdict, decision["reasons"])
    folder = Path(decision["folder"])
    assert json.loads((folder / "verdict.json").read_text()) == decision
    assert sorted(path.name for path in folder.iterdir()) == [
        *("comparison.html", "comparison.json", "comparison.md", "verdict.json", "verdict.md")
    ]


@pytest.mark.slow
@pytest.mark.parametrize("model", ["hf/nobody/nothing", "nothing/at-all"])
def test_a_model_that_does_not_exist_ends_in_an_error_and_a_verdict_event(model: str) -> None:
    config = configured()
    with pytest.raises(ContraposeError) as caught:
        check_retrained_model(model, config, revision="r1")
    key = make_check_key(Candidate(model=model, revision="r1", args={}), config, baseline="", margin=0.05)
    (event,) = told(key)
    assert event["verdict"] == "insufficient evidence"
    assert event["reasons"] == [f"The check failed. {caught.value}"]
    assert Store().checks(flow_run="").get(key) is None
    assert not Path("out").exists()


def test_a_candidate_that_cannot_be_told_from_the_baseline_is_not_judged_unseen() -> None:
    config = configured(model_args={**slipping(0.1), "revision": "r2"})
    with pytest.raises(ContraposeError, match="the candidate is the baseline"):
        check(config=config, training_run="")
    assert not Path("out").exists()


def begun(revision: str, *, config: Any) -> RetrainedCheck:
    """A check of a revision that was taken and decided on, without a model."""
    announced = {"model": "mock", "revision": revision, "training_run": "t1"}
    candidate = Candidate(args={}, **announced)
    key = make_check_key(candidate, config, baseline="", margin=0.05)
    checks = Store().checks(flow_run=revision)
    checks.begin(key, **announced)
    checks.decide(key, verdict="promote", decision="{}")
    rest = {"candidate": candidate, "baseline": "", "config": config, "margin": 0.05, "promotion": Promotion()}
    return RetrainedCheck(key=key, checks=checks, **rest)


def test_a_candidate_is_not_promote_after_one_that_was_announced_later() -> None:
    config, decision = configured(), cast(Decision, {"model": "mock"})
    older, newer = begun("v1", config=config), begun("v2", config=config)
    newer.checks.close(newer.key, promoted=True)
    (sentence,) = _promote(older, decision)
    assert sentence.startswith("Not promoted: mock v2 t1, announced later, was.")
    assert _promote(begun("v1", config=configured(limit=7)), decision) == []


def test_a_promotion_that_did_nothing_is_not_final() -> None:
    check = begun("v1", config=configured())
    assert _promote(check, cast(Decision, {"model": "mock"})) == []
    row = check.checks.get(check.key)
    assert row is not None
    assert row.state == "told"


def test_an_answer_that_comes_after_another_process_took_over_is_not_written(tmp_path: Path) -> None:
    check = begun("v1", config=configured())
    check.checks.decide(check.key, verdict="hold", decision="{}")
    other = Store().checks(flow_run="another")
    other.begin(check.key, model="mock", revision="v1", training_run="t1", again=True)
    decision = cast(Decision, {"verdict": "hold", "answer": None, "folder": str(tmp_path)})
    with pytest.raises(CheckTakenOverError):
        _apply_answer(check, decision, {"approved": True, "reason": "Seen by hand."})
    assert not (tmp_path / "verdict.json").exists()


@pytest.mark.slow
def test_a_promotion_that_failed_is_done_by_the_next_announcement_without_asking_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CONTRAPOSE_WEBHOOK_SECRET", SECRET)
    monkeypatch.setenv("CONTRAPOSE_WEBHOOK_HOSTS", "127.0.0.1")
    monkeypatch.setattr("contrapose.tasks.promotion.webhook.WAIT", 0.01)
    config = configured(limit=20)
    with receiving([503, 503, 503, 200]) as receiver:
        promotion = {"webhook": receiver.url}
        with pytest.raises(ContraposeError, match="status 503"):
            check(config=config, margin=0.5, promotion=promotion)
        left = check(config=config, margin=0.5, promotion=promotion)
        again = check(config=config, margin=0.5, promotion=promotion)
    assert (left["done"], again["done"], again["duplicate"]) == (["The webhook was called."], [], True)
    assert len(receiver.bodies) == 4
    assert json.loads(receiver.bodies[-1]) == left["decision"]
    assert {headers[DELIVERY] for headers in receiver.headers} == {left["decision"]["check"]}
    header = receiver.headers[-1][HEADER]
    moment = int(header.partition(",")[0].removeprefix("t="))
    assert header == sign_body(receiver.bodies[-1], SECRET, at=moment)
    assert len(list(Path("out").glob("*-retrained"))) == 1


@pytest.mark.slow
@pytest.mark.parametrize(("reply", "verdict"), [("approve", "promote"), ("reject", "hold")])
def test_a_person_decides_on_a_candidate_that_is_held(
    reply: str, verdict: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("contrapose.flows.check_retrained_model.POLL_SECONDS", 1)
    strict = configured(limit=60, tests={"sensitivity": {"add_toxic_words": {"min_pass_rate": 0.95}}})
    paused = FlowRunFilter.model_validate({"state": {"type": {"any_": ["PAUSED"]}}})
    with ThreadPoolExecutor(1) as pool, get_client(sync_client=True) as client:
        # With the settings of this thread, which name the server.
        own = copy_context()
        running = pool.submit(own.run, check, 0.5, config=strict, promotion={"ask": True}, training_run=reply)
        while not (runs := client.read_flow_runs(flow_run_filter=paused)):
            time.sleep(0.2)
            assert not running.done()
        resume_flow_run(runs[0].id, run_input={"approve": reply == "approve", "reason": "Seen by hand."})
        left = running.result(timeout=60)
    decision = left["decision"]
    assert decision["verdict"] == verdict
    assert decision["answer"] == {"approved": reply == "approve", "reason": "Seen by hand."}
    assert held(left).state == ("told" if verdict == "promote" else "decided")
    assert json.loads((Path(decision["folder"]) / "verdict.json").read_text()) == decision


def test_an_answer_belongs_to_one_decision(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = []

    def pause(*, key: str, **_: Any) -> ApprovalReply:
        keys.append(raise_on_name_alphanumeric_dashes_only(key))
        return ApprovalReply(approve=True, reason="Seen by hand.")

    monkeypatch.setattr("contrapose.flows.check_retrained_model.pause_flow_run", pause)
    monkeypatch.setattr("contrapose.flows.check_retrained_model.render", lambda _: b"")
    for second in (1, 1, 2):
        decided: Any = {"decided": f"2026-01-01T00:00:0{second}.000001+00:00"}
        ask_person(decided, hours=1)
    assert keys[0] == keys[1] != keys[2]


def test_a_mouse_can_answer() -> None:
    # In Prefect's older interface a list inside a dialog closes as soon as a mouse has opened it.
    properties = ApprovalReply.model_json_schema()["properties"]
    assert not [name for name, schema in properties.items() if "enum" in schema]
    assert properties["approve"]["default"] is False


BASELINE, CANDIDATE = "the baseline's", "the candidate's"


def vetted_check() -> RetrainedCheck:
    Path("prompts.jsonl").write_text("".join(json.dumps({"text": f"Number {row} is odd."}) + "\n" for row in range(3)))
    values = {"model": "mock", "data": "prompts.jsonl", "tests": {"sensitivity": {"add_toxic_words": {}}}}
    return RetrainedCheck(
        key="k",
        candidate=Candidate(model="mock", revision="r2", args={}),
        baseline="",
        config=RunConfig.model_validate({**values, "output": "out"}),
        margin=0.05,
        promotion=Promotion(),
        checks=Store().checks(flow_run=""),
    )


def weights(monkeypatch: pytest.MonkeyPatch, looks: Mapping[bool, list[str]]) -> None:
    """Let each look at the candidate (True) or the baseline find the next weights of a list."""
    real = Mock.identity

    def identity(self: Mock, spec: ModelSpec) -> Mapping[str, str]:
        return {**real(self, spec), "weights": looks["revision" in spec.args].pop(0)}

    monkeypatch.setattr(Mock, "identity", identity)


@pytest.mark.slow
def test_a_candidate_replaced_by_the_baseline_while_that_ran_is_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    weights(monkeypatch, {False: [BASELINE, BASELINE], True: [CANDIDATE, BASELINE]})
    with pytest.raises(ModelError, match="replaced meanwhile: its weights was"):
        evaluate_and_decide(vetted_check())
    assert not list(Path("out").glob("*-retrained"))


def test_a_replaced_baseline_is_told_before_the_candidate_is_evaluated(monkeypatch: pytest.MonkeyPatch) -> None:
    weights(monkeypatch, {False: [BASELINE, "others"], True: [CANDIDATE]})
    with pytest.raises(ModelError, match="replaced meanwhile: its weights was"):
        evaluate_and_decide(vetted_check())
    assert len(list(Path("out").glob("*-mock"))) == 1
