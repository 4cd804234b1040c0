"""A judge with a fault: it prefers the answer that stands first."""

import re


def judge(prompt: str) -> str:
    """Return a tie for two answers of the same length, else the label of the first one."""
    first, second = re.findall(r"^\[[AB]\] (.*)$", prompt, re.MULTILINE)
    return f"My verdict is [[{'C' if len(first) == len(second) else 'A'}]]."
