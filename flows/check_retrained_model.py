"""The flow over a retrained model: promote it, hold it, or is there too little evidence?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypedDict, cast

from prefect import flow, get_run_logger
from prefect.runtime import flow_run

from contrapose.flows.orchestration.form import Form
from contrapose.flows.orchestration.verdict_state import in_state
from contrapose.flows.retraining.approval import ask
from contrapose.flows.retraining.decision import RetrainedCheck, judge, tell, tell_failure
from contrapose.tasks.compare.compare import refuse_margin
from contrapose.tasks.core.comparison import MARGIN
from contrapose.tasks.core.decision import Decision, PersonsAnswer, Verdict
from contrapose.tasks.core.places import Place
from contrapose.tasks.core.policy import RESULTS, SERIALIZER, call
from contrapose.tasks.promotion.candidate import ALIKE, Candidate, check_key
from contrapose.tasks.promotion.settings import Promotion, retrained
from contrapose.tasks.promotion.task import promote
from contrapose.tasks.report.decision_markdown import write_decision
from contrapose.tasks.store import Store
from contrapose.tasks.store.checks import CheckRow, Checks, OvertakenError


class CheckedModel(TypedDict):
    """What a check leaves."""

    decision: Decision
    """The content of verdict.json."""
    duplicate: bool
    """The same announcement was decided on before, and nothing was done now."""
    done: list[str]
    """What followed a promotion, in sentences."""


@flow(
    name="check-retrained-model",
    flow_run_name="{model} {revision} {training_run}",
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
        ContraposeError: something the user can mend; nothing was promoted.
    """
    candidate = Candidate(model=model, revision=revision, training_run=training_run, args=candidate_args or {})
    check = RetrainedCheck(
        key=check_key(candidate, config, baseline=baseline, margin=margin),
        candidate=candidate,
        baseline=baseline,
        config=config,
        margin=margin,
        promotion=promotion or Promotion(),
        announced=announced,
        checks=_checks(candidate),
    )
    decision = _begin(check, again=again)
    if decision is not None:
        return _ended(CheckedModel(decision=decision, duplicate=True, done=[]))
    with check.checks.alive(check.key):
        return _ended(_follow(check, _decided(check)))


def _ended(checked: CheckedModel) -> CheckedModel:
    decision = checked["decision"]
    message = f"{decision['verdict'].capitalize()}. {' '.join(decision['reasons'])}".strip()
    return in_state(checked, verdict=decision["verdict"], message=message)


def _checks(candidate: Candidate) -> Checks:
    with _failure_told(candidate):
        return Store().checks(flow_run=str(flow_run.id))


def _begin(check: RetrainedCheck, *, again: bool) -> Decision | None:
    """Take the check; where nothing is left to do, the decision that was made."""
    named = check.candidate
    with _failure_told(named, check.key):
        refuse_margin(check.margin)
        moment = None if check.announced is None else check.announced.timestamp()
        wanted = check.promotion.wanted
        labels = retrained(named.model, revision=named.revision, training_run=named.training_run)
        row = check.checks.begin(check.key, announced=moment, again=again, wanted=wanted, **labels)
    return None if row.owner == check.checks.owner else _stored(row)


def _decided(check: RetrainedCheck) -> Decision:
    """The decision on a check that is ours: an earlier process may have come so far."""
    row = check.checks.get(check.key)
    if row is not None and row.decision is not None:
        return _stored(row)
    try:
        with _failure_told(check.candidate, check.key):
            decision = judge(check)
            _keep(check, decision)
            return decision
    except Exception:
        check.checks.release(check.key)
        raise


def _follow(check: RetrainedCheck, decision: Decision) -> CheckedModel:
    """Tell the verdict, ask a person where that is wanted, and promote."""
    tell(decision, suite=check.config.suite)
    if decision["verdict"] == "hold" and decision["answer"] is None and check.promotion.ask:
        answer = ask(decision, hours=check.promotion.ask_hours)
        if answer is not None:
            return _follow(check, _answered(check, decision, answer))
    done = _promoted(check, decision) if decision["verdict"] == "promote" else []
    for sentence in done:
        get_run_logger().info(sentence)
    return CheckedModel(decision=decision, duplicate=False, done=done)


def _promoted(check: RetrainedCheck, decision: Decision) -> list[str]:
    """Promote, unless a candidate that was announced later is; what was done, in sentences."""
    newer = check.checks.newer(check.key, alike=check.key[:ALIKE])
    if newer is not None:
        check.checks.close(check.key, promoted=False)
        named = f"{newer.model} {newer.revision} {newer.training_run}"
        return [
            f"Not promoted: {' '.join(named.split())}, announced later, was. To go back to this one, check it again."
        ]
    confirm = partial(check.checks.confirm, check.key)
    model = decision["model"]
    done = call(promote, model=model, settings=check.promotion, decision=decision, confirm=confirm)
    check.checks.close(check.key, promoted=bool(done))
    return done


def _answered(check: RetrainedCheck, decision: Decision, answer: PersonsAnswer) -> Decision:
    """The decision after a person's answer."""
    moment = datetime.now(UTC).isoformat(timespec="microseconds")
    verdict: Verdict = "promote" if answer["approved"] else "hold"
    changed: Decision = {**decision, "verdict": verdict, "answer": answer, "decided": moment}
    # Where another process has taken the check over, the file must not tell of this answer.
    check.checks.confirm(check.key)
    write_decision(Place(changed["folder"]), changed)
    _keep(check, changed)
    return changed


def _keep(check: RetrainedCheck, decision: Decision) -> None:
    check.checks.decide(check.key, verdict=decision["verdict"], decision=json.dumps(decision))


def _stored(row: CheckRow) -> Decision:
    return cast(Decision, json.loads(row.decision or "{}"))


@contextmanager
def _failure_told(candidate: Candidate, key: str = "") -> Iterator[None]:
    """Emit the event for a check that fails, unless another process goes on with it."""
    try:
        yield
    except OvertakenError:
        raise
    except Exception as error:
        tell_failure(candidate, error, check=key)
        raise
