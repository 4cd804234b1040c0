"""Flow that checks a retrained model: promote it, hold it, or report that there is too little evidence.

take the check ──▶ judge (evaluate baseline and candidate) ──▶ announce ──▶ ask a person ──▶ promote
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, TypedDict
from uuid import NAMESPACE_URL, uuid5

from prefect import flow, get_run_logger
from prefect.artifacts import create_markdown_artifact
from prefect.exceptions import FlowPauseTimeout
from prefect.flow_runs import pause_flow_run, suspend_flow_run
from prefect.input import RunInput
from prefect.runtime import deployment, flow_run
from pydantic import Field

from contrapose.flows.evaluate_model import evaluate_model
from contrapose.flows.orchestration.form import Form, to_parameter
from contrapose.flows.orchestration.run_names import make_namer
from contrapose.flows.orchestration.verdict_state import carry_verdict, emit_verdict
from contrapose.flows.run_context import Run, resolve_run
from contrapose.flows.side_by_side import ask_side_by_side, is_candidate_decided
from contrapose.tasks.compare.compare import refuse_margin
from contrapose.tasks.compare.flips import find_flips
from contrapose.tasks.compare.task import compare
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.comparison import MARGIN
from contrapose.tasks.core.decision import Decision, PersonsAnswer, Side, Verdict
from contrapose.tasks.core.errors import ContraposeError
from contrapose.tasks.core.places import Place
from contrapose.tasks.core.policy import RESULTS, SERIALIZER, call_task
from contrapose.tasks.infer.keys import refuse_replaced_model
from contrapose.tasks.promotion.candidate import (
    ALIKE,
    Candidate,
    decide,
    list_verdicts,
    make_baseline_config,
    make_candidate_config,
    make_check_key,
    refuse_same_model,
)
from contrapose.tasks.promotion.promote import refuse_unready
from contrapose.tasks.promotion.settings import VERDICT, Promotion, build_payload, make_resource
from contrapose.tasks.promotion.task import promote
from contrapose.tasks.report.comparison_page import write_comparison
from contrapose.tasks.report.decision_markdown import list_answer, render, write_decision
from contrapose.tasks.report.publish import find_free_folder, write_folder
from contrapose.tasks.report.task import make_artifact_key
from contrapose.tasks.store import Store
from contrapose.tasks.store.checks import Checks, CheckTakenOverError

POLL_SECONDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrainedCheck:
    """The context of one check; every step of the flow receives it."""

    key: str
    """Its name in the store."""
    candidate: Candidate
    """As it was announced."""
    baseline: str
    """Id of the model that it is compared with; empty: the configuration's."""
    config: RunConfig
    """Of both runs."""
    margin: float
    """Loss of pass rate that is still called not worse."""
    promotion: Promotion
    """What follows the decision."""
    announced: datetime | None = None
    """When; None: now."""
    checks: Checks
    """The store's."""


class CheckedModel(TypedDict):
    """Result of a check: the decision, and what was done about it."""

    decision: Decision
    """The content of verdict.json."""
    duplicate: bool
    """The same announcement was decided on before, and nothing was done now."""
    done: list[str]
    """Actions that followed a promotion, in sentences."""


@flow(
    name="check-retrained-model",
    flow_run_name=make_namer(lambda sent: f"{sent['model']} {sent['revision']} {sent['training_run']}"),
    description="Holds a retrained model against the baseline on the same samples, and decides whether to promote it.",
    persist_result=True,
    result_storage=RESULTS,
    result_serializer=SERIALIZER,
)
def check_retrained_model(
    model: str,
    config: Form,
    revision: str = "",
    training_run: str = "",
    baseline: str = "",
    margin: float = MARGIN,
    candidate_args: dict[str, Any] | None = None,
    promotion: Promotion | None = None,
    announced: datetime | None = None,
    again: bool = False,
) -> CheckedModel:
    """Evaluate candidate and baseline on the same samples, and decide: promote, hold, or insufficient evidence.

    However often a model is announced, it is decided on once: who comes second waits for the first one's verdict.

    Args:
        model: id of the retrained model, as in a run.
        config: suite, data and limits of both runs; its model and model_args are those of the baseline.
        revision: which one it is, where the id does not tell; of a model on the hub the commit, tag or branch.
        training_run: what made it; this or the revision is needed.
        baseline: id of another baseline than the configuration's model.
        margin: loss of pass rate that is still called not worse, 0 to 1.
        candidate_args: arguments of the candidate's provider where they differ from the baseline's.
        promotion: what follows the decision; empty: the event contrapose.verdict alone.
        announced: when; the model announced last is the one that stays promoted. Empty: now.
        again: check again what was decided before, unless it was promoted.

    Raises:
        ContraposeError: something the user can fix; nothing was promoted.
    """
    candidate = Candidate(model=model, revision=revision, training_run=training_run, args=candidate_args or {})
    with _announce_if_failed(candidate):
        checks = Store().checks(flow_run=str(flow_run.id))
    check = RetrainedCheck(
        key=make_check_key(candidate, config, baseline=baseline, margin=margin),
        candidate=candidate,
        baseline=baseline,
        config=config,
        margin=margin,
        promotion=promotion or Promotion(),
        announced=announced,
        checks=checks,
    )
    with _announce_if_failed(candidate, check.key):
        refuse_margin(margin)
        row = checks.begin(
            check.key,
            announced=None if announced is None else announced.timestamp(),
            again=again,
            wanted=check.promotion.wanted,
            **build_payload(model, revision=revision, training_run=training_run),
        )
    if row.owner != checks.owner:
        # Another flow run has decided on the same announcement.
        return _show_decision(CheckedModel(decision=json.loads(row.decision or "{}"), duplicate=True, done=[]))
    with checks.keep_alive(check.key):
        decision = _decide(check)
        announce_decision(decision, suite=config.suite)
        if decision["verdict"] == "hold" and decision["answer"] is None and check.promotion.ask:
            answer = ask_person(decision, hours=check.promotion.ask_hours)
            if answer is not None:
                decision = _apply_answer(check, decision, answer)
                announce_decision(decision, suite=config.suite)
        done = _promote(check, decision) if decision["verdict"] == "promote" else []
        for sentence in done:
            get_run_logger().info(sentence)
        return _show_decision(CheckedModel(decision=decision, duplicate=False, done=done))


def _show_decision(checked: CheckedModel) -> CheckedModel:
    decision = checked["decision"]
    message = f"{decision['verdict'].capitalize()}. {' '.join([*decision['reasons'], *list_answer(decision)])}".strip()
    return carry_verdict(checked, verdict=decision["verdict"], message=message)


def _decide(check: RetrainedCheck) -> Decision:
    """Return the decision of this check; read it if an earlier process has already made it."""
    row = check.checks.get(check.key)
    if row is not None and row.decision is not None:
        stored: Decision = json.loads(row.decision)
        return stored
    try:
        with _announce_if_failed(check.candidate, check.key):
            decision = evaluate_and_decide(check)
            check.checks.decide(check.key, verdict=decision["verdict"], decision=json.dumps(decision))
            return decision
    except Exception:
        check.checks.release(check.key)
        raise


def _promote(check: RetrainedCheck, decision: Decision) -> list[str]:
    """Promote the model, unless a later candidate has already been promoted; return sentences about what was done."""
    newer = check.checks.find_newer(check.key, alike=check.key[:ALIKE])
    if newer is not None:
        check.checks.close(check.key, promoted=False)
        named = f"{newer.model} {newer.revision} {newer.training_run}"
        return [
            f"Not promoted: {' '.join(named.split())}, announced later, was. To go back to this one, check it again."
        ]
    confirm = partial(check.checks.confirm, check.key)
    done = call_task(promote, model=decision["model"], settings=check.promotion, decision=decision, confirm=confirm)
    check.checks.close(check.key, promoted=bool(done))
    return done


def _apply_answer(check: RetrainedCheck, decision: Decision, answer: PersonsAnswer) -> Decision:
    """Return the decision after a person's answer."""
    moment = datetime.now(UTC).isoformat(timespec="microseconds")
    verdict: Verdict = "promote" if answer["approved"] else "hold"
    changed: Decision = {**decision, "verdict": verdict, "answer": answer, "decided": moment}
    # Where another process has taken the check over, the file must not show this answer.
    check.checks.confirm(check.key)
    write_decision(Place(changed["folder"]), changed)
    check.checks.decide(check.key, verdict=verdict, decision=json.dumps(changed))
    return changed


@contextmanager
def _announce_if_failed(candidate: Candidate, key: str = "") -> Iterator[None]:
    """Emit the event for a failed check, unless another process continues the check."""
    try:
        yield
    except CheckTakenOverError:
        raise
    except Exception as error:
        announce_failure(candidate, error, check=key)
        raise


def evaluate_and_decide(check: RetrainedCheck) -> Decision:
    """Evaluate both models, the baseline first, compare them, and write the decision."""
    before = resolve_run(make_baseline_config(check.config, check.baseline))
    after = resolve_run(make_candidate_config(check.config, check.candidate))
    named = check.candidate
    # What would end badly is refused before anything is spent.
    refuse_same_model(after.identity, before.identity, model=named.model)
    refuse_unready(check.promotion, revision=named.revision, training_run=named.training_run)
    begun: list[str | None] = [None, None]
    if after.config.stop != "all":
        begun[:] = ask_side_by_side([before.config, after.config], margin=check.margin, decide=is_candidate_decided)
    baseline, candidate = (_evaluate(run, name) for run, name in zip((before, after), begun, strict=True))
    folders = [baseline["folder"], candidate["folder"]]
    comparison = call_task(compare, folders=folders, baseline=folders[0], margin=check.margin)
    tests, selected = list_verdicts(comparison), [plan.test for plan in after.plans]
    ruling = decide(tests, selected=selected, candidate=candidate, baseline=baseline)
    moment = datetime.now(UTC)
    name = f"{moment:%Y%m%dT%H%M%SZ}-{check.config.suite}-retrained"
    decision = Decision(
        schema_version=1,
        verdict=ruling.verdict,
        reasons=ruling.reasons,
        model=named.model,
        revision=named.revision,
        training_run=named.training_run,
        margin=check.margin,
        tests=tests,
        candidate=candidate,
        baseline=baseline,
        answer=None,
        check=check.key,
        decided=moment.isoformat(timespec="microseconds"),
        folder=str(find_free_folder(Place.at(check.config.output, setting="output"), name).resolved()),
    )

    def fill(part: Path) -> None:
        write_comparison(part, comparison, find_flips(comparison), show_toxic=check.config.show_toxic)
        write_decision(Place(str(part)), decision)

    write_folder(Place(decision["folder"]), fill, last="verdict.json")
    return decision


def _evaluate(vetted: Run, begun: str | None) -> Side:
    """Evaluate a model; raise ContraposeError if it is no longer the model that was vetted."""
    published = evaluate_model(to_parameter(vetted.config), resumed=begun)
    manifest = json.loads((Place(published["folder"]) / "manifest.json").read())
    refuse_replaced_model(manifest["model"], vetted.identity, model=vetted.config.model)
    summary = published["summary"]
    return Side(
        model=summary["model"]["id"],
        revision=summary["model"]["revision"],
        folder=published["folder"],
        verdict=summary["verdict"],
        reason=summary["reason"],
    )


def announce_decision(decision: Decision, *, suite: str) -> None:
    """Emit the event, and show the verdict in Prefect."""
    kept = ("verdict", "reasons", "revision", "training_run", "folder", "check", "answer")
    runs = {"candidate": decision["candidate"]["folder"], "baseline": decision["baseline"]["folder"]}
    payload = {key: value for key, value in decision.items() if key in kept} | {"runs": runs}
    _emit_once(decision["model"], payload, moment=decision["decided"])
    create_markdown_artifact(
        key=make_artifact_key(suite, "retrained"),
        markdown=f"{render(decision).decode()}\n\nFolder: `{decision['folder']}`\n",
        description=f"{decision['verdict'].capitalize()}: {decision['model']} {decision['revision']}".strip(),
    )


def announce_failure(candidate: Candidate, error: Exception, *, check: str) -> None:
    """Emit the event for a check that ended without a verdict."""
    # Other errors may hold anything in their text: only their kind is shown.
    reason = str(error) if isinstance(error, ContraposeError) else type(error).__name__
    payload: dict[str, Any] = {
        "verdict": "insufficient evidence",
        "reasons": [f"The check failed. {reason}"],
        "revision": candidate.revision,
        "training_run": candidate.training_run,
        "runs": {},
        "folder": "",
        "check": check,
        "answer": None,
    }
    _emit_once(candidate.model, payload, moment=None)


def _emit_once(model: str, payload: dict[str, Any], *, moment: str | None) -> None:
    """Emit one event for each verdict, also if an interrupted run emits it again."""
    number = uuid5(NAMESPACE_URL, f"{VERDICT}/{payload['check']}/{moment}") if moment else None
    emit_verdict(VERDICT, resource=make_resource(model), payload=payload, number=number)


class ApprovalReply(RunInput):
    """Fields of the form in which a person approves or rejects a candidate."""

    # No list to choose from: in the older interface a list inside a dialog closes as soon as a mouse opens it.
    approve: bool = Field(default=False, description="Promotes the candidate; otherwise it is held.")
    reason: str = Field(min_length=1, max_length=500, description="Why; it is kept with the verdict.")
    by: str = Field(default="", max_length=100, description="Your name; it is kept with the verdict.")


def ask_person(decision: Decision, *, hours: float) -> PersonsAnswer | None:
    """Pause until a person approves or rejects the candidate; return None if nobody answers in time.

    A run of a deployment leaves its process meanwhile, and is started again with the answer.
    """
    form = ApprovalReply.with_initial_data(description=render(decision).decode())
    # A flow run that is resumed finds its answer by the key: what was said of another decision is none to this one.
    key = f"ask-{re.sub('[^0-9]', '', decision['decided'])}"
    seconds = max(1, round(3600 * hours))
    try:
        if deployment.id:
            reply = suspend_flow_run(wait_for_input=form, timeout=seconds, key=key)
        else:
            reply = pause_flow_run(wait_for_input=form, timeout=seconds, poll_interval=POLL_SECONDS, key=key)
    except FlowPauseTimeout:
        return None
    answer = PersonsAnswer(approved=reply.approve, reason=reply.reason)
    return PersonsAnswer(**answer, by=reply.by.strip()) if reply.by.strip() else answer
