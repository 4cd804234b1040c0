"""Detect whether a text is English: a dictionary decides most texts, a model the others."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from contrapose.tasks.language import closed
from contrapose.tasks.language import flags as f
from contrapose.tasks.language.vocabulary import vocabulary

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

DICTIONARIES = ("lemminflect", "py3langid", "textblob")
"""Packages whose lexicons and model say what an English word is, and whether a text is English."""
UNMISTAKABLE = closed.words("""
    the and with that this these those what which who whose how you your from were would should could does did they
    their there when where why because been being she its don't can't
""")
"""Common English words that are hardly any in another language, as "are" is in Romanian."""
FOREIGN = closed.words("""
    der das und ist nicht ein eine ich sie wir er es den dem mit von zu auf kein wie wer wo le la les des une est je il
    elle nous vous pas que qui dans el los las una es muy con por lo gli di che non sono os uma da com het een ik niet
    op dat zij och er det jeg jag ett inte ikke jest nie na je se az egy nem este nu un bir ve ja ei yang ini itu els em
""")
"""Common words of other languages that are none in English but in names."""
MOSTLY = 0.7
"""Share of words in the dictionary from which a text is English: the model takes a second to load, and is not asked."""
IMPROBABLE = 0.1
"""Probability of English below which a text is in another language."""
IMPROBABLE_MIXED = 0.01
"""The same for a text with a common English word and none of another language, or of capitalised words alone.

Of 21,008 texts of 21 kinds in English, 15 are below, four of them not English; of 298 sentences in 20 other languages,
most of them with two to six words, 290 are."""
LONGEST = 2_000
"""Characters that are looked at, from the end."""
LANGUAGES = (
    *("en", "de", "fr", "es", "it", "pt", "nl", "sv", "da", "no", "fi", "pl", "cs", "sk", "hu", "ro", "hr", "tr"),
    *("ru", "uk", "bg", "el", "ar", "he", "fa", "zh", "ja", "ko", "hi", "th", "vi", "id", "ca"),
)
"""Those that a text is thought to be in: among all that the model knows, short texts look like any of the smallest."""
_USUAL = f.USUALLY_VERB | f.USUALLY_NOUN | f.USUALLY_ADJ
WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")


def is_english(text: str) -> bool:
    """Return False only if a text is plainly in another language; a very short or odd text counts as English."""
    part = text[-LONGEST:].replace("\u2019", "'")
    spelled = WORD.findall(part)
    words = [word.lower() for word in spelled]
    if not words or not UNMISTAKABLE.isdisjoint(words) or _compute_known_share(words) >= MOSTLY:
        return True
    if len(words) == 1 and part.isascii():
        return True
    names = all(word[0].isupper() for word in spelled)
    small = [word for word in spelled if word[0].islower()]
    # A shorter word may be as common in another language.
    long = [word for word in words if len(word) > 3] if part.isascii() else []
    common = any(word in closed.build_closed_classes() or vocabulary().flags.get(word, 0) & _USUAL for word in long)
    mixed = FOREIGN.isdisjoint(words) and (common or (bool(small) and _compute_known_share(small) == 1.0))
    least = IMPROBABLE_MIXED if names or mixed else IMPROBABLE
    return bool(dict(_load_language_identifier().rank(part)).get("en", 1.0) >= least)


def _compute_known_share(words: list[str]) -> float:
    known, closed_classes = vocabulary().flags, closed.build_closed_classes()
    return sum(word in closed_classes or word in known for word in words) / len(words)


@cache
def _load_language_identifier() -> LanguageIdentifier:
    """Load the language model that its package contains, when the first text needs it."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(list(LANGUAGES))
    return identifier
