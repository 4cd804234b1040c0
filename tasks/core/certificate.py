"""The certificate of a judge: what was tested on what, and what each bias came to."""

from __future__ import annotations

from typing import Literal

# pydantic reads no other before Python 3.12.
from typing_extensions import TypedDict

FindingVerdict = Literal["pass", "fail", "inconclusive", "shown"]
"""`shown`: a figure without a gate."""

CertificateVerdict = Literal["pass", "fail", "inconclusive"]

CERTIFICATE_VERSION = 1
"""Of certificate.json; a reader that knows one number can read every file that has it."""


class JudgeFinding(TypedDict):
    """One bias, or another property of a judge."""

    name: str
    """What it is, such as `position`."""
    figure: str
    """What is measured, in words."""
    value: float | None
    """A share or a difference of shares; None where nothing shows it."""
    interval: tuple[float, float] | None
    """95 %."""
    rows: int
    """Pairs of answers, or of verdicts, that it is taken over."""
    clusters: int
    """Independent groups among them."""
    gate: float | None
    """Largest value that passes, in both directions where it has two; None for a figure that is only shown."""
    verdict: FindingVerdict
    reason: str
    """One sentence."""


class Certificate(TypedDict):
    """What is known of a judge, and from what."""

    judge: str
    verdict: CertificateVerdict
    """`fail` where a bias is above its gate, `pass` where all are below theirs."""
    source: str
    """The files of verdicts, or the run and its data."""
    sha256: str
    """Of the data."""
    date: str
    """When it was made, ISO 8601 in UTC."""
    version: str
    """Of Contrapose."""
    pairs: int
    """Pairs of answers that the judge saw."""
    verdicts: int
    """Its replies."""
    unread: int
    """Replies without one verdict."""
    findings: list[JudgeFinding]


class Certificates(TypedDict):
    """The content of certificate.json."""

    schema_version: int
    certificates: list[Certificate]
    """One for each judge, in the order of their names."""
