"""The flow over a retrained model: promote it, hold it, or say that there is too little evidence.

take the check ──▶ judge (evaluate baseline and candidate) ──▶ announce ──▶ ask a person ──▶ promote
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypedDict

from prefect import flow, get_run_logger
from prefect.runtime import flow_run

from contrapose.flows.orchestration.form import Form
from contrapose.flows.orchestration.run_names import name_after
from contrapose.flows.orchestration.verdict_state import carry_verdict
from contrapose.flows.retraining.decision import RetrainedCheck, announce_decision, announce_failure, ask, judge
from contrapose.tasks.compare.compare import refuse_margin
from contrapose.tasks.core.comparison import MARGIN
from contrapose.tasks.core.decision import Decision, PersonsAnswer, Verdict
from contrapose.tasks.core.places import Place
from contrapose.tasks.core.policy import RESULTS, SERIALIZER, call_task
from contrapose.tasks.promotion.candidate import ALIKE, Candidate, check_key
from contrapose.tasks.promotion.settings import Promotion, retrained_payload
from contrapose.tasks.promotion.task import promote
from contrapose.tasks.report.decision_markdown import answer_words, write_decision
from contrapose.tasks.store import Store
from contrapose.tasks.store.checks import OvertakenError


class CheckedModel(TypedDict):
    """Result of a check."""

    decision: Decision
    """The content of verdict.json."""
    duplicate: bool
    """The same announcement was decided on before, and nothing was done now."""
    done: list[str]
    """Actions that followed a promotion, in sentences."""


@flow(
    name="check-retrained-model",
    flow_run_name=name_after(lambda sent: f"{sent['model']} {sent['revision']} {sent['training_run']}"),
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
    with _announced_failure(candidate):
        checks = Store().checks(flow_run=str(flow_run.id))
    check = RetrainedCheck(
        key=check_key(candidate, config, baseline=baseline, margin=margin),
        candidate=candidate,
        baseline=baseline,
        config=config,
        margin=margin,
        promotion=promotion or Promotion(),
        announced=announced,
        checks=checks,
    )
    with _announced_failure(candidate, check.key):
        refuse_margin(margin)
        row = checks.begin(
            check.key,
            announced=None if announced is None else announced.timestamp(),
            again=again,
            wanted=check.promotion.wanted,
            **retrained_payload(model, revision=revision, training_run=training_run),
        )
    if row.owner != checks.owner:
        # Another flow run has decided on the same announcement.
        return _end(CheckedModel(decision=json.loads(row.decision or "{}"), duplicate=True, done=[]))
    with checks.alive(check.key):
        decision = _decide(check)
        announce_decision(decision, suite=config.suite)
        if decision["verdict"] == "hold" and decision["answer"] is None and check.promotion.ask:
            answer = ask(decision, hours=check.promotion.ask_hours)
            if answer is not None:
                decision = _apply_answer(check, decision, answer)
                announce_decision(decision, suite=config.suite)
        done = _promote(check, decision) if decision["verdict"] == "promote" else []
        for sentence in done:
            get_run_logger().info(sentence)
        return _end(CheckedModel(decision=decision, duplicate=False, done=done))


def _end(checked: CheckedModel) -> CheckedModel:
    decision = checked["decision"]
    message = f"{decision['verdict'].capitalize()}. {' '.join([*decision['reasons'], *answer_words(decision)])}".strip()
    return carry_verdict(checked, verdict=decision["verdict"], message=message)


def _decide(check: RetrainedCheck) -> Decision:
    """Return the decision on a check that is ours: an earlier process may have made it."""
    row = check.checks.get(check.key)
    if row is not None and row.decision is not None:
        stored: Decision = json.loads(row.decision)
        return stored
    try:
        with _announced_failure(check.candidate, check.key):
            decision = judge(check)
            check.checks.decide(check.key, verdict=decision["verdict"], decision=json.dumps(decision))
            return decision
    except Exception:
        check.checks.release(check.key)
        raise


def _promote(check: RetrainedCheck, decision: Decision) -> list[str]:
    """Promote, unless a candidate that was announced later is; return what was done, in sentences."""
    newer = check.checks.newer(check.key, alike=check.key[:ALIKE])
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
def _announced_failure(candidate: Candidate, key: str = "") -> Iterator[None]:
    """Emit the event for a check that fails, unless another process goes on with it."""
    try:
        yield
    except OvertakenError:
        raise
    except Exception as error:
        announce_failure(candidate, error, check=key)
        raise
