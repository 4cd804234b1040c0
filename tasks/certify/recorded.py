"""Certificates from recorded verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import version

from contrapose.tasks.certify.findings import GATE, decide_all, judge_finding
from contrapose.tasks.certify.positions import PositionFigures, measure_positions
from contrapose.tasks.certify.verdict_log import hash_sources, read_verdicts
from contrapose.tasks.core.certificate import Certificate, JudgeFinding


def certify_verdicts(sources: Sequence[str], *, gate: float = GATE) -> list[Certificate]:
    """Return a certificate for each judge whose verdicts are in the files, in the order of their names.

    Raises DataError for files that hold no verdicts.
    """
    digest, date = hash_sources(sources), datetime.now(UTC).isoformat(timespec="seconds")
    certificates = []
    for figures in measure_positions(read_verdicts(sources)):
        findings = list(position_findings(figures, gate=gate))
        certificates.append(
            Certificate(
                judge=figures.judge,
                verdict=decide_all(findings),
                source=", ".join(sources),
                sha256=digest,
                date=date,
                version=version("contrapose"),
                pairs=figures.pairs,
                verdicts=figures.verdicts,
                unread=figures.unread,
                findings=findings,
            )
        )
    return certificates


def position_findings(figures: PositionFigures, *, gate: float) -> Iterator[JudgeFinding]:
    """Yield what recorded verdicts show: self-agreement, position net of noise, its direction, and ties."""
    if figures.again is not None:
        name = "changed its own verdict on the same prompt"
        yield judge_finding("self-disagreement", name, figures.again, gate=None)
    yield judge_finding("disagreement of orders", "changed its verdict in the other order", figures.swapped, gate=None)
    if figures.net is not None:
        yield judge_finding("position", "what the order adds to the judge's own noise", figures.net, gate=gate)
    name = "share of verdicts for the first position minus the second"
    yield judge_finding("direction of position", name, figures.lean, gate=gate, two_sided=True)
    yield judge_finding("ties", "share of verdicts that are ties", figures.tied, gate=None)
