"""Replace option letters and option texts in a reply by marks, so that the same rules read every option.

A mark is one private-use character: the rules read "the answer is ■" and never see the letter. Only the English article
("A sphere") and the pronoun ("I think") are detected by their letters, because only these letters are words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from contrapose.tasks.language.expression import expression, expressions
from contrapose.tasks.language.replies.other_languages import translate_choice_words
from contrapose.tasks.language.replies.text import REMEMBERED

LETTER, TEXT, BOTH = "[\ue000-\ue0fe\ue200-\ue2fe]", "[\ue100-\ue1fe]", "[\ue200-\ue2fe]"
"""A letter, alone or with its option's text; an option's text; a letter with its text."""
MARK, CLASH = "[\ue000-\ue2ff]", "\ue0ff"
"""Any of them; a letter with the text of another option."""


_LETTERS, _TEXTS, _BOTH, _FOREIGN = 0xE000, 0xE100, 0xE200, 0xFE
_PLAIN = str.maketrans(
    dict.fromkeys("\u201c\u201d\u201e\u00ab\u00bb\u2033\u300c\u300d", '"')
    | dict.fromkeys("\u2018\u2019\u201a\u2032\u00b4", "'")
    | {"\u2212": "-", "\u3002": ".", "\u0964": ".", "\u3001": ",", "\u2022": "-"}
)
_WRAPPED = (
    (r"[\ue000-\uf8ff]", ""),
    (r"\bvs\.", "vs"),
    (r"(?m)^\[(\w[\w ]{1,20})\] ", r"\1: "),
    (r"\(?\b[A-Z]\s?[\u2013-]\s?[A-Z]\b\)?", ""),
    (r"(?i)\bfrom (?:option |answer )?\(?[A-Z]\)? (?=to (?:option |answer )?\(?[A-Z]\b)", ""),
    (r"(?im)^\W{0,3}(?:assistant|bot|model|ai)\s?: ?", ""),
    (r"[\u2705\u2714\u2713\u2611]\ufe0f?", " (correct)"),
    (r"[\u274c\u2717\u2718\u2716]\ufe0f?", " (incorrect)"),
    (r"\\therefore\b|\u2234", " : "),
    (r"\\(?:text|mathrm|mathbf|mathsf|mathit)(?:bf|it|rm|sf)?\s?\{([^{}]{0,200})\}", r"\1"),
    (r"\\f?boxed\s?\{([^{}]{0,200})\}", r"\nFinal answer: \1\n"),
    (r"(?i)<\s?(?:final_?)?(?:answer|choice)\s?>([^<]{0,200})(?:<\s?/|$)", r"\nFinal answer: \1\n<"),
    (r"(?i)<\|\w{1,20}\|>|</?[a-z_]{1,12}\s?/?>|\[/?INST\]", "\n"),
    (r"(?<![\w'])([*_`\"'$]{1,4}) ?(?i:option |choice )?([A-Za-z])([.:,)]?) ?[*_`\"'$]{1,4}(?!\w)", r"(\2)\3"),
    (r"[=-]{1,2}>|[\u2190-\u21ff\u21d2]", " : "),
    (r"(?m)^[ \t]*(?:[-+>=]|#{1,6}|\*(?!\*))[ \t]+", ""),
    (r"\\[()\[\]]|[*`\"#{}$_\u2600-\u27bf\ufe0f]|(?<!\w)'|'(?!\w)", ""),
    (r"\[\s?([A-Za-z])\s?\]", r"(\1)"),
    (r"[\[\]]", ""),
    (
        r"(?i)\bif (?:i|one) (?:had|have|were|must)(?: to)? (?:choose|pick|guess|answer|select|decide)\b(?: one)?,? ?",
        "",
    ),
    (r"(?i)\b(answer|choice|option) ?\(?[A-Z](?:(?:, ?| ?/ ?|,? or )[A-Z]){1,25}\)? ?(?=[:=])", r"\1"),
    (r"[^\S\n]+", " "),
    (r" ?\n\s*", "\n"),
)
_CLEAN = tuple((expression(pattern), replacement) for pattern, replacement in _WRAPPED)

_STOPS = r"(?=\s*(?:$|[.,:;!)\n]))"
_FUNCTION_WORDS = expression(
    r"(?:(?:a|an|the|is|are|was|were|be|been|am|do|does|did|has|have|had|will|would|can|could|may|must|should|it"
    r"|its|this|that"
    r"|these|those|he|she|they|we|you|i|to|of|in|on|at|by|for|with|from|as|and|or|but|not|so|than|then|if|because"
    r"|since|who|whom|whose|which|what|when|where|why|how|there|here|answer|option|choice|correct|best|right) ?)+"
)
"""Common words in replies: an option that is one of them is only read if it is alone."""
_ORDINALS = ("first|one|1", "second|two|2", "third|three|3", "fourth|four|4", "fifth|five|5")
_NTH = expression(
    r"(?i)\b(?:the )?(first|second|third|fourth|fifth) (?:option|choice|answer|one)\b"
    r"|^the (\w+)\W*$|^(first|second|third|fourth|fifth)\W*$"
)
_NUMBERED = expression(r"(?i)\b(?:option|choice|answer) (?:number )?(one|two|three|four|five|[1-5])\b(?![.,%]?\d)")
_AFTER_A = (
    r"(?:$|[.,:;!?)\n]|[-\u2013\u2014]\s|\(|[\ue000-\ue2fe]"
    r"|[<>=&+/]|(?:vs|but|better|stays|stands|remains|is|was|takes|gets|wins|beats|prevails|edges|outperforms"
    r"|surpasses|comes|because|since|as (?:it|the|this)|would|seems|it is|or|and)\b)"
)
_AFTER_I = r"(?:$|[.:;!?)\n]|[-\u2013\u2014]\s|\(|(?:is|because)\b)"
_NAMES = expressions(
    r"(?<![\w(])\((?P<letter>[A-Za-z])\)(?!\w)",
    r"(?<![\w'(.-])(?P<letter>[A-Za-z])(?=\)(?!\w))",
    r"(?<=\boption )(?P<letter>[b-hj-z])(?![\w'])|(?i:(?<=\boption )|(?<=\bchoice )|(?<=\balternative ))"
    rf"(?P<spelt>[A-HJ-Z]|I(?=\s?{_AFTER_I})|[a-z]{_STOPS})(?![\w'])",
    rf"(?i:\b(?:answer|choice|option|selection)(?: is)?\s?[:=]\s?)(?P<letter>[a-z]){_STOPS}",
    r"\b(?:is|be|choose|pick|select) (?:(?P<letter>[b-hj-z])(?=\s*(?:$|[.,!\n]))|(?P<spelt>a)(?=\s?[.!]))",
    rf"(?i:\b(?:it's|that's|answer) )(?P<letter>[b-hj-z]){_STOPS}",
    r"(?m)^(?P<letter>[a-z])(?=[.:] )",
    r"(?<![\w'.&+/-])(?P<letter>[B-HJ-Z])(?![\w'&+/-]|\.[A-Za-z])",
    rf"(?<![\w'.&+/-])(?P<letter>A)(?![\w'&+/-]|\.[A-Za-z])(?=\s?{_AFTER_A})",
    rf"(?<![\w'.&+/-])(?P<letter>I)(?![\w'&+/-]|\.[A-Za-z])(?=\s?{_AFTER_I})",
)
"""Forms in which a letter is a name and no word, the plainest first."""
_INITIALS = expression(r"\b(?:[A-Z]\.\s?){2,4}(?=[A-Z][a-z])")
_BETWEEN = r"[).\]:,\-\u2013\u2014\s(]{1,6}"
_LETTERED = expression(
    rf"\(?(?P<letter>[\ue000-\ue0fe])(?P<between>{_BETWEEN})(?P<text>{TEXT})(?P<end>\)?(?:[.,;:)]|\s*$|\n)?)", re.M
)
_TEXT_FIRST = expression(
    rf"(?P<text>{TEXT})(?P<between>[.,:]?(?: ?\((?:[Oo]ption )?|,? (?:which is )?[Oo]ption | (?=.\W{{0,3}}$)))"
    rf"(?P<letter>[\ue000-\ue0fe])\)?"
)


def collapse_blanks(text: str) -> str:
    """Collapse runs of blanks and of line breaks into one each, in linear time."""
    return re.sub(r" ?\n[ \n]*", "\n", re.sub(r"[^\S\n]+", " ", text.replace("\r", "\n")))


def clean_text(text: str) -> str:
    """Return a reply or an option without markup and with single blanks, in linear time."""
    text = translate_choice_words(collapse_blanks(unicodedata.normalize("NFKC", text)).translate(_PLAIN))
    if text.isupper() and " " in text:
        text = re.sub(r"[A-Z']{2,}", lambda shouted: shouted[0].lower(), text)
    for pattern, replacement in _CLEAN:
        text = pattern.sub(replacement, text)
    return text.strip()


def mark_options(text: str, labels: Sequence[str], options: Sequence[str]) -> str:
    """Return a clean reply with marks for letters and option texts; a letter with another option's text is a clash."""
    places = {label.upper(): place for place, label in enumerate(labels)}

    def number_to_letter(match: re.Match[str]) -> str:
        word = next(filter(None, match.groups())).lower()
        index = next((i for i, words in enumerate(_ORDINALS) if word in words.split("|")), len(labels))
        return f"Option {labels[index]}" if index < len(labels) else match[0]

    def mark_letter(match: re.Match[str]) -> str:
        group = "letter" if match["letter"] else "spelt"
        start, end = match.start(group) - match.start(), match.end(group) - match.start()
        return match[0][:start] + chr(_LETTERS + places.get(match[group].upper(), _FOREIGN)) + match[0][end:]

    for place, pattern in _compile_option_patterns(tuple(options)):
        text = pattern.sub(chr(_TEXTS + place), text)
    text = _INITIALS.sub("somebody ", text)
    for pattern in (_NTH, _NUMBERED):
        # "The third option" and "option 3" become "Option C".
        text = pattern.sub(number_to_letter, text)
    for pattern in _NAMES:
        text = pattern.sub(mark_letter, text)
    for joined in (_join_agreeing, _mark_clash):
        text = _TEXT_FIRST.sub(joined, _LETTERED.sub(joined, text))
    return text


def locate_mark(mark: str) -> int:
    """Return the position of a mark's option; it is larger than every position if the letter labels no option."""
    return ord(mark) & 0xFF


@lru_cache(maxsize=REMEMBERED)
def normalise_option(text: str) -> str:
    """Return a clean option in one line, without its article and without marks around it."""
    # A run of marks is tried where it begins and nowhere else, or many marks would take the square of their time.
    bare = re.sub(r"^[^\w+<>=~-]+|(?<![^\w%\u00b0+)-])[^\w%\u00b0+)-]+$", "", clean_text(text))
    return re.sub(r"(?i)^(?:the|an?)\s+(?=\w)", "", " ".join(bare.split()))


@lru_cache(maxsize=REMEMBERED)
def _compile_option_patterns(options: tuple[str, ...]) -> tuple[tuple[int, re.Pattern[str]], ...]:
    """Return the position and the pattern of each option that can be found by its text.

    The longest come first, so that "iron ore" is not read as "iron"; case counts where nothing else differs.
    """
    texts = [normalise_option(option) for option in options]
    folded = [bare.casefold() for bare in texts]
    joined = [re.sub(r"[\s-]+", "", bare) for bare in folded]
    patterns = []
    for place in sorted(range(len(texts)), key=lambda place: -len(texts[place])):
        if texts.count(texts[place]) > 1 or (len(texts[place]) < 2 and not texts[place].isdigit()):
            continue
        words = r"[\s-]+".join(re.escape(word) for word in re.split(r"[\s-]+", texts[place]) if word)
        if joined.count(joined[place]) > 1:
            words = r"\s+".join(re.escape(word) for word in texts[place].split())
        if _FUNCTION_WORDS.fullmatch(folded[place]):
            words = rf"(?:(?<=^)|(?<=[.):]\s)){words}(?=\s?(?:[.,;:!)\n]|$))"
        alike = folded.count(folded[place]) > 1
        article = "" if _FUNCTION_WORDS.fullmatch(folded[place].split()[0]) else "(?i:(?:the |an? )?)"
        before, after = r"(?<![\w'/^-])(?<!\d\.)", r"(?!\w|[.,/^]\d|['-]\w)"
        if re.search(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]", texts[place]):
            before = after = ""
        patterns.append((place, re.compile(before + article + (words if alike else f"(?i:{words})") + after)))
    return tuple(patterns)


def _join_agreeing(match: re.Match[str]) -> str:
    """Return one mark for a letter and its own option's text."""
    place = locate_mark(match["letter"])
    own = place == locate_mark(match["text"]) and not _starts_next_line(match)
    opens = match.groupdict().get("end") == "" and "." in match["between"]
    return chr(_BOTH + place) + ("." if opens else match.groupdict().get("end") or "") if own else match[0]


def _mark_clash(match: re.Match[str]) -> str:
    """Return a clash for a letter with another option's text, unless both are in a list or the text is a subject."""
    listed = not match["between"].strip(" ,") or "ption" in match["between"]
    return match[0] if listed or _starts_next_line(match) else CLASH + (match.groupdict().get("end") or "")


def _starts_next_line(match: re.Match[str]) -> bool:
    """Return whether the text begins a new sentence on the next line."""
    return match.groupdict().get("end") == "" and "\n" in match["between"]
