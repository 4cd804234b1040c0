"""Negate a statement, an order or an unfinished sentence: "not" at the verb or quantifier, with "do" if needed."""

from __future__ import annotations

from contrapose.tasks.language import closed, inflection
from contrapose.tasks.language import flags as f
from contrapose.tasks.language.analysis import DOUBT, Analysis
from contrapose.tasks.language.closed import words
from contrapose.tasks.language.context import index_after_adverbs, index_before_adverbs, is_adverb
from contrapose.tasks.language.inflection import choose_verb_form
from contrapose.tasks.language.sentence import Edit, Sentence
from contrapose.tasks.probes.negation.result import Confidence, EditPlan, Kind, SkipError

_MEDIUM_MODALS = words("may might must shall")
_MEDIUM_ADVERBS = words("also still already sometimes both now")
_BEHIND_VERB = words("here today tonight yesterday tomorrow away back ago hard fast")
"""Adverbs that end the phrase before a verb, and do not belong to the verb: "The people who work hard earn more."."""
_BEHIND_RELATIVE = words("alone together well best better again twice")
"""Adverbs that do so right behind the verb of a relative clause: "People who live alone eat less."."""
_FUSED = {"'ll": " won't", "'d": " wouldn't", "'ve": " haven't", "'s": " isn't"}


def insert_not_after_auxiliary(s: Sentence, i: int, subject: int) -> EditPlan:
    """Insert "not" after the finite auxiliary, copula or modal `i`; a full "have" or "do" gets "do not"."""
    word, tag = s.words[i], s.tags[i]
    if (tag & f.CLITIC and word[-3:] in _FUSED) or word.endswith("'d"):
        return edit_contraction(s, i)
    if tag & (f.HAVE | f.DO) and not tag & f.CLITIC and is_full_verb(s, i):
        return insert_do(s, i, subject)
    at = _find_slot(s, i)
    cue = "not" if word == "can" and at == i else " not"
    nearby = word in _MEDIUM_MODALS or not _MEDIUM_ADVERBS.isdisjoint(s.words[max(i - 1, 0) : i + 2])
    edit = Edit(s.ends[at], s.ends[at], s.cased(cue))
    return add_any(s, at, (edit,), "medium" if nearby else "high")


def _find_slot(s: Sentence, i: int) -> int:
    """Return the index of the word before "not": the auxiliary, or a later word that must stay with it."""
    if (s.words[i], s.word(i + 1)) in (("had", "better"), ("would", "rather")):
        return i + 1
    k = i + 1
    while k < len(s.words) and (is_adverb(s, k) or s.words[k] in closed.SENTENCE_ADVERBS):
        if s.words[k] in closed.NARROW:
            raise SkipError("quantifier_only")
        # "Likely" may take a complement, so that "not" stands before it.
        is_adjective = s.words[k] == "likely" and s.word(k + 1) in ("", "to", "that")
        if s.words[k] in closed.SENTENCE_ADVERBS and not is_adjective:
            return k
        k += 1
    if k > i + 1 and s.words[i + 1] == "each":
        raise SkipError("quantifier_only")
    return i


def insert_do(s: Sentence, i: int, subject: int) -> EditPlan:
    """Replace the finite full verb `i` by do/does/did, "not" and its base form, before its adverbs."""
    base, support = split_verb(s, i, subject)
    behind = index_before_adverbs(s, i, 0)
    first = behind + 1
    if s.tag(behind) & f.OBJ and not s.tag(behind) & f.SUBJ:
        first = i  # the adverb belongs to what stands before: "to see it more easily"
    if not closed.NARROW.isdisjoint(s.words[first : i + 2]):
        raise SkipError("quantifier_only")
    # Some of the adverbs belong to what stands before them, too.
    opener = index_before_adverbs(s, first - 1, 0)
    ends = _BEHIND_VERB | _BEHIND_RELATIVE if s.tag(opener) & f.REL and opener > subject else _BEHIND_VERB
    first = max(first, subject, max((k + 1 for k in range(first, i) if s.words[k] in ends), default=first))
    while first < i and (s.words[first] in closed.SENTENCE_ADVERBS or s.words[first] in ("also", "still", "please")):
        first += 1
    edits: tuple[Edit, ...] = (Edit(s.starts[i], s.ends[i], s.cased(f"{support} not {base}")),)
    if first != i:
        cue = Edit(s.starts[first], s.starts[first], s.cased(f"{support} not "))
        edits = (cue, Edit(s.starts[i], s.ends[i], s.cased(base)))
    medium = not _MEDIUM_ADVERBS.isdisjoint(s.words[behind + 1 : i])
    return add_any(s, i, edits, "medium" if medium else "high", "rewrite")


def split_verb(s: Sentence, i: int, subject: int) -> tuple[str, str]:
    """Return the base form of a full verb, and the form of "do" with its person and tense."""
    word = s.words[i]
    if word in ("has", "had"):
        return "have", {"has": "does", "had": "did"}[word]
    if word in ("do", "does", "did"):
        return "do", word
    form = choose_verb_form(s, i, subject)
    base = inflection.find_base_form(word, form)
    if base is None:
        raise SkipError("ambiguous_verb")
    return base, {f.BASE: "do", f.THIRD: "does", f.PAST: "did"}[form]


def is_full_verb(s: Sentence, i: int) -> bool:
    """Return whether "have" or "do" is the full verb of its clause, for example because nothing follows."""
    if s.words[i] == "had" and s.word(i + 1) in ("better", "rather"):
        return False
    k = index_after_adverbs(s, i)
    word, tag, behind = s.word(k), s.tag(k), s.tag(k + 1)
    if not word:
        return True
    if s.tags[i] & f.DO:
        return (not tag & f.BASE and word not in ("be", "have", "do")) or bool(tag & f.USUALLY_NOUN)
    if word in ("been", "had") or "been" in s.words[i + 1 : i + 5]:
        return False
    if not tag & f.PART:
        return True
    return bool((tag & f.USUALLY_ADJ or "-" in word) and behind & (f.NOUN | f.ADJ) and not behind & f.CLOSED)


def edit_contraction(s: Sentence, i: int) -> EditPlan:
    """Negate a contracted auxiliary: "they'll" → "they won't", "where's" → "where isn't"."""
    word, at = s.words[i], s.words[i].rindex("'")
    ending, following = word[at:], index_after_adverbs(s, i)
    if ending == "'d" and s.word(i + 1) in ("better", "rather"):
        return EditPlan(edits=(Edit(s.ends[i + 1], s.ends[i + 1], " not"),))
    new = _FUSED[ending]
    tag = s.tag(following)
    if ending == "'d" and (s.word(following) == "been" or (tag & f.PART and not tag & f.BASE)):
        new = " hadn't"
    if ending == "'ve" and not (tag & f.PART or s.word(following) == "been"):
        raise SkipError("ambiguous_verb")
    if "\u2019" in s.source(i):
        new = new.replace("'", "\u2019")
    edit = Edit(s.starts[i] + at, s.ends[i], s.cased(new))
    return add_any(s, i, (edit,), "high", "rewrite")


_ANY = {"some": "any", "someone": "anyone", "somebody": "anybody", "something": "anything", "somewhere": "anywhere"}
SOME = {new: old for old, new in _ANY.items()}
"""What "any" and similar words become without "not"."""
_STOP = f.BREAK | f.OPENER | f.LOOSE | f.COORD | f.QUOTED


def add_any(s: Sentence, i: int, edits: tuple[Edit, ...], confidence: Confidence, kind: Kind = "insert") -> EditPlan:
    """Return the edits plus one that changes "some" after word `i` to "any", up to the next clause or coordination."""
    if sum(word in _ANY for word in s.words[i + 1 :]) > 1:
        raise SkipError("quantifier_only")
    for k in range(i + 1, len(s.words)):
        if s.tags[k] & _STOP and s.words[k] != "like":
            break
        if s.words[k] in _ANY and not s.word(k + 1)[:1].isdigit() and not (s.word(k + 1) == "of" and s.tags[i] & f.BE):
            any_form = Edit(s.starts[k], s.ends[k], s.cased(_ANY[s.words[k]]))
            return EditPlan(edits=(*edits, any_form), confidence=confidence, kind="rewrite")
    return EditPlan(edits, (), confidence, kind)


_MOTION = words("goes go went comes come came")
_DAYS = words("today tomorrow yesterday tonight")
_DESCRIBES = f.ADV | f.ADJ | f.PART
_NUMERALS = words("one two three four five six seven eight nine ten")
_UNIVERSAL = words("all every everyone everybody everything many much")
_EXISTENTIAL = {"someone": "no one", "somebody": "nobody", "something": "nothing"}
_OTHER = words("""
    each both most several few half either enough more less fewer any anyone anybody anything only
    almost nearly exactly mostly roughly just neither plenty
""")
_WEAKENING = words("sometimes occasionally")
"""They stay true beside a "not": "I do not feel like that sometimes"."""
_FREQUENCY = words("usually often sometimes generally typically always frequently occasionally normally rarely")
_ELSEWHERE = _OTHER | _FREQUENCY
_QUANTIFIERS = _UNIVERSAL | _OTHER | {"some"} | _EXISTENTIAL.keys()
_EXCEPT = words("except excluding apart outside but")
_WHENS = words("""
    day days night year time week month morning evening afternoon summer winter second along around over at in so
""")


def plan_statement_negation(a: Analysis) -> EditPlan:
    """Return the edits that negate a statement at its finite verb, or at the quantifier of its subject."""
    s, _, _, subject, (_, verb, lexical, others, margin) = a
    if _is_verb_first(s, subject, verb):
        raise SkipError("ambiguous_verb")
    _require_plain_scope(s, subject, verb)
    if "except" in s.words[-2:] or ("except" in s.words[verb:] and not s.closed):
        raise SkipError("exception")
    plan = _plan_at_quantifier(s, subject, verb)
    if plan is None:
        plan = (insert_do if lexical else insert_not_after_auxiliary)(s, verb, subject)
        plan = _extend_to_coordinated(a, plan) if others else plan
    elif others:
        raise SkipError("coordinated_clauses")
    counted = s.words[subject] in _NUMERALS and s.word(subject + 1) != "of"
    return plan._replace(confidence="medium") if counted or others or margin < DOUBT else plan


def _is_verb_first(s: Sentence, subject: int, verb: int) -> bool:
    """Return whether the subject comes after its verb: "…", said the man; "Here comes the bus."."""
    word, tag, main = s.words[subject], s.tags[subject], s.tags[verb]
    if word in ("here", "here's") or s.word(subject + 1) == "please":
        return True
    if main & f.CLITIC:
        return False
    fronted = word in ("such", "so") and verb == subject + 1
    if (tag & f.QUOTED and main & f.EMBED) or fronted or (word == "there" and s.words[verb] in _MOTION):
        return True
    # A predicate may stand before the verb: "Attached is …", "Equally important are …".
    describes = tag & _DESCRIBES and word not in _DAYS and main & f.BE
    describes = describes and s.tag(verb + 1) & (f.NP_START | f.NAME | f.NUMBER) and not s.tags[verb - 1] & f.NOUN
    describes = describes and all(tag & _DESCRIBES for tag in s.tags[subject:verb])
    describes = describes and (verb > subject + 1 or not tag & (f.NOUN | f.SUBJ | f.QUANT))
    if index_before_adverbs(s, verb, subject) < subject or describes:
        return not tag & f.QUANT
    if not tag & f.PREP or "," in s.words[subject:verb] or main & (f.HAVE | f.MODAL | f.DO):
        return False
    # Prepositional phrases alone may stand before the verb, and its subject behind it.
    opens = (k for k in range(subject + 1, verb) if s.tags[k] & (f.NP_START | f.NAME))
    governed = all(s.tags[k - 1] & (f.PREP | f.DET | f.ADJ | f.NAME) for k in opens)
    return governed and bool(s.tag(verb + 1) & (f.DET | f.QUANT | (f.NAME if main & f.BE else 0)))


def _require_plain_scope(s: Sentence, subject: int, verb: int) -> None:
    """Raise SkipError unless a "not" at the verb negates the complete statement."""
    first, second = s.words[subject], s.word(subject + 1)
    quantified = first in _ELSEWHERE or (first, second) in (("at", "least"), ("at", "most"), ("a", "few"), ("a", "lot"))
    adverbs = s.words[index_before_adverbs(s, verb, subject) + 1 : verb]
    often = s.tags[verb] & f.AUX and is_adverb(s, verb - 1) and not _FREQUENCY.isdisjoint(adverbs)
    free = (s.words[i] for i in range(subject + 1, verb) if not s.tags[i - 1] & (f.PREP | f.DET))
    in_phrase = s.tags[subject] & f.PREP and not _QUANTIFIERS.isdisjoint(free)
    if quantified or often or in_phrase or not _WEAKENING.isdisjoint(s.words[verb + 1 :]):
        raise SkipError("quantifier_only")


def _plan_at_quantifier(s: Sentence, subject: int, verb: int) -> EditPlan | None:
    """Return the edits that negate the quantifier of the subject; None for other subjects."""
    word, behind = s.words[subject], s.word(subject + 1)
    start, end, new = s.starts[subject], s.ends[subject], ""
    if word in _UNIVERSAL:
        pronoun = word == "all" and s.tag(subject + 1) & f.SUBJ and not s.tag(subject + 1) & f.DET
        if pronoun or behind in _WHENS or not _EXCEPT.isdisjoint(s.words[subject:]):
            raise SkipError("quantifier_only")
        first = s.source(subject)[0]
        edit = Edit(start, start + 1, ("Not " if first.isupper() else "not ") + first.lower())
        edit = Edit(start, start, "NOT ") if s.text.isupper() else edit
        return EditPlan(edits=(edit,), kind="rewrite")
    if word in _EXISTENTIAL:
        new = _EXISTENTIAL[word]
    elif word == "some":
        if behind[:1].isdigit():
            raise SkipError("quantifier_only")
        new = "none" if behind == "of" or index_before_adverbs(s, verb, subject) == subject else "no"
    return EditPlan(edits=(Edit(start, end, s.cased_as(subject, new)),), kind="rewrite") if new else None


def _extend_to_coordinated(a: Analysis, plan: EditPlan) -> EditPlan:
    """Return the plan with further predicates of the same subject under the same "do not".

    A further clause with a subject of its own, an auxiliary or another tense stays as it is: the sentence is denied
    all the same.
    """
    s, clause = a.sentence, a.clause
    before = {i: s.tags[index_before_adverbs(s, i, clause.verb)] for i in clause.others}
    shared = [i for i, tag in before.items() if tag & (f.COORD | f.BREAK)]
    joined = any(tag & f.COORD for tag in before.values()) and "but" not in s.words[clause.verb :]
    if not joined or len(shared) < len(clause.others) or not clause.lexical:
        return plan
    _, support = split_verb(s, clause.verb, a.subject)
    edits = []
    for i in shared:
        if s.tags[i] & f.AUX:
            return plan
        base, other = split_verb(s, i, a.subject)
        if other != support:
            return plan
        edits.append(Edit(s.starts[i], s.ends[i], s.cased(base)))
    return EditPlan(edits=(*plan.edits, *edits), confidence="medium", kind="rewrite")


def plan_order_negation(a: Analysis) -> EditPlan:
    """Return the edits that turn an order into a prohibition."""
    s, verb = a.sentence, a.clause.verb
    if a.clause.others:
        raise SkipError("coordinated_clauses")
    word, behind = s.words[verb], s.tag(verb + 1)
    # "Do sit down.": a bare verb follows an emphatic "do".
    emphatic = word == "do" and behind & f.BASE and not behind & (f.DET | f.QUANT | f.USUALLY_NOUN)
    if word == "let's" or (word == "let" and s.word(verb + 1) == "us") or emphatic:
        after = verb + (word == "let")
        return add_any(s, after, (Edit(s.ends[after], s.ends[after], s.cased(" not")),), "high")
    verb = a.subject if s.words[a.subject] == "always" else verb
    first = s.source(verb)[0]
    support = "Do not " if first.isupper() else "do not "
    edit = Edit(s.starts[verb], s.starts[verb] + 1, s.cased(support + first.lower()))
    return add_any(s, verb, (edit,), "medium" if a.doubtful else "high", "rewrite")
