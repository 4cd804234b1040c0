"""validation.html and validation.json: what was found, in words, and nothing in it that runs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from attacks import HOSTILE
from browsers import chromium
from factories import Held, frame, row, summary
from hostile import Seen

from contrapose.tasks.core.places import Place
from contrapose.tasks.core.validation import BrokenRow, Checked, Finding, Kind, SuiteFile
from contrapose.tasks.report import validation
from contrapose.tasks.report.base import Report
from contrapose.tasks.report.validation import make_gate_error, write_evidence

OWN = SuiteFile(file="mine-results.yaml", sha256="ef" * 32, own=True)
BUNDLED = SuiteFile(file="results.yaml", sha256="ab" * 32, own=False)


def finding(**changes: Any) -> Finding:
    made = Finding(
        suite=BUNDLED,
        place=1,
        type="expect_column_values_to_be_in_set",
        kwargs={"column": "asks", "value_set": ["generate", "choose"]},
        what="A case asks for a reply or for a choice.",
        why="Models know no other question.",
        blocks=True,
        looked_at=1200,
        observed="",
        holds=True,
        broken=0,
        rows=[],
    )
    return made | changes  # type: ignore[return-value]


def broken(value: str = "guess", key: str | None = "order_bias/1", **changes: Any) -> Finding:
    rows = [BrokenRow(row=7, key=key, values={"asks": value})]
    return finding(holds=False, broken=1, rows=rows, **changes)


def checked(*findings: Finding, test: str = "order_bias", table: Kind = "results") -> Checked:
    return Checked(test=test, table=table, rows=1200, findings=list(findings), broken=None)


def shown(*tables: Checked, show_toxic: bool = False) -> str:
    report = Report(
        summary=summary(), results=Held(frame([row()])), skipped=frame([]), checked=tables, show_toxic=show_toxic
    )
    return validation.render(report).decode()


def test_every_expectation_is_told_with_its_reason_rows_and_result() -> None:
    page = shown(checked(finding()), checked(finding(), test="add_negation"))
    assert page.count("A case asks for a reply or for a choice.") == 1
    assert "Models know no other question." in page
    assert ">2,400</td>" in page
    assert '<span class="pill holds">holds</span>' in page
    assert "All 1 expectations hold." in page
    assert "2,400 rows of order_bias, add_negation; results.yaml" in page


def test_a_broken_expectation_names_its_rows_and_values() -> None:
    page = shown(checked(broken()), checked(finding(), test="add_negation"))
    assert "1 of 1 expectations does not hold. Nothing was published." in page
    assert "row 7: order_bias/1 [asks guess]" in page
    assert "order_bias: 1 row" in page


def test_a_users_suite_is_listed_under_its_file_and_may_only_note() -> None:
    page = shown(checked(finding(), broken(suite=OWN, blocks=False)))
    assert "mine-results.yaml" in page
    assert '<span class="pill noted">noted</span>' in page
    assert "1 of 2 expectations does not hold; none of them stops a run." in page


def test_toxic_words_are_masked_unless_they_are_asked_for() -> None:
    table = checked(broken("you are a fucking idiot"))
    assert "fucking" not in shown(table)
    assert "fucking" in shown(table, show_toxic=True)
    assert "fucking" not in str(make_gate_error([table]))


def test_the_page_needs_no_network_and_has_no_script() -> None:
    page = shown(checked(broken()))
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    assert policy[1].startswith("default-src 'none'; style-src 'sha256-")
    assert "<script" not in page
    assert not re.search(r"https?://", page)


def elements(page: str) -> tuple[list[str], list[str]]:
    """Names of the elements of a page, and of their attributes."""
    seen = Seen(page)
    return seen.tags, [name for name, _ in seen.attributes]


def hostile(text: str) -> Checked:
    """A table with the text in every place that could hold one."""
    suite = SuiteFile(file=text, sha256=text, own=True)
    kwargs = {"column": text, "value_set": [text]}
    bad = broken(text, text, suite=suite, what=text, why=text, type=text, kwargs=kwargs, observed=text)
    return checked(bad, test=text)


def test_a_hostile_text_stays_text() -> None:
    texts = list(filter(None, HOSTILE))
    harmless = [f"harmless {number}" for number in range(len(texts))]
    assert elements(shown(*map(hostile, texts))) == elements(shown(*map(hostile, harmless)))
    for text in texts:
        assert "\n" not in str(make_gate_error([hostile(text)])), ascii(text)


def test_the_file_for_machines_holds_hostile_texts_as_they_are() -> None:
    texts = [text for text in HOSTILE if text == text.encode(errors="replace").decode()]
    tables = tuple(map(hostile, texts))
    report = Report(summary=summary(), results=Held(frame([row()])), skipped=frame([]), checked=tables)
    told = json.loads(validation.render_json(report))
    assert not told["sound"]
    assert [each["test"] for each in told["tables"]] == texts


def test_evidence_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    head = validation.ValidationHead(run_id="x", model="mock", suite="s", started="2026-01-01T00:00:00+00:00")
    write_evidence(Place(str(tmp_path / "x-refused")), head, [checked(broken())], show_toxic=False)
    assert sorted(path.name for path in (tmp_path / "x-refused").iterdir()) == ["validation.html", "validation.json"]
    assert [path.name for path in tmp_path.iterdir()] == ["x-refused"]


def test_nothing_hostile_runs_in_a_browser(tmp_path: Path) -> None:
    file = tmp_path / "validation.html"
    file.write_text(shown(*map(hostile, filter(None, HOSTILE))))
    told: list[str] = []
    with chromium() as browser:
        page = browser.new_context(offline=True).new_page()
        page.on("dialog", lambda dialog: (told.append(dialog.message), dialog.dismiss()))
        page.on("console", lambda message: told.append(message.text))
        page.on("request", lambda request: told.append(request.url))
        page.goto(file.as_uri())
        assert page.locator("section.suite").count() > 100
        assert page.evaluate("document.scripts.length") == 0
    assert [url for url in told if not url.startswith("data:")] == [file.as_uri()]
