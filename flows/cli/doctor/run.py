"""Checks of what runs use: bundled models, the response store, the model and data of one run. They send no prompt."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from contrapose.flows.cli.doctor.local import DoctorFinding
from contrapose.tasks.core.bounds import call_with_timeout
from contrapose.tasks.core.errors import ConfigError, ContraposeError, install_command

if TYPE_CHECKING:
    from contrapose.tasks.config.model_spec import ModelSpec
    from contrapose.tasks.config.plan import Plan
    from contrapose.tasks.config.run_config import RunConfig

INSTALL = install_command("embedded")


def check_embedded_model(config: RunConfig | None) -> Iterator[DoctorFinding]:
    """Check that the embedded model is installed, complete and converted; only if the run needs it is it a problem."""
    from contrapose.tasks.infer.local.embedded import SHA256, find_chunk_paths, is_converted, locate_copy

    name = "embedded model"
    if is_converted():
        if any(locate_copy().glob("*.safetensors")):
            yield DoctorFinding(name, "ok", "found, checked and converted")
        else:
            remedy = "Remove that folder: it is made again."
            yield DoctorFinding(name, "problem", f"its weights are missing from {locate_copy()}", remedy)
        return
    try:
        paths = find_chunk_paths()
    except ContraposeError as error:
        needed = config is not None and "embedded" in (config.model, config.reader)
        remedy = f"{INSTALL}, or use another model."
        yield _make_missing_finding(name, error.found, remedy, needed=needed, by="--model embedded")
        return
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.read_bytes() if path.is_file() else b"")
    if digest.hexdigest() == SHA256:
        message = "found, its hash is right; the first run converts it, which takes about a minute"
        yield DoctorFinding(name, "ok", message)
    else:
        remedy = f"{INSTALL} --force-reinstall --no-deps"
        yield DoctorFinding(name, "problem", "its files are not the published ones", remedy)


def check_embedding_model(config: RunConfig | None) -> Iterator[DoctorFinding]:
    """Check, on disk only, that the embedding model that reads replies is there."""
    from contrapose.tasks.config.plan import plans
    from contrapose.tasks.core.model_files import check_model_files
    from contrapose.tasks.core.registry import find
    from contrapose.tasks.evaluate.embeddings import BUNDLED, DISTRIBUTION, resolve_model

    name = "embedding model"
    chosen = BUNDLED if config is None else config.embedding_model
    try:
        resolve_model(chosen)
    except ConfigError as error:
        needed = False
        # Another check reports what is wrong with the run.
        with suppress(ContraposeError):
            if config is not None:
                spec = config.model_spec()
                likelihoods = find("providers", spec.known_provider)().likelihoods(spec)
                needed = any(plan.probe_settings.embeds(likelihoods) != "none" for plan in plans(config))
        yield _make_missing_finding(name, error.found, error.remedy, needed=needed, by="a test that reads free replies")
        return
    if chosen == BUNDLED:
        yield DoctorFinding(name, "ok", f"{BUNDLED} ({DISTRIBUTION} {version(DISTRIBUTION)})")
    else:
        check = check_model_files(chosen, setting="embedding_model")
        yield DoctorFinding(name, check.state, check.observed, check.remedy)


def _make_missing_finding(name: str, observed: str, remedy: str, *, needed: bool, by: str) -> DoctorFinding:
    if needed:
        return DoctorFinding(name, "problem", observed, remedy)
    return DoctorFinding(name, "ok", f"{observed}; only {by} needs it", remedy)


def check_store(_: object) -> Iterator[DoctorFinding]:
    """Connect to the response store, and count its contents; create nothing in it."""
    from contrapose.tasks.store.engine import remove_password, store_url

    name = "response store"
    try:
        url = call_with_timeout(store_url)
        content = call_with_timeout(lambda: _count_stored(url))
    except TimeoutError as error:
        yield DoctorFinding(name, "problem", str(error), "See that the database runs, or correct CONTRAPOSE_STORE.")
    except ContraposeError as error:
        yield DoctorFinding(name, "problem", ": ".join(filter(None, (error.where, error.found))), error.remedy)
    else:
        counts, unfinished = content or ("; the first run makes it", False)
        remedy = "Resume one with: contrapose resume" if unfinished else ""
        yield DoctorFinding(name, "ok", f"{remove_password(url)}{counts}", remedy)


def _count_stored(url: str) -> tuple[str, bool] | None:
    """Describe the counts, and whether runs are unfinished; None if the file or its tables do not exist yet."""
    from sqlalchemy import inspect, make_url

    from contrapose.tasks.store.engine import open_database
    from contrapose.tasks.store.housekeeping import Housekeeping
    from contrapose.tasks.store.runs import Runs
    from contrapose.tasks.store.schema import ANSWERS, RUNS
    from contrapose.tasks.text.wording import counted

    path = make_url(url).database if url.startswith("sqlite") else None
    if path is not None and not Path(path).is_file():
        return None
    engine = open_database(url)
    if not {ANSWERS.name, RUNS.name} <= set(inspect(engine.execution_options(reading=True)).get_table_names()):
        return None
    kept, unfinished = Housekeeping(engine), len(Runs(engine).find_unfinished())
    answers = counted("answers", sum(entry.answers for entry in kept.count_by_model()))
    runs = f", {counted('unfinished runs', unfinished)}" if unfinished else ""
    return f", {answers}, {kept.size() / 1_000_000:,.1f} MB{runs}", bool(unfinished)


def check_run(config: RunConfig | None) -> Iterator[DoctorFinding]:
    """Check model, reader, tests and data of the run that the arguments name; return nothing if they name none."""
    if config is None:
        return
    from contrapose.tasks.config.plan import plans
    from contrapose.tasks.core.registry import probe

    yield _check_model("model", config.model_spec())
    if (reader := config.reader_spec()) is not None:
        yield _check_model("reader", reader)
    try:
        chosen = plans(config)
    except ContraposeError as error:
        yield make_failure_finding("tests", error)
        return
    yield DoctorFinding("tests", "ok", ", ".join(plan.test for plan in chosen))
    users: dict[str, list[Plan]] = {}
    for plan in chosen:
        users.setdefault(plan.data.model_dump_json() + probe(plan.test).sample_type.__name__, []).append(plan)
    yield from map(_check_data, users.values())


def make_failure_finding(name: str, error: ContraposeError) -> DoctorFinding:
    """Return a finding for an error that the user can correct."""
    observed = f"{error.found}; expected {error.expected}"
    return DoctorFinding(name, "problem", f"{error.where}: {observed}" if error.where else observed, error.remedy)


def _check_model(name: str, spec: ModelSpec) -> DoctorFinding:
    """Ask the provider about a model: `model` or `reader`."""
    from prefect.settings import get_current_settings

    from contrapose.flows.reader import reword_for_reader
    from contrapose.tasks.core.registry import provider

    try:
        chosen = provider(spec.known_provider)
        blocks = [key for key, argument in chosen.arguments.items() if argument.role == "block" and key in spec.args]
        if blocks and not get_current_settings().api.url:
            block = spec.args[blocks[0]]
            message = f"Prefect Secret block {block} was not looked at: it is in a Prefect server, and none is set"
            return DoctorFinding(name, "warning", message, "Set PREFECT_API_URL to the server that has the block.")
        # Its key may come from a server, too, which takes longer.
        check = call_with_timeout(lambda: chosen.check(spec), 10.0)
        return DoctorFinding(name, check.state, check.observed, check.remedy)
    except ContraposeError as error:
        return make_failure_finding(name, error if name == "model" else reword_for_reader(error))
    except TimeoutError as error:
        remedy = f"See that it can be reached, or correct {name}_args."
        return DoctorFinding(name, "problem", f"{spec.id}: {error}", remedy)


def _check_data(plans: Sequence[Plan]) -> DoctorFinding:
    """Read the first rows of a source that these tests share."""
    from contrapose.tasks.core.registry import probe
    from contrapose.tasks.load.samples import Drawing

    name, plan = "data", plans[0]
    kind = probe(plan.test).sample_type
    drawing = Drawing(data=plan.data, sample_type=kind, limit=None, seed=0, most=200, uses_answers=False)

    def first_sample() -> object:
        with closing(drawing.samples()) as samples:  # type: ignore[type-var]
            return next(samples, None)

    try:
        sample = call_with_timeout(first_sample)
    except ContraposeError as error:
        return make_failure_finding(name, error)
    except TimeoutError as error:
        remedy = "See that it can be reached, or copy it here."
        return DoctorFinding(name, "problem", f"{plan.data.source}: {error}", remedy)
    if sample is None:
        return DoctorFinding(name, "problem", f"{plan.data.source}: no rows", "Name a source that has some.")
    return DoctorFinding(name, "ok", f"{plan.data.source} can be read ({', '.join(user.test for user in plans)})")
