"""Whether an endpoint's refusal comes from a content filter: gateways write that in codes or in words of their own."""

from __future__ import annotations

import json
import re

NEVER = (401, 402, 404, 408, 409, 429)
"""Statuses that concern the key, the address or the pace, whatever their words are."""
CODE = re.compile(
    r"content[_ ]?(?:filter|polic|moderation|safety|management)|moderat|guardrail|responsible_?ai|prohibited_?content"
    r"|data_?inspection|^safety|recitation|blocklist|^spii|^sensitive|safety_(?:violation|check)|policy_?violation",
    re.IGNORECASE,
)
"""What names a filter in a code, a type or a finish reason."""
WORDS = re.compile(
    r"content (?:filter|polic|moderation|safety|management|exists risk)|guardrail"
    r"|safety (?:system|filter|polic|setting)"
    r"|(?:input|prompt|request|content|message|text|output|response)s? (?:was |were |has been |is |are )?"
    r"(?:flagged|moderated|censored|(?:blocked|filtered|rejected)\b.{0,60}(?:polic|filter|safety|moderation|security))"
    r"|violat\w+ .{0,60}(?:polic|guideline|terms)|prohibited content|inappropriate content|considered high risk"
    r"|敏感|不安全|违规",
    re.IGNORECASE,
)
"""How a filter speaks."""
OTHERWISE = re.compile(
    r"unsupported|unrecogni[sz]ed|unknown (?:parameter|argument|field)|extra inputs"
    r"|(?:account|organi[sz]ation|project|user|access)\b.{0,40}"
    r"(?:suspend|deactivat|terminat|disabled|banned|blocked|restricted|revoked)",
    re.IGNORECASE,
)
"""What speaks of parameters or of the account: no other prompt would fare better."""
PAIR = re.compile(r'"(\w+)": "((?:[^"\\]|\\.)*)"')
CODES = ("code", "type", "reason", "status", "param", "blockReason", "block_reason")
FLAGS = re.compile(r'"filtered": true|"flagged_input": "|"reasons": \[')
"""What the details of Azure and OpenRouter say of a filtered prompt."""


def is_moderated(status: int, told: object) -> bool:
    """Whether a refusal comes from a content filter, so that this prompt alone is refused, and always will be.

    Args:
        status: of the reply, or the one that an error in a reply names.
        told: its error: an object, a text, or nothing.
    """
    if status in NEVER or not told or (isinstance(told, str) and told.lstrip().startswith("<")):
        return False
    text = json.dumps(told, ensure_ascii=False)
    pairs = PAIR.findall(text)
    if OTHERWISE.search(text):
        return False
    if FLAGS.search(text) or any(CODE.search(value) for name, value in pairs if name in CODES):
        return True
    # A server that fails may well speak of a filter that is out of order.
    return status < 500 and WORDS.search(text) is not None
