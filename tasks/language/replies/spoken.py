"""Find the final statement of a reply: drop thoughts, repeated prompts and withdrawn text, prefer a marked verdict."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from contrapose.tasks.language.expression import expression

_INVISIBLE = dict.fromkeys((0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF))
_NAMES = (
    r"(?:\w{1,12}:)?(?:ant)?(?:think(?:ing)?|thoughts?|reason(?:ing)?|reflection|scratch_?pad|analysis|cot|monologue"
    r"|chain_of_thought|inner_monologue|internal_monologue|deliberation)"
)
_OPENS = (
    rf"<{_NAMES}(?: [^<>]{{0,80}})?>|\[THINK\]|\u25c1think\u25b7|<unused94>|<\|(?:begin_of_thought|start_thinking"
    r"|think(?:ing)?)\|>|<\|channel\|>(?:analysis|commentary|thought)\b|<details type=\"reasoning\"[^<>]{0,80}>"
    r"|\A\W{0,3}(?:analysis(?=[A-Z])|Thinking\.\.\.\s|Here is my thought process:)"
)
_CLOSES = (
    rf"</{_NAMES}>|<channel\|>|\[/THINK\]|\u25c1/think\u25b7|<unused95>|<\|(?:end_of_thought|end_thinking"
    r"|/think(?:ing)?)\|>|</details>|\.\.\.done thinking\."
)
_ANSWERS = (
    r"<\|channel\|>final(?:<\|constrain\|>\w*)?<\|message\|>|assistantfinal(?=\W|[A-Z]|$)|<\|(?:begin_of_solution"
    r"|start_response)\|>|Here is my response:"
)
_THOUGHTS = expression(
    rf"(?i)(?<![\"'`])(?:(?P<opens>{_OPENS})|(?P<closes>{_CLOSES})|(?P<answers>{_ANSWERS}))(?![\"'`])"
)
"""Marks around thoughts: of DeepSeek, Qwen and many others; Mistral; Kimi; Gemma; Cohere; gpt-oss, also without its
special tokens; Granite; Ollama."""


def extract_final_text(reply: str) -> str:
    """Return a reply without a reasoning model's thoughts, invisible characters and outer blanks.

    Thoughts that never end leave no answer. A mark in quotes, or in a reply that is JSON as a whole, is none.
    """
    plain = _UNSAID.sub("", _TURN_ENDS.split(reply.translate(_INVISIBLE).strip(), maxsplit=1)[0]).strip()
    if "<" not in plain and "[" not in plain and _THOUGHTS.search(plain) is None:
        return plain
    if parse_json_reply(plain) is not None:
        return plain
    parts, start, thinks = list[str](), 0, False
    for mark in _THOUGHTS.finditer(plain):
        if not thinks:
            parts.append(plain[start : mark.start()])
        if mark["answers"] or (mark["closes"] and not thinks):
            # What comes before was a thought whose beginning stood in the prompt.
            parts.clear()
        thinks, start = mark["opens"] is not None, mark.end()
    if not thinks:
        parts.append(plain[start:])
    return " ".join(parts).strip() if len(parts) != 1 else parts[0].strip()


def find_thought_marks(reply: str) -> Iterator[re.Match[str]]:
    """Yield the marks of thoughts in a reply, in order."""
    yield from _THOUGHTS.finditer(reply.translate(_INVISIBLE).strip())


_TURN_ENDS = expression(r"(?<=[^\s>])\s*(?:<\|im_end\|>|<\|eot_id\|>|<end_of_turn>|<\|endoftext\|>)")
"""The end of a chat's turn; text after it is no answer."""
_UNSAID = expression(
    r"~~[^~\n]{1,200}~~|(?i:(?<=example)|(?<=example:)|(?<=look like this)|(?<=look like this:)|(?<=format)"
    r"|(?<=format:)|(?<=e\.g\.)|(?<=such as)|(?<=for instance)|(?<=with))[ \t]*(?:\"[^\"\n]{4,200}\""
    r"|\{[^{}\n]{1,200}\})"
)
"""What is struck out, and an example of how to answer."""
_FENCED = expression(r"\A\s*`{3}\w*\s*(\{.*\}|\[.*\])\s*`{3}\s*\Z", re.S)


def parse_json_reply(reply: str) -> object | None:
    """Return the content of a reply that is one JSON object or list, fenced or not; None for any other."""
    fenced = _FENCED.match(reply)
    text = fenced[1] if fenced else reply.strip()
    if not text.startswith(("{", "[")) or not text.endswith(("}", "]")):
        return None
    if '"' not in text:
        text = text.replace("'", '"')
    try:
        content: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return content


def remove_listing(text: str, labels: Sequence[str], options: Sequence[str]) -> str:
    """Return a reply without a copy of the prompt's option list."""
    if len(options) < 2 or not all(option.split() for option in options) or len("".join(options)) > 20_000:
        return text
    entries = (
        rf"(?:\w{{3,12}}\s)?[(\[*]{{0,3}}{re.escape(label)}[)\]*.:]{{0,4}}\s{{1,3}}[\W_]{{0,4}}"
        + r"\s+".join(map(re.escape, words))
        for label, words in zip(labels, map(str.split, options), strict=False)
    )
    return re.sub(r"(?i)(?<!\w)" + r"[^\w(\[]{1,12}".join(entries) + r"(?!\w)", "\n", text)


_TURNS = (
    r"(?:oh,? |but |no,? |hmm+,? )?(?:wait(?=\W{0,2}(?:$|[,.:!?\u2026\u2014-]|(?:a (?:minute|moment|second)|no|that"
    r"|this|actually|let|i|if|but)\b))|hold on|hang on|(?:correction|edit|update|errat(?:um|a))(?= ?\d? ?:)|(?:scratch"
    r"|strike|scrap) (?:that|this|my|the)|oops|(?:though|although) now|although(?=,)|well(?=,)|no(?=[.!:] )|then again"
    r"|on the other hand though|hmm+|actually|on (?:second|closer|further|more careful|re)\w* ?(?:thoughts?|look"
    r"|inspection|reading|consideration|reflection|examination)|(?:after|upon|on) (?:re-?)?(?:check\w*|calculat\w+"
    r"|reading|consider\w+|think\w+|look\w+|review\w*|examin\w+|reflect\w+)|i said (?=[^.\n]{1,40} but)|i(?:'d| had)? "
    r"(?:originally|initially|first) (?:\w+ ){1,3}(?=\W?[A-Z]\b)|(?:initially|originally|at first)(?= "
    r"\W?[A-Z]\W+(?:final|now|but))|on reflection|(?:let me|i(?:'ll| will| should| need to)?) (?:re-?(?:consider|check"
    r"|think|read|evaluate|examine|do|calculate|compute|visit|assess|vise|phrase)|(?:double[- ]|cross[- ])?check "
    r"(?:that|this|my|again)|double[- ]check|verify|correct (?:that|this|myself|my)|think again|fix that|start over|try"
    r" again|revise)|i (?:take (?:that|it) back|mis\w+|was (?:wrong|mistaken|too quick)|(?:have )?made an? (?:\w+ "
    r")?(?:mistake|error)|stand corrected|(?:need|have|want) to (?:correct|change)|change my (?:mind|answer))|(?:sorry"
    r"|apologies|my (?:mistake|bad|apologies)|i apologi[sz]e)|(?P<wrong>(?:that|this)(?:'s| is| was) (?:wrong|not right"
    r"|incorrect|not correct)(?=\W{0,3}(?:$|[.!\n])))|(?:double|self|cross)[- ]?check|although,? no|or rather|i "
    r"withdraw|having been|(?:that|this)(?:'s| is| was) (?:an?|my) (?:mistake|error|typo|slip)|(?:the|my) (?:answer"
    r"|choice) above (?:is|was) (?:wrong|incorrect)|(?:updated|revised|corrected|amended|new)(?= (?:final )?(?:answer"
    r"|choice|verdict)\b))"
)
_FOREIGN_TURNS = (
    r"(?:moment(?: mal)?|halt|warte?|korrektur|nein|doch nicht|espera|correcci[óo]n|perd[óo]n|me corrijo|rectifico"
    r"|attend(?:s|ez)|correction|enfin|je me corrige|ich korrigiere(?: mich)?|verbesserung"
    r"|pardon|non)(?=\s?[,:.!\u2014-])|等等|等一下|不对|更正|纠正|我说错了|重新考虑|再想想"
)
TURN = expression(
    rf"(?im)(?:^|(?<=\()|(?<=[.!?:;,)*\u2026\u2014\u3002\uff0c-]\s)"
    rf"|(?<=[.!?\u3002\uff0c\n*]))\W{{0,4}}(?:\b(?:{_TURNS})\b|{_FOREIGN_TURNS})[\s,:.!\u2026*\u2014-]*"
)
"""Words with which a model withdraws or rechecks its statement."""
_BRIEFLY_SAID = expression(
    r"(?:^|[.!?\n])\s*(?i:(?:the|my|correct|final|answer|choice|option|is|it's|i|choose|say|so|therefore)[\s:]+){0,6}"
    r"\W{0,3}[A-Z]\W{0,4}\s*\Z"
)
"""An answer, which the words "that is wrong" are about; of any other sentence they judge what it says."""
_STANDS = expression(
    r"(?i)\b(?:(?:is|was|are) (?:\w+ )?(?:right|correct|fine)|stands?|holds?|confirm(?:s|ed)?|same (?:answer|conclusion"
    r"|result)|remains?|no change|checks? out|unchanged|i(?:'m| am) (?:confident|sure))\b"
)
_DENIES = expression(
    r"(?i)\b(?:not|no|never|first|initial|original|wrong|incorrect|mistaken?|false|neither|nor)\b|n't\b"
)


NEXT = expression(
    r"(?i)(?:\A|\n)\s*(?:(?:article|(?:next )?question|q|exercise|task|problem|passage|context|instructions?|example"
    r"|human|user)(?:\s\d+)?\s?:|compare two|which (?:summary|of)\b|the following\b)"
)
"""The place where a model that does not stop begins a question of its own."""
_LETTERED = expression(r"\bA[).:] ?[^\n]{1,200}?\s\(?B[).:] ")
"""Options that are not those which it was asked about: these are gone by now."""


Step = Literal["constrained", "label", "letter", "pattern", "restated", "embedding", "asked", "likelihood", "unparsed"]
"""What told a choice; here only a letter, a statement, an option's text, or nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The option that a reply chooses, and the step of reading that decided it."""

    index: int | None
    """Position among the options; None for none, or for several."""
    step: Step
    """What decided: `letter` alone, `pattern` for a statement with one, `restated` for an option's text; `unparsed`."""
    reason: str
    """What decided, or why nothing did."""
    tie: bool = False
    """Whether the reply plainly says that no option is better than the other one."""


def unparsed_choice(reason: str, *, tie: bool = False) -> Chosen:
    """Return a result without a choice, and the reason."""
    return Chosen(index=None, step="unparsed", reason=reason, tie=tie)


_OPEN = expression(
    r"(?i)\S\s+[^\n]{0,80}\b(?:answer|choice)\W{0,3}:\W*\Z|\A\W*(?:the )?(?:correct |final )?(?:answer"
    r"|choice)(?: is)?\W*\Z"
)
"""The end of a reply without an answer, such as a copy of the prompt."""
ONLY_NAMED = "the only option that it names"
"""A reason that says too little of an option after a second look."""
MARKED, AT_END = "the verdict is marked", "the letter at its end"
BRIEF = 300
"""Characters up to which all of a reply must agree with the verdict that it marks; else what follows the mark."""


def read_final_choice(
    seen: str, read: Callable[[str], Chosen], *, held: Callable[[str], int | None], count: int
) -> Chosen:
    """Return the final choice of a reply: marked verdicts first, then the text after a correction, up to a question.

    `read` reads what a text without marks states. `held` is the position of the option that a marked verdict names,
    beyond all options for none of them; None if it is no verdict about the options.
    """

    def read_marked(text: str) -> Chosen:
        named = [(end, place) for end, verdict in find_marked_verdicts(text) if (place := held(verdict)) is not None]
        if not named:
            return read(text)
        end, place = named[-1]
        around = (text[end:], *([] if len(text) > BRIEF else [_MARKED.sub("\n", text)]))
        others = {read(part).index for part in around if re.search(r"\w", part)} | {other for _, other in named}
        if others - {None, place}:
            return unparsed_choice("contradictory")
        if place >= count:
            return (
                unparsed_choice("both", tie=True) if count == 2 else unparsed_choice("a letter that labels no option")
            )
        return Chosen(index=place, step="pattern", reason=MARKED)

    def read_last(text: str) -> Chosen:
        if _OPEN.search(text):
            return unparsed_choice("cut off before the answer")
        before, after = "", text
        for turn in TURN.finditer(text):
            # The last second look at an answer; "that is wrong" is none if it judges what another sentence says.
            brief = turn["wrong"] is None or _BRIEFLY_SAID.search(text, 0, turn.start() + 1)
            if brief and re.search(r"\w", text[: turn.start()]):
                before, after = text[: turn.start()], text[turn.end() :]
        chosen = read_marked(after)
        if not before or (chosen.index is not None and chosen.reason != ONLY_NAMED):
            return chosen
        # A second look may leave an answer as it is.
        return (
            read_last(before) if _STANDS.search(after) and not _DENIES.search(after) else unparsed_choice("taken back")
        )

    started = NEXT.search(seen)
    if started and _LETTERED.search(seen, started.start()):
        seen, started = seen[: started.start()], None
    if started and (first := read_last(seen[: started.start()])).index is not None:
        return first
    return read_last(seen)


Verdict = tuple[int, str]
"""The offset at which a marked verdict ends, in characters, and its content."""

_CUE = (
    r"(?:answer|label|choice|verdict|winner|result|conclusion|decision|judge?ment|preferred|preference|selection|pick)"
)
_MARKED = expression(
    r"\[\[(?P<brackets>[^\[\]\n]{1,40})\]\]|\\f?boxed\s?\{(?P<boxed>(?:[^{}]|\{[^{}]{0,200}\}){1,200})\}"
    r"|(?i:<\s?(?:final_?)?(?:answer|choice|verdict|winner)\s?>)(?P<tagged>[^<]{1,200})(?:<\s?/|$)|(?im:^\W{0,6}(?:the "
    rf"|my )?final {_CUE}(?: is)?\W{{1,6}})(?P<final>[^\n?]{{1,80}}?)[^\w?]{{0,4}}(?=\n|\Z)|(?im:^\W{{0,6}}(?:the |my "
    rf"|overall )?{_CUE}\W{{0,3}}(?:[:=\u2013\u2014-]|\n)\W{{0,6}})(?P<headed>[^\n?]{{1,80}}?)[^\w?]{{0,4}}(?=\n|\Z)"
)
"""Marks that say which part of a reply is its answer: `[[A]]`, `\\boxed{A}`, `<answer>A</answer>`."""
_HYPOTHETICAL = expression(
    r"(?i)(?:\b(?:if|or|either|whether|not|instead of|rather than|unless|between|such as|e\.g\.?|format|like|write"
    r"|output|respond with)\b|n't\b)[^.\n]{0,40}$"
)
_CONDITIONAL = expression(r"(?i)\W{0,6}(?:if|for|when|or|would (?:be|mean)|means)\b")
_OBJECT = expression(r"\{[^{}]{1,2000}\}")
_KEYS = expression(
    r"(?i)(?:(?:final|correct|best|right|selected|chosen|predicted|my|the|better|preferred)[ _-]?)*(?:answer|choice"
    r"|verdict|winner|selection|option|label|letter|decision|preference|prediction|preferred|selected|chosen|better"
    r"|best|pick|result|response|summary|judge?ment|model|assistant|alternative)(?:[ _-]?(?:letter|option|label|choice"
    r"|id|key|text|value))?(?:[ _-]?\d)?"
)


def find_marked_verdicts(text: str) -> list[Verdict]:
    """Return the verdicts that a reply marks, in order, without those that it only supposes or denies."""
    if (content := parse_json_reply(text)) is not None:
        return [(len(text), held) for held in _read_json(content)]
    marked = list[Verdict]()
    for mark in (*_MARKED.finditer(text), *_OBJECT.finditer(text)):
        if mark.re.groups == 0:
            if not is_supposed(text, mark.start()):
                marked += [(mark.end(), held) for held in _read_json(parse_json_reply(mark[0]))]
        elif not is_supposed(text, mark.start(), mark.end()):
            marked.append((mark.end(), _strip_markup(next(filter(None, mark.groups())))))
    return sorted(marked)


def is_supposed(text: str, start: int, end: int | None = None) -> bool:
    """Return whether a verdict from `start` to `end` is only supposed or denied: "[[A]] if …", "not [[B]]".

    Without an `end` what follows does not count.
    """
    before = _HYPOTHETICAL.search(text[max(0, start - 60) : start]) is not None
    return before or (end is not None and _CONDITIONAL.match(text, end) is not None)


def _read_json(content: object) -> Iterator[str]:
    """Yield the values of verdict keys at any depth; if exactly one letter has the value true, yield it too."""
    named = content if isinstance(content, dict) else {}
    if {type(value) for value in named.values()} == {bool}:
        yield from (name for name, value in named.items() if value and len(name) == 1)
    for values in (
        value if isinstance(value, list) else [value] for name, value in named.items() if _KEYS.fullmatch(name)
    ):
        yield from (_strip_markup(value) for value in values if isinstance(value, str))
    for value in content if isinstance(content, list) else named.values():
        yield from _read_json(value)


def _strip_markup(text: str) -> str:
    r"""Return the content of a mark without markup: `\text{B. north}` becomes `B. north`."""
    text = re.sub(r"\\(?:text|mathrm|mathbf|mathsf|mathit)(?:bf|it|rm|sf)?\s?\{([^{}]*)\}", r"\1", text)
    return " ".join(text.strip(" \t\n*_`\"'$").split())
