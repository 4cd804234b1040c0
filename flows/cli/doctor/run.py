"""What one run needs: its configuration, its model, and its data. No prompt is sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Literal

from contrapose.flows.cli.doctor.base import DoctorFinding, ok, problem, seen, warning
from contrapose.tasks.core.bounds import within
from contrapose.tasks.core.errors import ContraposeError

if TYPE_CHECKING:
    from contrapose.tasks.config.model_spec import ModelSpec
    from contrapose.tasks.config.plan import Plan
    from contrapose.tasks.config.run_config import RunConfig

WAIT = 10.0
"""Seconds until a model must have answered: its key may come from a server, too."""
ROWS = 200
"""Rows of a source that are read; `contrapose validate` reads all."""


def findings(config: RunConfig | None) -> Iterator[DoctorFinding]:
    """Nothing without a configuration."""
    if config is None:
        return
    from contrapose.tasks.config.plan import plans
    from contrapose.tasks.core.registry import probe

    yield _model("model", config.model_spec())
    if (reader := config.reader_spec()) is not None:
        yield _model("reader", reader)
    try:
        chosen = plans(config)
    except ContraposeError as error:
        yield failed("tests", error)
        return
    yield ok("tests", ", ".join(plan.test for plan in chosen))
    users: dict[str, list[Plan]] = {}
    for plan in chosen:
        users.setdefault(plan.data.model_dump_json() + probe(plan.test).sample_type.__name__, []).append(plan)
    yield from map(_data, users.values())


def failed(name: str, error: ContraposeError) -> DoctorFinding:
    """A problem that the user can mend."""
    observed = f"{error.found}; expected {error.expected}"
    return problem(name, f"{error.where}: {observed}" if error.where else observed, error.remedy)


def _model(name: Literal["model", "reader"], spec: ModelSpec) -> DoctorFinding:
    from contrapose.flows.reader import about_reader
    from contrapose.tasks.core.registry import provider

    try:
        chosen = provider(spec.known_provider)
        blocks = [key for key, argument in chosen.arguments.items() if argument.role == "block" and key in spec.args]
        if blocks and not _has_server():
            block = spec.args[blocks[0]]
            message = f"Prefect Secret block {block} was not looked at: it is in a Prefect server, and none is set"
            return warning(name, message, "Set PREFECT_API_URL to the server that has the block.")
        return seen(name, within(lambda: chosen.check(spec), WAIT))
    except ContraposeError as error:
        return failed(name, error if name == "model" else about_reader(error))
    except TimeoutError as error:
        return problem(name, f"{spec.id}: {error}", f"See that it can be reached, or correct {name}_args.")


def _has_server() -> bool:
    from prefect.settings import get_current_settings

    return bool(get_current_settings().api.url)


def _data(plans: Sequence[Plan]) -> DoctorFinding:
    """Whether the first rows of a source that these tests share can be used."""
    from contrapose.tasks.core.registry import probe
    from contrapose.tasks.load.samples import Drawing

    name, plan = "data", plans[0]
    kind = probe(plan.test).sample_type
    drawing = Drawing(data=plan.data, sample_type=kind, limit=None, seed=0, most=ROWS, uses_answers=False)

    def first() -> object:
        with closing(drawing.samples()) as samples:  # type: ignore[type-var]
            return next(samples, None)

    try:
        sample = within(first)
    except ContraposeError as error:
        return failed(name, error)
    except TimeoutError as error:
        return problem(name, f"{plan.data.source}: {error}", "See that it can be reached, or copy it here.")
    if sample is None:
        return problem(name, f"{plan.data.source}: no rows", "Name a source that has some.")
    return ok(name, f"{plan.data.source} can be read ({', '.join(user.test for user in plans)})")
