"""Texts that try to be more than text, and reports made of them."""

from __future__ import annotations

import pandas as pd
from factories import Held, frame, outcome, row, summary

from contrapose.tasks.report.base import Report

HOSTILE = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\"><svg onload='alert(1)'>",
    "<!--<script>",
    "]]></style><style>*{display:none}</style>",
    "{{ 7*7 }}{% raw %}${7*7}",
    "javascript:alert(1) ![x](https://evil.example/x.png) [y](https://evil.example)",
    "| a | b |\n|---|---|\n```\n# title\n- [ ] item\n***bold*** `code` ~~gone~~ <b>x</b> \\| \\\\",
    "@someone #123 GH-12 www.evil.example https://evil.example me@evil.example <https://evil.example>",
    "\u202egnp.exe\u2066 \u200b\ufeff \x1b[31mred\x1b[0m \x00\x07\x9b \u2028\u2029",
    "\ud800 lone \udfff surrogates",
    '=HYPERLINK("http://evil.example")',
    "[/bold] [link=https://evil.example]x[/link] :boom:",
    "&lt;b&gt; &#60;i&#62; &amp;",
)

TEXTS = (
    "test_type",
    "category",
    "sample_id",
    "case_id",
    "original",
    "test_case",
    "options",
    "expected_result",
    "actual_result",
    "reason",
    "scorer",
    "model",
    "probe_version",
    "confidence",
    "slice",
    "cluster",
    "article_sentence",
    "outcome",
)


def hostile_report(text: str) -> Report:
    """A report with the text in every place that could hold one."""
    columns = dict.fromkeys(TEXTS, text)
    rows = [row(**columns), row(**columns, error=text) | {"pass": None, "eval_score": None}]
    made = outcome(
        test_type=text,
        category=text,
        reason=text,
        skip_reasons={text: 1},
        refused=[text],
        settings={text: [text]},
        scorers={text: 1},
        figures={text: 1.5},
        data={"source": text, "sha256": text, "rows": 1},
        probe_version=text,
    )
    model = dict.fromkeys(("id", "provider", "revision", "dtype", "device"), text)
    told = summary(
        tests=[made],
        reason=text,
        suite=text,
        run_id=text,
        started=text,
        contrapose=text,
        warnings=[text],
        model=model,
    )
    return Report(summary=told, results=Held(frame(rows)), skipped=pd.DataFrame())
