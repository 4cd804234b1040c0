"""What an honest reader says of a made-up reply."""

from __future__ import annotations

import re

from contrapose.tasks.probes.reader_questions import CHOOSING, NO_CHOICE

_FENCED = re.compile(r"^(\[[0-9a-f]{12}\])\n(.*?)\n\1$", re.MULTILINE | re.DOTALL)
_OPTION = re.compile(r"^([A-Z])\. (.*)$", re.MULTILINE)


def read_made_up(prompt: str) -> str | None:
    """The letter that a made-up reply in a question chooses, or `none`; None where the reply is not made up."""
    quoted = _FENCED.search(prompt)
    if quoted is None:
        return None
    if quoted[2] in NO_CHOICE:
        return "none"
    options = _OPTION.findall(prompt[: quoted.start()])
    replies = {form.format(letter=letter, text=text): letter for letter, text in options for form in CHOOSING}
    return replies.get(quoted[2])
