"""Places one "not" at a finite verb, with "do" where English needs it."""

from __future__ import annotations

from contrapose.tasks.probes.english import closed, vocabulary
from contrapose.tasks.probes.english import flags as f
from contrapose.tasks.probes.english.context import after_adverbs, before_adverbs, is_adverb
from contrapose.tasks.probes.english.edits import Edit
from contrapose.tasks.probes.english.reading import Sentence
from contrapose.tasks.probes.english.verb_form import form_of
from contrapose.tasks.probes.english.words import words
from contrapose.tasks.probes.negation.any_form import with_any
from contrapose.tasks.probes.negation.result import Confidence, Plan, SkipError

_MEDIUM_MODALS = words("may might must shall")
_MEDIUM_ADVERBS = words("also still already sometimes both now")
_SUPPORT = {f.BASE: "do", f.THIRD: "does", f.PAST: "did"}
_FUSED = {"'ll": " won't", "'d": " wouldn't", "'ve": " haven't"}


def after_auxiliary(s: Sentence, i: int, subject: int) -> Plan:
    """Insert "not" behind the finite auxiliary, copula or modal `i`; a full have or do takes do-support."""
    if (s.tags[i] & f.CLITIC and s.words[i][-3:] in _FUSED) or s.words[i].endswith("'d"):
        return _fused(s, i)
    if s.tags[i] & (f.HAVE | f.DO) and not s.tags[i] & f.CLITIC and is_full_verb(s, i):
        return with_do(s, i, subject)
    at = _slot(s, i)
    cue = "not" if s.words[i] == "can" and at == i else " not"
    edit = Edit(s.ends[at], s.ends[at], cue.upper() if s.text.isupper() else cue)
    return with_any(s, at, (edit,), _confidence(s, i))


def with_do(s: Sentence, i: int, subject: int) -> Plan:
    """Replace the finite full verb `i` by do/does/did not and its base, in front of its adverbs."""
    base, support = base_and_support(s, i, subject)
    first = before_adverbs(s, i, 0) + 1
    if s.tag(first - 1) & f.OBJ and not s.tag(first - 1) & f.SUBJ:
        first = i  # the adverb belongs to what stands before: "to see it more easily"
    if any(s.words[k] in closed.NARROW for k in range(first, i)) or s.word(i + 1) in closed.NARROW:
        raise SkipError("quantifier_only")
    first = max(first, subject)
    while first < i and (s.words[first] in closed.SENTENCE_ADVERBS or s.words[first] in ("also", "still")):
        first += 1
    verb = Edit(s.starts[i], s.ends[i], _cased(s, base))
    cue = _cased(s, f"{support} not ")
    edits: tuple[Edit, ...] = (Edit(s.starts[first], s.starts[first], cue), verb)
    if first == i:
        edits = (Edit(s.starts[i], s.ends[i], cue + _cased(s, base)),)
    medium = any(s.words[k] in _MEDIUM_ADVERBS for k in range(before_adverbs(s, i, 0) + 1, i))
    plan = with_any(s, i, edits, "medium" if medium else "high")
    return Plan(edits=plan.edits, confidence=plan.confidence, kind="rewrite")


def _cased(s: Sentence, words_: str) -> str:
    return words_.upper() if s.text.isupper() else words_


def base_and_support(s: Sentence, i: int, subject: int) -> tuple[str, str]:
    """A full verb's base and the form of "do" that carries its person and tense."""
    word = s.words[i]
    if word in ("has", "have", "had"):
        return "have", {"has": "does", "have": "do", "had": "did"}[word]
    if word in ("do", "does", "did"):
        return "do", word
    form = form_of(s, i, subject)
    base = vocabulary.base_of(word, form)
    if base is None:
        raise SkipError("ambiguous_verb")
    return base, _SUPPORT[form]


def is_full_verb(s: Sentence, i: int) -> bool:
    """Whether have/do is the full verb of its clause; it is where nothing follows."""
    if s.words[i] == "had" and s.word(i + 1) in ("better", "rather"):
        return False
    k = after_adverbs(s, i)
    word, tag = s.word(k), s.tag(k)
    if not word:
        return True
    if s.tags[i] & f.DO:
        return (not tag & f.BASE and word not in ("be", "have", "do")) or bool(tag & f.USUALLY_NOUN)
    if word == "been" or word == "had":
        return False
    if not tag & f.PART or tag & f.CLOSED:
        return True
    attributive = tag & f.ADJ and s.tag(k + 1) & (f.NOUN | f.ADJ) and not s.tag(k + 1) & f.CLOSED
    return bool(attributive) and bool(tag & f.PAST or tag & f.BASE)


def _fused(s: Sentence, i: int) -> Plan:
    """A contracted auxiliary and "not": "they'll" → "they won't", "he'd better" → "he'd better not"."""
    word, at = s.words[i], s.words[i].rindex("'")
    ending, following = word[at:], after_adverbs(s, i)
    if ending == "'d" and s.word(i + 1) in ("better", "rather"):
        return Plan(edits=(Edit(s.ends[i + 1], s.ends[i + 1], " not"),))
    new = _FUSED[ending]
    tag = s.tag(following)
    if ending == "'d" and (s.word(following) == "been" or (tag & f.PART and not tag & f.BASE)):
        new = " hadn't"
    if ending == "'ve" and not (tag & f.PART or s.word(following) == "been"):
        raise SkipError("ambiguous_verb")
    if "\u2019" in s.source(i):
        new = new.replace("'", "\u2019")
    edit = Edit(s.starts[i] + at, s.ends[i], _cased(s, new))
    return with_any(s, i, (edit,), "high")


def _slot(s: Sentence, i: int) -> int:
    """The word that "not" follows: the auxiliary, or what must stay between it and "not"."""
    if (s.words[i] == "had" and s.word(i + 1) == "better") or (s.words[i] == "would" and s.word(i + 1) == "rather"):
        return i + 1
    k = i + 1
    while k < len(s.words) and (is_adverb(s, k) or s.words[k] in closed.SENTENCE_ADVERBS):
        if s.words[k] in closed.NARROW:
            raise SkipError("quantifier_only")
        if s.words[k] in closed.SENTENCE_ADVERBS and not _is_adjective(s, k):
            return k
        k += 1
    if s.word(k) == "each" or s.word(i + 1) == "each":
        raise SkipError("quantifier_only")
    return i


def _is_adjective(s: Sentence, k: int) -> bool:
    """Whether "likely" or "certainly" takes a complement, so that "not" may stand before it."""
    last = k + 1 == len(s.words)
    return s.words[k] == "likely" and (last or s.words[k + 1] in ("to", "that"))


def _confidence(s: Sentence, i: int) -> Confidence:
    nearby = s.words[i] in _MEDIUM_MODALS or s.word(i + 1) in _MEDIUM_ADVERBS or s.word(i - 1) in _MEDIUM_ADVERBS
    return "medium" if nearby else "high"
