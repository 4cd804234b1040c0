"""`contrapose.certify`: measure how consistent a judge is, which cues sway it, and how reliable an agent is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from contrapose.flows.python.evaluate import evaluate
from contrapose.tasks.certify.agents import check_gates
from contrapose.tasks.certify.evaluated import certify_run
from contrapose.tasks.certify.findings import GATE
from contrapose.tasks.certify.recorded import certify_verdicts
from contrapose.tasks.core.certificate import Certificate

if TYPE_CHECKING:
    import pandas as pd

    from contrapose.tasks.infer.function import Answering


def certify(
    judge: str | Answering | None = None,
    *,
    verdicts: str | Path | Sequence[str | Path] = (),
    data: pd.DataFrame | str | Path | Mapping[str, Any] | None = None,
    suite: str | Path | Mapping[str, Any] = "certify",
    limit: int | None = None,
    gate: float = GATE,
    min_pass_hat: Mapping[int, float] | None = None,
    out: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
    quiet: bool = False,
) -> list[Certificate]:
    """Return the certificate of a judge, or those of all judges and agents recorded in files.

    Args:
        judge: a model as in `evaluate`, or a function that takes a prompt and returns the verdict. No label of people
            is needed.
        verdicts: in place of a judge, files of verdicts with the columns judge, pair, first, second, repetition and
            reply, or of trials of an agent with the columns task, trial and passed; the pages on judges and on agents
            name others.
        data: pairs of answers for the judge, as in `evaluate`; None: the bundled ones.
        suite: tests of the judge.
        limit: at most this many pairs a test; None: that of the suite.
        gate: largest effect of the position that passes, a share from 0 to 1.
        min_pass_hat: least pass^k that passes, by k, for files of trials: `{3: 0.25}`.
        out: folder that receives the folder of the run; None: `runs`.
        settings: any keys of a suite, dotted, such as `{"noise": 100}`.
        quiet: print nothing.

    Returns:
        For each judge or agent `judge` (its name), `verdict` ("pass", "fail" or "inconclusive"), `findings` (each with
        `name`, `value`, `interval`, `rows`, `gate` and `verdict`) and what it was tested on. The folder of a run holds
        them as certificate.html and certificate.json, too.

    Raises:
        ContraposeError: what you can fix: files without verdicts, a judge that is not there, neither of both.

    Examples:
        >>> import contrapose
        >>> (certificate,) = contrapose.certify("mock", limit=10, quiet=True)
        >>> certificate["verdict"]
        'fail'
    """
    files = [str(file) for file in ((verdicts,) if isinstance(verdicts, str | Path) else verdicts)]
    if bool(files) == (judge is not None):
        from contrapose.tasks.core.errors import ConfigError

        raise ConfigError(
            "a judge and files of verdicts" if files else "neither a judge nor files of verdicts",
            expected="one of both",
            remedy="Pass judge=…, or verdicts=….",
            where="arguments",
        )
    if files:
        return certify_verdicts(files, gate=gate, min_pass_hat=min_pass_hat or {})
    check_gates(min_pass_hat or {}, judges="a judge")
    run = evaluate(suite, model=judge, data=data, limit=limit, out=out, settings=settings, quiet=quiet)
    return [certify_run(run.summary, gate=gate)]
