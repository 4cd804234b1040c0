"""Finished runs as their folders tell of them, and what must be the same in those that are compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from contrapose.tasks.config.data_settings import PLACE, data_of
from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.comparison import Contender
from contrapose.tasks.core.errors import ComparisonError
from contrapose.tasks.core.hub import existing_folder
from contrapose.tasks.core.places import Place
from contrapose.tasks.core.registry import answering
from contrapose.tasks.core.stopping import Stopping
from contrapose.tasks.statistics.looks import Looks

GENERAL: Mapping[str, object] = {
    "seed": 0,
    "repeats": 1,
    "system_instruction": None,
    "few_shot": [],
    "embedding_model": None,
    "reader": None,
}
"""Keys of the configuration that every test depends on, with what holds where a run does not name them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedRun:
    """A run, with everything that must be the same in another one for the two to be comparable."""

    folder: Place
    """Folder that the run was published to."""
    id: str
    """Its name."""
    model: str
    """Id of the model."""
    revision: str
    """What the provider found the model to be."""
    verdict: str
    """Verdict on the run: the worst of its tests."""
    general: Mapping[str, object]
    """What holds for every test: seed, generation parameters and so on, by the name that users know."""
    reader: Mapping[str, str]
    """What the provider found the run's reader to be; empty where none was asked."""
    tests: Mapping[str, Mapping[str, object]]
    """For each test its data, version, limit and settings, likewise."""
    gates: Mapping[str, float | None]
    """For each test the least pass rate that was asked for, which may differ; None where that is not told."""
    stopping: Mapping[str, Stopping] = field(default_factory=dict)
    """How far the tests were asked that could stop early."""

    @property
    def early(self) -> Mapping[str, Stopping]:
        """How far those were asked that did."""
        return {test: stop for test, stop in self.stopping.items() if stop["judged"] < stop["cases"]}


def finished_run(name: str, runs: Place) -> FinishedRun:
    """A run by its folder, or by its id, which is looked for among folders of runs.

    Raises:
        ComparisonError: there is no such run, or it is not finished.
    """
    folder = run_folder(name, runs)
    if folder is None:
        raise _unfit(name, f"no such folder, and no run of that id in {runs}")
    summary, manifest = (_content(folder, file) for file in ("summary.json", "manifest.json"))
    try:
        return _run(folder, summary, manifest)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise _unfit(str(folder), f"summary.json or manifest.json is not one that a run writes ({error!r})") from error


def run_folder(name: str, runs: Place) -> Place | None:
    """The folder that a run's folder or id stands for; None where there is none."""
    if "://" not in name and (folder := existing_folder(name)):
        return Place(str(folder.resolve()))
    place = Place.at(name, setting="the run") if "://" in name else runs / name
    if place.is_local:
        # Whatever a name holds, it may be asked for.
        folder = existing_folder(str(place.path))
        return None if folder is None else Place(str(folder.resolve()))
    return place if (place / "manifest.json").exists() else None


def asked_side_by_side(runs: Sequence[FinishedRun], test: str) -> Looks | None:
    """When runs might have been stopped that were asked the same cases of a test side by side; None for any others."""
    own = [run.stopping.get(test) for run in runs]
    schedules = [(stop.get("beside", []), stop.get("shares", [])) if stop else ([], []) for stop in own]
    beside, shares = schedules[0]
    alike = len(beside) >= len(runs) and all(schedule == schedules[0] for schedule in schedules)
    return Looks(shares=tuple(shares)) if alike and shares else None


def contenders(runs: Sequence[FinishedRun]) -> list[Contender]:
    """The runs as comparisons name them: each by its model, with its place where another has the same one."""
    models = [run.model for run in runs]
    return [
        Contender(
            name=run.model if models.count(run.model) == 1 else f"{run.model} ({place})",
            model=run.model,
            revision=run.revision,
            run_id=run.id,
            folder=str(run.folder),
            verdict=run.verdict,
        )
        for place, run in enumerate(runs, start=1)
    ]


def _content(folder: Place, name: str) -> Any:
    try:
        return (folder / name).json()
    except FileNotFoundError:
        raise _unfit(str(folder), f"no {name}, so the run is not finished") from None
    except (OSError, ValueError) as error:
        raise _unfit(
            str(folder), f"{name} cannot be read ({getattr(error, 'strerror', None) or type(error).__name__})"
        ) from error


def _run(folder: Place, summary: Mapping[str, Any], manifest: Mapping[str, Any]) -> FinishedRun:
    config = manifest["config"]
    return FinishedRun(
        folder=folder,
        id=str(summary["run_id"]),
        model=str(summary["model"]["id"]),
        revision=str(summary["model"]["revision"]),
        verdict=str(summary["verdict"]),
        general={name: config.get(name, other) for name, other in GENERAL.items()}
        | _named("gen_kwargs", config["gen_kwargs"])
        | _named("reader_args", _reader_args(config)),
        reader=manifest.get("reader", {}),
        tests={str(outcome["test_type"]): _facts(outcome, config) for outcome in summary["tests"]},
        gates={str(outcome["test_type"]): outcome.get("min_pass_rate") for outcome in summary["tests"]},
        stopping={
            str(outcome["test_type"]): outcome["stopping"] for outcome in summary["tests"] if outcome.get("stopping")
        },
    )


def _reader_args(config: Mapping[str, Any]) -> Mapping[str, object]:
    """What was said of the reader that can change what it reads."""
    reader = config.get("reader")
    return answering(ModelSpec(id=reader, args=config.get("reader_args") or {})) if reader else {}


def _facts(outcome: Mapping[str, Any], config: Mapping[str, Any]) -> dict[str, object]:
    own = config["tests"][outcome["category"]][outcome["test_type"]]
    data = data_of(own.get("data"), config.get("data") or outcome["data"]["source"])
    return {
        "data": outcome["data"]["sha256"],
        **_named("data", data.model_dump(mode="json", exclude=PLACE)),
        "version of the test": outcome["probe_version"],
        "limit": own.get("limit") or _limit(outcome, config),
        **_named("settings", outcome["settings"]),
    }


def _limit(outcome: Mapping[str, Any], config: Mapping[str, Any]) -> object:
    """The run's limit as far as it is one for this test: a bundled suite's cuts no data of one's own."""
    bundled = config.get("limit_from") == "bundled"
    return None if bundled and "limited_by" not in outcome["data"] else config.get("limit")


def _named(group: str, values: Mapping[str, object]) -> dict[str, object]:
    return {f"{group}.{name}": value for name, value in values.items()}


def _unfit(name: str, observed: str) -> ComparisonError:
    return ComparisonError(
        observed,
        expected="the folder of a finished run, or its id",
        remedy="Choose another folder with --runs; `contrapose resume` lists runs that are not finished.",
        where=name,
    )


def names_of(runs: Iterable[FinishedRun]) -> list[str]:
    """Tests that every run has, in the order of the first run."""
    first, *others = runs
    return [test for test in first.tests if all(test in other.tests for other in others)]


LONGEST = 60
"""Characters of a value in a message."""

REMEDIES = {
    "data": "Evaluate both models on the same rows.",
    "version of the test": "Evaluate the model of the older run again with this version of Contrapose.",
}


def refuse_unlike(runs: Sequence[FinishedRun]) -> None:
    """Refuse runs that did not ask the same, and fewer than two of them.

    Raises:
        ComparisonError: with the run, the test, what differs, and both values.
    """
    _refuse_twice(runs)
    first, *others = runs
    if not names_of(runs):
        raise ComparisonError(
            "; ".join(f"{run.folder.name} has {', '.join(run.tests) or 'none'}" for run in runs),
            expected="at least one test that all runs have",
            remedy="Evaluate the models with the same suite.",
        )
    for other in others:
        _same(first, other, first.general, other.general, test="every test")
        for test in names_of(runs):
            _same(first, other, *(_without_scorers(run.tests[test]) for run in (first, other)), test=test)


SCORERS = ("settings.scorer", "settings.read_with")
"""Settings that say how cases are scored: the rows tell how each one was."""


def _without_scorers(facts: Mapping[str, object]) -> Mapping[str, object]:
    return {name: value for name, value in facts.items() if name not in SCORERS}


def unlike(
    what: str, first: FinishedRun, second: FinishedRun, *, values: tuple[object, object], test: str, remedy: str = ""
) -> ComparisonError:
    """The error that two runs differ in one thing."""
    one, other = map(_short, values)
    return ComparisonError(
        f"{what} is {one} in {first.folder.name} and {other} in {second.folder.name}",
        expected="the same in runs that are compared",
        remedy=remedy or REMEDIES.get(what, f"Evaluate one of the models again with the same {what}."),
        where=f"{second.folder.name}, {test}",
    )


def _same(
    first: FinishedRun, second: FinishedRun, one: Mapping[str, object], other: Mapping[str, object], *, test: str
) -> None:
    for what in dict.fromkeys([*one, *other]):
        values = one.get(what), other.get(what)
        if values[0] != values[1]:
            raise unlike(what, first, second, values=values, test=test)


def _refuse_twice(runs: Sequence[FinishedRun]) -> None:
    folders = [run.folder for run in runs]
    if len(set(folders)) < max(2, len(folders)):
        raise ComparisonError(
            f"{len(set(folders))} different among {len(folders)} named",
            expected="two or more runs, each named once",
            remedy="Name the folders of the runs that are to be compared.",
            where="runs",
        )


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
