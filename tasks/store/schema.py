"""Table definitions of the response store."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Float, Index, Integer, MetaData, String, Table, Text

METADATA = MetaData()


def _counts(*names: str) -> list[Column[int]]:
    """Return columns of counts that start at 0."""
    return [Column(name, BigInteger, nullable=False, default=0) for name in names]


SPENT = ("answers", "requests", "failures", "prompt_tokens", "completion_tokens")
"""Columns of a run's spending: answers, requests, failed questions and tokens."""

ANSWERS = Table(
    "answers",
    METADATA,
    Column("key", String(64), primary_key=True, comment="hash of all that could change the answer"),
    Column("model", Text, nullable=False, comment="id of the model, for people"),
    Column("question", Text, nullable=False, comment="JSON: kind, prompt, labels, text, repeat, form"),
    Column(
        "answer",
        Text,
        nullable=False,
        comment="JSON: text, option_loglikelihoods, label_mass, loss, constrained, passages, outcome",
    ),
    Column("prompt_tokens", Integer, nullable=False),
    Column("completion_tokens", Integer, nullable=False),
    Column("requests", Integer, nullable=False, comment="requests made for it, the failed ones too"),
    Column("seconds", Float, nullable=False, comment="wall time of the answered request"),
    Column("run", Text, nullable=False, comment="id of the run that asked"),
    Column("stored", Float, nullable=False, comment="Unix time"),
    Index("answers_run", "run"),
)
"""One row per answer of a model; failed calls are not stored."""

CLAIMS = Table(
    "claims",
    METADATA,
    Column("key", String(64), primary_key=True),
    Column("owner", Text, nullable=False, comment="machine:process:random part, of the broker that is asking"),
    Column("until", Float, nullable=False, comment="Unix time after which the owner is taken for dead"),
    Index("claims_owner", "owner"),
)
"""One row per question that a process is asking now, so that two runs never ask the same one."""

FORMS = Table(
    "forms",
    METADATA,
    Column("key", String(64), primary_key=True, comment="hash of the model, where it is, and what was tried"),
    Column("model", Text, nullable=False, comment="id of the model, for people"),
    Column("form", Text, nullable=False, comment="in which letters are asked for, or settings that it needs, as JSON"),
    Column("run", Text, nullable=False, comment="id of the run that found it out"),
    Column("stored", Float, nullable=False, comment="Unix time"),
)
"""One row per model: how its endpoint must be asked. It is found out once, because cache keys depend on it."""

RUNS = Table(
    "runs",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("state", Text, nullable=False, comment="running, incomplete, finished or superseded"),
    Column("config", Text, nullable=False, comment="JSON of the RunConfig; it holds no secret"),
    Column("owner", Text, nullable=False, comment="the process that works on it"),
    Column("folder", Text, nullable=False, comment="working folder, which relative paths start from"),
    Column("started", Float, nullable=False, comment="Unix time"),
    Column("seen", Float, nullable=False, comment="Unix time of the last sign of life"),
    Column("hits", BigInteger, nullable=False, default=0, comment="answers found in the store"),
    *_counts(*SPENT),
)
"""One row per run: its configuration and spending."""

PROMPTS = Table(
    "prompts",
    METADATA,
    Column("key", String(64), primary_key=True, comment="of the answer that is wanted"),
    Column("question", Text, nullable=False, comment="JSON: kind, prompt, labels, text, repeat, form"),
    Column("model", Text, nullable=False, comment="id of the model"),
    Column("form_key", String(64), nullable=False, comment="under which the form of its letters is noted"),
    Column("run", Text, nullable=False, comment="id of the run that wrote it, to which its answer is counted"),
    Column("batch", Text, nullable=False, default="", comment="id of the batch that is asking it; empty: none is"),
    Column("written", Float, nullable=False, comment="Unix time"),
    Column("changed", Float, nullable=False, comment="Unix time of the last change"),
    Index("prompts_run", "run"),
    Index("prompts_batch", "batch"),
)
"""One row per question in a batch file; the endpoint returns answers by its key."""

BATCHES = Table(
    "batches",
    METADATA,
    Column("id", Text, primary_key=True, comment="ours, which the endpoint keeps beside its own"),
    Column("remote", Text, nullable=False, default="", comment="the endpoint's; empty: not known to be submitted"),
    Column("spec", Text, nullable=False, comment="JSON of the ModelSpec; it holds no secret"),
    Column("questions", Integer, nullable=False),
    Column("state", Text, nullable=False, comment="as the endpoint says, or prepared, or collected"),
    Column("changed", Float, nullable=False, comment="Unix time of the last change"),
)
"""One row per batch at an endpoint, stored before submission, so that none is submitted twice."""

PORTIONS = Table(
    "portions",
    METADATA,
    Column("owner", Text, primary_key=True, comment="machine:process:random part; of the team's own row, the team"),
    Column("team", Text, nullable=False, comment="id of the portions that are asked at the same time"),
    Column("label", Text, nullable=False, comment="which cases of which test"),
    *_counts("calls", "prompt_tokens", "completion_tokens"),  # granted, with what is spent already
    *_counts("settled"),  # calls among the granted that are over
    *_counts("done", "from_store", "failed", "requests"),
    Column("cost", Float, nullable=False, default=0.0, comment="US dollars"),
    Column("stopped", Text, nullable=False, default="", comment="why nothing more is asked; empty: it is"),
    Column("until", Float, nullable=False, comment="Unix time after which the portion is taken for dead"),
    Index("portions_team", "team"),
)
"""One row per portion of a run asked in parallel, and one per team of portions; deleted when all are done."""

RATES = Table(
    "rates",
    METADATA,
    Column("key", Text, primary_key=True, comment="the endpoint, and which of its limits"),
    Column("free", Float, nullable=False, comment="Unix time of the next request that may be made"),
)
"""One row per rate limit that several processes share."""

READINGS = Table(
    "readings",
    METADATA,
    Column("run", Text, primary_key=True),
    *_counts(*SPENT),
    Column("seen", Float, nullable=False, comment="Unix time of the last change"),
)
"""One row per run with a reader model: the reader's spending, which is part of the run's."""

LOOKS = Table(
    "looks",
    METADATA,
    Column("key", String(64), primary_key=True, comment="hash of the model, the test, its settings and its gate"),
    Column("run", Text, primary_key=True, comment="id of the run that judged it"),
    Column("cases", BigInteger, nullable=False, comment="that were judged"),
    Column("sketch", Text, nullable=False, comment="JSON: the least of the hashes of these cases"),
)
"""One row per run and test whose verdict was left open; a later run with more of these cases counts this look."""

CHECKS = Table(
    "checks",
    METADATA,
    Column("key", String(64), primary_key=True, comment="hashes of the configuration and of the candidate"),
    Column("model", Text, nullable=False, comment="id of the candidate, for people"),
    Column("revision", Text, nullable=False),
    Column("training_run", Text, nullable=False),
    Column("state", Text, nullable=False, comment="checking, decided, told or promoted"),
    Column("verdict", Text, comment="of the decision; null while it is checked"),
    Column("decision", Text, comment="JSON: the content of verdict.json"),
    Column("flow_run", Text, nullable=False, comment="id of the flow run that works on it, or did"),
    Column("owner", Text, nullable=False, comment="the process that works on it, or did"),
    Column("until", Float, nullable=False, comment="Unix time after which the owner is taken for dead"),
    Column("started", Float, nullable=False, comment="Unix time"),
)
"""One row per check of a retrained model, so that none is checked or promoted twice."""

RECEIPTS = Table(
    "receipts",
    METADATA,
    Column("file", Text, primary_key=True, comment="name of a file of receipts"),
    Column("bytes", BigInteger, nullable=False, comment="of the file, which this database holds"),
)
"""One row per receipt file: the bytes already in the database; the rest is added when the store is opened."""

DURABLE = (ANSWERS, FORMS, RUNS, READINGS, PROMPTS, BATCHES, LOOKS, CHECKS)
"""Tables whose changes are written to receipts; the others only coordinate running processes."""
