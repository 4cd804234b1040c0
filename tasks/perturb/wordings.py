"""Assign the wordings of a prompt to samples: each wording gets an equal share, drawn by the seed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from contrapose.tasks.config.plan import Plan
from contrapose.tasks.probes.base import make_sample_rng
from contrapose.tasks.probes.prompt_settings import PromptSettings

Assigned = Mapping[str, tuple[int, ...]]
"""Sample ids to the numbers of their wordings, from 1."""


def count_wordings(plan: Plan) -> tuple[int, int]:
    """Return how many wordings of its prompt a test has, and with how many of them each sample is asked."""
    settings = plan.probe_settings
    if not isinstance(settings, PromptSettings):
        return 1, 1
    return settings.wording_count, min(settings.wordings_each, settings.wording_count)


def order_wordings(sample_id: str, plan: Plan, *, seed: int) -> list[int]:
    """Return all wordings of a test in the random order of a sample, which depends on seed, sample and test alone."""
    count, _ = count_wordings(plan)
    order = list(range(1, count + 1))
    make_sample_rng(seed, sample_id, f"{plan.test}/wordings").shuffle(order)
    return order


def assign_wordings(ids: Iterable[str], plan: Plan, *, seed: int) -> Assigned:
    """Return the wordings of each sample, independent of the order of samples; empty if there is one wording.

    Every wording gets an equal share of the samples, within one. A sample gets what it prefers, unless that is full:
    with more samples, or fewer, most keep their wordings, and so their answers.
    """
    count, share = count_wordings(plan)
    if count == 1:
        return {}
    orders = {name: order_wordings(name, plan, seed=seed) for name in ids}
    least, over = divmod(len(orders) * share, count)
    larger = order_wordings("", plan, seed=seed)[:over]
    room = {number: least + (number in larger) for number in range(1, count + 1)}
    assigned: dict[str, list[int]] = {}
    for name in sorted(orders, key=lambda name: make_sample_rng(seed, name, plan.test).random()):
        own = assigned[name] = [number for number in orders[name] if room[number]][:share]
        for number in own:
            room[number] -= 1
        while len(own) < share:
            own.append(_swap_in(own, assigned, room))
    return {name: tuple(sorted(own)) for name, own in assigned.items()}


def _swap_in(own: Sequence[int], assigned: Mapping[str, list[int]], room: dict[int, int]) -> int:
    """Swap with an earlier sample: it takes a wording with room, and this sample gets the one that is returned."""
    for number in (number for number, left in room.items() if left):
        for other in reversed(list(assigned.values())):
            given_up = next((one for one in other if one not in own), None)
            if number not in other and given_up is not None:
                other[other.index(given_up)] = number
                room[number] -= 1
                return given_up
    raise AssertionError("no wording has room")
