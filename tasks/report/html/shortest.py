"""The section of a report with the shortest prompts that still fail; the page's script shows each on its case's card.

It is written into a finished page: the other results of a run are not read again for it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from contrapose.tasks.report.rows import name_of
from contrapose.tasks.report.templates import template
from contrapose.tasks.shrink.shortest import ShortestPrompt
from contrapose.tasks.text.diff import mark
from contrapose.tasks.text.masking import Show

_OWN = re.compile(r'<section id="shortest".*?</section>\n', re.DOTALL)
"""The section of an earlier writing; texts are escaped, so that none looks like it."""
_SAMPLES = '<section id="samples"'


def with_shortest(page: str, prompts: Sequence[ShortestPrompt], show: Show) -> str:
    """Return a report's page with a section on these prompts before its samples, in place of an earlier one."""
    items = []
    for prompt in prompts:
        prefix = f"{prompt.test}/{prompt.sample_id}/"
        items.append(
            {
                "test": name_of(prompt.test),
                "sample": name_of(prompt.sample_id),
                "number": name_of(prompt.case_id.removeprefix(prefix) if prompt.case_id.startswith(prefix) else ""),
                "marked": mark(show(prompt.text), show(prompt.changed)),
                "before": show(prompt.before),
                "after": show(prompt.after),
                "outcome": show(prompt.outcome()),
                "spending": prompt.spending(),
            }
        )
    section = template(__package__, "shortest.html.j2").render(items=items)
    return _OWN.sub("", page, count=1).replace(_SAMPLES, f"{section}\n{_SAMPLES}", 1)
