"""Result of a run or a comparison, for Python and for notebooks."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from contrapose.flows.cli.arguments import shorten_folder
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.places import Place

if TYPE_CHECKING:
    import pandas as pd

    from contrapose.tasks.core.comparison import Comparison
    from contrapose.tasks.core.comparison import Verdict as ComparedVerdict
    from contrapose.tasks.core.outcome import Summary, Verdict


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PublishedFolder:
    """A folder that a call has published."""

    location: str
    """Path or fsspec URL of its folder."""
    show_toxic: bool = False
    """Whether notebooks show toxic words instead of masking them."""

    @property
    def folder(self) -> Path:
        """Its folder on this machine.

        Raises:
            ContraposeError: it was published elsewhere.
        """
        place = Place(self.location)
        if not place.is_local:
            raise ConfigError(
                "the folder is not on this machine",
                expected="a folder on this machine, which has a path",
                remedy="Use location, which is a URL that fsspec reads.",
                where=self.location,
            )
        return place.path

    def _describe(self, verdict: str, content: str) -> str:
        from contrapose.tasks.text.cleaning import one_line

        # One line, which steers no terminal.
        return one_line(f"<{type(self).__name__} {verdict}: {content}; {shorten_folder(self.location)}>")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class EvaluatedRun(PublishedFolder):
    """A run that `evaluate` has published. A notebook shows its verdict and its tests."""

    summary: Summary
    """The content of summary.json: the model, what the answers took, and the outcome of each test under `tests`."""

    @property
    def verdict(self) -> Verdict:
        """`pass`, `fail`, `inconclusive` or `incomplete`: the worst of its tests."""
        return self.summary["verdict"]

    @property
    def passed(self) -> bool:
        """True if every test passed."""
        return self.verdict == "pass"

    @property
    def report(self) -> Path:
        """The page for people, which opens anywhere without network.

        Raises:
            ContraposeError: it was published elsewhere.
        """
        return self.folder / "report.html"

    @property
    def results(self) -> pd.DataFrame:
        """Raw text, one row per case, controls included; the columns are those of results.parquet, read anew.

        Raises:
            FileNotFoundError: the folder is gone.
        """
        import pandas as pd

        return pd.read_parquet(BytesIO((Place(self.location) / "results.parquet").read()))

    def __repr__(self) -> str:
        tests = (f"{outcome['test_type']} {outcome['verdict']}" for outcome in self.summary["tests"])
        return self._describe(self.verdict, ", ".join(tests))

    def _repr_html_(self) -> str:
        """Return HTML for notebooks: verdict, reason, and a line for each rate that has a gate."""
        from contrapose.tasks.report.notebook import render_run_table

        return render_run_table(self.summary, folder=shorten_folder(self.location), show_toxic=self.show_toxic)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ComparedRuns(PublishedFolder):
    """A comparison that `compare` has published. A notebook shows its verdict and each pair of models."""

    summary: Comparison
    """The content of comparison.json: the models, the leaderboard, and what came of each test under `tests`."""

    @property
    def verdict(self) -> ComparedVerdict:
        """`better`, `not worse`, `cannot tell` or `worse`: the worst of any model beside the baseline."""
        return self.summary["verdict"]

    @property
    def passed(self) -> bool:
        """True if no model is worse than the baseline, as far as the margin goes."""
        return self.verdict in ("better", "not worse")

    @property
    def report(self) -> Path:
        """The comparison in Markdown, for people.

        Raises:
            ContraposeError: it was published elsewhere.
        """
        return self.folder / "comparison.md"

    @property
    def results(self) -> pd.DataFrame:
        """Rank and pass rate, one row per test and model; also difference to the baseline and verdict.

        Rates and differences are shares from 0 to 1; what does not apply, or is unknown, is missing.
        """
        import pandas as pd

        from contrapose.tasks.report.notebook import list_comparison

        return pd.DataFrame(list_comparison(self.summary))

    def __repr__(self) -> str:
        return self._describe(self.verdict, ", ".join(model["name"] for model in self.summary["models"]))

    def _repr_html_(self) -> str:
        """Return HTML for notebooks: verdict, reason, and a line for each test and model."""
        from contrapose.tasks.report.notebook import render_comparison

        return render_comparison(self.summary, folder=shorten_folder(self.location), show_toxic=self.show_toxic)
