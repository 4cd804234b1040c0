"""Words for a verdict on two answers, as data sets and judges usually write them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from contrapose.tasks.core.records import Verdict

LONGEST = 80
"""Characters of a verdict; what is longer says more than one."""
_KIND = r"(?:model|response|output|answer|assistant|option|summary|candidate|completion)?[_ ]?"
_BETTER = r"(?: (?:wins|won|is(?: the)? (?:much |slightly |significantly )?(?:better|winner)(?: (?:one|answer))?))?"
_FORMS: Mapping[Verdict, re.Pattern[str]] = {
    "first": re.compile(
        rf"(?:the )?(?:{_KIND}\(?(?:a|1)\)?|first(?: one| answer)?|left|a\s*>+\s*b|b\s*<+\s*a){_BETTER}"
    ),
    "second": re.compile(
        rf"(?:the )?(?:{_KIND}\(?(?:b|2)\)?|second(?: one| answer)?|right|b\s*>+\s*a|a\s*<+\s*b){_BETTER}"
    ),
    "tie": re.compile(
        r"(?:(?:it(?:'s| is) )?an? )?(?:tied?|draw)(?![a-z])[^,;.]*|both[^,;.]*|neither[^,;.]*|none"
        r"|no (?:preference|winner)|(?:(?:they|(?:the )?(?:two )?(?:answers|responses|outputs|assistants)) are "
        r"(?:of |about |roughly |approximately )*)?equal[^,;.]*|(?:the )?same"
        rf"|{_KIND}\(?c\)?(?:\W{{1,4}}tie[^,;.]*)?|(?:a|b)\s*[=~]+\s*(?:a|b)|="
    ),
}
_MARKS = " \t\n\r.!:*_`\"'()[]<>{}$"


def parse_verdict_word(said: str) -> Verdict | None:
    """Return the verdict that a label or reply means, such as `A`, `model_b`, `2`, `A>B` or `tie`, or None."""
    plain = said.strip(_MARKS).lower() if len(said) <= LONGEST else ""
    # An equals sign may be all that is said.
    plain = plain or ("=" if said.strip() == "=" else "")
    return next((verdict for verdict, form in _FORMS.items() if form.fullmatch(plain)), None)
