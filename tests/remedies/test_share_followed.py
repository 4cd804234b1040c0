"""The share of errors whose remedy a test follows, which may only grow."""

from __future__ import annotations

from collections import Counter

from remedies.following import SITES, Case
from remedies.test_command_remedies import COMMANDS, COMPARISONS, DEPLOYMENTS
from remedies.test_config_remedies import SUITES
from remedies.test_data_remedies import COLUMNS, FILES
from remedies.test_further_remedies import CASES as FURTHER
from remedies.test_model_remedies import MODELS

FOLLOWED = 103
"""Errors in the source whose remedy is followed at least once; raise it with every new case."""
CASES: list[Case] = [*SUITES, *MODELS, *FILES, *COLUMNS, *COMMANDS, *COMPARISONS, *DEPLOYMENTS, *FURTHER]


def test_share_of_followed_remedies_does_not_shrink() -> None:
    cases = Counter(case.site for case in CASES if case.site)
    assert set(cases) <= set(SITES), set(cases) - set(SITES)
    # A function with several errors may have several cases of one of them: each counts at most as often as both allow.
    followed = sum(
        min(count, len({case.says for case in CASES if case.site == site}), SITES[site])
        for site, count in cases.items()
    )
    print(f"{followed} of {sum(SITES.values())} errors with a remedy, {len(cases)} of {len(SITES)} functions")
    assert followed >= FOLLOWED
