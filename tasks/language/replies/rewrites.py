"""Normalise replies: replace markup, arrows, marks and ordinals by plain words and letters."""

from __future__ import annotations

from contrapose.tasks.language.expression import expression, expressions

NOUN = r"(?i:(?:the\s+)?(?:summary|option|choice|answer|statement|version|letter|text|sentence)\s+)"
STOP = r"(?=\s*(?:$|[.,;:!?\n]))"

_LETTER = r"(?:(?i:summary|option)\s)?\b[AB]\b\^?"
_RIGHT = r"yes|right|correct|consistent|true|\u2705|\u2714|\u2713|\u2611"
_WRONG = r"no(?!\s(?!it\b|this\b|that\b)\w)|wrong|incorrect|inconsistent|false|\u274c|\u2717|\u2718|\u2716"
_MARKED = r"(?:[-\u2013\u2014:=]\s?|\(\s?|(?=[\u2600-\u27bf]))(?i:is\s)?"
_MARK_ENDS = r"(?:\)|(?![^\W_]|\s?/|,?\s(?:or|and)\s(?![AB]\b|Summary [AB]\b)))"
_SIGNED = r"(?=(?:and|but)\b|\W*(?:$|\(?[AB]\b|Summary [AB]\b))"
_HEADS = r"answer|choice|response|verdict|decision|selection|conclusion|output|result|is"
_CHOOSING = (
    r"(?:i(?:'d|'ll| would| will)? (?:choose|pick|select|say|go with) |it'?s |it is "
    r"|(?:the|my) (?:\w+ )?(?:answer|choice)(?: is|:) |answer: )"
)

# "A. The article says" gives a reason, "A. Smith says" names somebody.
_OPENS = (
    r"the|this|that|these|those|it|its|in|on|at|by|as|because|since|for|from|there|here|an?|i|we|my|he|she|they|his|her"
    r"|their|both|neither|no|not|yes|if|while|although|though|however|but|so|thus|therefore|summary|summaries|article"
    r"|option|answer|explanation|reason|reasoning|justification|rationale|note|according|based|correct|consistent|only"
    r"|all|what|which|when|after|final|human|question|user|to|let|wait|actually|compare|hope|please|step|nothing|unlike"
    r"|do|does|did|just|you|some|many|most|each|every|because|clearly|obviously|of|with|without|where|whereas|have|has"
    r"|had|can|could|would|should|may|must|will|also|everything|something|several|one|two|three|first|second|even"
    r"|overall|given|under|over|about|between|among|during|before|any|other|another|such|same|[A-Za-z]+ing|[A-Za-z]+n't"
    r"|it's|that's|there's|here's"
)
_NAMES = r"(?i:output|response|assistant)"

# A trailing ^ marks a letter that cannot be the English article, such as "(a)" or "**A**".
_MARKUP = (
    (r"[(\[]\s?[ABab]\s?(?:or|/|,|\|)\s?[ABab]\s?[)\]](?=\s?[:=])", ""),
    (rf"\b(?<![\u2192\u21d2>] )(A|B)[ \t]*\n\s{{0,20}}(?=[a-z])(?!(?:{_OPENS})\b|\w+\s?:)", r"\1 "),
    (r"(?m)(?:^|(?<=[.!?] ))A (?=\"[^\"\n]{1,30}\")", "The "),
    (r"\"[^\"\n]{0,150}\?\"", ""),
    (r"<\|\w{1,20}\|>|</?s>|(?i:\[/?INST\])", r"\n"),
    (r"\\(?:text|mathrm|mathbf|mathsf|mathit)(?:bf|it|rm|sf)?\s{0,3}\{([^{}]{0,200})\}", r"\1"),
    (r"(?i)</?[a-z_]{2,12}\s{0,3}/?>?|(?-i:</?[bipqu]>)", ""),
    (r"\\[()\[\]]", "$"),
    (r"(?<![\w'])[*_`\"'(\[{$]{1,6}\s?([ABab])([.:,]?)[*_`\"')\]}$]{1,6}(?!\w)", r"\1^\2"),
    (r"\(((?i:summary|option|choice) [ABab])\)", r"\1"),
    (r"(?<![\w'])([ABab])\)", r"\1^"),
    (r"(?<=[a-z])_(?=[a-z])", " "),
    (r"(?m)^\s{0,3}[=-]{1,3}>\s*", ""),
    (r"(?<=[a-z]{2}\.)\s?(?:[=-]{1,3}>|\u2192|\u21d2)\s", " therefore "),
    (r"(?<=[a-z]{2})\s?(?:[=-]{1,3}>|\u2192|\u21d2)\s", " therefore "),
    (r"\b([AB])\s?>\s?(?=[AB]\b)", r"\1 over "),
    (r"[*`\"#>\[\]{}$~_]+", ""),
)
_CALLED = (
    (
        rf"\b(?:{_NAMES})\s+(?:[(\[]([ABab])[)\]]|([AB])(?![\w'(]))",
        lambda match: f"Summary {(match[1] or match[2]).upper()}",
    ),
)
_MARKS = (
    (rf"{_LETTER}\s?\((?=[^()\n]{{0,80}}(?:[?/]|\bor\b|\bcf\b)|\d+(?: words)?\))", "either ("),
    (rf"({_LETTER})\s?{_MARKED}(?i:{_RIGHT}){_MARK_ENDS}", r"\1: correct; "),
    (rf"({_LETTER})\s?{_MARKED}(?i:{_WRONG}){_MARK_ENDS}", r"\1: incorrect; "),
)
_SIGNS = (
    (r"[\u2190-\u21ff\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\ufe0f\U0001f000-\U0001faff]+", " "),
    (r"(?m)^[ \t]*[-\u2022+][ \t]+", ""),
    (rf"(?i)\b({_HEADS})\s{{0,3}}:\s*\n\s*(?=(?:summary |option )?[ab]\b)", r"\1: "),
)
_ORDINALS = tuple(
    (pattern, replacement)
    for letter, nth, which, number in (("A", "first", "former", "one|1"), ("B", "second", "latter", "two|2"))
    for pattern, replacement in (
        (
            rf"(?i)\b(?:the )?{nth} "
            r"(?:summary|option|one|choice|statement|version|answer|response|output|assistant|reply)\b",
            f"Summary {letter}",
        ),
        (
            rf"(?i)\b(?:summary|option|choice|statement|version) (?:number |#)?(?:{number})\b(?![.,%-]?\d)",
            f"Summary {letter}",
        ),
        (rf"(?i)^({_CHOOSING})?(?:the (?:{nth}|{which})|{nth})[.!\s]*$", rf"\1Summary {letter}"),
        (rf"(?i)^the {which}(?= is\b)", f"Summary {letter}"),
    )
)
_INITIALS = (
    (r"(?:\b[A-Z]\.\s?){2,5}(?=[A-Z][a-z])", ""),
    (rf"(?<!\bis )(?<!: )\b[AB]\. (?=[A-Z][a-z]+\b(?!:))(?!(?i:{_OPENS})\b)", "someone "),
    (r"\b[AB], (?=(?:an?|the) (?:\w+ )?letter\b)", "someone, "),
    (r"\b[AB]\. (?=(?:and|et|von|van|de|der)\b)", "someone "),
)
_PHRASES = (
    (
        r"(?i)\bthe (article|text|source) and ((?:summary )?(?-i:[AB])\b\^?) (?:both |also )?(?:say|state|agree"
        r"|report|give)\b",
        r"\2 agrees with the \1, which says",
    ),
    (
        r"(?i)\b(?:one|the other)(?: (?:one|of (?:the )?(?:two )?(?:summaries|them|two)))?,"
        r" ((?:summary )?(?-i:[AB])\b\^?),",
        r"\1",
    ),
    (
        r"(?m)(?:^|(?<=[.!?] ))A (?=(?:[a-z]+ ){0,2}(?:check|look|reading|comparison|review|glance|analysis"
        r"|examination)\b)",
        "The ",
    ),
    (r"(\b[AB]\b\^?) and the (article|text|source) (?:agree|match|are consistent)\b", r"\1 agrees with the \2"),
    (r"(?i)\b((?:my |the )?(?:answer|choice|option)) (?-i:A or B)\s?:", r"\1:"),
    (
        r"(?i)\b(?:find|consider|deem|judge|hold|rate|believe) ((?:summary )?(?-i:[AB])\b\^?) (?:to be )?"
        r"(?=(?:in)?(?:correct|consistent|right|accurate)|(?:the )?(?:more|most|better|best)\b)",
        r"find \1 is ",
    ),
    (
        r"(?i)\b(?:(?:i|we|having|after|have) (?:check(?:ed|ing)|read|compar(?:ed|ing)|examin(?:ed|ing)"
        r"|review(?:ed|ing))|looking at|having (?:read|compared)|after (?:reading|comparing)|comparing|of|from) both"
        r"(?: (?:summaries|options|statements|texts|of them))?\b",
        "",
    ),
    (r"(?i)(\bprefer (?:summary )?(?-i:[AB])\b\^?) to\b", r"\1 over"),
    (r"(?i)\b(?:e\.g|cf)\.,?", "for example "),
    (
        r"(?i)\b(is|was|does|must|it|this|which) (?:therefore|thus|hence|consequently)\b"
        r"(?! (?:summary |option )?[ab]\b)",
        r"\1",
    ),
    (r"(?i)(\b(?-i:[AB])\b\^?) (?:cannot|can't|can not) (?:possibly )?be\b", r"\1 is not"),
    (r"(?i)(\b(?-i:[AB])\b\^?) (?:is|seems|looks) (?:\w+ )?unlikely to be\b", r"\1 is perhaps not"),
    (
        r"(?i), (?:therefore|thus|hence|consequently) (?=(?:is|does|contradicts|conflicts|disagrees|misstates|agrees"
        r"|misrepresents|matches|fits|gets|has|must)\b)",
        ", ",
    ),
    (r"(?i), (?:then|therefore|thus|hence|of course), ?(?=\w+s\b|(?-i:[AB])\b)", " "),
    (r"(?i)\bif (?:i|one) (?:had|have|were|must)(?: to)? (?:choose|pick|guess|answer|select|decide)\b(?: one)?,?", ""),
    (r"(?i)^\W{0,5}(?:assistant|bot|model|ai|me)\s?:\s?", ""),
)
_REPEATS = (
    (r"(?m)^\W{0,5}([AB])\b\^?(?:[ \t,.]{1,3}\1\b\^?(?![\w']))+(?=\W{0,5}$)", r"\1"),
    (r"\b((?:Summary )?([AB]))\b\^?[,:]?\s\(?Summary \2\b\)?", r"\1"),
    (r"\b(Summary ([AB]))\b\^?,?\s\(?\2\b(?:\^|\)|(?=[.!]?$))", r"\1"),
)
# "A is not consistent, but B is."
_ELLIPSES = (
    (
        r"((?i:(?:\bnot|n't)\b(?![^.;?!\n]*(?:contradict|wrong|false|incorrect|inconsistent|mis))"
        r"|\b(?:contradicts|wrong|false|in(?:consistent|correct|accurate))\b)[^.;?!\n]{0,80}(?:[.;,]\s+|\s(?=but\b))"
        r"(?i:(?:but|while|whereas|and|however),?\s+)?(?i:summary\s+)?[AB]\b\^?)\s+(?:is|does)(?=\s*[.!])",
        r"\1 is consistent",
    ),
    (
        r"((?i:\b(?:contradicts|conflicts|disagrees|distorts|mis\w+s|wrong|false|incorrect|inaccurate|inconsistent))\b"
        r"[^.;?!\n]{0,80}(?:[.;,]\s+|\s(?=and\b))(?i:(?:but|while|whereas|and|however),?\s+)?(?i:summary\s+)?[AB]\b\^?)"
        r"\s+(?:isn't|doesn't|is not|does not)(?=\s*[.!])",
        r"\1 is consistent",
    ),
    (r"(?m)(?:^|(?<=[.!?;,] ))((?i:summary |option )?[AB]\b)\^? (?:is|does|it is|is it)(?=[.!](?:\s|$))", r"\1"),
)
_SPELLINGS = (
    (r"(?i)\b(does|is|was|did|do|would|are|has|have|could|should|were|ca|wo)nt\b", r"\1n't"),
    (r"(?i)\b(?:cuz|coz|bc)\b", "because"),
    (r"(?i)^(?:lol|tbh|ngl|btw|haha+)\b[,.]{0,3} | (?:lol|tbh|ngl|btw|haha+|obv(?:iously)?)\b", ""),
    (r"(?i)\bid(?= (?:go|say|pick|choose|take|vote)\b)", "i'd"),
    (r"(?i)\bdef(?= (?:summary )?[ab]\b)", "definitely"),
    (r"(?i)\bw/ ?", "with "),
)
_ALWAYS, _MARKED_UP = "", r"[^A-Za-z0-9 .,;:?']|'(?!(?:s|t|d|m|ll|re|ve)\b)"
_GROUPS = tuple(
    (expression(needed), tuple((expression(pattern), replacement) for pattern, replacement in group))
    for needed, group in (
        (r"(?i)(?:nt|its|thats|cuz|coz|bc|id|def|gonna|w|acc|lol|tbh|ngl|btw|haha|obv(?:iously)?)\b", _SPELLINGS),
        (rf"{_NAMES}\s", _CALLED),
        (_MARKED_UP, _MARKUP),
        (rf"[AB]\^?\s?(?:[-\u2013\u2014:=(\u2600-\u27bf]|(?i:{_RIGHT}|{_WRONG}))", _MARKS),
        (_MARKED_UP, _SIGNS),
        (r"(?i)first|second|former|latter|one|two|[12]", _ORDINALS),
        (r"\b[A-Z][.,]", _INITIALS),
        (_ALWAYS, (*_PHRASES, *_REPEATS)),
        (r"[AB]\^?\s+(?:is|does|isn't|doesn't|is not|does not|it is|is it)\s*[.!]", _ELLIPSES),
    )
)
"""Each group with what a text must hold for it to change anything: most replies are spared most of them."""


def rewrite(text: str) -> str:
    """Apply all rewrites in order, in linear time, because each looks at a limited number of characters."""
    for needed, group in _GROUPS:
        if needed.search(text):
            for pattern, replacement in group:
                text = pattern.sub(replacement, text)
    return text


# Asides after a letter: appositions, comparisons and side remarks, which say nothing by themselves.
#
# "Summary B, which says 120, is wrong" is about what stands after the second comma. An aside is taken out where a verb
# follows it; where none does, the letter before it chooses nothing, unless what follows plainly gives a reason.

_NAMED = rf"(?:{NOUN})?\b[AB](?![\w'])\^?"
_ASIDE_LETTER = r"\b[AB](?![\w'])"
_NOT_VERBS = (
    r"as|this|its|his|plus|whereas|thus|besides|always|unless|perhaps|sometimes|across|towards|versus|yes|less|hers"
    r"|ours|theirs|articles|summaries|facts|details|numbers|others|words|years|people's"
)
VERB = (
    r"(?:(?:also|only|simply|just|still|therefore|thus|then|even|never|actually|not|both|wrongly|\w{2,}ly)\s+){0,2}"
    r"(?:is|isn't|was|wasn't|are|were|has|hasn't|had|does|doesn't|did|didn't|do|can|can't|cannot|could|should|would|may"
    rf"|might|must|will|won't|seems|appears|got|made|said|failed|did|(?!(?:{_NOT_VERBS})\b)[a-z]{{3,}}s)\b"
)
"""A finite verb of the third person, with up to two adverbs: "is", "contradicts", "clearly gets"."""
_COMPARED = expression(
    r"(?i)(?:[,(]\s*(?:just )?like|[,(]?\s+(?:unlike|as opposed to|in contrast (?:to|with)|contrary to|as against"
    rf"|(?:as |when )?compared (?:to|with)|(?:in|by) comparison (?:to|with)))\s+(?-i:{_NAMED})\)?"
)
# No colon or semicolon stands in an aside, and no other letter, which would be the subject of what follows.
_WITHIN = rf"(?:(?!{_ASIDE_LETTER})[^,;:()\n]){{1,100}}"
_ASIDES = expressions(
    rf"(?P<named>{_NAMED})\s*\((?:(?!{_ASIDE_LETTER})[^()\n]){{1,120}}\),?\s+(?={VERB})",
    rf"(?P<named>{_NAMED})\s+[-\u2013\u2014]{{1,3}}\s+(?:(?!{_ASIDE_LETTER})[^;:()\n]){{1,120}}?"
    rf"\s+[-\u2013\u2014]{{1,3}}\s+(?={VERB})",
    rf"(?P<named>{_NAMED}),\s+{_WITHIN}(?:,\s+(?!{VERB}){_WITHIN}){{0,2}},\s+(?={VERB})",
    rf"(?P<named>{_NAMED}),\s+(?={VERB})",
)
_REASONS = expression(
    r"(?i)(?:and (?:not|i|it|the|my|that)\b|not|rather than|instead|because|since|for\b|given|due to|based on"
    r"|considering|as (?!written|stated|given|is\b|it stands|such|well|a whole|for|opposed|compared|far)"
    r"|of course|definitely|certainly|clearly|surely|obviously|undoubtedly|without|no doubt|hands down|for sure|indeed"
    r"|i (?:think|guess|believe|say|suppose|would|am|choose|pick)|i'd|i'm|in my|imo|if i had"
    r"|(?:it|this|that|the (?:article|text|passage|source|first|second|other|former|latter|one|correct|consistent))\b"
    r"|so\b|therefore|thus|hence|please|thanks|final|my\b|confidence|=>)"
)
_HEDGED = expression(
    r"(?i)(?:the (?:one|first|second|other|former|latter)\b.*\b(?:says?|that|which|with|letter)\b"
    r"|(?:it|this|that) (?:says|claims|states)\b"
    r"|(?:it|this) (?:is|was|does|may|might|seems)\b.*\b(?:wrong|not|incorrect|but)\b|for (?:example|instance)\b)"
)


def remove_asides(sentence: str) -> str:
    """Return a sentence without the asides between a letter and its verb, in linear time."""
    plain = _COMPARED.sub(",", sentence).replace(",,", ",")
    for aside in _ASIDES:
        plain = aside.sub(lambda match: match["named"] + " ", plain)
    return plain


def gives_reason(rest: str) -> bool:
    """Return whether the words after "A, " explain or confirm a choice ("because", "not B")."""
    return _REASONS.match(rest) is not None and _HEDGED.match(rest) is None
