"""Whether a text is English: a dictionary tells of most texts, a model of the others."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from contrapose.tasks.language import closed
from contrapose.tasks.language.vocabulary import vocabulary

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

UNMISTAKABLE = closed.words(
    """
    the and are with that this these those what which who whose how you your from were would should could does did
    they their there when where why because been being she its don't can't
    """
)
"""Common English words that are hardly any in another language, as "of" is in Dutch."""
MOSTLY = 0.7
"""Share of words in the dictionary from which a text is English: the model takes a second to load, and is not asked."""
IMPROBABLE = 0.01
"""Probability of English below which a text is in another language.

Of the 2,173 texts of our data without any of the commonest English words, three are below, all of them bare names;
none of those that can be negated is. Of 37 short sentences in 15 other languages, 35 are."""
LONGEST = 2_000
"""Characters that are looked at, from the end."""
LANGUAGES = (
    *("en", "de", "fr", "es", "it", "pt", "nl", "sv", "da", "no", "fi", "pl", "cs", "sk", "hu", "ro", "hr", "tr"),
    *("ru", "uk", "bg", "el", "ar", "he", "fa", "zh", "ja", "ko", "hi", "th", "vi", "id", "ca"),
)
"""Those that a text is thought to be in: among all that the model knows, short texts look like any of the smallest."""
WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")


def is_english(text: str) -> bool:
    """Whether a text is English, or too short or too odd to tell; false only where it is plainly another language."""
    part = text[-LONGEST:].replace("\u2019", "'")
    words = WORD.findall(part.lower())
    if not words or not UNMISTAKABLE.isdisjoint(words) or _share_known(words) >= MOSTLY:
        return True
    return bool(dict(_identifier().rank(part)).get("en", 1.0) >= IMPROBABLE)


def _share_known(words: list[str]) -> float:
    known, closed_classes = vocabulary().flags, closed.table()
    return sum(word in closed_classes or word in known for word in words) / len(words)


@cache
def _identifier() -> LanguageIdentifier:
    """The model, which ships with its package; loaded by the first text that needs it."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(list(LANGUAGES))
    return identifier
