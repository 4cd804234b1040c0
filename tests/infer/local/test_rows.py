"""Rows and batches: what is shared, how much a batch holds, and that the plan is the questions' alone."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from contrapose.tasks.infer.local.rows import (
    WIDEST,
    BatchLimit,
    BatchRow,
    Query,
    RowLayout,
    count_common_tokens,
    count_padded_tokens,
    pack_batches,
    plan_shared_rows,
)

LIMIT = BatchLimit(tokens=200, wanted=50)
TOKENS = st.lists(st.integers(0, 3), min_size=1, max_size=40)


def query(owner: int, *ids: int, start: int | None = None) -> Query:
    return Query(owner=owner, ids=ids, start=len(ids) - 1 if start is None else start, targets=((1,),))


def test_two_orders_of_one_text_share_a_row() -> None:
    article = tuple(range(30))
    (row,) = plan_shared_rows([[query(0, *article, 1, 2)], [query(1, *article, 2, 1)]], limit=LIMIT)
    assert row.shared == (0, 30)
    assert row.size == 34


def test_within_a_row_some_share_more_than_all() -> None:
    article, summary = tuple(range(40)), tuple(range(50, 70))
    queries = [query(0, *article, 1), query(1, *article, *summary, 2), query(2, *article, *summary, 3)]
    (row,) = plan_shared_rows([[each] for each in queries], limit=LIMIT)
    assert row.shared == (0, 40, 60)
    assert row.size == 40 + 1 + 20 + 1 + 1


def test_texts_that_share_little_stay_apart() -> None:
    one, other = [query(0, 9, *range(30))], [query(1, 9, *range(30, 60))]
    assert len(plan_shared_rows([one, other], limit=LIMIT)) == 2


def test_sharing_never_makes_a_row_larger_than_a_batch() -> None:
    groups = [[query(owner, *range(90), owner)] for owner in range(100)]
    assert all(row.size <= 100 for row in plan_shared_rows(groups, limit=BatchLimit(tokens=100, wanted=1000)))


def test_a_row_stays_narrow_where_a_batch_is_large() -> None:
    text = tuple(range(1000))
    groups = [[query(owner, *text, *[owner + 2000] * 20)] for owner in range(200)]
    rows = plan_shared_rows(groups, limit=BatchLimit(tokens=1 << 30, wanted=1000))
    assert 1 < len(rows) < 10
    assert max(row.size for row in rows) <= WIDEST


def test_a_row_without_its_answered_questions_still_shares() -> None:
    row = BatchRow.from_queries([query(0, 1, 2, 3, 9), query(1, 1, 2, 3, 4), query(2, 1, 2, 5)])
    rest = row.keep_owners([0, 2])
    assert rest.owners == [0, 2]
    assert rest.shared == (0, 2)
    assert rest.size == 5
    assert row.keep_owners([7]) is None


def test_the_common_prefix_ends_before_the_first_wanted_place() -> None:
    queries = [query(0, 1, 2, 3, 4, start=1), query(1, 1, 2, 3, 5)]
    assert count_common_tokens(queries, least=1) == 1
    assert count_common_tokens(queries, least=2) == 0
    assert count_common_tokens(queries[:1], least=0) == 0


@given(st.lists(TOKENS, min_size=1, max_size=30))
def test_batches_hold_every_query_once_within_the_limit(texts: list[list[int]]) -> None:
    groups = [[query(owner, *ids)] for owner, ids in enumerate(texts)]
    plan = list(pack_batches(plan_shared_rows(groups, limit=LIMIT), LIMIT))
    owners = sorted(owner for batch in plan for row in batch for owner in row.owners)
    assert owners == list(range(len(texts)))
    assert all(len(batch) == 1 or count_padded_tokens(batch) <= LIMIT.tokens for batch in plan)


@given(st.lists(TOKENS, min_size=1, max_size=20))
def test_a_row_reads_a_token_once_for_each_beginning_of_its_sorted_queries(texts: list[list[int]]) -> None:
    row = BatchRow.from_queries([query(owner, *ids) for owner, ids in enumerate(sorted(texts))])
    beginnings = {tuple(ids[:length]) for ids in texts for length in range(1, len(ids) + 1)}
    assert row.size == len(beginnings)


@given(st.lists(TOKENS, min_size=1, max_size=20), st.booleans(), st.booleans())
def test_every_wanted_place_of_a_layout_sees_its_query(texts: list[list[int]], ordered: bool, apart: bool) -> None:
    queries = [query(owner, 8, 9, *ids) for owner, ids in enumerate(sorted(texts) if ordered else texts)]
    common = count_common_tokens(queries, least=1) if apart else 0
    row = BatchRow.from_queries(queries)
    layout = RowLayout.from_row(row, common)
    seen = {
        column: [*branch.before, *range(branch.begin, column + 1)]
        for branch in layout.branches
        for column in range(branch.begin, branch.end)
    }
    assert len(layout.tokens) == row.size - common
    for each, (column, *_) in zip(queries, layout.wanted, strict=True):
        assert [layout.tokens[at] for at in seen[column]] == list(each.ids[common:])
        assert [layout.positions[at] for at in seen[column]] == list(range(common, len(each.ids)))


def test_a_number_of_prompts_limits_a_batch() -> None:
    groups = [[query(owner, owner)] for owner in range(7)]
    limit = BatchLimit(tokens=1 << 20, wanted=1000, prompts=3)
    assert [len(batch) for batch in pack_batches(plan_shared_rows(groups, limit=limit), limit)] == [3, 3, 1]
