"""Read finished runs from their folders, and check that they share the settings that a comparison needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from contrapose.tasks.config.data_settings import PLACE, merge_data_settings
from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.config.plan import plans
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.comparison import Contender
from contrapose.tasks.core.errors import ComparisonError
from contrapose.tasks.core.model_files import existing_folder
from contrapose.tasks.core.places import Place
from contrapose.tasks.core.registry import config_key, probe, select_answer_arguments
from contrapose.tasks.core.stopping import Stopping
from contrapose.tasks.statistics.looks import Looks

GENERAL: Mapping[str, object] = {
    "seed": 0,
    "repeats": 1,
    "wordings": 1,
    "system_instruction": None,
    "few_shot": [],
    "embedding_model": None,
    "reader": None,
}
"""Keys of the configuration that every test depends on, with what holds where a run does not name them."""
VERSION = "version of the test"


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedRun:
    """A finished run with the facts that must be equal for a comparison."""

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
    """What the provider found the run's reader to be; empty if none was asked."""
    tests: Mapping[str, Mapping[str, object]]
    """For each test its data, version, limit and settings, likewise."""
    gates: Mapping[str, float | None]
    """For each test the least pass rate that was asked for, which may differ, or None if that is not told."""
    stopping: Mapping[str, Stopping] = field(default_factory=dict)
    """How far the tests were asked that could stop early."""

    @property
    def early(self) -> Mapping[str, Stopping]:
        """Return how far the tests were asked that did stop early."""
        return {test: stop for test, stop in self.stopping.items() if stop["judged"] < stop["cases"]}


def read_finished_run(name: str, runs: Place) -> FinishedRun:
    """Read a finished run by its folder, or by its id among folders of runs, or raise ComparisonError."""
    folder = find_run_folder(name, runs)
    if folder is None:
        raise _unfit_error(name, f"no such folder, and no run of that id in {runs}")
    contents: dict[str, Any] = {}
    for file in ("summary.json", "manifest.json"):
        try:
            contents[file] = (folder / file).json()
        except FileNotFoundError:
            raise _unfit_error(str(folder), f"no {file}, so the run is not finished") from None
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or type(error).__name__
            raise _unfit_error(str(folder), f"{file} cannot be read ({why})") from error
    try:
        return _read_run(folder, contents["summary.json"], contents["manifest.json"])
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        observed = f"summary.json or manifest.json is not one that a run writes ({error!r})"
        raise _unfit_error(str(folder), observed) from error


def find_run_folder(name: str, runs: Place) -> Place | None:
    """Return the folder that a run's folder or id stands for; None if there is none."""
    if "://" not in name and (folder := existing_folder(name)):
        return Place(str(folder.resolve()))
    place = Place.at(name, setting="the run") if "://" in name else runs / name
    if place.is_local:
        # Whatever a name holds, it may be asked for.
        folder = existing_folder(str(place.path))
        return None if folder is None else Place(str(folder.resolve()))
    return place if (place / "manifest.json").exists() else None


def find_baseline_folder(address: str, config: RunConfig) -> str:
    """Return the folder of the run that is the baseline of a new run, before that asks a model.

    Args:
        address: folder of a finished run, or one that holds runs: the newest finished one of the suite counts.
        config: the new run.

    Raises:
        ComparisonError: there is none, or its tests are already known to be others.
    """
    baseline = _find_baseline(address, config.suite)
    known = {plan.test: {VERSION: probe(plan.test).version, "limit": plan.limit} for plan in plans(config)}
    planned = replace(
        baseline,
        folder=Place("this run"),
        general=_list_run_facts(config.model_dump(mode="json")),
        tests={test: {**baseline.tests.get(test, {}), **facts} for test, facts in known.items()},
    )
    refuse_unlike([baseline, planned])
    return str(baseline.folder)


def _find_baseline(address: str, suite: str) -> FinishedRun:
    place = Place.at(address, setting="--against").resolved()
    if (place / "summary.json").exists():
        return read_finished_run(str(place), place)
    # A run's name begins with its time.
    for name in sorted(place.names(), reverse=True):
        try:
            summary = (place / name / "summary.json").json()
        except (OSError, ValueError):
            continue
        if isinstance(summary, dict) and summary.get("suite") == suite and summary.get("verdict") != "incomplete":
            return read_finished_run(str(place / name), place)
    raise ComparisonError(
        f"no finished run of the suite {suite}",
        expected="the folder of a finished run, or a folder that holds one",
        remedy="Run the suite on the main branch first, or name another folder.",
        where=f"--against {address}",
    )


def find_joint_looks(runs: Sequence[FinishedRun], test: str) -> Looks | None:
    """Return the looks that runs share if they were asked and stopped together, or None for other runs."""
    own = [run.stopping.get(test) for run in runs]
    schedules = [(stop.get("beside", []), stop.get("shares", [])) if stop else ([], []) for stop in own]
    beside, shares = schedules[0]
    alike = len(beside) >= len(runs) and all(schedule == schedules[0] for schedule in schedules)
    return Looks(shares=tuple(shares)) if alike and shares else None


def name_contenders(runs: Sequence[FinishedRun]) -> list[Contender]:
    """Name the runs for a comparison by their models; add the folder if two runs have the same model."""
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


def _read_run(folder: Place, summary: Mapping[str, Any], manifest: Mapping[str, Any]) -> FinishedRun:
    config = manifest["config"]
    outcomes = {str(outcome["test_type"]): outcome for outcome in summary["tests"]}
    return FinishedRun(
        folder=folder,
        id=str(summary["run_id"]),
        model=str(summary["model"]["id"]),
        revision=str(summary["model"]["revision"]),
        verdict=str(summary["verdict"]),
        general=_list_run_facts(config),
        reader=manifest.get("reader", {}),
        tests={test: _list_test_facts(outcome, config) for test, outcome in outcomes.items()},
        gates={test: outcome.get("min_pass_rate") for test, outcome in outcomes.items()},
        stopping={test: outcome["stopping"] for test, outcome in outcomes.items() if outcome.get("stopping")},
    )


def _list_run_facts(config: Mapping[str, Any]) -> dict[str, object]:
    reader = config.get("reader")
    # Only what can change what the reader reads.
    reader_args = select_answer_arguments(ModelSpec(id=reader, args=config.get("reader_args") or {})) if reader else {}
    return {
        **{name: config.get(name, other) for name, other in GENERAL.items()},
        **_add_prefix("gen_kwargs", config["gen_kwargs"]),
        **_add_prefix("reader_args", reader_args),
    }


def _list_test_facts(outcome: Mapping[str, Any], config: Mapping[str, Any]) -> dict[str, object]:
    own = config["tests"][outcome["category"]][config_key(outcome["test_type"])]
    data = merge_data_settings(own.get("data"), config.get("data") or outcome["data"]["source"])
    # The limit of a bundled suite cuts no data of the user's own.
    uncut = config.get("limit_from") == "bundled" and "limited_by" not in outcome["data"]
    return {
        "data": outcome["data"]["sha256"],
        **_add_prefix("data", data.model_dump(mode="json", exclude=PLACE)),
        VERSION: outcome["probe_version"],
        "limit": own.get("limit") or (None if uncut else config.get("limit")),
        **_add_prefix("settings", outcome["settings"]),
    }


def _add_prefix(group: str, values: Mapping[str, object]) -> dict[str, object]:
    return {f"{group}.{name}": value for name, value in values.items()}


def _unfit_error(name: str, observed: str) -> ComparisonError:
    return ComparisonError(
        observed,
        expected="the folder of a finished run, or its id",
        remedy="Choose another folder with --runs; `contrapose resume` lists runs that are not finished.",
        where=name,
    )


def list_shared_tests(runs: Iterable[FinishedRun]) -> list[str]:
    """Return the tests that every run has, in the order of the first run."""
    first, *others = runs
    return [test for test in first.tests if all(test in other.tests for other in others)]


LONGEST = 60
"""Characters of a value in a message."""

REMEDIES = {
    "data": "Evaluate both models on the same rows.",
    VERSION: "Evaluate the model of the older run again with this version of Contrapose.",
}


def refuse_unlike(runs: Sequence[FinishedRun]) -> None:
    """Raise ComparisonError if runs did not ask the same, or if there are fewer than two."""
    folders = [run.folder for run in runs]
    if len(set(folders)) < max(2, len(folders)):
        raise ComparisonError(
            f"{len(set(folders))} different among {len(folders)} named",
            expected="two or more runs, each named once",
            remedy="Name the folders of the runs that are to be compared.",
            where="runs",
        )
    if not list_shared_tests(runs):
        raise ComparisonError(
            "; ".join(f"{run.folder.name} has {', '.join(run.tests) or 'none'}" for run in runs),
            expected="at least one test that all runs have",
            remedy="Evaluate the models with the same suite.",
        )
    first = runs[0]
    for other in runs[1:]:
        facts = [("every test", first.general, other.general)]
        facts += [(test, first.tests[test], other.tests[test]) for test in list_shared_tests(runs)]
        for test, one, two in facts:
            for what in dict.fromkeys([*one, *two]):
                values = one.get(what), two.get(what)
                if what not in SCORERS and values[0] != values[1]:
                    raise make_unlike_error(what, first, other, values=values, test=test)


SCORERS = ("settings.scorer", "settings.read_with")
"""Settings that say how cases are scored: the rows tell how each one was."""


def make_unlike_error(
    what: str, first: FinishedRun, second: FinishedRun, *, values: tuple[object, object], test: str, remedy: str = ""
) -> ComparisonError:
    """Return the error that two runs differ in one thing."""
    texts = map(repr, values)
    one, other = (text if len(text) <= LONGEST else f"{text[:LONGEST]}…" for text in texts)
    return ComparisonError(
        f"{what} is {one} in {first.folder.name} and {other} in {second.folder.name}",
        expected="the same in runs that are compared",
        remedy=remedy or REMEDIES.get(what, f"Evaluate one of the models again with the same {what}."),
        where=f"{second.folder.name}, {test}",
    )
