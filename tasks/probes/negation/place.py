"""Places one "not" at a finite verb, with "do" where English needs it."""

from __future__ import annotations

from contrapose.tasks.probes.negation import tags as t
from contrapose.tasks.probes.negation import verbs
from contrapose.tasks.probes.negation.lexical import after_adverbs, before_adverbs
from contrapose.tasks.probes.negation.reading import Sentence
from contrapose.tasks.probes.negation.result import Confidence, Edit, Plan, SkipError
from contrapose.tasks.probes.negation.words import words

_ANY = {
    "some": "any",
    "someone": "anyone",
    "somebody": "anybody",
    "something": "anything",
    "somewhere": "anywhere",
}
_COUNTING = words("exactly approximately nearly roughly almost")
_MEDIUM_MODALS = words("may might must shall")
_MEDIUM_ADVERBS = words("also still already sometimes both now")


def after_auxiliary(s: Sentence, i: int) -> Plan:
    """Insert "not" behind the finite auxiliary, copula or modal `i`; a full have or do takes do-support."""
    if s.tags[i] & (t.HAVE | t.DO) and not s.tags[i] & t.CLITIC and _is_full_verb(s, i):
        return with_do(s, i)
    if s.words[i].endswith("'ve") and not _participle_next(s, i):
        raise SkipError("ambiguous_verb")
    at = _slot(s, i)
    cue = "not" if s.words[i] == "can" and at == i else " not"
    edit = Edit(s.ends[at], s.ends[at], cue.upper() if s.text.isupper() else cue)
    return with_any(s, at, (edit,), _confidence(s, i))


def with_do(s: Sentence, i: int) -> Plan:
    """Replace the finite full verb `i` by do/does/did not and its base, in front of its adverbs."""
    base, support = base_and_support(s, i)
    first = before_adverbs(s, i, 0) + 1
    if any(s.words[k] in t.NARROW for k in range(first, i)) or s.word(i + 1) in t.NARROW:
        raise SkipError("quantifier_only")
    if any(s.words[k] in t.SENTENCE_ADVERBS or s.words[k] == "also" for k in range(first, i)):
        first = i
    verb = Edit(s.starts[i], s.ends[i], base)
    if first == i:
        edits: tuple[Edit, ...] = (Edit(s.starts[i], s.ends[i], f"{support} not {base}"),)
    else:
        edits = (Edit(s.starts[first], s.starts[first], f"{support} not "), verb)
    medium = any(s.words[k] in _MEDIUM_ADVERBS for k in range(before_adverbs(s, i, 0) + 1, i))
    plan = with_any(s, i, edits, "medium" if medium else "high")
    return Plan(edits=plan.edits, confidence=plan.confidence, kind="rewrite")


def base_and_support(s: Sentence, i: int) -> tuple[str, str]:
    """A full verb's base and the form of "do" that carries its person and tense."""
    word, tag = s.words[i], s.tags[i]
    if word in ("has", "have", "had"):
        return "have", {"has": "does", "have": "do", "had": "did"}[word]
    if word in ("do", "does", "did"):
        return "do", word
    base = verbs.base_of(word)
    if base is None or (tag & t.BASE and tag & t.PAST and word != "lay"):
        raise SkipError("ambiguous_verb")
    if tag & t.PAST and not tag & t.BASE:
        return base, "did"
    return base, "does" if tag & t.THIRD else "do"


def _slot(s: Sentence, i: int) -> int:
    """The word that "not" follows: the auxiliary, or what must stay between it and "not"."""
    following = s.word(i + 1)
    if (s.words[i].endswith(("had", "'d")) and following == "better") or (
        s.words[i].endswith(("would", "'d")) and following == "rather"
    ):
        return i + 1
    k = i + 1
    while (k < len(s.words) and t.is_adverb(s.words[k], s.tags[k] or 0)) or s.word(k) in t.SENTENCE_ADVERBS:
        if s.words[k] in t.NARROW:
            raise SkipError("quantifier_only")
        if s.words[k] in t.SENTENCE_ADVERBS and not _is_adjective(s, k):
            return k
        k += 1
    if s.word(k) == "each" or s.word(i + 1) == "each":
        raise SkipError("quantifier_only")
    return i


def _is_adjective(s: Sentence, k: int) -> bool:
    """Whether "likely" or "certainly" takes a complement, so that "not" may stand before it."""
    last = k + 1 == len(s.words)
    return s.words[k] == "likely" and (last or s.words[k + 1] in ("to", "that"))


def _participle_next(s: Sentence, i: int) -> bool:
    k = after_adverbs(s, i)
    return t.is_participle(s.word(k), s.tag(k))


def _is_full_verb(s: Sentence, i: int) -> bool:
    """Whether have/do is the full verb of its clause.

    Raises:
        SkipError: nothing follows, or "has curved claws", where either reading is possible.
    """
    if s.words[i] == "had" and s.word(i + 1) in ("better", "rather"):
        return False
    k = after_adverbs(s, i)
    word, tag = s.word(k), s.tag(k)
    if not word and s.word(i + 1) in _COUNTING:
        return True
    if not word:
        raise SkipError("ambiguous_verb")
    if s.tags[i] & t.DO:
        return not tag & t.BASE
    if not t.is_participle(word, tag) or tag & (t.DET | t.QUANT):
        return True
    return _sure_participle(s, k)


def _sure_participle(s: Sentence, k: int) -> bool:
    """False (an auxiliary) when the participle is one; refuses when an adjective is as likely."""
    word, after = s.words[k], s.tag(k + 1)
    distinct = s.tags[k] & t.PART and not s.tags[k] & (t.PAST | t.BASE)
    if word == "been" or distinct or after & t.FUNCTION or k + 1 >= len(s.words) or s.words[k + 1].endswith("ly"):
        return False
    raise SkipError("ambiguous_verb")


def _confidence(s: Sentence, i: int) -> Confidence:
    nearby = s.words[i] in _MEDIUM_MODALS or s.word(i + 1) in _MEDIUM_ADVERBS or s.word(i - 1) in _MEDIUM_ADVERBS
    return "medium" if nearby else "high"


def with_any(s: Sentence, i: int, edits: tuple[Edit, ...], confidence: Confidence) -> Plan:
    """Under the new "not", "some" becomes "any" up to the next clause or coordination."""
    if sum(word in _ANY for word in s.words[i + 1 :]) > 1:
        raise SkipError("quantifier_only")
    for k in range(i + 1, len(s.words)):
        tag, word = s.tags[k], s.words[k]
        if tag & (t.BREAK | t.OPENER | t.LOOSE | t.COORD | t.QUOTED) and word != "like":
            break
        if word in _ANY and not s.word(k + 1)[:1].isdigit():
            any_form = Edit(s.starts[k], s.ends[k], _ANY[word])
            return Plan(edits=(*edits, any_form), confidence=confidence, kind="rewrite")
    return Plan(edits=edits, confidence=confidence)
