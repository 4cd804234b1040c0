"""Words, places and sentences of a text."""

from __future__ import annotations

import pytest

from contrapose.tasks.language import flags as f
from contrapose.tasks.language.inflection import is_plural_phrase
from contrapose.tasks.language.reading import UnreadableError, read_sentence
from contrapose.tasks.language.sentence import Edit, apply_edits


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("It is hot. Dogs swim.", ["dogs", "swim"]), ("Mr. Smith left.", ["mr", "smith", "left"]),
        ("He paid $1,000 (in cash).", ["he", "paid", "1", "000"]),
        ('The sign "do not enter" is red.', ["the", "sign", '"', "is", "red"]),
        ("“The sky is blue.”", ["the", "sky", "is", "blue"]),
        ("(The shop is closed.)", ["the", "shop", "is", "closed"]),
        ("Q: What is it?\nA:", ["q", ":", "what", "is", "it"]),
        ("The man [the old one] sleeps.", ["the", "man", "sleeps"]), ("She drew an X", ["she", "drew", "an", "x"]),
        ("It is late '", ["it", "is", "late"]), ("It takes 5 s. He waits.", ["he", "waits"]),
        ("Tom saw J. Smith.", ["tom", "saw", "j", "smith"]), ("It opens at 9.30. We wait.", ["we", "wait"]),
        ("They left the U.S. in May.", ["they", "left", "the", "u", "s", "in", "may"]),
    ],
)  # fmt: skip
def test_the_last_sentence_is_read(text: str, words: list[str]) -> None:
    assert read_sentence(text).words == words


def test_offsets_point_into_the_whole_text() -> None:
    text = "It is hot.  Dogs\tswim."
    sentence = read_sentence(text)
    assert [sentence.source(i) for i in range(2)] == ["Dogs", "swim"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"), ("...", "empty"), ("Yes. ?", "no_word"), ("He said 'no.", "unbalanced_quotes"),
        ("Is it\nA. so\nB. no", "options_in_text"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_says_why(text: str, reason: str) -> None:
    with pytest.raises(UnreadableError) as error:
        read_sentence(text)
    assert error.value.reason == reason


def test_a_capital_inside_a_sentence_makes_a_name() -> None:
    assert read_sentence("Then Bill paid.").tags[1] & f.NAME
    assert not read_sentence("THEN BILL PAID.").tags[1] & f.NAME


@pytest.mark.parametrize("mark", ["\n", ".", "(", '"', "a. ", "a\n", "x"])
def test_long_repetitions_are_read_in_linear_time(mark: str) -> None:
    try:
        read_sentence(mark * 20_000)
    except UnreadableError:
        return


@pytest.mark.parametrize(
    ("phrase", "plural"),
    [
        *((each, False) for each in ("the dog", "this", "this dog", "every dog", "either dog", "another dog", "gold")),
        *((each, False) for each in ("everyone", "nothing", "the news", "what she said", "to err", "the man who left")),
        *((each, False) for each in ("one of many", "the number")),
        *((each, False) for each in ("each man and woman", "the house of the boys", "one of the boys")),
        *((each, True) for each in ("the dogs", "these", "they", "you", "I", "two dogs", "both dogs", "few")),
        *((each, True) for each in ("the dog and the cat", "plants grown in pots", "people living here", "the police")),
        *((each, True) for each in ("those who came", "the boys in the house", "interesting books", "several fish")),
        *((each, None) for each in ("a number of dogs", "a group of boys", "growing plants", "in the garden")),
        *((each, None) for each in ("the sheep", "the rich")),
    ],
)
def test_a_noun_phrase_is_singular_or_plural_or_may_be_either(phrase: str, plural: bool | None) -> None:
    s = read_sentence(f"{phrase} blorp")
    assert is_plural_phrase(s, 0, len(s.words) - 2) is plural


@pytest.mark.parametrize(
    ("text", "cased"),
    [
        ("She sleeps.", "Men"), ("she sleeps.", "men"), ("I sleep.", "Men"), ("US troops sleep.", "MEN"),
        ("I SLEEP.", "MEN"), ("SHE SLEEPS.", "MEN"),
    ],
)  # fmt: skip
def test_new_words_have_the_capitals_of_those_in_whose_place_they_stand(text: str, cased: str) -> None:
    assert read_sentence(text).cased_as(0, "men") == cased


@pytest.mark.parametrize(("first", "second"), [("never ", "also "), ("also ", "never ")])
def test_of_two_insertions_at_one_place_the_later_one_stands_first(first: str, second: str) -> None:
    assert apply_edits("It rains.", [Edit(3, 3, first), Edit(3, 3, second)]) == f"It {second}{first}rains."
