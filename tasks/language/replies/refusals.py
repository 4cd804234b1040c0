"""Detect replies that refuse or were withheld: English, conservative, in time linear in the text.

A reply is a refusal if its beginning refuses in the model's own name: "I'm sorry, but I can't assist with that", "As an
AI language model, I cannot …", "[content filtered]". An apology before an answer, or a story about a refusal, is none.
"""

from __future__ import annotations

from typing import Literal

from contrapose.tasks.language.expression import expression

ReplyKind = Literal["answer", "empty", "refusal"]

OPENING = 320
"""Characters at the start of a reply that are looked at; a reply that refuses says so there."""
SENTENCES = 3
"""Sentences of the opening, of which one must refuse."""

_WORD = expression(r"[^\W_]")
_PLAIN = str.maketrans({"’": "'", "‘": "'", "`": "'", "*": "", "_": "", "“": '"', "”": '"', "\n": " ", "\t": " "})
_SENTENCE = expression(r"[^.!?:;]+[.!?:;]?")
_QUOTED = expression(r"\s*[\"']")
_SAID = expression(
    r"\"|, (?:he|she|they|it|we|the|\w+ed|said|wrote|says)\b|\b(?:said|wrote|told|says) (?:he|she|the|her|him)\b"
)

_LEAD = (
    r"^\W*(?:(?:no|sorry|my apologies|apologies|i apologi[sz]e(?: for [a-z ]{1,30})?|unfortunately|(?:i am|i'm|im) "
    r"(?:really |very |so |truly )?(?:sorry|afraid)(?: that)?|however|but|therefore|so|and|instead|as an? (?:large "
    r"|responsible )?(?:ai|artificial intelligence|language model|llm|assistant)[a-z ]{0,40}|error)\b\W{0,3}){0,4}"
)
_UNABLE = (
    r"i (?:(?:really |simply |just )?(?:can't|cannot|can not|won't|will not|must not)(?: be able to)?|(?:am|was) "
    r"(?:unable|not (?:able|allowed|permitted|willing|programmed)) to|do not have the ability to)|i'm (?:unable|not "
    r"able|not allowed|not permitted|not willing|not programmed) to|i(?:'m| am) (?:not going to|not comfortable)|i "
    r"(?:do not|don't) (?:feel comfortable|wish to|want to|think i (?:can|should))|i(?:'d| would) (?:rather|prefer) "
    r"not(?: to)?|i (?:refuse|decline) to"
)
_ABOUT = (
    r"(?:that|this|these|those|such|it|any|anything|further|"
    r"offensive|abusive|inappropriate|profan|vulgar|hateful|harmful|explicit)"
)
_MAKING = (
    r"(?:comply|continue|answer|respond|reply|engage|fulfil|fulfill|complete|provide|produce|generate|write|create|"
    r"participate|proceed)(?:ing)?\b"
)
_DOING = r"(?:do|say|repeat|use|discuss|support|accommodate|process|share|offer|go along with)\b"
_HELPING = r"(?:assist|help)\b(?: you)?(?: (?:further|today|here))?(?:\W*$|\W* (?:with|in)\b)"
_REFUSES = expression(
    rf"{_LEAD}(?:{_UNABLE})\s+(?:{_HELPING}|{_MAKING}(?:\W*$|\W+(?:{_ABOUT}|a|an|the|to|in|with|your|text|content))|"
    rf"{_DOING}\W+(?:{_ABOUT}|so))"
)
_PASSIVELY = expression(
    rf"{_LEAD}(?:(?:that is|that's|this is) (?:not )?something (?:that )?i (?:can't|cannot|can|won't|will not) (?:help"
    r"|do|assist|answer)|it would (?:not be appropriate|be inappropriate) for me to|i (?:do not|don't) (?:engage|feel "
    r"comfortable)|i(?:'m| am) not comfortable|i (?:must|have to|need to|will have to|am going to) (?:respectfully "
    r")?(?:decline|refuse|abstain|refrain)|i (?:refuse|decline)\W*$|i(?:'m| am) programmed to (?:avoid|refuse|decline))"
)
_WITHHELD = expression(
    r"\b(?:filtered|blocked|removed|withheld|flagged|rejected|violates?)\b[a-z ,']{0,60}"
    r"\b(?:content|moderation|safety|usage|management|filters?|guidelines|polic(?:y|ies))\b"
)
_OF_WHAT = expression(r"\b(?:response|request|prompt|output|content|reply|message|text|completion)\b")


def classify_reply(reply: str) -> ReplyKind:
    """Return whether a reply is an answer, empty (no letter and no digit), or a refusal."""
    if not _WORD.search(reply):
        return "empty"
    return "refusal" if is_refusal(reply) else "answer"


def is_refusal(reply: str) -> bool:
    """Return whether a reply refuses to answer, or a filter replaced it."""
    opening = reply.lstrip()[:OPENING].translate(_PLAIN).lower()
    sentences = [sentence.strip() for sentence in _SENTENCE.findall(opening)][:SENTENCES]
    if _QUOTED.match(opening):
        return False
    refusing = any(
        _REFUSES.match(sentence)
        or _PASSIVELY.match(sentence)
        or (_WITHHELD.search(sentence) and _OF_WHAT.search(sentence))
        for sentence in sentences
    )
    return refusing and not _SAID.search(opening)
