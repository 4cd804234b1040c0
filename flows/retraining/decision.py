"""The decision on a retrained model: candidate and baseline are compared, the verdict announced, a person asked."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from prefect.artifacts import create_markdown_artifact
from prefect.exceptions import FlowPauseTimeout
from prefect.flow_runs import pause_flow_run, suspend_flow_run
from prefect.input import RunInput
from prefect.runtime import deployment
from pydantic import Field

from contrapose.flows.evaluate_model import evaluate_model
from contrapose.flows.orchestration.form import as_parameter
from contrapose.flows.orchestration.verdict_state import emit_verdict
from contrapose.flows.run_context import Run, resolve_run
from contrapose.flows.side_by_side import ask_side_by_side, is_candidate_decided
from contrapose.tasks.compare.flips import flips_of
from contrapose.tasks.compare.task import compare
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.decision import Decision, PersonsAnswer, Side
from contrapose.tasks.core.errors import ContraposeError
from contrapose.tasks.core.places import Place
from contrapose.tasks.core.policy import call_task
from contrapose.tasks.infer.keys import refuse_changed
from contrapose.tasks.promotion.candidate import (
    Candidate,
    baseline_config,
    candidate_config,
    decide,
    refuse_baseline,
    verdicts,
)
from contrapose.tasks.promotion.promote import refuse_unready
from contrapose.tasks.promotion.settings import VERDICT, Promotion, resource
from contrapose.tasks.report.comparison_page import write_comparison
from contrapose.tasks.report.decision_markdown import render, write_decision
from contrapose.tasks.report.publish import free_folder, write_folder
from contrapose.tasks.report.task import artifact_key
from contrapose.tasks.store.checks import Checks

POLL_SECONDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrainedCheck:
    """The context of a check: every step receives it."""

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


def judge(check: RetrainedCheck) -> Decision:
    """Evaluate both models, the baseline first, compare them, and write down the decision."""
    before = resolve_run(baseline_config(check.config, check.baseline))
    after = resolve_run(candidate_config(check.config, check.candidate))
    named = check.candidate
    # What would end badly is refused before anything is spent.
    refuse_baseline(after.identity, before.identity, model=named.model)
    refuse_unready(check.promotion, revision=named.revision, training_run=named.training_run)
    begun: list[str | None] = [None, None]
    if after.config.stop != "all":
        begun[:] = ask_side_by_side([before.config, after.config], margin=check.margin, decide=is_candidate_decided)
    baseline, candidate = (_evaluate(run, name) for run, name in zip((before, after), begun, strict=True))
    folders = [baseline["folder"], candidate["folder"]]
    comparison = call_task(compare, folders=folders, baseline=folders[0], margin=check.margin)
    tests, selected = verdicts(comparison), [plan.test for plan in after.plans]
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
        folder=str(free_folder(Place.at(check.config.output, setting="output"), name).resolved()),
    )

    def fill(part: Path) -> None:
        write_comparison(part, comparison, flips_of(comparison), show_toxic=check.config.show_toxic)
        write_decision(Place(str(part)), decision)

    write_folder(Place(decision["folder"]), fill, last="verdict.json")
    return decision


def _evaluate(vetted: Run, begun: str | None) -> Side:
    """Evaluate a model; raise ContraposeError where it is no longer the one that was vetted."""
    published = evaluate_model(as_parameter(vetted.config), resumed=begun)
    manifest = json.loads((Place(published["folder"]) / "manifest.json").read())
    refuse_changed(manifest["model"], vetted.identity, model=vetted.config.model)
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
        key=artifact_key(suite, "retrained"),
        markdown=f"{render(decision).decode()}\n\nFolder: `{decision['folder']}`\n",
        description=f"{decision['verdict'].capitalize()}: {decision['model']} {decision['revision']}".strip(),
    )


def announce_failure(candidate: Candidate, error: Exception, *, check: str) -> None:
    """Emit the event for a check that came to no verdict."""
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
    """Emit one event for one verdict, even where an interrupted run emits it again."""
    number = uuid5(NAMESPACE_URL, f"{VERDICT}/{payload['check']}/{moment}") if moment else None
    emit_verdict(VERDICT, resource=resource(model), payload=payload, number=number)


class ApprovalReply(RunInput):
    """What the form asks."""

    # No list to choose from: in the older interface a list inside a dialog closes as soon as a mouse opens it.
    approve: bool = Field(default=False, description="Promotes the candidate; otherwise it is held.")
    reason: str = Field(min_length=1, max_length=500, description="Why; it is kept with the verdict.")
    by: str = Field(default="", max_length=100, description="Your name; it is kept with the verdict.")


def ask(decision: Decision, *, hours: float) -> PersonsAnswer | None:
    """Pause until a person approves or rejects the candidate; None where nobody answered in time.

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
