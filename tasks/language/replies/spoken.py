"""What a model says in the end: no thoughts, no echo, nothing that it took back; the verdict that it marks is first."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
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
    rf"|/think(?:ing)?)\|>|</details>"
    r"|\.\.\.done thinking\."
)
_ANSWERS = (
    r"<\|channel\|>final(?:<\|constrain\|>\w*)?<\|message\|>|assistantfinal(?=\W|[A-Z]|$)|<\|(?:begin_of_solution"
    r"|start_response)\|>"
    r"|Here is my response:"
)
_THOUGHTS = expression(
    rf"(?i)(?<![\"'`])(?:(?P<opens>{_OPENS})|(?P<closes>{_CLOSES})|(?P<answers>{_ANSWERS}))(?![\"'`])"
)
"""Marks around thoughts: of DeepSeek, Qwen and many others; Mistral; Kimi; Gemma; Cohere; gpt-oss, also without its
special tokens; Granite; Ollama."""


def spoken(reply: str) -> str:
    """A reply without a reasoning model's thoughts and without invisible characters, stripped.

    Thoughts that never end leave no answer. A mark in quotes, or in a reply that is JSON as a whole, is none.
    """
    plain = _UNSAID.sub("", _TURN_ENDS.split(reply.translate(_INVISIBLE).strip(), maxsplit=1)[0]).strip()
    if "<" not in plain and "[" not in plain and _THOUGHTS.search(plain) is None:
        return plain
    if as_json(plain) is not None:
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


_TURN_ENDS = expression(r"(?<=[^\s>])\s*(?:<\|im_end\|>|<\|eot_id\|>|<end_of_turn>|<\|endoftext\|>)")
"""Where a chat's turn ends: what a model writes then is nobody's answer."""
_UNSAID = expression(
    r"~~[^~\n]{1,200}~~"
    r"|(?i:(?<=example)|(?<=example:)|(?<=look like this)|(?<=look like this:)|(?<=format)|(?<=format:)|(?<=e\.g\.)"
    r"|(?<=such as)"
    r"|(?<=for instance)|(?<=with))[ \t]*(?:\"[^\"\n]{4,200}\"|\{[^{}\n]{1,200}\})"
)
"""What is struck out, and an example of how to answer."""
_FENCED = expression(r"\A\s*`{3}\w*\s*(\{.*\}|\[.*\])\s*`{3}\s*\Z", re.S)


def as_json(reply: str) -> object | None:
    """What a reply holds that is a JSON object or list as a whole, fenced or not; None for any other."""
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


@lru_cache(maxsize=256)
def _listing(labels: tuple[str, ...], options: tuple[str, ...]) -> re.Pattern[str]:
    """All options, each behind its label, with nothing but marks and blanks between them."""
    entries = (
        rf"(?:\w{{3,12}}\s)?[(\[*]{{0,3}}{re.escape(label)}[)\]*.:]{{0,4}}\s{{1,3}}[\W_]{{0,4}}"
        + r"\s+".join(map(re.escape, words))
        for label, words in zip(labels, (option.split() for option in options), strict=False)
    )
    return re.compile(r"(?<!\w)" + r"[^\w(\[]{1,12}".join(entries) + r"(?!\w)", re.IGNORECASE)


def without_listing(text: str, labels: Sequence[str], options: Sequence[str]) -> str:
    """A reply without the options where it repeats all of them in their order, as an echo of the prompt does."""
    if len(options) < 2 or not all(option.split() for option in options) or len("".join(options)) > 20_000:
        return text
    return _listing(tuple(labels), tuple(options)).sub("\n", text)


_TURNS = (
    r"(?:oh,? |but |no,? |hmm+,? )?(?:wait(?=\W{0,2}(?:$|[,.:!?\u2026\u2014-]|(?:a (?:minute|moment|second)|no|that"
    r"|this|actually|let|i|if|but)\b))|hold on|hang on|(?:correction|edit|update|errat(?:um|a))(?= ?\d? ?:)"
    r"|(?:scratch|strike|scrap) (?:that|this|my|the)|oops|(?:though|although) now|although(?=,)|well(?=,)"
    r"|no(?=[.!:] )|then again|on the other hand though|hmm+|actually"
    r"|on (?:second|closer|further|more careful|re)\w* ?(?:thoughts?|look|inspection|reading|consideration"
    r"|reflection|examination)"
    r"|(?:after|upon|on) (?:re-?)?(?:check\w*|calculat\w+|reading|consider\w+|think\w+|look\w+|review\w*|examin\w+"
    r"|reflect\w+)"
    r"|i said (?=[^.\n]{1,40} but)|i(?:'d| had)? (?:originally|initially|first) (?:\w+ ){1,3}(?=\W?[A-Z]\b)"
    r"|(?:initially|originally|at first)(?= \W?[A-Z]\W+(?:final|now|but))"
    r"|on reflection|(?:let me|i(?:'ll| will| should| need to)?) (?:re-?(?:consider|check|think|read|evaluate"
    r"|examine|do|calculate|compute|visit|assess|vise|phrase)"
    r"|(?:double[- ]|cross[- ])?check (?:that|this|my|again)|double[- ]check|verify|correct (?:that|this|myself|my)"
    r"|think again|fix that|start over|try again|revise)"
    r"|i (?:take (?:that|it) back|mis\w+|was (?:wrong|mistaken|too quick)|(?:have )?made an? (?:\w+ )?(?:mistake"
    r"|error)|stand corrected"
    r"|(?:need|have|want) to (?:correct|change)|change my (?:mind|answer))|(?:sorry|apologies|my (?:mistake|bad"
    r"|apologies)|i apologi[sz]e)"
    r"|(?P<wrong>(?:that|this)(?:'s| is| was) (?:wrong|not right|incorrect|not correct)(?=\W{0,3}(?:$|[.!\n])))"
    r"|(?:double|self|cross)[- ]?check|although,? no"
    r"|or rather|i withdraw|having been|(?:that|this)(?:'s| is| was) (?:an?|my) (?:mistake|error|typo"
    r"|slip)|(?:the|my) (?:answer|choice) above (?:is|was) (?:wrong|incorrect)"
    r"|(?:updated|revised|corrected|amended|new)(?= (?:final )?(?:answer|choice|verdict)\b))"
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
"""Where a model takes back what it said, or looks at it again."""
_BRIEFLY_SAID = expression(
    r"(?:^|[.!?\n])\s*(?i:(?:the|my|correct|final|answer|choice|option|is|it's|i|choose|say|so|therefore)[\s:]+){0,6}"
    r"\W{0,3}[A-Z]\W{0,4}\s*\Z"
)
"""An answer, which the words "that is wrong" are about; of any other sentence they judge what it says."""
_STANDS = expression(
    r"(?i)\b(?:(?:is|was|are) (?:\w+ )?(?:right|correct|fine)|stands?|holds?|confirm(?:s|ed)?|same (?:answer"
    r"|conclusion|result)"
    r"|remains?|no change|checks? out|unchanged|i(?:'m| am) (?:confident|sure))\b"
)
_DENIES = expression(
    r"(?i)\b(?:not|no|never|first|initial|original|wrong|incorrect|mistaken?|false|neither|nor)\b|n't\b"
)


def turned(text: str) -> tuple[str, str] | None:
    """What a reply says before it last looks at its answer again, and from then on; None where it never does."""
    turns = [
        turn
        for turn in TURN.finditer(text)
        if re.search(r"\w", text[: turn.start()])
        and (turn["wrong"] is None or _BRIEFLY_SAID.search(text, 0, turn.start() + 1))
    ]
    return (text[: turns[-1].start()], text[turns[-1].end() :]) if turns else None


def _confirms(text: str) -> bool:
    """Whether a second look leaves an answer as it is."""
    return _STANDS.search(text) is not None and _DENIES.search(text) is None


NEXT = expression(
    r"(?i)(?:\A|\n)\s*(?:(?:article|(?:next )?question|q|exercise|task|problem"
    r"|passage|context|instructions?|example|human|user)(?:\s\d+)?\s?:"
    r"|compare two|which (?:summary|of)\b|the following\b)"
)
"""Where a model that does not stop goes on with a question of its own."""
_LETTERED = expression(r"\bA[).:] ?[^\n]{1,200}?\s\(?B[).:] ")
"""Options that are not those which it was asked about: these are gone by now."""


Step = Literal["constrained", "label", "letter", "pattern", "restated", "embedding", "asked", "likelihood", "unparsed"]
"""What told a choice; here only a letter, a statement, an option's text, or nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """Which option a reply chooses, and how that was told."""

    index: int | None
    """Position among the options; None for none, or for several."""
    step: Step
    """What decided: `letter` alone, `pattern` for a statement with one, `restated` for an option's text; `unparsed`."""
    reason: str
    """What decided, or why nothing did."""


def unparsed(reason: str) -> Chosen:
    """Nothing is chosen, or nothing can be told."""
    return Chosen(index=None, step="unparsed", reason=reason)


_OPEN = expression(
    r"(?i)\S\s+[^\n]{0,80}\b(?:answer|choice)\W{0,3}:\W*\Z|\A\W*(?:the )?(?:correct |final )?(?:answer"
    r"|choice)(?: is)?\W*\Z"
)
"""Where a reply ends before its answer, as an echo of the prompt does."""
ONLY_NAMED = "the only option that it names"
"""A reason that says too little of an option after a second look."""
BRIEF = 300
"""Characters up to which all of a reply must agree with the verdict that it marks; else what follows the mark."""


def settled(seen: str, read: Callable[[str], Chosen], *, held: Callable[[str], int | None], count: int) -> Chosen:
    """What a reply chooses in the end: before a question of its own, after a second look, and by its marks first.

    Args:
        seen: the window of a reply.
        read: reads what a text without marks states.
        held: the position of the option that a marked verdict names, beyond all options for none of them; None where
            it is no verdict about the options.
        count: how many options there are.
    """
    started = NEXT.search(seen)
    if started and _LETTERED.search(seen, started.start()):
        seen, started = seen[: started.start()], None
    if started and (first := _last(seen[: started.start()], read, held, count)).index is not None:
        return first
    return _last(seen, read, held, count)


def _last(seen: str, read: Callable[[str], Chosen], held: Callable[[str], int | None], count: int) -> Chosen:
    if _OPEN.search(seen):
        return unparsed("cut off before the answer")
    before, after = turned(seen) or ("", seen)
    chosen = _marked(after, read, held, count)
    if not before or (chosen.index is not None and chosen.reason != ONLY_NAMED):
        return chosen
    return _last(before, read, held, count) if _confirms(after) else unparsed("taken back")


def _marked(seen: str, read: Callable[[str], Chosen], held: Callable[[str], int | None], count: int) -> Chosen:
    named = [(end, place) for end, text in verdicts(seen) if (place := held(text)) is not None]
    if not named:
        return read(seen)
    end, place = named[-1]
    around = (seen[end:], *([] if len(seen) > BRIEF else [_MARKED.sub("\n", seen)]))
    others = {read(text).index for text in around if re.search(r"\w", text)} | {other for _, other in named}
    if others - {None, place}:
        return unparsed("contradictory")
    if place >= count:
        return unparsed("both" if count == 2 else "a letter that labels no option")
    return Chosen(index=place, step="pattern", reason="the verdict is marked")


Verdict = tuple[int, str]
"""Where a marked verdict ends, in characters, and what it holds."""

_CUE = (
    r"(?:answer|label|choice|verdict|winner|result|conclusion|decision|judge?ment|preferred|preference|selection"
    r"|pick)"
)
_MARKED = expression(
    r"\[\[(?P<brackets>[^\[\]\n]{1,40})\]\]|\\f?boxed\s?\{(?P<boxed>(?:[^{}]|\{[^{}]{0,200}\}){1,200})\}"
    r"|(?i:<\s?(?:final_?)?(?:answer|choice|verdict|winner)\s?>)(?P<tagged>[^<]{1,200})(?:<\s?/|$)"
    rf"|(?im:^\W{{0,6}}(?:the |my )?final {_CUE}(?: is)?\W{{1,6}})(?P<final>[^\n?]{{1,80}}?)[^\w?]{{0,4}}(?=\n|\Z)"
    rf"|(?im:^\W{{0,6}}(?:the |my |overall )?{_CUE}\W{{0,3}}(?:[:=\u2013\u2014-]"
    rf"|\n)\W{{0,6}})(?P<headed>[^\n?]{{1,80}}?)[^\w?]{{0,4}}(?=\n|\Z)"
)
"""Marks that say which part of a reply is its answer: `[[A]]`, `\\boxed{A}`, `<answer>A</answer>`."""
_HYPOTHETICAL = expression(
    r"(?i)(?:\b(?:if|or|either|whether|not|instead of|rather than|unless|between|such as|e\.g\.?|format|like|write"
    r"|output"
    r"|respond with)\b|n't\b)[^.\n]{0,40}$"
)
_CONDITIONAL = expression(r"(?i)\W{0,6}(?:if|for|when|or|would (?:be|mean)|means)\b")
_OBJECT = expression(r"\{[^{}]{1,2000}\}")
_KEYS = expression(
    r"(?i)(?:(?:final|correct|best|right|selected|chosen|predicted|my|the|better|preferred)[ _-]?)*(?:answer|choice"
    r"|verdict|winner|selection"
    r"|option|label|letter|decision|preference|prediction|preferred|selected|chosen|better|best|pick|result|response"
    r"|summary|judge?ment|model|assistant|alternative)(?:[ _-]?(?:letter|option|label|choice|id|key|text|value))?"
    r"(?:[ _-]?\d)?"
)
"""Keys of JSON under which a verdict stands."""


def verdicts(text: str) -> list[Verdict]:
    """The verdicts that a reply marks as such, in order; those that it only supposes, or denies, are left out."""
    if (content := as_json(text)) is not None:
        return [(len(text), held) for held in _of_json(content)]
    marked = (
        (mark.end(), _plain(next(filter(None, mark.groups()))))
        for mark in _MARKED.finditer(text)
        if not _HYPOTHETICAL.search(text[max(0, mark.start() - 60) : mark.start()])
        and not _CONDITIONAL.match(text, mark.end())
    )
    objects = (
        (at.end(), held)
        for at in _OBJECT.finditer(text)
        if not _HYPOTHETICAL.search(text[max(0, at.start() - 60) : at.start()])
        for held in _of_json(as_json(at[0]))
    )
    return sorted([*marked, *objects])


def _of_json(content: object) -> Iterator[str]:
    """What stands under the keys of verdicts, however deep; a letter that alone is true is one, too."""
    if isinstance(content, dict) and {type(value) for value in content.values()} == {bool}:
        yield from (name for name, value in content.items() if value and len(name) == 1)
    for name, value in content.items() if isinstance(content, dict) else ():
        if _KEYS.fullmatch(name):
            yield from (
                _plain(held) for held in (value if isinstance(value, list) else [value]) if isinstance(held, str)
            )
    for value in content.values() if isinstance(content, dict) else content if isinstance(content, list) else ():
        yield from _of_json(value)


def _plain(text: str) -> str:
    r"""What a mark holds without markup: `\text{B. north}` is `B. north`."""
    text = re.sub(r"\\(?:text|mathrm|mathbf|mathsf|mathit)(?:bf|it|rm|sf)?\s?\{([^{}]*)\}", r"\1", text)
    return " ".join(text.strip(" \t\n*_`\"'$").split())
