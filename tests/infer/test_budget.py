"""The budget: reservations, settlements and limits, from one thread and from many."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from random import Random

import pytest

from contrapose.tasks.config.prices import Price
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.records import Usage, add_usages
from contrapose.tasks.infer.budget import Budget, Limits, find_price, find_reader_price, open_budget

CALL = Usage(calls=1, prompt_tokens=100, completion_tokens=32)
PRICE = Price(input=1, output=10)


@pytest.mark.parametrize(("limits", "count"), [(Limits(), 9), (Limits(max_calls=9), 9), (Limits(max_calls=4), 4)])
def test_of_many_requests_as_many_are_reserved_as_fit(limits: Limits, count: int) -> None:
    budget = Budget(limits=limits)
    assert budget.reserve_first([CALL] * 9) == count
    assert budget.reserved == add_usages([CALL] * count)
    used = Usage(calls=1, prompt_tokens=60, completion_tokens=2)
    # One tells no count, and of the last nothing came.
    budget.settle_all([CALL] * count, [replace(used, calls=-1), *[used] * (count - 2)])
    assert (budget.spent, budget.reserved) == (add_usages([CALL, *[used] * (count - 2)]), Usage())


def test_a_reservation_counts_until_it_is_settled() -> None:
    budget = Budget(limits=Limits(max_tokens=200))
    assert budget.reserve(CALL)
    assert not budget.reserve(CALL)
    budget.settle(CALL, Usage(calls=1, prompt_tokens=60, completion_tokens=2))
    assert budget.reserve(CALL)


@pytest.mark.parametrize("name", ["calls", "prompt_tokens", "completion_tokens"])
def test_nothing_gives_back_what_was_not_spent(name: str) -> None:
    budget = Budget(limits=Limits(max_tokens=300))
    assert budget.reserve(CALL)
    budget.settle(CALL, replace(CALL, **{name: -(10**9)}))
    assert (budget.spent, budget.is_idle()) == (CALL, True)


def test_what_does_not_fit_sets_nothing_aside() -> None:
    budget = Budget(limits=Limits(max_calls=0))
    assert not budget.reserve(CALL)
    assert budget.reserved == Usage()
    assert budget.is_idle()


@pytest.mark.parametrize(
    "limits",
    [Limits(max_calls=3), Limits(max_tokens=3 * 132), Limits(max_cost=3 * 420e-6)],
    ids=["calls", "tokens", "cost"],
)
def test_each_limit_allows_what_reaches_it_and_no_more(limits: Limits) -> None:
    budget = Budget(limits=limits, price=PRICE)
    assert [budget.reserve(CALL) for _ in range(4)] == [True, True, True, False]


def test_a_failed_request_counts_as_a_call_and_costs_no_tokens() -> None:
    budget = Budget(limits=Limits(max_calls=2), price=PRICE)
    for _ in range(2):
        assert budget.reserve(CALL)
        budget.settle(CALL, Usage(calls=1))
    assert not budget.reserve(CALL)
    assert budget.cost() == 0


def test_what_earlier_parts_of_a_run_spent_counts() -> None:
    budget = open_budget(RunConfig(max_calls=10), spent=Usage(calls=10))
    assert not budget.reserve(CALL)


def test_the_reason_names_the_limit_and_what_was_spent() -> None:
    budget = Budget(limits=Limits(max_tokens=1_000_000), price=PRICE, spent=Usage(calls=7, prompt_tokens=999_950))
    assert budget.explain(CALL) == (
        "the budget max_tokens = 1000000 does not allow another request (7 calls, 999,950 tokens, $1.0000 spent)"
    )


def test_the_reason_names_a_limit_that_only_requests_under_way_fill() -> None:
    budget = Budget(limits=Limits(max_calls=1))
    budget.reserve(CALL)
    assert "max_calls = 1 " in budget.explain(CALL)


def test_asking_for_a_reason_when_there_is_room_again_is_no_mistake() -> None:
    assert Budget(limits=Limits(max_tokens=10_000)).explain(CALL).startswith("the budget that was set")


@pytest.mark.parametrize("seed", range(3))
def test_many_threads_never_exceed_the_limits(seed: int) -> None:
    budget = Budget(limits=Limits(max_calls=300, max_tokens=20_000, max_cost=0.1), price=PRICE)
    allowed = list[int]()

    def work(number: int) -> None:
        rng = Random(f"{seed}/{number}")
        for _ in range(100):
            most = Usage(calls=1, prompt_tokens=rng.randint(1, 200), completion_tokens=32)
            if budget.reserve(most):
                allowed.append(number)
                budget.settle(most, replace(most, completion_tokens=rng.randint(0, 32)))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert budget.reserved == Usage()
    assert budget.spent.calls == len(allowed) <= 300
    assert budget.spent.prompt_tokens + budget.spent.completion_tokens <= 20_000
    assert PRICE.of(budget.spent) <= 0.1


def test_limits_and_price_come_from_the_configuration() -> None:
    budget = open_budget(RunConfig(model="openai/gpt-4o-mini", max_calls=5, max_tokens=6, max_cost=7))
    assert budget.limits == Limits(max_calls=5, max_tokens=6, max_cost=7)
    assert budget.price == find_price("openai/gpt-4o-mini")


def test_limiting_a_cost_that_is_not_known_is_refused() -> None:
    config = RunConfig(model="openai/llama3", model_args={"base_url": "http://localhost:11434/v1"}, max_cost=1)
    with pytest.raises(ConfigError, match=r"^max_cost: 1, .* not known; .* Set price"):
        open_budget(config)


def test_a_price_of_the_users_own_makes_it_known() -> None:
    config = RunConfig.model_validate({"model": "openai/llama3", "price": {"input": 1, "output": 2}, "max_cost": 1})
    assert open_budget(config).price == Price(input=1, output=2)


def test_what_another_model_of_the_run_took_counts_at_its_own_price() -> None:
    beside = Usage(calls=2, prompt_tokens=50, completion_tokens=10)
    limits = Limits(max_calls=4, max_tokens=60 + 2 * 132, max_cost=2 * 420e-6 + 0.6)
    budget = Budget(limits=limits, price=PRICE, beside=beside, beside_price=Price(input=0, output=60_000))
    assert [budget.reserve(CALL) for _ in range(3)] == [True, True, False]
    for _ in range(2):
        budget.settle(CALL, CALL)
    assert budget.cost() == pytest.approx(2 * 420e-6 + 0.6)
    assert budget.describe_spending() == "4 calls, 324 tokens, $0.6008"


def test_another_model_whose_price_is_not_known_leaves_the_cost_unknown_and_no_room_below_its_limit() -> None:
    beside = Usage(calls=1, prompt_tokens=1)
    assert Budget(price=PRICE, beside=beside).cost() is None
    assert Budget(price=PRICE).cost() == 0
    assert not Budget(limits=Limits(max_cost=1), price=PRICE, beside=beside).reserve(CALL)


def test_a_reader_whose_price_is_not_known_is_refused_where_the_cost_is_limited() -> None:
    config = RunConfig(model="mock", reader="openai/llama3", max_cost=1)
    with pytest.raises(ConfigError, match=r"what the reader costs is not known; .* Set reader_price"):
        find_reader_price(config)
    assert find_reader_price(config.model_copy(update={"max_cost": None})) is None
    assert find_reader_price(RunConfig(reader="openai/gpt-4o-mini", max_cost=1)) == find_price("openai/gpt-4o-mini")
    assert find_reader_price(RunConfig(max_cost=1)) is None
