"""Wording designs in `contrapose estimate`: forecast the lengths of intervals, and find the cheapest design."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from contrapose.flows.cli.preview import Preview
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.errors import ContraposeError
from contrapose.tasks.core.places import Place
from contrapose.tasks.core.slices import WordingVariances
from contrapose.tasks.forecast.designs import RATE, Design, assume_variances, cheapest
from contrapose.tasks.history.dataset import find_place
from contrapose.tasks.history.queries import select_runs
from contrapose.tasks.history.reading import read_history
from contrapose.tasks.perturb.wordings import count_wordings
from contrapose.tasks.probes.prompt_settings import PromptSettings
from contrapose.tasks.statistics.components import ASSUMED, LEAST_WORDINGS
from contrapose.tasks.statistics.power import IN_SAMPLE
from contrapose.tasks.text.wording import percent

LOOKED_AT = 20
"""Latest runs of a model that may hold measured variances."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WordingForecast:
    """Forecast for a test that asks in several wordings."""

    design: Design
    """As it is configured."""
    variances: WordingVariances
    run: str | None
    """The earlier run that measured them; None: they are assumed."""
    cheapest: Design | None
    """The fewest cases with an interval of the wanted length; None where no design has one."""
    wanted: float
    """That length, to either side."""
    largest: Design
    """All samples of the data in all wordings that there are."""

    @property
    def share(self) -> float:
        """Return the share of the variance that is between wordings."""
        own = self.variances
        whole = (own["samples"] or 0.0) + own["wordings"] + own["askings"] + own["rest"]
        return own["wordings"] / whole if whole else 0.0

    @property
    def half_width(self) -> float | None:
        """Return half the expected length of the interval; None if it does not cover the choice of wordings."""
        return self.design.half_width(self.variances) if self.design.wordings >= LEAST_WORDINGS else None

    def as_plain(self) -> dict[str, Any]:
        """Return the figures for JSON."""
        return {**asdict(self), "half_width": self.half_width}

    def notes(self, test: str) -> Iterator[str]:
        """Explain the design, its expected precision, and a cheaper design."""
        own, basis = self.design, f"measured by {self.run}"
        if self.run is None:
            basis = f"assumed: a pass rate of {percent(RATE)}, {percent(IN_SAMPLE)} of the variance between samples, "
            basis += f"{percent(ASSUMED)} between wordings"
        asked = f"{test} asks each sample in {own.per_sample} of {own.wordings} wordings"
        if self.half_width is None:
            yield f"{asked}: its interval will hold for these wordings alone. Set wordings to {LEAST_WORDINGS} or more."
        else:
            yield f"{asked}. Expected interval: {_to_points(self.half_width)} to either side ({basis})."
        if self.cheapest is None:
            most = self.largest
            yield (
                f"{test}: no design has an interval of {_to_points(self.wanted)} to either side. All {most.samples:,} "
                f"rows in {most.wordings} wordings have {_to_points(most.half_width(self.variances))}; "
                "more templates of your own would help."
            )
            return
        best = self.cheapest
        yield (
            f"{test}: the fewest cases for {_to_points(self.wanted)} to either side are {best.cases:,}: "
            f"limit {best.samples:,}, wordings {best.wordings}, wordings_each {best.per_sample}."
        )


def forecast_wordings(config: RunConfig, previews: Sequence[Preview], *, wanted: float) -> dict[str, WordingForecast]:
    """Return the forecast of each test with several wordings, from what an earlier run of the model measured."""
    forecasts = {}
    for preview in previews:
        plan, settings = preview.plan, preview.plan.probe_settings
        count, per_sample = count_wordings(plan)
        if count == 1 or not isinstance(settings, PromptSettings) or not preview.loaded.samples:
            continue
        measured = find_measured_variances(config, plan.test)
        run, variances = measured if measured else (None, assume_variances())
        most = count if settings.prompt is not None else settings.built_in_count
        rows = preview.loaded.rows
        forecasts[plan.test] = WordingForecast(
            design=Design(samples=len(preview.loaded.samples), wordings=count, per_sample=per_sample),
            variances=variances,
            run=run,
            cheapest=cheapest(variances, half_width=wanted, most_samples=rows, most_wordings=most),
            wanted=wanted,
            largest=Design(samples=rows, wordings=most, per_sample=most),
        )
    return forecasts


def find_measured_variances(config: RunConfig, test: str) -> tuple[str, WordingVariances] | None:
    """Return the latest run that measured the variances of a test of this model, and them; None if no run did."""
    with suppress(ContraposeError, OSError, ValueError):
        rows = read_history(find_place(config.history, config.output)).rows
        folder = Place.at(config.output, setting="output")
        for run in reversed(select_runs(rows, model=config.model, tests=[test])[-LOOKED_AT:]):
            with suppress(ContraposeError, OSError, ValueError, KeyError, TypeError):
                summary: Mapping[str, Any] = (folder / run["run_id"] / "summary.json").json()
                own = next(one for one in summary["tests"] if one["test_type"] == test).get("wordings")
                if own and own["variances"]:
                    names = WordingVariances.__annotations__
                    values: Any = {name: own["variances"][name] for name in names}
                    return run["run_id"], values
    return None


def _to_points(share: float) -> str:
    return f"{100 * share:.1f} points"
