"""Log a finished run into an MLflow experiment; needs the optional extra `mlflow`."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from contrapose.tasks.core.criteria import list_criteria
from contrapose.tasks.core.errors import ContraposeError, require_package
from contrapose.tasks.core.outcome import Summary
from contrapose.tasks.core.process_state import SharedChange, set_temporary_variables
from contrapose.tasks.core.secrets import remove_addresses
from contrapose.tasks.core.stopping import early_stop
from contrapose.tasks.text.cleaning import show_hidden
from contrapose.tasks.text.wording import count_saved_questions, criteria_text

FILES = ("report.html", "report.md", "summary.json", "junit.xml")
"""Files kept with the run; the raw results stay in its folder."""

PATIENCE = set_temporary_variables({"MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2", "MLFLOW_LOGGING_LEVEL": "WARNING"})
"""Where nobody set them: by its own, MLflow waits four minutes for a server that is down."""

LONGEST = 500
"""Characters of a value, which every store of MLflow takes."""

LONGEST_CAUSE = 800
"""Characters of an error that are shown; MLflow's advice on its stores has 550."""

_ODD = re.compile(r"[^\w./ -]", re.ASCII)


class LoggedValues(NamedTuple):
    """Parameters, metrics and tags to log for a run."""

    params: dict[str, str]
    """Its configuration."""
    metrics: dict[str, float]
    """Its results; figures without a value are left out."""
    tags: dict[str, str]
    """Names that it is looked up by."""


def track(folder: Path, summary: Summary, *, experiment: str) -> list[str]:
    """Log a run, and return a line on what went wrong; errors are not raised because the run is finished."""
    try:
        with PATIENCE.needed(), RETRIES_UNHEARD.needed():
            log_run(folder, summary, experiment=experiment)
    except Exception as error:
        return [
            f"The run was not logged into MLflow's experiment {experiment}: {_explain(error)} Its folder is complete."
        ]
    return []


def _explain(error: Exception) -> str:
    """Return the reason why a run could not be logged, and a remedy."""
    if isinstance(error, ContraposeError):
        return str(error)
    kind, remedy = type(error).__name__, "See MLFLOW_TRACKING_URI, and the log of its server."
    # Whatever it is built on, a store raises errors of many kinds; MLflow's own say what to do.
    own = type(error).__module__.partition(".")[0] == "mlflow"
    return f"{kind}: {remove_addresses(str(error))[:LONGEST_CAUSE]}" if own else f"{kind}. {remedy}"


def log_run(folder: Path, summary: Summary, *, experiment: str, client: Any = None) -> str:
    """Log a run and return its id in MLflow; a partly logged run is marked there as failed.

    An experiment is made where there is none of the name. Without a client it is that of MLflow's own environment.
    """
    store = client or _make_client()
    started = datetime.fromisoformat(summary["started"]).timestamp()
    known = store.get_experiment_by_name(experiment)
    number = known.experiment_id if known else store.create_experiment(experiment)
    run = store.create_run(number, start_time=round(1000 * started), run_name=summary["run_id"]).info.run_id
    status = "FAILED"
    try:
        of_run = collect_run_values(summary)
        for name, text in of_run.params.items():
            store.log_param(run, name, text)
        for name, value in of_run.metrics.items():
            store.log_metric(run, name, value)
        for name, text in of_run.tags.items():
            store.set_tag(run, name, text)
        for name in FILES:
            if (folder / name).is_file():
                store.log_artifact(run, str(folder / name))
        status = "FINISHED"
    finally:
        store.set_terminated(run, status, end_time=round(1000 * (started + summary["seconds"])))
    return str(run)


def collect_run_values(summary: Summary) -> LoggedValues:
    """Return parameters, metrics and tags of a run; names of a test's values begin with the test."""
    params = {name: str(summary[name]) for name in ("suite", "seed", "contrapose")}
    params |= {f"model.{name}": str(value) for name, value in summary["model"].items()}
    params |= {f"reader.{name}": str(value) for name, value in summary.get("reader", {}).items()}
    metrics: dict[str, float | None] = {"seconds": summary["seconds"], "cost": summary["usage"]["cost"]}
    metrics |= {name: summary["usage"][name] for name in ("calls", "from_store", "prompt_tokens", "completion_tokens")}
    metrics |= (
        {"saved": count_saved_questions(summary)} if any("stopping" in outcome for outcome in summary["tests"]) else {}
    )
    tags = {"verdict": summary["verdict"], "run_id": summary["run_id"]}
    for outcome in summary["tests"]:
        test = _ODD.sub("_", outcome["test_type"][:100])
        params[f"{test}.min_pass_rate"] = str(outcome["min_pass_rate"])
        params[f"{test}.probe_version"] = outcome["probe_version"]
        params[f"{test}.data"] = outcome["data"]["source"]
        params[f"{test}.data_sha256"] = outcome["data"]["sha256"]
        rates = (outcome["pass_rate"], *(outcome["interval"] or (None, None)), outcome["scored"], outcome["errors"])
        metrics |= {f"{test}.{n}": v for n, v in zip(("pass_rate", "low", "high", "n", "errors"), rates, strict=True)}
        tags[f"{test}.verdict"] = outcome["verdict"]
        tags[f"{test}.criteria"] = criteria_text(criteria := list_criteria(outcome))
        for criterion in criteria:
            if criterion["name"] != "pass_rate":
                own = f"{test}.{criterion['name']}"
                metrics |= {own: criterion["rate"], f"{own}.low": criterion["low"], f"{own}.high": criterion["high"]}
                metrics[f"{own}.gate"] = criterion["gate"]
        if stopping := outcome.get("stopping"):
            metrics[f"{test}.looks"] = stopping["looks"]
            metrics[f"{test}.not_asked"] = stopping["cases"] - stopping["judged"]
            tags[f"{test}.stopped_early"] = "true" if early_stop(outcome) else "false"
    decided = [
        f"{test['test_type']}: {test['verdict']}, {criteria_text(list_criteria(test))}" for test in summary["tests"]
    ]
    note = "\n\n".join((summary["reason"], *decided))
    tags = {f"contrapose.{name}": value for name, value in tags.items()} | {"mlflow.note.content": note}
    return LoggedValues(
        params={name: show_hidden(value)[:LONGEST] for name, value in params.items()},
        metrics={name: value for name, value in metrics.items() if value is not None},
        tags={name: show_hidden(value)[:LONGEST] for name, value in tags.items()},
    )


def _hush_retries() -> Callable[[], None]:
    logger = logging.getLogger("urllib3.connectionpool")
    before = logger.level
    logger.setLevel(logging.ERROR)
    return lambda: logger.setLevel(before)


RETRIES_UNHEARD = SharedChange(_hush_retries)
"""Meanwhile urllib3 does not log each attempt and the address of the store."""


def _make_client() -> Any:
    require_package("mlflow", extra="mlflow", where="mlflow")
    from mlflow import MlflowClient

    return MlflowClient()
