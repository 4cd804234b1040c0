"""Certificates from recorded verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import version

from contrapose.tasks.certify.findings import GATE, decide_all, position_findings
from contrapose.tasks.certify.people import pair_findings, single_answer_findings
from contrapose.tasks.certify.positions import measure_positions
from contrapose.tasks.certify.single_answers import has_single_answers, read_single_answers
from contrapose.tasks.certify.verdict_log import hash_sources, read_verdicts
from contrapose.tasks.core.certificate import Certificate, JudgeFinding


def certify_verdicts(
    sources: Sequence[str], *, gate: float = GATE, gate_rate: float | None = None
) -> list[Certificate]:
    """Return a certificate for each judge whose verdicts are in the files, in the order of their names.

    Files with verdicts on single answers have labels of people; those with verdicts on pairs of answers may have them.
    `gate_rate` is the least share of replies that people would pass.

    Raises DataError for files that hold no verdicts.
    """
    singles = [source for source in sources if has_single_answers(source)]
    pairs = [source for source in sources if source not in singles]
    certificates = [*(_certify_pairs(pairs, gate) if pairs else ()), *_certify_singles(singles, gate_rate)]
    return sorted(certificates, key=lambda certificate: certificate["judge"])


def _certify_pairs(sources: Sequence[str], gate: float) -> Iterator[Certificate]:
    verdicts = read_verdicts(sources)
    for figures in measure_positions(verdicts):
        own = verdicts[verdicts["judge"] == figures.judge]
        unread = figures.unread / figures.verdicts
        findings = [*position_findings(figures.means, gate=gate, unread=unread), *pair_findings(own)]
        counts = (figures.pairs, figures.verdicts, figures.unread)
        yield _certificate(figures.judge, sources, findings, counts)


def _certify_singles(sources: Sequence[str], gate_rate: float | None) -> Iterator[Certificate]:
    if not sources:
        return
    for judge, own in read_single_answers(sources).groupby("judge", sort=True):
        findings = list(single_answer_findings(own, gate_rate=gate_rate))
        yield _certificate(str(judge), sources, findings, (0, len(own), int(own["verdict"].isna().sum())))


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
