"""Where a run's report can be opened in a browser, if it can."""

from __future__ import annotations

import os
from pathlib import PurePath
from urllib.parse import quote

REPORTS_URL = "CONTRAPOSE_REPORTS_URL"
"""Environment variable: URL under which the folder that receives the runs can be read."""


def report_url(folder: str) -> str | None:
    """URL of the report in the folder of a run; None where nobody serves it."""
    base = os.environ.get(REPORTS_URL, "").rstrip("/")
    return f"{base}/{quote(PurePath(folder).name)}/report.html" if base else None
