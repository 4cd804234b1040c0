"""The possible outcomes of a reply, such as answered, refused or cut off, with an explanation of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

ReplyOutcome = Literal["answered", "refused", "moderated", "cut_off", "tool_call", "malformed", "error"]
"""`answered`: the model replied. `refused`: it declined, in a field of its own. `moderated`: a content filter withheld
the prompt or the reply. `cut_off`: the reply reached its greatest length. `tool_call`: the model called a tool.
`malformed`: what came is no text. `error`: the endpoint failed, or was not asked."""
WITHHELD: tuple[ReplyOutcome, ...] = ("moderated", "refused")
"""Outcomes that are final for a prompt, however it is asked."""
AskedAgain = Literal["refused", "moderated", "tool_call", "malformed"]
"""Outcomes that a run may ask for again, once something at the endpoint has changed."""


class Explained(NamedTuple):
    """The explanation of a reply's outcome."""

    reason: str
    """Why a case with such a reply has no score."""
    said: str
    """What such replies are; it follows their number."""
    advice: str
    """What to do about them, in sentences."""


AGAIN = "They count as unread, and are not asked again. {changed}, ask them again with --ask-again {outcome}."

EXPLAINED: Mapping[str, Explained] = {
    "moderated": Explained(
        "A content filter of the endpoint withheld the prompt or the reply (moderated).",
        "were withheld by a content filter of the endpoint (moderated)",
        AGAIN.format(changed="After a change of the filter's policy", outcome="moderated"),
    ),
    "refused": Explained(
        "The endpoint marked the reply as a refusal of the model (refused).",
        "are refusals that the endpoint marked as such (refused)",
        AGAIN.format(changed="After a change of the model's policy", outcome="refused"),
    ),
    "cut_off": Explained(
        "The reply was cut off before its first word (cut_off).",
        "have no text, since they were cut off (cut_off)",
        "A reasoning model that is cut off while it thinks writes none: raise gen_kwargs.max_new_tokens.",
    ),
    "tool_call": Explained(
        "The model called a tool and wrote no text (tool_call).",
        "are calls of tools without text (tool_call)",
        "These prompts offer no tools: turn them off at the endpoint. "
        + AGAIN.format(changed="Then", outcome="tool_call"),
    ),
    "malformed": Explained(
        "The endpoint sent a reply whose content is no text (malformed).",
        "have a content that is no text (malformed)",
        "The endpoint must send text, or a list of parts with text. "
        + AGAIN.format(changed="After a change of the endpoint", outcome="malformed"),
    ),
    "thought": Explained(
        "The reply is a thought that was cut off before an answer.",
        "are thoughts that were cut off before an answer",
        "Raise gen_kwargs.max_new_tokens, or the limit of your application; or turn the thinking off.",
    ),
    "empty": Explained(
        "The reply is empty.",
        "have no text, and were not cut off",
        "Check the stops in gen_kwargs.stop, and the chat template of the model.",
    ),
}
"""By outcome; `empty`: of answers without a word; `thought`: of answers that are a thought alone."""
