"""The shortest text that fails: found with few tests, minimal by test, and never longer than it was."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.shrink import plant_triggers
from contrapose.tasks.shrink.shortest import MinimisedText, StoppedError, minimise_text

WORDS = "one two three four five six seven eight nine ten"


class Judge:
    """Says that a text fails by its words, and keeps what it was asked."""

    def __init__(self, fails: Callable[[Collection[str]], bool], *, most: int = 10_000) -> None:
        self.fails, self.most = fails, most
        self.asked: list[str] = []

    def __call__(self, texts: Sequence[str]) -> list[bool]:
        if len(self.asked) + len(texts) > self.most:
            raise StoppedError("the budget is spent", expected="more", remedy="Raise it.")
        self.asked += texts
        return [self.fails(text.split()) for text in texts]


def holding(*words: str) -> Callable[[Collection[str]], bool]:
    return lambda text: set(words) <= set(text)


def shrunk(text: str, fails: Callable[[Collection[str]], bool]) -> MinimisedText:
    return minimise_text(text, Judge(fails))


def test_planted_words_are_found_with_few_requests() -> None:
    exact, requests = 0, list[int]()
    for plant in plant_triggers(200, least=4, most=40, seed=5):
        judge = Judge(lambda text, plant=plant: set(plant.trigger) <= {word.strip(".") for word in text})  # type: ignore[misc]
        found = minimise_text(plant.text, judge)
        exact += tuple(found.text.replace(".", "").split()) == plant.trigger and found.stopped is None
        # Each text is asked unchanged and changed.
        requests.append(2 * len(judge.asked))
    assert exact >= 190
    assert max(requests) <= 60


@pytest.mark.parametrize("seed", range(3))
def test_three_scattered_words_of_forty_take_at_most_sixty_requests(seed: int) -> None:
    for plant in plant_triggers(60, least=40, most=40, seed=seed):
        judge = Judge(lambda text, plant=plant: set(plant.trigger) <= {word.strip(".") for word in text})  # type: ignore[misc]
        minimise_text(plant.text, judge)
        assert 2 * len(judge.asked) <= 60


@given(st.sets(st.frozensets(st.integers(0, 9), min_size=1), min_size=1), st.sets(st.frozensets(st.integers(0, 9))))
def test_no_single_word_can_be_left_out(enough: set[frozenset[int]], lucky: set[frozenset[int]]) -> None:
    words = [f"w{number}" for number in range(10)]

    def fails(text: Collection[str]) -> bool:
        """Not monotone: some texts pass although a part of them fails."""
        own = frozenset(map(words.index, text))
        return any(part <= own for part in enough) and (own not in lucky or len(own) == len(words))

    judge = Judge(fails)
    found = minimise_text(" ".join(words), judge)
    kept = found.text.split()
    assert fails(kept)
    for word in kept if len(kept) > 1 else ():
        rest = [other for other in kept if other != word]
        assert " ".join(rest) in judge.asked
        assert not fails(rest)


@given(st.sets(st.sampled_from(WORDS.split()), min_size=1))
def test_no_text_is_tested_twice_and_none_is_empty(needed: set[str]) -> None:
    judge = Judge(holding(*needed))
    minimise_text(WORDS, judge)
    assert len(judge.asked) == len(set(judge.asked))
    assert "" not in judge.asked
    assert WORDS not in judge.asked


def test_words_stay_in_their_order() -> None:
    assert shrunk(WORDS, holding("nine", "two", "five")).text == "two five nine"


def test_sentences_are_left_out_before_words() -> None:
    judge = Judge(holding("ferry"))
    minimise_text("The sky is blue. A ferry leaves. Birds sing.\nIt rains.", judge)
    assert judge.asked[0] in ("The sky is blue. A ferry leaves.", "The sky is blue.")
    assert "A ferry leaves." in judge.asked


def test_spent_budget_leaves_the_shortest_text_so_far() -> None:
    judge = Judge(holding("two", "three"), most=2)
    found = minimise_text(WORDS, judge)
    assert found.stopped == "the budget is spent"
    assert found.text == "one two three four five"


def test_text_of_needed_words_stays_as_it_is() -> None:
    text = "  one two  three "
    found = shrunk(text, lambda words: len(words) == 3)
    assert (found.text, found.words, found.of) == (text, 3, 3)


def test_single_word_takes_no_test() -> None:
    judge = Judge(holding("one"))
    assert minimise_text("one", judge).text == "one"
    assert judge.asked == []


def test_characters_of_chinese_are_words() -> None:
    found = shrunk("船什么时候离开？ at nine", lambda words: "候" in "".join(words) and "nine" in words)
    assert found.text == "候 nine"
