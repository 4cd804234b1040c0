"""Render certificates of judges and agents: certificate.html, certificate.json and the board in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from contrapose.tasks.certify.evaluated import certify_run, has_judge_tests
from contrapose.tasks.core.certificate import CERTIFICATE_VERSION, Certificate, Certificates, JudgeFinding
from contrapose.tasks.report.base import Report
from contrapose.tasks.report.publish import write_pages
from contrapose.tasks.report.summary import to_json
from contrapose.tasks.report.templates import PAGE, inline_files, load_template, read_style
from contrapose.tasks.text.cleaning import one_line
from contrapose.tasks.text.masking import make_shower
from contrapose.tasks.text.wording import counted

COLOURS = {"pass": "pass", "fail": "fail", "inconclusive": "inconclusive", "shown": "skipped"}
WORDS = {"pass": "below the gate", "fail": "biased", "inconclusive": "undecided", "shown": "no gate"}
RATE_WORDS = {**WORDS, "pass": "reaches the gate", "fail": "misses the gate"}
WIDTH, MARGIN = 300.0, 6.0
"""Of the drawing of an interval, in pixels."""
MOST_PARTINGS = 5


class IntervalDrawing(NamedTuple):
    """An interval on its scale, in pixels from the left."""

    low: float
    high: float
    value: float
    zero: float
    gates: tuple[float, ...]
    ends: tuple[str, str]
    """Labels of both ends of the scale."""


class DivergencePoint(NamedTuple):
    """The call at which failed trials of an agent first differ from passed ones, in words."""

    how: str
    step: str
    """Number of the first other call, the median over the trials."""
    trials: str


def draw_interval(finding: JudgeFinding) -> IntervalDrawing | None:
    """Return the drawing of a finding, from 0 to 100 % or from -100 to 100 points, or None without an interval."""
    if finding["value"] is None or finding["interval"] is None:
        return None
    low, high = finding["interval"]
    least = -1.0 if low < 0 or finding["value"] < 0 else 0.0

    def place(share: float) -> float:
        return round(MARGIN + (WIDTH - 2 * MARGIN) * (min(1.0, max(least, share)) - least) / (1 - least), 1)

    gate = finding["gate"]
    gates = () if gate is None else (gate,) if least == 0 else (-gate, gate)
    ends = ("-100", "100") if least else ("0", "100")
    return IntervalDrawing(place(low), place(high), place(finding["value"]), place(0.0), tuple(map(place, gates)), ends)


def format_share(finding: JudgeFinding) -> str:
    """Return a figure with its interval in per cent."""
    if finding["value"] is None:
        return "unknown"
    text = f"{100 * finding['value']:.1f} %"
    if finding["interval"] is not None:
        low, high = finding["interval"]
        text += f" ({100 * low:.1f} to {100 * high:.1f})"
    return text


def render(certificates: Sequence[Certificate], *, show_toxic: bool = False) -> bytes:
    """Render one page with the certificates of one judge or of several."""
    show = make_shower(show_toxic=show_toxic)
    judges = [
        {
            "name": show(one_line(one["judge"])),
            "verdict": "no gate" if one["verdict"] == "shown" else one["verdict"],
            "colour": COLOURS[one["verdict"]],
            "counts": describe_case_count(one),
            "is_agent": "tasks" in one,
            "partings": [tuple(map(show, parting)) for parting in list_divergences(one)],
            "findings": [
                {
                    **{name: show(str(finding[name])) for name in ("name", "figure", "reason")},
                    "share": format_share(finding),
                    "rows": f"{finding['rows']:,}",
                    "colour": COLOURS[finding["verdict"]],
                    "verdict": (RATE_WORDS if finding.get("gate_is_least") else WORDS)[finding["verdict"]],
                    "drawing": draw_interval(finding),
                }
                for finding in one["findings"]
            ],
        }
        for one in certificates
    ]
    facts = {name: show(str(certificates[0][name])) for name in ("source", "sha256", "date", "version")}
    page = load_template(__package__, PAGE).render(
        judges=judges, facts=facts, **inline_files(read_style(__package__, "page.css"))
    )
    return page.encode()


def describe_case_count(certificate: Certificate) -> str:
    """Return a sentence with the number of cases behind a certificate."""
    pairs, verdicts, unread = (certificate[name] for name in ("pairs", "verdicts", "unread"))
    if "tasks" in certificate:
        tasks, groups = certificate["tasks"], max(finding["clusters"] for finding in certificate["findings"])
        shown = f"{counted('trials', verdicts)} of {counted('tasks', tasks)}"
        return shown + f" in {counted('groups', groups)}" * (groups < tasks) + f", {unread:,} without a reward"
    shown = f"{counted('pairs of answers', pairs)}, " * bool(pairs)
    return f"{shown}{counted('verdicts', verdicts)}, {unread:,} without one that can be read"


def list_divergences(certificate: Certificate) -> list[DivergencePoint]:
    """Return the calls at which failed trials of an agent most often first differ from passed ones."""
    steps = dict[str, list[int]]()
    for trial in certificate.get("failed_trials", []):
        if trial["passed_trial"] is not None:
            steps.setdefault(trial["parting"], []).append(trial["step"])
    partings = [DivergencePoint(name, f"{median(own):g}", f"{len(own):,}") for name, own in steps.items()]
    return sorted(partings, key=lambda parting: -len(steps[parting.how]))[:MOST_PARTINGS]


COLUMNS = {
    "asked again": "self-disagreement",
    "swapped": "disagreement of orders",
    "net": "position",
    "lean": "direction of position",
    "ties": "ties",
}
AGENT_COLUMNS = {name: name for name in ("pass^1", "pass^2", "pass^3", "pass^4", "same tools", "same calls")}


def render_board(boards: Sequence[tuple[str, str, Sequence[Certificate]]]) -> str:
    """Return a page of Markdown with a table for each source: its title, a note about it, and its certificates."""
    has_agents = any("tasks" in one for _, _, certificates in boards for one in certificates)
    columns = AGENT_COLUMNS if has_agents else COLUMNS
    return load_template(__package__, "board.md.j2").render(
        boards=boards, has_agents=has_agents, columns=columns, cells=_format_cells, one_line=one_line
    )


def _format_cells(certificate: Certificate, columns: Mapping[str, str]) -> Iterator[str]:
    findings = {finding["name"]: finding for finding in certificate["findings"]}
    return (format_share(findings[name]) if name in findings else "–" for name in columns.values())


def render_run(report: Report) -> bytes | None:
    """Render the certificate of a run's judge, or return None if the run has no tests of a judge."""
    if not has_judge_tests(report.summary):
        return None
    return render([certify_run(report.summary)], show_toxic=report.show_toxic)


def render_run_json(report: Report) -> bytes | None:
    """Return the certificate of a run's judge as JSON, or None if the run has no tests of a judge."""
    if not has_judge_tests(report.summary):
        return None
    return f"{to_json(list_certificates([certify_run(report.summary)]))}\n".encode()


def list_certificates(certificates: Sequence[Certificate]) -> Certificates:
    """Return the content of certificate.json."""
    return Certificates(schema_version=CERTIFICATE_VERSION, certificates=list(certificates))


def write_certificates(folder: Path, certificates: Sequence[Certificate]) -> None:
    """Write certificate.html and certificate.json into a folder, as `write_pages` does."""
    contents = {
        "certificate.html": render(certificates),
        "certificate.json": f"{to_json(list_certificates(certificates))}\n".encode(),
    }
    write_pages(folder, contents, what="the certificate")
