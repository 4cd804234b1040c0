"""`contrapose.compare`: compare finished runs, or several models on one suite."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from contrapose.flows.cli.start import begin_server, stop_heartbeats
from contrapose.flows.python.arguments import RunArguments, offer_model, refuse_workers
from contrapose.flows.python.outcomes import ComparedRuns, EvaluatedRun
from contrapose.flows.python.session import run_in_session, silence_call, use_prefect
from contrapose.tasks.core.comparison import MARGIN
from contrapose.tasks.core.errors import ConfigError

if TYPE_CHECKING:
    import pandas as pd

    from contrapose.tasks.core.comparison import Comparison
    from contrapose.tasks.infer.function import Answering

    Named = str | Answering | Mapping[str, Any]
    """A model, or one with arguments: `{"model": …, "model_args": …}`."""

RUNS = "runs"


def compare(
    *runs: EvaluatedRun | str | Path,
    models: Sequence[Named] | None = None,
    baseline: int = 1,
    margin: float = MARGIN,
    suite: str | Path | Mapping[str, Any] | None = None,
    data: pd.DataFrame | str | Path | Mapping[str, Any] | None = None,
    columns: Mapping[str, str] | None = None,
    test: str | Sequence[str] | None = None,
    limit: int | None = None,
    seed: int | None = None,
    skip_bad_rows: bool = False,
    out: str | Path | None = None,
    show_toxic: bool = False,
    settings: Mapping[str, Any] | None = None,
    quiet: bool = False,
) -> ComparedRuns:
    """Find out which of several runs, or of several models on one suite, pass more often, and how sure that is.

    Runs are compared case by case; they must have asked the same. Models are evaluated first, on the same samples.

    Args:
        runs: two or more finished runs: what `evaluate` returned, the folder of a run, or its id in `out`.
        models: in place of `runs`, two or more models as in `evaluate`, each an id, a function, or a dict such as
            `{"model": answer, "model_args": {"revision": "v2"}}`. Models at different addresses are asked at the same
            time.
        baseline: place of the run or model to compare the others with, from 1.
        margin: loss of pass rate that is still called not worse, 0 to 1.
        suite: with `models`, as in `evaluate`; None: `quickstart`. So are all that follow but `out` and `quiet`.
        data: where the samples come from.
        columns: our names to those of the columns of `data`.
        test: the only test, or tests.
        limit: at most this many samples a test.
        seed: of every random choice.
        skip_bad_rows: leave out rows that cannot be used.
        out: folder or fsspec URL that receives the comparison, and the runs of `models`; None: `runs`.
        show_toxic: show toxic words instead of masking them.
        settings: any keys of a suite, dotted.
        quiet: print nothing.

    Returns:
        The comparison: `verdict` ("better", "not worse", "cannot tell" or "worse"), `passed`, `summary` (the content
        of comparison.json), `results` (a DataFrame, one row per test and model), `report` (path of comparison.md) and
        `folder`. A notebook shows its table.

    Raises:
        ContraposeError: what you can mend, each problem in a line: fewer than two runs, runs that asked different
            things, a model that is not there.
        KeyboardInterrupt: you have interrupted it.

    Examples:
        >>> import contrapose
        >>> models = ["mock", {"model": "mock", "model_args": {"reply": "A"}}]
        >>> comparison = contrapose.compare(models=models, test="option_order", limit=10, quiet=True)
        >>> comparison.verdict
        'cannot tell'
        >>> list(comparison.results["test"].unique())
        ['option_order']
    """
    plain = {"limit": limit, "seed": seed, "skip_bad_rows": skip_bad_rows, "show_toxic": show_toxic}
    arguments = RunArguments(
        suite="quickstart" if suite is None else suite,
        data=data,
        columns=columns,
        test=test,
        settings=settings,
        plain={**plain, "output": None if out is None else str(out)},
    )

    def work() -> ComparedRuns:
        with silence_call(quiet):
            if models is None:
                folder = str(out or RUNS)
                return _compare_runs(runs, baseline=baseline, margin=margin, out=folder, show_toxic=show_toxic)
            return _compare_models(arguments, models, baseline=baseline, margin=margin)

    named = {"suite": suite, "data": data, "columns": columns, "test": test, "settings": settings, **plain}
    idle = [name for name, value in named.items() if name != "show_toxic" and value is not None and value is not False]
    if models is None and idle:
        raise ConfigError(
            f"{', '.join(idle)} together with finished runs",
            expected="runs alone: what they asked cannot change",
            remedy="Leave it out, or pass models in place of runs.",
            where="arguments",
        )
    if models is not None and runs:
        raise ConfigError(
            f"{len(runs)} runs and models",
            expected="either runs or models",
            remedy="Leave out the runs, or leave out models.",
            where="arguments",
        )
    return run_in_session(work, show_toxic=show_toxic)


def _compare_runs(
    runs: Sequence[EvaluatedRun | str | Path], *, baseline: int, margin: float, out: str, show_toxic: bool
) -> ComparedRuns:
    from contrapose.flows.comparison_folder import publish_comparison
    from contrapose.tasks.compare.compare import compare as compare_runs
    from contrapose.tasks.core.places import Place

    names = [run.location if isinstance(run, EvaluatedRun) else str(run) for run in runs]
    if not 1 <= baseline <= max(1, len(names)):
        raise ConfigError(
            f"{baseline}",
            expected=f"a place among {len(names)} runs",
            remedy="Write 1 for the first run.",
            where="baseline",
        )
    comparison = compare_runs(names, runs=out, baseline=names[baseline - 1] if names else None, margin=margin)
    folder = publish_comparison(comparison, Place.at(out, setting="out"), show_toxic=show_toxic)
    return _make_outcome(str(folder), comparison, show_toxic=show_toxic)


def _compare_models(arguments: RunArguments, models: Sequence[Named], *, baseline: int, margin: float) -> ComparedRuns:
    with ExitStack() as stack:
        named: list[tuple[str, Mapping[str, Any]]] = []
        for model in models:
            entry: Mapping[str, Any] = model if isinstance(model, Mapping) else {"model": model}
            if set(entry) - {"model", "model_args"} or "model" not in entry:
                raise ConfigError(
                    f"a model with {', '.join(map(str, entry)) or 'nothing'}",
                    expected="model, and model_args if it has any",
                    remedy='Write {"model": "hf/<folder>", "model_args": {…}}.',
                    where="models",
                )
            named.append((str(stack.enter_context(offer_model(entry["model"]))), entry.get("model_args") or {}))
        config = arguments.config(None)
        for name, _ in named:
            refuse_workers(config.model_copy(update={"model": name}))
        config = stack.enter_context(arguments.with_frame(config, keep=True))
        begin_server()
        blocks = (model_args["api_key_block"] for _, model_args in named if "api_key_block" in model_args)
        start = stack.enter_context(use_prefect(next(blocks, config.key_block)))
        from contrapose.flows.cli.validate import validate_run
        from contrapose.flows.compare_models import ComparedModel, compare_models, make_model_configs
        from contrapose.flows.orchestration.form import to_parameter

        listed: list[str | ComparedModel] = [ComparedModel(model=name, model_args=dict(own)) for name, own in named]
        for single in make_model_configs(config, listed, baseline=baseline):
            validate_run(single)
        start()
        with stop_heartbeats():
            (compared,) = compare_models(to_parameter(config), listed, baseline=baseline, margin=margin)
    return _make_outcome(compared["folder"], compared["comparison"], show_toxic=config.show_toxic)


def _make_outcome(location: str, comparison: Comparison, *, show_toxic: bool) -> ComparedRuns:
    from contrapose.tasks.report.summary import to_json

    # As in the file: lists in place of tuples.
    plain: Comparison = json.loads(to_json(comparison))
    return ComparedRuns(location=location, summary=plain, show_toxic=show_toxic)
