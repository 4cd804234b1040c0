"""Regular expressions for clauses that choose, praise, reject or decline; each matches at the clause's start."""

from __future__ import annotations

from contrapose.tasks.language.expression import expression
from contrapose.tasks.language.replies.rewrites import NOUN, VERB
from contrapose.tasks.language.replies.text import FINALLY, PAIR

# "Answer: A cat sat" holds an article: a letter ends its clause, is marked (^), or is followed by a reason.
END = (
    r"(?:(?<=\^)|(?=\s*$|\s*[(:]|\s+(?:because|since|as (?:it|the|this|that|my)|as [AB] is|with (?:high|full|great)|due"
    r" to|given (?:that|the|what|how)|over|rather than|instead of|(?:and )?not(?! (?:only|just|merely)\b)|for (?:the"
    r"|this)|based on)\b|\s+(?:and|but)\s+(?:contradicts|refutes|rules out|conflicts)\b|\s+that\s+(?:agrees|matches"
    r"|fits|is (?:consistent|correct|right|accurate))\b|\s+(?i:explanation|reason|reasoning|justification)\s?:"
    r"|\s+(?i:only|alone|indeed|here|of course|for sure|for certain|instead|imo|in my (?:view|opinion)|on this(?: one)?"
    r"|i (?:think|guess|believe))\s*$))"
)
SUBJECT = rf"(?:{NOUN})?\b([AB])(?![\w'])\^?"
_HEADS = (
    r"(?:\b(?:answer\d?|ans|choice|option|verdict|decision|selection|response|output|result|conclusion|summary"
    r"|label|pick|vote|guess|preference|judge?ment|prediction|outcome|reply|one)\b|(?:\b(?:the|correct|right)\s|^)letter\b"
    r"|\b(?:selected|chosen|final|correct|best|consistent(?: with the \w+)?)(?=\s?[:=]|\s+is\b))"
)
_HOW = r"(?:(?:(?:most )?\w+ly|indeed|of course|(?:have|has) to be)\s+)?"
_IS = (
    r"(?:\s+(?:is|isn't|was|would be|must be|has to be|will be|should be|can only be)|'s(?: gotta be)?|'d be|'ll be)"
    rf"\s?:?\s*(?:not\s+)?{_HOW}"
)
_CHOOSE = (
    r"choose|choosing|chose|chosen|pick|select|prefer|say|think|believe|guess|lean(?:ing)? towards?"
    r"|go(?:ing)? (?:with|for)|went with|opt for|vote(?: for)?|answer(?: with)?"
)
ALONE = expression(rf"(?P<only>(?i:only|just)\s+)?{SUBJECT}")
STATED = tuple(
    expression(pattern + SUBJECT + END)
    for pattern in (
        rf"(?i:(?:[^:=]{{1,120}}:\s(?=(?:the|my)\s))?[^:=]{{0,120}}?{_HEADS}[^:=]{{0,100}}?)"
        rf"(?:\s?[:=]\s*(?:[Tt]he \w+ is\s+)?|{_IS})",
        r"(?i:(?:[^:=]{0,100}?\b)?(?:i(?:'d|'ll|'m|'ve|\s+would|\s+will|\s+am|\s+must)?|let's)\s+(?:have to\s+)?"
        rf"(?:\w+ly\s+|going to\s+|inclined to\s+|have\s+)?(?:{_CHOOSE})\s?:?\s+)",
        rf"(?i:my vote (?:goes to|is for)\s+|(?:choose|pick|select)\s+|(?:it|that|this)(?:{_IS}|s\s+))",
        r"(?i:(?:(?:i|we)(?:'m|'re| am| are) )?(?:(?:it )?(?:seems|appears) to be"
        r"|(?:it )?(?:looks|seems) like|(?:must|has to|got to|gotta|should) be"
        r"|going with|left with|leaning(?: towards?)?|(?:(?:this|that|which) leaves|leaving)(?: us with| only)?"
        r"|(?:this|that|which|my reasoning) (?:leads(?: me| us)? to|points to|suggests|indicates))\s+)",
    )
)
NOT_BUT = expression(rf"\b[Nn]ot\s+{SUBJECT}(?:,?\s+(?i:but|rather|instead)(?:\s+rather)?|;)\s+{SUBJECT}{END}")
SUPPORTED = expression(
    r"(?i:(?:the (?:[\w']+ ){0,3}?(?:article|text|source|passage)(?:'s)?(?: \w+)?|the (?:weight of (?:the "
    r")?)?(?:evidence|facts)|this|that|which|it)\s+(?:\w+ly\s+)?(?:supports?|confirms?|favou?rs?|match(?:es)?|fits?"
    r"|backs?(?: up)?|points? to|speaks? for|(?:agrees?|aligns?|(?:is|are) (?:consistent|in line)) with|corresponds? "
    rf"to))\s+{SUBJECT}{END}"
)
_WRONG = r"(?:wrong|incorrect|inconsistent|inaccurate|false|untrue|unfaithful|contradicting|contradictory)"
_ERRS = (
    rf"(?:contradicts|disagrees with|conflicts with|misstates|misrepresents|is (?:\w+ly )?{_WRONG}"
    r"|(?:does not|doesn't) (?:agree with|match|fit)|is not (?:consistent|in line))"
)
_SOURCE = r"(?: (?:with )?the (?:article|text|source|passage|facts))?"
BLAMED = tuple(
    expression(rf"(?i:(?:and |but |so |while |whereas )?{before}) {SUBJECT}{END}")
    for before in (
        rf"(?:the )?(?:{_WRONG} (?:summary|one|option|statement)|(?:summary|one|option|statement) (?:that|which)"
        rf" (?:\w+ly )?{_ERRS}{_SOURCE})(?: is| was|:)",
        r"(?:i|we|one)(?:'d|'ll| would| can| must| will)? (?:\w+ly )?"
        r"(?:rule out|eliminate|exclude|discard|reject|dismiss|throw out|cross out|drop|strike)",
        r"the (?:(?:factual )?(?:error|mistake|contradiction|inaccuracy)) (?:is|lies) in",
        r"there (?:is|are) (?:an? |one )?(?!no )(?:\w+ )?(?:errors?|mistakes?|contradictions?|inaccurac(?:y|ies)) in",
        r"(?:the (?:article|text|source|passage)|this|that|which) (?:(?:clearly|directly|plainly|flatly|explicitly) "
        r")?(?:contradicts|refutes|disproves|conflicts with|is at odds with|(?:does not|doesn't) (?:\w+ )?(?:support"
        r"|back up|bear out|confirm|agree with|match)(?= (?:the )?(?:summary|option)))",
        r"(?:there is )?nothing in the (?:article|text|source|passage)(?: (?:that|to))? (?:\w+ly )?"
        r"(?:supports?|confirms?|backs? up)",
    )
)
ANSWER = expression(r"(?i)(?:the )?(?:answer|choice|letter)\b")
"""A subject that may be somebody's reply, whose being wrong says nothing of the summary."""
CLEFT = expression(rf"(?i:it(?: is|'s|) (?:(?:only|in fact|rather) )?)({NOUN}?\b[AB]\b\^?) (?:that|which) ")
MAKES_WRONG = expression(
    rf"(?i:(?:(?:(?!nothing|no\b|not\b)[\w'-]+ ){{1,8}}?makes|making)) {SUBJECT}:?\s+(?i:(?:\w+ly )?{_WRONG})\b"
)
MAKES = expression(
    rf"(?i:(?:this|that|which)\s+makes|making)\s+{SUBJECT}\s+(?i:the\s+(?:\w+\s+)?"
    r"(?:correct|consistent|right|accurate|true|best|better|answer|only))"
)
LESS = expression(
    rf"{SUBJECT}\s+is\s+(?:\w+ly\s+)?(?:(?:less|not as)\s+(?!(?:\w+ly )?{_WRONG})(?:\w+\s+){{1,6}}(?:than|as)"
    rf"|(?:much |far )?worse\s+than|inferior\s+to)\s+{SUBJECT}{END}"
)
FALLS_SHORT = expression(r"(?i)(?:but|yet|except|though|although|however)\b")
UNDECIDED = expression(
    r"(?i)\b(?:if|whether|unless|suppos\w+|assum\w+|could|might|maybe|perhaps|possibl[ey]|either|neither|nor|both|some"
    r"|someone|people|others?|they|your? (?:answer|reply|choice|response)"
    r"|nobody|claim\w*|argu\w*|said|says|told|thought|example|pretend|cannot|can't|unable|never|no|avoid|odd|before"
    r"|first (?:guess|thought|impression|instinct|choice|pick)|previous|earlier|sample"
    r"|last (?:answer|question|time)|opposite|options|choices|format|except|but|hardly|allegedly|supposedly)\b|\b[AB]\b"
)
DENIED = expression(
    r"(?i)\bnot\b|n't\b|\b(?:wrong|incorrect|inconsistent|inaccurate|unsupported|unfaithful|untrue|misleading|flawed|false|worse|worst"
    r"|less|least|contradict\w*|disagree\w*|conflict\w*|differ\w*|fail\w*|errors?|mistake\w*|problem|reject\w*)\b"
)
CONDITION = expression(
    r"(?i)\b(?:if|whether|unless|suppos(?:e|ing)|assum(?:e|ing)|had it|were it|provided (?:that|the)|as long as)\b"
    r"|\baccording to (?:one|another|some|an?|my)\b|\bwould (?:be|have been) (?:\w+ ){1,3}had\b"
    r"|^(?:had|were)\b.*\bwould\b|^(?:should (?:the|it|this|that|they|he|she)|when (?:it|the))\b"
)
REASON = expression(r"(?i)\s*:\s*(?:because|since|as|it|this|the (?:article|text|passage|source|summary))\b")
DEFINES = expression(
    r"\s+(?:(?:is|was) (?:an?|the|for|one)|are|can|could|may|might|would|should|will|means|refers|denotes"
    r"|stands|or|and)\b"
)
"""How a text goes on that speaks of a letter as such: "'A' stands for", "`A` can be"."""
LABELS = expression(
    r"(?i)\s*(?::|[-\u2013\u2014]{1,3}(?=\s))\s*"
    r"(?:(?:it|this|that|the)(?: (?:summary|option|one|statement))?\s+(?=\w))?"
)
PRONOUN = expression(
    r"(?i)(?:(?:because|since|as|but|and|yet|which)\s+)?(?:it|this|that|which|this one|that one)\s+|which\s+"
)
"""How a clause begins that is about the letter before it."""
TELLS = expression(
    r"(?:\w+ly |also |just |only |both )?(?:says?|states?|claims?|reports?|mentions?|asserts?|suggests?|implies"
    r"|describes?|indicates?|notes?|adds?|omits?|leaves|changes?|speaks?|talks?|tells?|names?|gives?|puts?|gets?|has|had|was|does|makes?"
    r"|provides?|focuses|contains?|includes?|lacks?|uses?|goes|offers?|presents?|covers?|refers?|swaps?|reverses?"
    r"|is (?:shorter|longer|written|about|more|less|not|too|also))\b"
)
"""What is told of a text, after its letter: "(B) says that" chooses nothing."""
AND_VERB = expression(rf"\s+and (?:so |thus |hence |therefore )?(?:it )?(?={VERB})")
"""The beginning of a second predicate: "sticks to the article and is correct"."""
ONE_THAT = expression(
    r"(?i)\b(?:one|summary|option)\b(?: of (?:them|the (?:two )?\w+))?,? (?:that |which )?(?P<predicate>.+)"
)
"""What is said of one of the two before it is named: "only one summary strays from the text, and that is Summary B"."""
TELLS_IT = expression(
    r"(?i)(?:\w+ly )?(?:reflects|captures|conveys|matches|says|mentions|preserves) (?:this|that|it)\b"
)
THAT_IS = expression(r"(?i)(?:and )?(?:it|that|this)(?: one)?(?: is|'s| was)\b")
CONCEDES = expression(r"(?i)(?:while|whereas|although|though)\b")
AT_FIRST = expression(
    rf"(?i)^(?:at first|initially|on the (?:face|surface))\b.*?(?=\b(?:but|however|yet)\b|{FINALLY}|$)"
)
DECLINES = expression(
    rf"(?i:(?:[^:=]{{0,60}}\b(?:answer|choice)\s*(?:is\b|:)\s*)?(?:both|neither|either|none|{PAIR})\b(?:\s+(?:of them"
    r"|of the above|summaries|summary|one|a|b))*\^?(?:$|\s+(?:is|are)\s+(?:\w+ly\s+)?(?:consistent|correct|right"
    r"|accurate|true|fine|good|wrong|incorrect|inconsistent)))|(?i:it depends|(?:i\s+)?(?:(?:don't|do not)\s+know"
    r"|(?:cannot|can't|am unable to)\s+(?:tell|say|determine|decide|choose|answer)|(?:i'm |am )?not sure)|(?:it"
    r"|that)(?:\s+isn't|(?:\s+is|'s)\s+(?:not|wrong|incorrect))$)|(?i:or|maybe|perhaps|possibly|also"
    rf"|no)\s+{SUBJECT}(?=\^?$)"
)
# A phrase that opens a sentence and says nothing of a letter: "In this case,", "As the article says,".
_OPENING = (
    r"(?:in|for|as|to(?! be\b)|without|from|given|based on|no|by|after|according to(?= (?:the|this|that|what|its|our) "
    r"(?!\w*(?:comment|model|review|colleague|expert|judge|read)))|considering|looking at|on (?:second|closer|further)"
    r"|upon)\s(?![^,:]{0,60}\b(?:example|instance|some|others|theory|case of|no case|first|other"
    r"|otherwise)\b)(?-i:(?![^,:]{0,60}\b[AB]\b))[\w' ]{1,50}(?=[,:])"
)
_REMARK = (
    r"(?!\w+:|[^:\n]{0,80}(?:\b(?-i:B|A(?! [a-z]))(?![\w'])|\b(?:claim|view|opinion|say|think|argu|hypothes|question"
    r"|true or|option|other|example|task|format|instruct|prompt|first|initial|possib|if|whether|not|no|wrong|false"
    r"|incorrect|error|mistake|suppos|assum|to be|verif|wonder|decide|some|people|critic|reader|user|student|statement"
    r"|opposite|might|may|could|doubt|rumou?r)|n't\b))(?:[\w'-]+,? ){1,9}[\w'-]+(?=: ?(?-i:Summary [AB]) \w)"
)
"""A few words before a colon and a statement: "A quick check: Summary B gets the year wrong"."""
LEAD_IN = expression(
    r"(?i)(?:(?:yes|no|ok|okay|al ?right|sure|well|hmm+|wait|actually|certainly)[,.!:]\s*|(?:verdict|answer|conclusion"
    r"|decision|evaluation|judge?ment|result|assessment|choice)\s?:\s*(?=(?:summary |option )?[ab] (?:is|wins|matches"
    r"|agrees|fits)\b)|(?:definitely|undoubtedly|without (?:a )?doubt|probably|(?:most )?likely|clearly|obviously"
    r"|surely|actually|certainly|and|but|yet|while|whereas|although|though|then|for (?:this|that|these|those) reasons?"
    r"|instead|meaning|namely|thereby|i\.e|that is(?=,)|easy|simple|tl;?dr|long story short|all in all|here you go"
    r"|\w+ly(?=,)|(?:i|we|one|you)(?:'d|'ve)?(?: (?:would|can|must|have))?(?: \w+ly)? (?:think|believe|feel|say"
    r"|concluded?|see|find|argue|confirm|determined?|evaluated?|judged?|decided?|assess(?:ed)?|found)(?: that)?|(?:an?"
    r"|my|the|this|our) (?:\w+ ){0,2}(?:comparison|reading|analysis|look|check|review|evaluation|examination) (?:(?:of"
    r"|at|with|through) the \w+ )?(?:shows|reveals|suggests|indicates|means|confirms|makes (?:it )?clear)(?: that)?"
    r"|from the (?:article|text|source),?(?= (?:it|we|i)\b)|(?:it (?:follows|seems|appears)(?: to me)?(?! to be)|it(?: "
    r"is|'s) (?:clear|evident|obvious|apparent)|(?:this|that|which) (?:means|suggests|indicates|shows))(?: that)?"
    r"|(?:i(?: am|'m) (?:\w+ly |pretty |quite |very )?|pretty )(?:confident|sure|certain)(?: that)?|(?:that|this"
    r"|which)(?: is|'s) why|(?:my|the) (?:\w+ )?(?:objection|point|reason|fact) is that|where(?= (?:summary "
    rf")?(?-i:[AB])\b)|{_REMARK}(?=:)|{_OPENING})(?:\s?[:,.]\s*|\s+)){{1,3}}(?=\S)"
)
CLAUSES = expression(
    rf"[,;]\s+|\s+[-\u2013\u2014]{{1,3}}(?:\s+|$)|\s+(?=(?:but|while|whereas|although)\b)|\s+and\s+(?=(?:choose"
    rf"|pick|select)\b|(?:the (?:\w+ ){{1,4}}(?:in|of|by) )?(?:{NOUN})?\b[AB]\b\^?\s)"
)
