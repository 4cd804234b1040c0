"""Build certificates from recorded verdicts of judges and recorded trials of agents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from types import MappingProxyType

import numpy as np
import pandas as pd

from contrapose.tasks.certify.agents import (
    check_gates,
    find_divergences,
    group_tasks,
    pass_hat_findings,
    trajectory_findings,
)
from contrapose.tasks.certify.findings import GATE, PositionMeans, decide_all, position_findings
from contrapose.tasks.certify.people import pair_findings, single_answer_findings
from contrapose.tasks.certify.single_answers import has_single_answers, read_single_answers
from contrapose.tasks.certify.trial_log import AgentTrial, read_trials
from contrapose.tasks.certify.verdict_log import hash_sources, read_verdicts
from contrapose.tasks.core.certificate import Certificate, JudgeFinding
from contrapose.tasks.statistics.means import mean
from contrapose.tasks.statistics.noise import AskingPairs, compute_pair_share, estimate_lean, estimate_noise


def certify_verdicts(
    sources: Sequence[str],
    *,
    gate: float = GATE,
    gate_rate: float | None = None,
    min_pass_hat: Mapping[int, float] = MappingProxyType({}),
) -> list[Certificate]:
    """Return a certificate for each judge or agent that the files are about, in the order of their names.

    Files with verdicts on single answers have labels of people; those with verdicts on pairs of answers may have them;
    other files have trials of agents on tasks. `gate_rate` is the least share of replies that people would pass,
    `min_pass_hat` the least pass^k by k.

    Raises DataError for files that hold neither, and ConfigError for a gate of pass^k without trials.
    """
    agents = {source: trials for source in sources if (trials := read_trials(source)) is not None}
    check_gates(min_pass_hat, judges="" if agents else ", ".join(sources))
    judges = [source for source in sources if source not in agents]
    singles = [source for source in judges if has_single_answers(source)]
    pairs = [source for source in judges if source not in singles]
    certificates = [*(_certify_pairs(pairs, gate) if pairs else ()), *_certify_singles(singles, gate_rate)]
    for source, own in agents.items():
        certificates += [_certify_agent(name, source, trials, min_pass_hat) for name, trials in own.items()]
    return sorted(certificates, key=lambda certificate: certificate["judge"])


def _certify_pairs(sources: Sequence[str], gate: float) -> Iterator[Certificate]:
    for judge, own in read_verdicts(sources).groupby("judge", sort=True):
        unread = int(own["choice"].isna().sum())
        means = position_findings(measure_positions(own), gate=gate, unread=unread / len(own))
        counts = (own["pair"].nunique(), len(own), unread)
        yield _certificate(str(judge), sources, [*means, *pair_findings(own)], counts)


def _certify_singles(sources: Sequence[str], gate_rate: float | None) -> Iterator[Certificate]:
    if not sources:
        return
    for judge, own in read_single_answers(sources).groupby("judge", sort=True):
        findings = list(single_answer_findings(own, gate_rate=gate_rate))
        yield _certificate(str(judge), sources, findings, (0, len(own), int(own["verdict"].isna().sum())))


def _certify_agent(
    name: str, source: str, trials: Sequence[AgentTrial], min_pass_hat: Mapping[int, float]
) -> Certificate:
    tasks = group_tasks(trials)
    scored = group_tasks([trial for trial in trials if trial.passed is not None])
    trajectories = list(trajectory_findings(scored))
    findings = [*pass_hat_findings(tasks, min_pass_hat=min_pass_hat), *trajectories]
    counts = (0, len(trials), len(trials) - sum(map(len, scored)))
    certificate = _certificate(name, [source], findings, counts)
    certificate["tasks"] = len(tasks)
    if trajectories:
        certificate["failed_trials"] = find_divergences(scored)
    return certificate


def _certificate(
    judge: str, sources: Sequence[str], findings: list[JudgeFinding], counts: tuple[int, int, int]
) -> Certificate:
    """Return a certificate; the counts are of pairs, verdicts and unread replies."""
    pairs, verdicts, unread = counts
    return Certificate(
        judge=judge,
        verdict=decide_all(findings),
        source=", ".join(sources),
        sha256=hash_sources(sources),
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        version=version("contrapose"),
        pairs=pairs,
        verdicts=verdicts,
        unread=unread,
        findings=findings,
    )


def measure_positions(verdicts: pd.DataFrame) -> PositionMeans:
    """Return the figures of one judge; rows are those of `read_verdicts`."""
    counts, cluster, lean = [], [], []
    for _, pair in verdicts.groupby("pair", sort=False):
        orders = [pair[pair["order"] == order] for order in (0, 1)]
        counts.append(_count_pairs([own["choice"].dropna().tolist() for own in orders]))
        cluster.append(pair["cluster"].iloc[0])
        # The mean over both orders: the content of the answers cancels.
        lean.append(np.mean([own["place"].mean() for own in orders]))
    pairs, clusters = AskingPairs(*np.array(counts, dtype=float).T), np.array(cluster)
    noise = estimate_noise(pairs, clusters)
    read = verdicts[verdicts["choice"].notna()]
    return PositionMeans(
        compute_pair_share(pairs.before + pairs.after, pairs.before_changed + pairs.after_changed, cluster=clusters),
        compute_pair_share(pairs.across, pairs.across_changed, cluster=clusters),
        noise.net if noise else None,
        estimate_lean(np.array(lean, dtype=float), clusters),
        mean((read["choice"] == "tie").to_numpy(dtype=float), read["cluster"], share=True) if len(read) else None,
    )


def _count_pairs(choices: Sequence[Sequence[str]]) -> tuple[int, ...]:
    """Count compared and differing verdicts on one pair of answers: in the first order, in the second, and across."""
    counted: list[int] = []
    for own in choices:
        total, same = len(own) * (len(own) - 1) // 2, sum(n * (n - 1) // 2 for n in Counter(own).values())
        counted += (total, total - same)
    first, second = map(Counter, choices)
    total = len(choices[0]) * len(choices[1])
    return (*counted, total, total - sum(count * second[choice] for choice, count in first.items()))
