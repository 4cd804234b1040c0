"""A judge with a fault: it prefers the longer answer."""

import re


def judge(prompt: str) -> str:
    """Return the label of the longer answer."""
    answers = dict(re.findall(r"^\[([12])\] (.*)$", prompt, re.MULTILINE))
    return f"I prefer [[{max(answers, key=lambda label: len(answers[label]))}]]."
