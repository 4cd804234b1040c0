"""What Prefect shows of a run: five artifacts, under keys that stay the same."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element, fromstring

import pytest
from contrast import contrast_with_white
from databases import sqlite
from factories import outcome, report, summary
from hostile import HOSTILE, hostile_report
from jsonschema import Draft202012Validator
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import ArtifactFilter, ArtifactFilterKey

from contrapose.flows.cli import main
from contrapose.tasks.core.outcome import Summary
from contrapose.tasks.report.charts import COLOURS, make_image_url
from contrapose.tasks.report.schema import locate_schema
from contrapose.tasks.report.task import format_headline, make_verdict_row, render_artifact

RUN = ["run", "--model", "mock", "--test", "order_bias", "--limit", "9", "--exit-zero", "--set", "suite=artifacts"]


def artifacts() -> dict[str, list[object]]:
    """Data of the artifacts of this test's runs, by key; the latest last."""
    found: dict[str, list[object]] = {}
    with get_client(sync_client=True) as client:
        wanted = ArtifactFilter(key=ArtifactFilterKey(like_="contrapose-artifacts-%"))
        for each in sorted(client.read_artifacts(artifact_filter=wanted), key=lambda each: str(each.created)):
            found.setdefault(f"{each.key} {each.type}", []).append(each.data)
    return found


@pytest.fixture(scope="module")
def finished(prefect_server: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of one run; the same command would go on with its store."""
    here = tmp_path_factory.mktemp("artifacts")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(here)
        patch.setenv("CONTRAPOSE_STORE", sqlite(here))
        patch.setenv("CONTRAPOSE_REPORTS_URL", "http://127.0.0.1:1")
        main(RUN)
        (summary_file,) = here.glob("runs/*/summary.json")
        yield summary_file.parent


KEYS = [
    "contrapose-artifacts-mock-chart image",
    "contrapose-artifacts-mock-link markdown",
    "contrapose-artifacts-mock-progress progress",
    "contrapose-artifacts-mock-report markdown",
    "contrapose-artifacts-mock-verdicts table",
]


@pytest.mark.usefixtures("finished")
def test_a_run_leaves_five_artifacts() -> None:
    found = artifacts()
    assert sorted(found) == KEYS
    (row,) = json.loads(str(found[KEYS[-1]][-1]))
    assert (row["test"], row["cases"], row["errors"]) == ("order_bias", 9, 0)
    assert str(found[KEYS[0]][-1]).startswith("data:image/svg+xml;base64,")


def test_what_a_run_publishes_fits_the_schema(finished: Path) -> None:
    Draft202012Validator(json.loads(locate_schema().read_bytes())).validate(
        json.loads((finished / "summary.json").read_text())
    )


def test_toxic_words_are_masked_in_every_artifact() -> None:
    odd = summary(tests=[outcome(reason="what the fuck")], reason="what the fuck")
    shown = (
        make_verdict_row(odd["tests"][0], model="m"),
        render_artifact(report(summary=odd), "/runs/a"),
        format_headline(odd),
    )
    assert "fuck" not in str(shown)


def test_the_folder_is_no_markup() -> None:
    assert "Run folder: /runs/&#96;&#42;a&#42;" in render_artifact(report(), "/runs/`*a*")


def picture(summary: Summary) -> Element:
    url = make_image_url(summary)
    assert url is not None
    return fromstring(b64decode(url.partition(",")[2]).decode())


def test_the_picture_shows_every_test_with_its_verdict() -> None:
    told = summary(tests=[outcome(), outcome(test_type="bare", pass_rate=None, interval=None)])
    texts = "".join(picture(told).itertext())
    assert "add_negation" in texts
    assert "inconclusive: 75% (58.9-86.2%)" in texts
    assert "bare" in texts


def test_the_picture_can_be_read_on_any_page() -> None:
    # Prefect's pages are dark or light, and an image knows nothing of them: it brings its own white.
    root = picture(summary(tests=[outcome(test_type=verdict, verdict=verdict) for verdict in COLOURS]))
    paper = next(piece for piece in root.iter() if piece.get("fill") == "white")
    _, _, *size = root.get("viewBox", "").split()
    assert [paper.get("width"), paper.get("height")] == size
    inks = {piece.get("fill", "#000") for piece in root.iter() if piece.tag.endswith("}text")}
    assert {*COLOURS.values()} <= inks
    assert min(contrast_with_white("#000000" if ink == "#000" else ink) for ink in inks) >= 4.5


def test_nothing_in_the_picture_runs_or_loads() -> None:
    shapes = {"svg", "g", "path", "line", "rect", "text", "defs"}
    for text in HOSTILE[::30]:
        root = picture(hostile_report(text).summary)
        assert {each.tag.rpartition("}")[2] for each in root.iter()} <= shapes
        assert not [name for each in root.iter() for name in each.attrib if re.match("on|.*href", name)]


@pytest.mark.usefixtures("prefect_server", "own_store")
def test_a_run_whose_artifacts_and_history_are_refused_is_finished_all_the_same(
    in_tmp: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(**_: object) -> None:
        raise RuntimeError("no room")

    monkeypatch.setattr("contrapose.tasks.report.task.create_markdown_artifact", refuse)
    (in_tmp / "occupied").write_text("no folder")
    assert main([*RUN, "--set", "history=occupied/history"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "Prefect did not take all artifacts (RuntimeError)" in told
    (refused,) = re.findall(r"history: (.*?); expected", told)
    assert re.fullmatch(r"it could not be written \(\w+\)", refused)
    (folder,) = Path("runs").iterdir()
    assert json.loads((folder / "summary.json").read_text())["verdict"]
    assert main([*RUN, "--quiet"]) == 0
    quiet = capsys.readouterr()
    assert quiet.err.startswith("contrapose: Prefect did not take all artifacts (RuntimeError)")
    assert quiet.err.count("\n") == quiet.out.count("\n") == 1
    assert all((folder / "report.html").is_file() for folder in Path("runs").glob("*-artifacts-mock"))
