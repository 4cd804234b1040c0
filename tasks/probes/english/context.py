"""What stands around a word: adverbs stepped over, auxiliaries recognised."""

from __future__ import annotations

from contrapose.tasks.probes.english import flags as f
from contrapose.tasks.probes.english.reading import Sentence

_ADVERB = f.ADV | f.SEMI


def is_adverb(s: Sentence, i: int) -> bool:
    """Whether word `i` may stand between an auxiliary and its verb."""
    return bool(s.tag(i) & _ADVERB)


def before_adverbs(s: Sentence, i: int, start: int) -> int:
    """Index of the word before `i`, adverbs left out; at least `start` - 1."""
    k, tags = i - 1, s.tags
    while k > start and tags[k] & _ADVERB:
        k -= 1
    return k


def after_adverbs(s: Sentence, i: int) -> int:
    """Index of the word after `i`, adverbs left out."""
    k, tags = i + 1, s.tags
    while k < len(tags) and tags[k] & _ADVERB:
        k += 1
    return k


def is_finite_aux(s: Sentence, i: int) -> bool:
    """Whether word `i` is a finite auxiliary, copula or modal, and not a noun or name like "can" or "Will"."""
    tag = s.tag(i)
    if not tag & f.AUX or tag & f.NAME:
        return False
    before, last = s.tag(i - 1), s.word(i - 1)
    if tag & f.CLITIC and s.words[i] == "it's" and before & (f.ING | f.PREP):
        return False  # meant is "its"
    if before & f.TO and last == "to":
        return False
    if tag & f.MODAL:
        return _is_modal(s, i, before, last)
    if tag & (f.HAVE | f.DO) and s.words[i] in ("have", "do", "had"):
        k = before_adverbs(s, i, 0)
        return not s.tag(k) & (f.MODAL | f.TO | f.DO | f.HAVE) or bool(s.tag(k) & f.NAME)
    return True


def _is_modal(s: Sentence, i: int, before: int, last: str) -> bool:
    if last.endswith("'s") and not before & f.CLITIC:
        return False
    if before & (f.DET | f.MODAL | f.PREP) and not before & f.SUBJ:
        return False
    return bool(before & f.SUBJ) or not (s.tag(i + 1) & (f.BE | f.MODAL | f.DO) or s.word(i + 1) in ("has", "of"))
