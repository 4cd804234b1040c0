"""A gate that guessing reaches is refused before anything is asked."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from contrapose.tasks.config.plan import Plan
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.registry import probe
from contrapose.tasks.probes.values import numbers
from contrapose.tasks.tables.table import Table, batches
from contrapose.tasks.text.wording import apart

COLUMNS = ["chance", "control", "skip_reason"]


def refuse_guessable(plan: Plan, cases: Table) -> None:
    """Refuse a least pass rate that a model which guesses reaches, unless controls show who guesses.

    A gate of zero asks for nothing, and is let through.

    Raises:
        ConfigError: with the pass rate of a guesser over these cases.
    """
    chosen = probe(plan.test)
    if plan.control and chosen.controlled:
        return
    chance = chance_of(cases)
    if chance is None or not 0 < plan.min_pass_rate <= chance:
        return
    guessed, gate = apart(chance, plan.min_pass_rate)
    raise ConfigError(
        f"a gate of {gate}, which tells nothing: guessing passes {guessed} of these cases",
        expected=f"a least pass rate above {guessed}",
        remedy="Raise min_pass_rate" + (", or set control: true." if chosen.controlled else "."),
        where=f"tests.{chosen.category}.{plan.test}.min_pass_rate",
    )


def chance_of(cases: Table) -> float | None:
    """Mean pass rate of a guesser over the cases that are asked; None where one of them cannot be guessed."""
    asked = pa.concat_tables(
        part.filter(pc.and_(pc.is_null(part["skip_reason"]), pc.invert(part["control"])))
        for part in batches(cases, columns=COLUMNS)
    )
    chance = numbers(asked["chance"].to_pandas())
    return float(chance.mean()) if len(chance) and np.isfinite(chance).all() else None
