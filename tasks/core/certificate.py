"""Records of certificate.json: the data and the figures of a tested judge or agent."""

from __future__ import annotations

from typing import Literal, NotRequired

# pydantic reads no other before Python 3.12.
from typing_extensions import TypedDict

FindingVerdict = Literal["pass", "fail", "inconclusive", "shown"]
"""`shown`: a figure without a gate."""

CERTIFICATE_VERSION = 1
"""Of certificate.json; a reader that knows one number can read every file that has it."""


class JudgeFinding(TypedDict):
    """One bias or other property of a judge."""

    name: str
    """What it is, such as `position`."""
    figure: str
    """What is measured, in words."""
    value: float | None
    """A share or a difference of shares; None if nothing shows it."""
    interval: tuple[float, float] | None
    """95 %."""
    rows: int
    """Pairs of answers, or of verdicts, that it is taken over."""
    clusters: int
    """Independent groups among them."""
    gate: float | None
    """Largest value that passes, in both directions if it has two; None for a figure that is only shown."""
    gate_is_least: NotRequired[bool]
    """Whether the gate is the least value that passes."""
    verdict: FindingVerdict
    reason: str
    """One sentence."""
    labels: NotRequired[int]
    """Labels of people that a rate rests on."""
    labels_alone: NotRequired[int]
    """Labels that would give as narrow an interval without the judge."""
    more_labels: NotRequired[int | None]
    """Further labels that put the interval on one side of the gate, or of one half; None if none would."""


class FailedTrial(TypedDict):
    """A failed trial of an agent, and the passed trial of the same task with the longest equal beginning."""

    task: str
    trial: str
    passed_trial: str | None
    """None if no trial of the task passed; nothing is compared then."""
    step: int
    """Number of the first call that differs, from 1."""
    parting: str
    """How the calls part, such as `cancel_order instead of get_order`."""
    difference: str
    """One sentence, with the arguments; empty if all calls are the same."""


class Certificate(TypedDict):
    """The findings about one judge or agent, and the data that they come from."""

    judge: str
    """Its name; the agent's name if there are `tasks`."""
    verdict: FindingVerdict
    """`fail` if a figure misses its gate, `pass` if all reach theirs, `shown` if none has a gate."""
    source: str
    """The files of verdicts, or the run and its data."""
    sha256: str
    """Of the data."""
    date: str
    """When it was made, ISO 8601 in UTC."""
    version: str
    """Of Contrapose."""
    pairs: int
    """Pairs of answers that the judge saw; 0 for a judge of single answers."""
    verdicts: int
    """Its replies; trials of an agent."""
    unread: int
    """Replies without one verdict; trials without a reward."""
    findings: list[JudgeFinding]
    tasks: NotRequired[int]
    """Tasks of an agent; absent for a judge."""
    failed_trials: NotRequired[list[FailedTrial]]
    """Of an agent whose calls of tools are recorded."""


class Certificates(TypedDict):
    """The content of certificate.json."""

    schema_version: int
    certificates: list[Certificate]
    """One for each judge, in the order of their names."""
