"""Regular expressions for clauses in which a reply with marks chooses an option, doubts it or rules it out."""

from __future__ import annotations

from contrapose.tasks.language.expression import expression, expressions
from contrapose.tasks.language.replies.marks import BOTH, LETTER, MARK, TEXT

_NOUN = r"(?:(?i:the )?(?i:option|choice|answer|letter|alternative) )?"
_ONE = rf"[(\s]{{0,2}}{_NOUN}(?:\(\s?)?(?P<mark>{MARK})\)?"
_OTHER = rf"(?:the |an? )?{_NOUN}\(?{MARK}"
_MANNER = (
    r"(?: (?:most likely|likely|probably|most probably|definitely|certainly|clearly|simply|therefore|thus|indeed"
    r"|in fact|actually|obviously|of course|then|hence|still))?"
)
_BE = r"(?:\s(?:is|was|would be|must be|has to be|should be|will be|can only be|seems to be)|'s|'d be)"
_ASIDE = r"(?:, (?:in my (?:opinion|view)|of course|therefore|thus|then|I (?:think|believe)|indeed|in fact),)?"
_IS = rf"(?:{_BE}{_MANNER}{_ASIDE}\s?:?|\s?[:=]|\s[\u2013\u2014])\s?"
_BEST = (
    r"(?:best|better|preferred|stronger|superior|winning|consistent|accurate|correct|right|closest|most [a-z]+"
    r"|likeliest|only|true|proper|ideal|final|chosen|selected)"
)
_ANSWER = (
    r"(?:answer|ans|winner|preference|preferred|judge?ment|result|choice|option|solution|response|selection|pick"
    r"|guess|vote|verdict|conclusion|decision)"
)
_GAP = r"[^.!?:=\n\ue000-\ue2ff]{0,120}?"
_BECAUSE = (
    r"(?:because|since|as (?:it|the|this|that|there|these|they|we|he|she)|due to|and not|not|over"
    r"|rather than|instead)\b"
)
_FURTHER = (
    r"(?:given (?:that|the)|which|based on|according|here|with (?:high|full)|in (?:this|my)|imo|for this|from the"
    r"|(?:from )?among|if you|though|here|indeed)\b"
)
"""How a sentence goes on after a letter; after an option's text such words may belong to it."""
_WAVERS = (
    r"(?:(?:or|but|if|unless|maybe|perhaps|possibly|nor|although|though|however)\b|(?:and |then |also )*" + _OTHER + ")"
)
_END = (
    rf"(?=[\s\")]{{0,3}}(?:$|[.!;]|,(?!\s?{_WAVERS})|\([^()]{{0,200}}\)|:(?!\s?{_OTHER})|\s?[-\u2013\u2014]+\s"
    rf"|\s{_BECAUSE}|(?<={LETTER})\)?\s{_FURTHER}|(?<=[\ue200-\ue2fe])\s(?!\s?{_WAVERS}|(?:and|is|are|was|has|does"
    rf"|can)\b)))"
)
_ANSWER_END = (
    rf"(?:{_END}|(?<={LETTER})(?=\)?\s+(?:that|to|in|of|for)\b)|(?<={LETTER}\))(?=\s+(?:that|to|in|of|for)\b)"
    r"|(?<=[\ue200-\ue2fe])(?=\)?\s(?:is|are|was|has|does|can)\b))"
)
_CHOOSE = (
    r"(?:choose|pick|select|say|go(?:ing)? with|answer(?: with)?|respond with|opt for|vote(?: for)?|go for|guess"
    r"|(?:suggest|recommend)(?: (?:selecting|choosing|picking|going with))?|prefer|think|believe|write|reply|favou?r"
    r"|tick|mark|stay with|stick with|stand by|keep(?: to)?)"
)
_I = (
    r"\b[Ii](?:'d| would| will|'ll|'m| am)?(?: have to| like to| going to)?(?: therefore| probably| definitely"
    r"| now| still)?"
)
_SO = (
    r"(?:therefore|thus|so|hence|consequently|ultimately|in conclusion|finally|conclusion|in summary|overall"
    r"|accordingly|to conclude|final (?:answer|choice|decision))"
)
_SURELY = (
    r"(?i:definitely|probably|clearly|surely|certainly|obviously|most likely|likely|only|just|going with|choose|pick"
    r"|select|must be|yes|yeah|okay|so|hmm|for sure|for certain|of course|i (?:think|guess|believe|suppose)|indeed"
    r"|alone|imo|please|final)"
)
_LEADS = r"(?:that|think|believe|therefore|thus|so|hence|say|means|find|but|as|options,|options)"
_PRAISED = (
    r"(?:(?:the|my) (?:most )?(?:\w+ly )?(?:most |single |one |only )?"
    rf"(?:{_BEST}|answer|accurate|appropriate)|(?:(?!usual|possib|part|hard|near|suppos|seeming|alleged"
    rf"|potential)[a-z]+ly )?(?:correct|right|best|better|preferable|superior|accurate|appropriate|consistent"
    rf"|preferred|stronger)|the (?:\w+ )?winner|the one|(?:our|my) (?:answer|choice|pick)|most [a-z]+)\b"
    r"(?! (?:only|in (?:saying|some|theory|part)|about|that|which|of|given|if|except|but|or|and)\b)"
)
ANYWHERE = expressions(
    rf"(?i:\b{_ANSWER}\b){_GAP}{_IS}{_ONE}{_ANSWER_END}",
    rf"(?i:^(?:answer|ans|solution|response))(?:\s[-\u2013\u2014])? {_ONE}(?!,| ?[-\u2013\u2014]|:){_END}",
    rf"{_I} (?i:{_CHOOSE})(?: that)?(?: it(?:'s| is))?\s?:?\s?{_ONE}{_END}",
    r"(?i:^(?:i |so,? |ok(?:ay)?,? |therefore,? )*(?:(?:will |'ll |would )?(?:give|change|switch|settle|submit"
    r"|write|enter|mark|meant?|reply|output)|my (?:reply|pick|vote))\b)[^.!?:=\n\ue000-\ue2ff]{0,40}?(?: (?:to|on"
    rf"|is|be)|\s?:|(?<=write)|(?<=enter)|(?<=mark)|(?<=mean)|(?<=meant)|(?<=letter)) {_ONE}{_END}",
    rf"(?i:\b(?:the )?(?:final |correct )?letter\b)(?:{_IS}| )(?P<mark>{MARK}){_END}",
    rf"(?i:\b(?:the )?(?:one|option) (?:that )?(?:you want|i want|we want|wanted|we need|to (?:choose|pick"
    rf"|select)) is) {_ONE}{_END}",
    rf"(?i:^(?:right|correct|solution|lösung|true|ans|answers?|the answers?)\.?) ?(?::|(?<=\.)) ?{_ONE}{_END}",
    rf"(?i:\b(?:and|has one, and) that is|^(?:no|yes)[:,]|\b(?:final|now|edit)\s?:) {_ONE}{_END}",
    rf"(?i:\b(?:only|just|merely) )(?:option )?(?P<mark>{LETTER})\)? (?i:remains?|is left|fits|works|qualifies"
    rf"|satisfies|matches|survives|makes sense)\b",
    rf"(?i:\b(?:leav(?:es|ing)|left)(?: us| me)?(?: only)?(?: with)?(?: only)?) {_ONE}{_END}",
    rf"^(?i:{_SO})[,:]? (?:(?i:it|this|that|the \w+){_BE} )?{_ONE}{_END}",
    rf"(?i:[,;] |\band ){_SO}[,:]? {_ONE}{_END}",
    rf"(?i:\b(?:this|that|which|it)(?: \w+ly)? (?:matches|corresponds to|points to|leads to|means)) (?:the "
    rf"|answer )?(?=(?i:option|choice)\b){_ONE}{_END}",
    rf"{_BE}{_MANNER} (?:the |answer )?(?=(?i:option|choice)\b){_ONE}{_END}",
    rf"^{_SURELY},? {_ONE}(?:,? {_SURELY})?[.!]?$",
    rf"^{_ONE},? {_SURELY}[.!]?$",
)
"""A choice in so many words, by a letter or by an option's text."""
BY_LETTER = expressions(
    rf"(?i:\b(?:the|my) (?:[\w-]+ ){{0,2}}?{_BEST}\b|\bthat (?:best )?(?:\w+ )?fits\b){_GAP}{_IS}{_ONE}{_ANSWER_END}",
    rf"(?:^|[.,:;)] |\b(?i:{_LEADS}) ){_ONE}(?:, [^,\n\ue000-\ue2ff]{{1,80}},)?"
    rf"(?:{_BE}|\s(?:seems|appears|looks)){_MANNER} {_PRAISED}",
    rf"(?:^|[,;] |\b(?:so|therefore|but|think|believe|say|guess|sure) )(?:that )?(?i:it|that|this){_BE}"
    rf"{_MANNER}\s?:?\s?{_ONE}{_END}",
    rf"(?:^|[,;:] ){_ONE} it (?:is|must be|has to be){_END}",
    rf"(?i:\b(?:take|consider|accept|count|use) ){_ONE}(?i: as (?:my|the) (?:final )?(?:answer|choice|pick))\b",
    rf"(?:{_BE}{_MANNER}|\b(?:makes|making|make)) {_ONE} {_PRAISED}",
    rf"(?:^|[,:;] |\b(?i:so|therefore|thus|hence|and|but|overall|that) ){_ONE}(?i: (?:\w+ly )?(?:wins|takes it|gets the"
    r" (?:nod|win|edge)|comes out (?:on top|ahead)|prevails|edges it|stays|stands|remains|has the edge|is ahead overall"
    rf"|(?:beats|outperforms|surpasses|edges out|over|>{{1,3}}|(?:is )?(?:better|stronger) than) {_OTHER}))",
    rf"(?i:\b(?:in favou?r of|preference (?:to|for|is|goes to)|(?:decision|vote|point|win|edge|nod) (?:goes|is"
    rf"|falls) (?:to|for|on|in favou?r of)) ){_ONE}{_END}",
    rf"^(?:[^\ue000-\ue2ff]{{0,60}} |(?i:ok|okay|sure|alright|[^\ue000-\ue2ff]{{0,20}}(?:certain"
    rf"|confident))\s?)?: {_ONE}[.!]?$",
    rf"^{_ONE}\s?[-\u2013\u2014:(]\s?(?:this is )?(?:the )?(?:correct|right)(?: (?:answer|option|choice|one))?{_END}",
    rf"(?i:\bnot {_NOUN})\(?{MARK}\)?,? but (?:rather )?{_ONE}{_END}",
)
"""A choice by a letter; with an option's text the same words may describe something else."""
_THINKING = (
    r"(?i:(?:use|i (?:\w+ly )?(?:think|believe|guess|say|choose|would say|would guess|'d say)(?: that)?|i'd (?:say"
    r"|guess)|definitely|clearly|probably|most likely|obviously|in my (?:opinion|view)|so|therefore),? )?"
)
LOOSE = expressions(
    rf"^(?:[^,\ue000-\ue2ff]{{1,80}}, )?{_THINKING}(?i:the|my) (?:[\w'-]+ ){{0,5}}[\w'-]+?(?:{_BE}| are){_MANNER}"
    rf"\s?:?\s?\(?(?P<mark>{TEXT}){_END}(?=.?$)",
    rf"{_BE}{_MANNER} (?P<mark>{BOTH}){_END}(?=.?$)",
    rf"^(?!(?i:let|start|consider|look|first|compare))[^:\ue000-\ue2ff]{{1,200}} \(?(?P<mark>{BOTH})\)?[.!]?$",
    r"^(?![^\ue000-\ue2ff]*\b(?i:options?|choices|questions?|answers|possibilities|alternatives|following "
    rf"are)\b)[^\ue000-\ue2ff]{{1,200}}\s?: \(?(?P<mark>{BOTH})\)?[.!]?$",
    r"^[^\ue000-\ue2ff]{1,200}\b(?i:becomes|equals|gives|yields|called|known as|named|that of|\w+ed by) "
    rf"\(?(?P<mark>{TEXT}|{BOTH})\)?(?:, not [^\n]{{1,80}})?[.!]?$",
)
"""What a reply of a sentence or two says of its subject: "The object is a sphere"."""
NAMES = expressions(
    rf"^{_THINKING}(?i:it|that|this|he|she|they)(?:{_BE}|'re| are){_MANNER}\s?:?\s?(?P<mark>{TEXT}){_END}",
    rf"^{_THINKING}(?P<mark>{TEXT})(?: would be| (?:is|was|are) the| fits best| must be it| seems (?:right|best)"
    rf"| is (?:right|correct|my answer))\b",
    rf"(?:^|(?i:(?<=\bno, )|(?<=\bwait, )|(?<=\bactually, )|(?<=\bor ))){_THINKING}(?P<mark>{TEXT})(?=[\s\")]{{0,3}}(?:"
    rf"$|[.!;]|\(|,?\s{_BECAUSE}|,(?!\s?{_WAVERS})(?! (?:which|who|that|unlike|like|by|on|for|and)\b)[^,]{{0,80}}$))",
    rf"^(?P<mark>{TEXT}) it is{_END}",
)
"""An option's text where an answer stands, at the start of a sentence."""
DOUBT = expression(
    r"(?i)\b(?:if|whether|unless|suppos\w+|assum\w+|could|might|may|maybe|perhaps|possibl[ey]|either|neither|nor|both"
    r"|some|someone|people|others?|they|your|nobody|claim\w*|argu(?:e|es|ed|ably)|never|no|none|cannot|except|incorrect"
    r"|wrong|false|least|less|worst|opposite|unlike|tempt\w*|at first|initially|thought|eliminat\w+|rul\w+ out|avoid"
    r"|example|one of|pretend|hardly|while|although|though|whereas|even|unable|between|format|previous|each|consider\w*"
    r"|doubt\w*|unlikely|anything but|far from|dismiss\w*|exclud\w+|reject\w*|first|second|third|fourth|fifth|(?:next"
    r"|last) (?:one|option|choice|answer)|another|student\w*|given answer|(?:one|an) (?:option|choice|answer))\b"
    r"|\bnot\b|n't\b"
)
"""What denies, doubts or distances a choice in its own clause."""
CONDITION = expression(
    r"(?i)\b(?:if|whether|unless|suppos(?:e|ing)|assum(?:e|ing)|(?:don't|do not|not) (?:think|believe|know|sure|say)"
    r"|cannot|can't|unable)\b"
)
TAKES_BACK = expression(
    r"(?i)\b(?:but|except|unless|though|although|only|many|some|others|people|theory|opposite|wrong|worst|least|usually"
    r"|not)\b|n't\b"
)
"""What, behind a choice that is no more than praise, leaves it open: "is the best in theory, but"."""
DENIES = expression(
    r"(?i)[)\].\"']{0,3}\s?(?:\([^()]{0,80}\)|,[^,.;\n]{1,80},|[-\u2013\u2014][^.;\n\u2013\u2014]{1,80}[-\u2013\u2014])"
    r"?,?\s?(?:(?:also|which|therefore|thus|clearly|definitely|probably) )*(?:(?:is|was|are|were|would|could|can|may"
    r"|might|seems?|looks?|appears?|sounds?|does|do|did|has|should|must)(?: to)?(?: be)?(?: \w+ly| also| quite| rather|"
    r" very)* ?(?:not\b|n't|un(?:likely|true|supported|related)|wrong|in(?:correct|accurate|consistent|valid)|false"
    r"|out\b|ruled out|eliminated|excluded|impossible|implausible|doubtful|tempting|a (?:distractor|trap|mistake)|the "
    r"(?:wrong|opposite)|too\b|less\b|worse)|cannot\b|can't\b|isn't\b|wasn't\b|doesn't\b|didn't\b|won't\b|wouldn't\b"
    r"|couldn't\b|fails?\b|contradicts?\b)"
)
CONCLUDES = expression(rf"(?i)(?:^|[,;.] |\band ){_SO}\b|\bfinal\b")
INSTEAD = expression(rf"(?i)\bnot\b[^.,;]{{0,12}}{MARK}\)?,? but\b")
""""Not A but B", whose denial is of the other one."""
LED_UP = expression(rf":?\s*{_NOUN}\(?\s*$")
DECLINES = expression(
    r"(?i)\b(?:it (?:really |all )?depends|(?:cannot|can't|unable to) (?:decide|say|tell|choose|determine)"
    r"|hard to (?:say|tell)|more (?:information|context|details) (?:is|are) (?:needed|required))\b"
)
NOT_ANOTHER = expression(rf",? (?:and )?not (?:by |the |a |an |in |of )*{MARK}")
"""What sets a choice apart from another option."""
CLAUSE = expression(r"[,;:]\s|\s[-\u2013\u2014]\s|\sbut\s")
RULED_OUT = expression(
    r"(?i:\b(?:not|isn't|wasn't|neither|nor|rul(?:e|es|ing) out|eliminates?|exclude|discard|reject))(?: the| an?)?"
    rf" {_NOUN}\(?(?P<first>{MARK})|(?P<second>{LETTER})\)?\.?(?:, [^,\n\ue000-\ue0ff\ue200-\ue2ff]{{1,80}},)?"
    r"(?: (?:is|was|are|seems|can be|can|must be|does|would|do)(?: (?:also|clearly|therefore|thus|definitely|then))*"
    r" ?(?:not\b|n't|incorrect|wrong|false|out\b|ruled out|eliminated|inaccurate)"
    r"| ?(?:isn't|wasn't|doesn't|can't|cannot|contradicts|misrepresents|fails)\b)"
)
BOTH_RIGHT = expression(
    rf"(?i)\bboth (?:option |answer )?\(?{MARK}\)? and (?:option )?\(?{MARK}\)?[^.\n]{{0,20}}\b(?:correct|right"
    rf"|valid|true|acceptable|defensible)\b"
)
OF_ANOTHER = expression(
    rf"(?<!not )(?<!than )(?<!not the )(?P<text>{TEXT})[,;.!]?\s+(?:(?:so|hence|thus|therefore|which "
    rf"is)\b[^.\n\ue000-\ue2ff]{{0,60}}|(?:the |my |final |correct )*answer\s?(?:is|:)\s*)\(?(?P<mark>{LETTER})"
)
"""An option's text, from which a letter is concluded."""
AND_ALSO = expression(rf"\)?\.?(?: ?\([^()]{{0,200}}\))?,? \(?(?:and|or|as well as|plus|&) (?:also )?{_OTHER}")
ALSO = expression(
    r"(?i:(?:(?:^|[.!?;:,\n)-] )or|\b(?:maybe|perhaps|possibly|or (?:is it|maybe|perhaps|possibly|even|could|might))"
    r"|(?:might|may|could)(?: also| well)? be|actually,?|alternatively,?)) (?:also )?(?:is it "
    rf")?{_NOUN}\(?(?P<mark>{LETTER})|(?P<also>{LETTER})\)? (?:is|may|might|could)(?: be)? (?:also|possible|equally)\b"
)
