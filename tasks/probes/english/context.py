"""What stands around a word: adverbs stepped over, auxiliaries recognised."""

from __future__ import annotations

from contrapose.tasks.probes.english import flags as f
from contrapose.tasks.probes.english.sentence import Sentence

_ADVERB = f.ADV | f.SEMI
_NO_ITS = f.ING | f.PREP
_HAVE_DO = f.HAVE | f.DO
_NO_HAVE = f.MODAL | f.TO | f.DO | f.HAVE
_NO_MODAL = f.DET | f.MODAL | f.PREP
_BEHIND_NOUN = f.BE | f.MODAL | f.DO


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
    tags = s.tags
    if not 0 <= i < len(tags) or not tags[i] & f.AUX or tags[i] & f.NAME:
        return False
    tag, before = tags[i], tags[i - 1] if i else 0
    if before & f.TO or (tag & f.CLITIC and before & _NO_ITS and s.words[i] == "it's"):
        return False  # meant is "its"
    if tag & f.MODAL:
        return _is_modal(s, i, before)
    if tag & _HAVE_DO and s.words[i] in ("have", "do", "had"):
        k = before_adverbs(s, i, 0)
        return k < 0 or not tags[k] & _NO_HAVE or bool(tags[k] & f.NAME)
    return True


def _is_modal(s: Sentence, i: int, before: int) -> bool:
    if before & _NO_MODAL and not before & f.SUBJ:
        return False
    if i and not before & f.CLITIC and s.words[i - 1].endswith("'s"):
        return False
    return bool(before & f.SUBJ) or not (s.tag(i + 1) & _BEHIND_NOUN or s.word(i + 1) in ("has", "of"))
