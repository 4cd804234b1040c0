"""Configure the runs of a candidate and its baseline, and decide the verdict on the candidate."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.config.suite_files import validate
from contrapose.tasks.core import registry
from contrapose.tasks.core.comparison import Comparison, list_judged_pairs
from contrapose.tasks.core.decision import CheckFinding, Side, Verdict
from contrapose.tasks.core.errors import ModelError

DECIDES_NOTHING = {"output", "refresh", "ask_again", "show_toxic", "show_langtest", "mlflow", "history"}
"""Settings that change no verdict."""
ALIKE = 32
"""Characters at the start of a check's key which are those of every check that differs in the candidate alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A retrained model, as its announcement describes it."""

    model: str
    """Its id, as in a run."""
    revision: str = ""
    """Which one it is, where the id does not tell."""
    training_run: str = ""
    """What made it."""
    args: Mapping[str, Any]
    """Arguments of its provider where they differ from those of a baseline of the same provider."""


def make_baseline_config(config: RunConfig, model: str) -> RunConfig:
    """Return the baseline's configuration: its own model, or another model with the same arguments."""
    return config if not model else validate({**config.model_dump(), "model": model}, where="baseline")


def make_candidate_config(config: RunConfig, candidate: Candidate) -> RunConfig:
    """Return the candidate's configuration: same tests and data, with its revision in the provider arguments.

    Where a model is known by its name alone, as behind an endpoint, revision and training run keep its answers apart
    from those of another training under the same name, even one that was given the same revision.
    """
    provider = candidate.model.partition("/")[0]
    label = candidate.revision
    if candidate.training_run and not registry.provider(provider).knows_weights:
        # Neither of the two holds a tab: what is announced is printable.
        label = f"{candidate.revision}\t{candidate.training_run}"
    shared = config.model_args if provider == config.model_spec().provider else {}
    # The announced one is judged, whatever the arguments of every candidate say.
    args = {**shared, "revision": None, **candidate.args, **({"revision": label} if label else {})}
    chosen = {name: value for name, value in args.items() if value is not None}
    return validate({**config.model_dump(), "model": candidate.model, "model_args": chosen}, where="candidate")


def refuse_same_model(candidate: Mapping[str, str], baseline: Mapping[str, str], *, model: str) -> None:
    """Raise ModelError if candidate and baseline are the same model, because their answers would be identical."""
    if dict(candidate) == dict(baseline):
        raise ModelError(
            "the candidate is the baseline",
            expected="a model with another id or revision than the baseline",
            remedy="Announce another revision, or set model_args.revision of the baseline. "
            "For a model folder, announce another folder.",
            where=model,
        )


def make_check_key(candidate: Candidate, config: RunConfig, *, baseline: str, margin: float) -> str:
    """Return a key of hashes over the candidate and all settings; equal announcements have equal keys."""
    alike = {
        "config": config.model_dump(mode="json", exclude=DECIDES_NOTHING),
        "baseline": baseline or config.model,
        "margin": margin,
    }
    named = [candidate.model, candidate.revision, candidate.training_run, dict(candidate.args)]
    digests = [hashlib.sha256(json.dumps(part, sort_keys=True).encode()).hexdigest() for part in (alike, named)]
    return digests[0][:ALIKE] + digests[1][ALIKE:]


class Ruling(NamedTuple):
    """A verdict with its reasons, one sentence each."""

    verdict: Verdict
    reasons: list[str]


def list_verdicts(comparison: Comparison) -> list[CheckFinding]:
    """Return the comparison's verdict on the candidate for each test."""
    return [
        CheckFinding(test_type=test, verdict=pair["verdict"], reason=pair["reason"])
        for test, pair in list_judged_pairs(comparison["tests"])
        if pair["verdict"] is not None
    ]


def decide(tests: Sequence[CheckFinding], *, selected: Sequence[str], candidate: Side, baseline: Side) -> Ruling:
    """Return the verdict: the first in `DEFINITIONS` that applies; `selected` are the tests to compare."""
    said: dict[str, list[str]] = {name: [] for name in ("better", "not worse", "worse", "cannot tell")}
    for test in tests:
        said[test["verdict"]].append(f"{test['test_type']}: {test['verdict']}. {test['reason']}".strip())
    if candidate["verdict"] == "fail":
        said["worse"].append(f"The candidate's own run has the verdict fail. {candidate['reason']}")
    compared = {test["test_type"] for test in tests}
    said["cannot tell"] += [f"{name} was not compared." for name in selected if name not in compared]
    for name, side in (("candidate", candidate), ("baseline", baseline)):
        if side["verdict"] == "incomplete":
            said["cannot tell"].append(f"The run of the {name} is incomplete. {side['reason']}")
    if said["worse"]:
        return Ruling("hold", said["worse"])
    if said["cannot tell"]:
        return Ruling("insufficient evidence", said["cannot tell"])
    return Ruling("promote", [*said["better"], *said["not worse"]])
