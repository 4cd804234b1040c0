"""The size of a batch where nobody says it."""

from __future__ import annotations

from contrapose.tasks.infer.local.memory import FIRST, LAST, search_tokens


def test_tokens_double_until_speed_stops_growing() -> None:
    assert search_tokens(lambda tokens: max(1.0, tokens / 8192)) == 8192


def test_tokens_double_until_the_last() -> None:
    assert search_tokens(lambda _: 1.0) == LAST


def test_where_memory_ends_half_of_what_fitted_is_taken() -> None:
    def seconds(tokens: int) -> float:
        if tokens > 8 * FIRST:
            raise RuntimeError("MPS backend out of memory")
        return 1.0

    assert search_tokens(seconds) == 4 * FIRST


def test_one_slow_size_does_not_end_the_search() -> None:
    assert search_tokens(lambda tokens: tokens if tokens == 4096 else max(1.0, tokens / 8192)) == 8192
