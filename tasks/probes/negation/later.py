"""Looks behind the main verb: is it the only one of its sentence?"""

from __future__ import annotations

from contrapose.tasks.probes.negation import tags as t
from contrapose.tasks.probes.negation.lexical import after_adverbs, is_finite_aux, reading
from contrapose.tasks.probes.negation.mainverb import Main
from contrapose.tasks.probes.negation.reading import Sentence
from contrapose.tasks.probes.negation.result import SkipError


def require_single(s: Sentence, main: Main) -> None:
    """Pass when no second main clause follows the main verb.

    Raises:
        SkipError: `coordinated_clauses` or `ambiguous_verb`.
    """
    opened, joint, comma = False, -1, False
    for i in range(main.index + 1, len(s.words)):
        tag = s.tags[i]
        if s.words[i] == ";" and any(is_finite_aux(s, k) for k in range(i + 1, len(s.words))):
            raise SkipError("coordinated_clauses")
        if tag & (t.OPENER | t.LOOSE) and not tag & t.AUX:
            opened, joint, comma = True, -1, False
        elif tag & (t.BREAK | t.COORD):
            comma = comma or bool(tag & t.BREAK)
            joint = i
        elif joint >= 0 and (comma or not opened):
            if _second_verb(s, i, joint, main):
                raise SkipError("coordinated_clauses")
        elif not opened and joint < 0 and _stray(s, i, main):
            raise SkipError("ambiguous_verb")


def _second_verb(s: Sentence, i: int, joint: int, main: Main) -> bool:
    if is_finite_aux(s, i):
        return True
    tag = s.tags[i]
    if not tag & t.FINITE_FORM and not (s.words[i].endswith("ed") and t.is_participle(s.words[i], tag)):
        return False
    if after_adverbs(s, joint) == i:
        return _shares_subject(s, i, main)
    return reading(s, i, joint + 1) == "yes" and not s.tag(i - 1) & t.BREAK


def _shares_subject(s: Sentence, i: int, main: Main) -> bool:
    """Whether a verb right after "and" or a comma is a second predicate of the subject."""
    tag, modal = s.tags[i], bool(s.tags[main.index] & t.MODAL)
    if tag & t.NOUNISH or modal or (tag & t.VERBISH and not _has_complement(s, i)):
        return False
    if tag & t.THIRD:
        return True
    if not tag & (t.BASE | t.THIRD):
        return not _is_participle_chain(s, main)
    return main.lexical and bool(s.tags[main.index] & t.BASE) and not _after_to(s, i, main)


def _has_complement(s: Sentence, i: int) -> bool:
    return bool(s.tag(i + 1) & (t.DET | t.OBJ | t.TO | t.PREP)) and s.word(i + 1) != "of"


def _is_participle_chain(s: Sentence, main: Main) -> bool:
    k = after_adverbs(s, main.index)
    return not main.lexical and t.is_participle(s.word(k), s.tag(k))


def _after_to(s: Sentence, i: int, main: Main) -> bool:
    return any(s.tags[k] & t.TO for k in range(main.index, i))


def _stray(s: Sentence, i: int, main: Main) -> bool:
    """Whether a finite auxiliary follows that no clause between would account for."""
    if not is_finite_aux(s, i) or s.tags[main.index] & t.EMBED or s.tag(i - 1) & t.TO:
        return False
    if s.tags[i] & (t.HAVE | t.DO) and s.words[i] in ("have", "do"):
        return False
    return not s.tag(i - 1) & t.SUBJ and not s.tags[i] & t.CLITIC
