"""A rate of cases and its bounds against a gate; unreadable cases count once as passed and once as failed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np

from contrapose.tasks.statistics.components import cover_wordings, estimate_components
from contrapose.tasks.statistics.looks import ONE_LOOK, Looks
from contrapose.tasks.statistics.shares import (
    CONFIDENCE,
    LEVEL,
    Interval,
    Share,
    clustered_share,
    copies,
    evidence,
    wilson,
)


class RowOrigin(NamedTuple):
    """Sample and wording of each row, for a test whose wordings are a sample of all wordings."""

    sample: np.ndarray
    """(rows,): numbers of the samples."""
    wording: np.ndarray
    """(rows,): numbers of the wordings."""

    def of(self, rows: np.ndarray) -> RowOrigin:
        """Return only some of the rows."""
        return RowOrigin(self.sample[rows], self.wording[rows])

    def cover(self, share: Share, true: np.ndarray) -> Share:
        """Return the share of true rows with the variance of the wordings in its evidence."""
        wordings = copies(np.unique(self.wording, return_counts=True)[1])
        return cover_wordings(share, estimate_components(true, self.sample, self.wording), wordings=wordings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """A rate with a gate; its open cases, which have no clear result, count once as passed and once as failed.

    Open cases could not be read, scored or answered. A gate is reached only where it is reached with
    all of that counted as failed, and missed only where it is missed with all of it counted as passed: these bounds
    hold whatever made the replies unreadable (C. F. Manski, Partial Identification of Probability Distributions, 2003,
    chapter 1).
    """

    name: str
    wanted: float
    """The gate, 0 to 1."""
    worst: Share
    """With every open case counted as failed."""
    best: Share
    """With every open case counted as passed."""
    lenient: Share
    """As `best`, with the benefit of the doubt for what the test is not about, such as a wrong answer before."""
    strict: Share
    """As `worst`, where passes that noise may explain count as failed."""
    open: int
    """Cases that could have gone either way."""
    doubt: str = ""
    """The sentence that says that noise may explain the changed answers."""
    chance: float | None = None
    """The rate of a model that guesses."""
    constant: str = ""
    """The one answer that reaches this chance; empty if guesses do."""
    looks: Looks = ONE_LOOK
    too_few: bool = False
    """It counts too few cases to claim anything."""
    votes: int = 1
    """Rows of the shares that are about one case, such as the choices in its two orders."""

    @property
    def rows(self) -> int:
        """Number of counted cases, open ones too."""
        return self.worst.rows // self.votes

    @property
    def value(self) -> float | None:
        """Rate over the cases that are not open, or None if all are."""
        known = self.worst.rows - (self.best.true - self.worst.true)
        return self.worst.true / known if known else None

    @property
    def interval(self) -> Interval:
        """Wilson's two-sided 95 % interval: from the lower end of the worst to the upper end of the best.

        With several looks all their intervals together are right in 95 %: C. Jennison, B. W. Turnbull, JRSS B 51
        (1989) 305-361.
        """
        low, high = (
            wilson(share, confidence=CONFIDENCE if self.looks == ONE_LOOK else 1 - 2 * self._level(share, LEVEL / 2))
            for share in (self.worst, self.best)
        )
        return Interval(low.low, high.high)

    def _level(self, share: Share, level: float = LEVEL) -> float:
        """Return the level that this look may use."""
        return self.looks.level(level, freedom=share.freedom)

    @property
    def bounds(self) -> Interval:
        """Bounds over all looks, each 95 %: the rate is at least `low`; separately, it is at most `high`."""
        low, high = (evidence(share, self.wanted, level=self._level(share)).bounds for share in (self.worst, self.best))
        return Interval(low.low, high.high)

    @property
    def reached(self) -> float:
        """P value, over all looks, of a rate this high or higher, if the true rate were at the gate."""
        return self.looks.overall(evidence(self.strict, self.wanted).reached, freedom=self.strict.freedom)

    @property
    def missed(self) -> float:
        """P value, over all looks, of a rate this low or lower, if the true rate were at the gate."""
        return self.looks.overall(evidence(self.lenient, self.wanted).missed, freedom=self.lenient.freedom)

    @property
    def may_be_reached(self) -> bool:
        """True if this look alone shows the gate reached: a quick check before the p value over all looks."""
        return evidence(self.strict, self.wanted).reached <= self._level(self.strict)

    @property
    def may_be_missed(self) -> bool:
        """True if this look alone shows the gate missed."""
        return evidence(self.lenient, self.wanted).missed <= self._level(self.lenient)

    @property
    def is_doubted(self) -> bool:
        """True if only the doubt about noise prevents a claim."""
        claims = (evidence(self.worst, self.wanted).reached, evidence(self.best, self.wanted).missed)
        return bool(self.doubt) and min(claims) <= LEVEL < min(self.reached, self.missed)

    @property
    def label(self) -> str:
        """Name of the rate for display."""
        return self.name.replace("_", " ")


class GatedCases(NamedTuple):
    """The cases that a rate with a gate counts."""

    name: str
    wanted: float
    """The gate."""
    chance: float | None
    """The rate of a model that guesses."""
    rows: np.ndarray
    """(results,) of booleans: which rows these are."""
    met: np.ndarray
    """(cases,) or (cases, votes): 1, 0, or NaN for what is open."""
    at_best: np.ndarray | None = None
    """The same with the benefit of the doubt for what the test is not about."""
    at_worst: np.ndarray | None = None
    """The same where changes that may be noise do not count as passed."""
    doubt: str = ""
    """The sentence that says that noise may explain the changes; empty if it does not."""
    constant: str = ""
    """The one answer that reaches this chance; empty if guesses do."""
    too_few: str = ""
    """The sentence that says that these are too few to claim anything."""

    def excuse_noise(self, changed: np.ndarray, doubt: str, *, stays: bool) -> GatedCases:
        """Return the cases without results that noise may explain: fails if answers should stay, else passes.

        `changed` is (results,): 1 where the answer changed.
        """
        own = changed[self.rows] == 1
        own = own[:, None] if self.met.ndim > 1 else own
        if stays:
            best = self.met if self.at_best is None else self.at_best
            return self._replace(at_best=np.where(own, 1.0, best), doubt=doubt)
        return self._replace(at_worst=np.where(own & (self.met == 1), 0.0, self.met), doubt=doubt)

    def rate(self, cluster: np.ndarray, looks: Looks, asked: RowOrigin | None = None) -> Rate | None:
        """Return the rate, by cluster and wording of each row of the results, or None if there are no cases."""
        return compute_rate(
            self.name,
            self.met,
            cluster[self.rows],
            wanted=self.wanted,
            chance=self.chance,
            constant=self.constant,
            at_best=self.at_best,
            at_worst=self.at_worst,
            doubt=self.doubt,
            too_few=bool(self.too_few),
            looks=looks,
            asked=asked and asked.of(self.rows),
        )


Own = TypeVar("Own", Rate, GatedCases)


def find_trivial_gate(rates: Sequence[Own]) -> Own | None:
    """Return a rate whose gate a guessing model would reach, or None if no guessing model would pass the test.

    A constant answer that reaches one gate is enough: it stays, and so reaches the others too. Of the gates that
    guesses reach, all have to be reached. A gate of zero asks for nothing.
    """
    guessed = [rate for rate in rates if rate.chance is not None and 0 < rate.wanted <= rate.chance]
    constant = [rate for rate in guessed if rate.constant or rate.chance == 1]
    return next(iter(constant or (guessed if len(guessed) == len(rates) else [])), None)


def compute_rate(
    name: str,
    met: Any,
    cluster: Any,
    *,
    wanted: float,
    chance: float | None = None,
    constant: str = "",
    at_best: Any = None,
    at_worst: Any = None,
    doubt: str = "",
    too_few: bool = False,
    looks: Looks = ONE_LOOK,
    asked: RowOrigin | None = None,
) -> Rate | None:
    """Return the rate of some cases, or None if there are none.

    `met` is (cases,) or (cases, votes) of 1, 0, or NaN for what is open; `cluster` has the labels of the cases, the
    same for cases that are not independent. `at_best` is `met` where what the test is not about is given the benefit
    of the doubt, `at_worst` where noise is denied it. Votes of one case are no independent rows: they share its
    cluster. `asked` are the wordings of cases whose rate is that over all wordings.
    """
    values, most, least = (np.asarray(met if part is None else part, dtype=float) for part in (met, at_best, at_worst))
    if not len(values):
        return None
    votes = values.shape[1] if values.ndim > 1 else 1
    is_open = np.isnan(values.reshape(len(values), votes)).any(axis=1)
    values, most, least = values.ravel(), most.ravel(), least.ravel()
    cluster = np.repeat(np.asarray(cluster), votes)
    worded = asked and asked.of(np.repeat(np.arange(len(is_open)), votes))

    def share_of(true: np.ndarray) -> Share:
        own = clustered_share(true, cluster)
        return own if worded is None else worded.cover(own, true)

    worst = share_of(values == 1)
    best = share_of(values != 0) if np.isnan(values).any() else worst
    return Rate(
        name=name,
        wanted=wanted,
        worst=worst,
        best=best,
        lenient=best if ((values != 0) == (most != 0)).all() else share_of(most != 0),
        strict=worst if ((values == 1) == (least == 1)).all() else share_of(least == 1),
        open=int(is_open.sum()),
        doubt=doubt,
        chance=chance,
        constant=constant,
        looks=looks,
        too_few=too_few,
        votes=votes,
    )
