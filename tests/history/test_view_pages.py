"""What `contrapose view` shows: runs and their history, whatever their texts are."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from finished import rows_from, write_run
from past_runs import past_run, past_test
from run_folders import put_refused, put_run

from contrapose.flows.cli.view import choose_folder
from contrapose.flows.serve.view.runs import list_runs
from contrapose.flows.serve.view.site import Viewer
from contrapose.tasks.compare.compare import compare
from contrapose.tasks.compare.flips import find_flips
from contrapose.tasks.history.dataset import append_run
from contrapose.tasks.report.comparison_page import write_comparison

RUN = "20260301T083000Z-harbour-a"
HOSTILE = (
    "</title><script>alert(1)</script>",
    "\"><img src=x onerror='alert(1)'>",
    "{{ 7*7 }}{% raw %}",
    "javascript:alert(1)",
    "\u202egnp.exe\u2066 \u200b \x1b[31m \x00 \ud800",
    "&lt;b&gt;",
)


def page(runs: Path, path: str = "/", *, history: Path | str | None = None) -> str:
    found = Viewer(root=runs.resolve(), history=str(history or runs / "history"))(path)
    assert isinstance(found.content, bytes)
    return found.content.decode()


def test_runs_are_listed_the_newest_first_with_verdict_model_suite_date_and_links(tmp_path: Path) -> None:
    put_run(tmp_path, "20260301T083000Z-harbour-a", files={"report.html": "", "report.md": ""})
    put_run(tmp_path, "20260401T083000Z-harbour-b", verdict="pass", model={"id": "mock"})
    append_run(str(tmp_path / "history"), past_run(), key="a")
    text = page(tmp_path)
    assert text.index("20260401T083000Z") < text.index("20260301T083000Z")
    for told in ("2 runs", "hf/example/tiny", "mock", "harbour", "1 March 2026, 08:30 UTC", "order_bias 25%"):
        assert told in text
    assert "/files/20260301T083000Z-harbour-a/report.html" in text
    assert "/files/20260401T083000Z-harbour-b/report.html" not in text
    assert "validation.html" not in text


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"verdict": 1}', "[" * 100_000, '"\ud83d'])
def test_a_run_whose_summary_cannot_be_read_is_listed_as_such(tmp_path: Path, content: str) -> None:
    folder = put_run(tmp_path, "20260301T083000Z-harbour-a")
    put_run(tmp_path, "20260302T083000Z-harbour-b")
    (folder / "summary.json").write_text(content, errors="surrogatepass")
    text = page(tmp_path)
    assert "summary.json cannot be read" in text
    assert "hf/example/tiny" in text


@pytest.mark.parametrize("rate", ["9" * 4_000, "1e308", "NaN", "-Infinity"])
def test_a_rate_that_is_none_costs_no_other_run_its_line(tmp_path: Path, rate: str) -> None:
    folder = put_run(tmp_path, "20260301T083000Z-harbour-a")
    put_run(tmp_path, "20260302T083000Z-harbour-b")
    summary = json.loads((folder / "summary.json").read_text())
    for test in summary["tests"]:
        test["pass_rate"] = "RATE"
    (folder / "summary.json").write_text(json.dumps(summary).replace('"RATE"', rate))
    text = page(tmp_path)
    assert "20260301T083000Z-harbour-a" in text
    assert "order_bias 25%" in text


def test_a_run_that_was_refused_is_listed_with_its_evidence(tmp_path: Path) -> None:
    put_refused(tmp_path, "20260301T083000Z-x-refused")
    put_run(tmp_path, "20260301T083000Z-x")
    (tmp_path / "20260301T083000Z-other").mkdir()
    text = page(tmp_path)
    assert "2 runs" in text
    assert '<span class="pill refused">refused</span>' in text
    assert "/files/20260301T083000Z-x-refused/validation.html" in text


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_is_markup(tmp_path: Path, text: str) -> None:
    put_run(
        tmp_path,
        "20260301T083000Z-x",
        verdict=text,
        reason=text,
        suite=text,
        started=text,
        model={"id": text},  # type: ignore[arg-type]
        tests=[{"test_type": text, "pass_rate": 0.5}],
    )
    odd = text.replace("\ud800", "")
    tests = [past_test(test_type=odd)]
    for day in (0, 1):
        append_run(
            str(tmp_path / "history"), past_run(day, suite=odd, model=odd, started=odd, tests=tests), key=f"{day}"
        )
    for path in ("/", "/history"):
        found = page(tmp_path, path)
        assert not re.search(r"<script|<img|\bon\w+='|49|[\u202e\u2066\u200b\x1b\x00]", found.partition("</style>")[2])
        assert 'href="javascript' not in found


def test_the_history_shows_each_test_of_each_model_with_a_chart(tmp_path: Path) -> None:
    for day in range(3):
        for model in ("mock", "embedded"):
            made = {"model": {"revision": str(day)}}
            append_run(str(tmp_path), past_run(day, model=model, made_of=made), key=f"{day} {model}")
    text = page(tmp_path, "/history", history=tmp_path)
    assert text.count("<article") == text.count('<svg class="chart"') == 2
    assert "55.1–88.0%" in text
    assert text.count("<td>model</td>") == 4


def test_what_is_wrong_with_the_history_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "broken.parquet").write_bytes(b"PAR1")
    assert "skipped broken.parquet" in page(tmp_path, "/history", history=tmp_path)
    assert "is not known here" in page(tmp_path, "/history", history="nosuchprotocol://x")


def test_many_runs_are_paged(tmp_path: Path) -> None:
    for number in range(120):
        put_run(tmp_path, f"2026030{number:04}")
    first, last = page(tmp_path), page(tmp_path, "/?page=3")
    assert "20260300119" in first
    assert "20260300000" in last
    assert 'href="?page=2"' in first
    for odd in ("0", "-1", "4", "9" * 90, "x", "²"):
        assert page(tmp_path, f"/?page={odd}")


def test_an_empty_folder_says_how_to_fill_it(tmp_path: Path) -> None:
    assert "contrapose run" in page(tmp_path)
    assert "No run is recorded yet" in page(tmp_path, "/history")


def test_runs_are_filtered_by_verdict_model_and_suite_and_pages_keep_it(tmp_path: Path) -> None:
    for number in range(60):
        put_run(tmp_path, f"202603{number:02}T083000Z-a", model={"id": "hf/one"})
    put_run(tmp_path, "20260401T083000Z-b", model={"id": "hf/two"}, verdict="pass", suite="quay")
    assert 'href="?model=hf%2Fone&amp;page=2"' in page(tmp_path, "/?model=hf/one")
    for query in ("verdict=pass", "model=hf%2Ftwo", "suite=quay", "verdict=pass&suite=quay"):
        text = page(tmp_path, f"/?{query}")
        assert "1 run of 61" in text
        assert "20260401T083000Z-b" in text
    assert "No run matches." in page(tmp_path, "/?verdict=pass&model=hf/one")
    assert "61 runs, the newest" in page(tmp_path, "/?verdict=none&other=x")


def test_a_summary_that_has_changed_is_read_again(tmp_path: Path) -> None:
    put_run(tmp_path, "20260301T083000Z-a", model={"id": "hf/one"})
    assert "hf/one" in page(tmp_path)
    put_run(tmp_path, "20260301T083000Z-a", model={"id": "hf/another"})
    assert "hf/another" in page(tmp_path)


@pytest.mark.parametrize(
    "text", [*HOSTILE[:-2], "[x](javascript:alert(1))", "![x](https://example.org)", "<b onclick=x>"]
)
def test_markdown_is_shown_without_markup_of_its_own(tmp_path: Path, text: str) -> None:
    put_run(
        tmp_path, RUN, files={"report.md": f"{text}\n\n<details>\n{text}\n</details>\n\n| a |\n|--:|\n| {text} |\n"}
    )
    shown = page(tmp_path, f"/text/{RUN}/report.md").partition('<article class="read" tabindex="0">')[2]
    assert not re.search(r"<(script|img|a |b )|style=", shown.partition("</article>")[0])
    assert "<details>" in shown


@pytest.mark.parametrize("path", ["/text/x/summary.json", "/text/../report.md", "/text/%ff/report.md", "/text/"])
def test_nothing_but_markdown_is_shown_as_text(tmp_path: Path, path: str) -> None:
    put_run(tmp_path, "x")
    assert Viewer(root=tmp_path.resolve(), history=str(tmp_path / "history"))(path) is None


def test_the_list_shows_the_revision_of_a_model_but_not_the_address_of_its_endpoint(tmp_path: Path) -> None:
    for name, revision in (("20260101T000000Z-a", "v2"), ("20260102T000000Z-b", "http://127.0.0.1:8000/v1#chat")):
        told = {"verdict": "pass", "started": "", "tests": [], "suite": "s", "reason": ""}
        (tmp_path / name).mkdir()
        content = json.dumps({**told, "model": {"id": "openai/m", "revision": revision}})
        (tmp_path / name / "summary.json").write_text(content)
    address, announced = list_runs(tmp_path.resolve(), str)
    assert (announced.revision, address.revision) == ("v2", "")


def test_the_name_of_a_folder_is_no_markup_either(tmp_path: Path) -> None:
    put_run(tmp_path, '"><script>alert(1)<', files={"report.html": ""})
    found = page(tmp_path)
    assert "<script" not in found
    assert "/files/%22%3E%3Cscript%3Ealert%281%29%3C/report.html" in found


def test_toxic_words_are_masked(tmp_path: Path) -> None:
    put_run(tmp_path, "20260301T083000Z-x", reason="It said: fucking hell.")
    assert "fucking" not in page(tmp_path)


NAME = "20260301T083000Z-harbour-comparison"


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three finished runs of models that are unlike each other, and their comparison."""
    where = tmp_path_factory.mktemp("compared")
    shares = {"good": 90, "bad": 40, "shit": 20}
    folders = [
        str(write_run(where / name, rows_from([True] * passed + [False] * (100 - passed)), model=f"openai/{name}"))
        for name, passed in shares.items()
    ]
    comparison = compare(folders, baseline=folders[1])
    write_comparison(where / NAME, comparison, find_flips(comparison))
    return where


@pytest.fixture
def runs(compared: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(compared, tmp_path / "runs"))


def test_it_is_listed_with_its_verdict_its_models_and_what_was_found(runs: Path) -> None:
    text = page(runs)
    told = (
        '<span class="pill fail">worse</span>',
        "openai/good, openai/s*** against openai/bad",
        "order_bias better (openai/good)",
        "order_bias worse (openai/s***)",
        "1 March 2026, 08:30 UTC",
        f"/files/{NAME}/comparison.html",
        f"/text/{NAME}/comparison.md",
        f"/files/{NAME}/comparison.json",
    )
    assert [each for each in told if each not in text] == []


def test_it_opens_at_its_page_or_else_at_its_text(runs: Path) -> None:
    root, start = choose_folder(str(runs / NAME))
    assert (root, start) == (runs.resolve(), f"/files/{NAME}/comparison.html")
    assert Viewer(root=root, history=str(runs / "history"))(start) is not None
    (runs / NAME / "comparison.html").unlink()
    assert choose_folder(str(runs / NAME)) == (root, f"/files/{NAME}/comparison.md")


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"verdict": 1}', "[" * 100_000])
def test_one_that_cannot_be_read_is_listed_as_such(runs: Path, content: str) -> None:
    (runs / NAME / "comparison.json").write_text(content)
    assert "comparison.json cannot be read" in page(runs)


def test_no_text_of_it_is_markup(runs: Path) -> None:
    told = json.loads((runs / NAME / "comparison.json").read_text())
    bad = "</td><script>alert(1)</script>"
    told |= {"verdict": bad, "reason": bad, "baseline": bad}
    told["models"][1]["name"] = told["tests"][0]["test_type"] = told["tests"][0]["pairs"][0]["first"] = bad
    (runs / NAME / "comparison.json").write_text(json.dumps(told))
    text = page(runs)
    assert '<span class="pill ">unknown</span>' in text
    assert "<script" not in text


@pytest.mark.parametrize("query", ["", "run=good", "run=good&run=nowhere", "run=good&run=..%2Fgood", "run=%00&run=%ff"])
def test_what_cannot_be_compared_is_said_on_a_page(runs: Path, query: str) -> None:
    assert "<h1>Not compared</h1>" in page(runs, f"/compare?{query}")


def test_no_file_elsewhere_is_compared(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "results.parquet"
    (runs / "good" / "results.parquet").rename(elsewhere)
    (runs / "good" / "results.parquet").symlink_to(elsewhere)
    assert "is no finished run here" in page(runs, "/compare?run=good&run=bad")
