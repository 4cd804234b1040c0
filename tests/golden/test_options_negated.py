"""Negation of stems with options against its gold set: a change for the worse fails here."""

from __future__ import annotations

import pytest
from places import golden_rows

from contrapose.tasks.probes.negation import negate


@pytest.mark.parametrize("part", ["tuned", "scored_only"])
def test_what_is_changed_reverses_the_right_options(part: str) -> None:
    made = [(row, negate(row["text"], options=row["options"]).text) for row in golden_rows(f"negation_options/{part}")]
    changed = [text in row["accept"] for row, text in made if text is not None]
    wanted = [text is not None for row, text in made if not row["skip"]]
    assert sum(changed) >= 0.97 * len(changed)
    assert sum(wanted) >= 0.95 * len(wanted)
