"""Files of well-known data sets, as people have them: each is recognised, and asks exactly what its rows say.

`layouts/layouts.toml` says what is expected of each file; its head explains the keys.
"""

from __future__ import annotations

import csv
import json
import shutil
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from load.sources import loaded, rows_of

from contrapose.flows.cli import main
from contrapose.tasks.core.records import AnswerPair, Sample, SummaryPair, TextSample
from contrapose.tasks.load.layouts import SUMMARISE

FOLDER = Path(__file__).parent / "layouts"
KINDS: Mapping[str, type[Sample]] = {"question": TextSample, "pair": AnswerPair, "summary": SummaryPair}


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """What is expected of a file: the keys of layouts.toml."""

    file: str
    kind: str
    samples: int = 0
    text: str | None = None
    must_ask: tuple[str, ...] = ()
    context: tuple[str, ...] = ()
    also_ask: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    shuffled: bool = False
    answers: tuple[str, ...] | None = None
    more_answers: bool = False
    instruction: tuple[str, ...] = ()
    better: str = ""
    worse: str = ""
    article: tuple[str, ...] = ()
    correct: str = ""
    incorrect: str = ""
    must_not_ask: tuple[str, ...] = ()
    once: tuple[str, ...] = ()
    id: str | None = None
    together: int = 0
    names: tuple[str, ...] = ()
    goal: str | None = None
    parquet: bool = False
    xlsx: bool = False

    def asked(self) -> tuple[str, ...]:
        """Texts that must stand in the prompt."""
        if self.kind == "pair":
            return (*self.instruction, self.better, self.worse)
        if self.kind == "summary":
            return (*self.article, self.correct, self.incorrect)
        question = self.must_ask or ((self.text,) if self.text else ())
        return (*question, *self.context, *self.also_ask, *self.options)

    def forms(self) -> list[str]:
        """Suffixes of the files in which its rows are read."""
        return [Path(self.file).suffix, *([".parquet"] if self.parquet else []), *([".xlsx"] if self.xlsx else [])]


def layouts() -> list[Layout]:
    tables = tomllib.loads((FOLDER / "layouts.toml").read_text("utf-8"))["layout"]
    return [Layout(**{k: tuple(v) if isinstance(v, list) else v for k, v in table.items()}) for table in tables]


LAYOUTS = layouts()


def each_form(*kinds: str, most: Sequence[pytest.MarkDecorator] = ()) -> pytest.MarkDecorator:
    """Run a test for every file of some kinds, in each of its forms; `most`: marks of all but every third file."""
    forms = [(layout, form) for layout in LAYOUTS if layout.kind in kinds for form in layout.forms()]
    names = [layout.file + (f" as {form}" if form != Path(layout.file).suffix else "") for layout, form in forms]
    cases = [pytest.param(*pair, marks=most if number % 3 else ()) for number, pair in enumerate(forms)]
    return pytest.mark.parametrize(("layout", "form"), cases, ids=names)


def place(layout: Layout, form: str, folder: Path) -> str:
    """Put the file of a layout into a folder, in one of its forms; its name."""
    path = folder / Path(layout.file).with_suffix(form)
    if form == Path(layout.file).suffix:
        shutil.copy(FOLDER / layout.file, path)
    elif form == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.Table.from_pylist(plain_rows(layout)), path)
    else:
        write_sheet(plain_rows(layout), path)
    return path.name


def plain_rows(layout: Layout) -> list[dict[str, Any]]:
    with (FOLDER / layout.file).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file)) if layout.file.endswith(".csv") else [json.loads(line) for line in file]


def write_sheet(rows: list[dict[str, Any]], path: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for cells in (list(rows[0]), *(list(row.values()) for row in rows)):
        sheet.append(cells)
    book.save(path)


def flat(text: str) -> str:
    """A text with every run of blanks and line ends as one blank."""
    return " ".join(text.split())


def succeed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What a command prints, which must not fail."""
    code = main(list(words))
    out, err = capsys.readouterr()
    assert code == 0, f"contrapose {' '.join(words)}: {err}"
    return out


def prompts(printed: str, side: str) -> Iterator[str]:
    """All that a model is sent for the first sample of a preview, prompt by prompt."""
    records = [json.loads(line) for line in printed.splitlines()]
    for record in (record for record in records if record["sample_id"] == records[0]["sample_id"]):
        for case in record.get("cases", [record]):
            sent = case["sent"][side]
            if sent is not None:
                yield flat(sent if isinstance(sent, str) else "\n".join(message["content"] for message in sent))


@each_form("question", "pair", "summary", most=[pytest.mark.slow])
def test_suite_of_init_asks_what_the_first_row_says(
    layout: Layout, form: str, in_tmp: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Writing the schema beside the suite takes half of the time.
    monkeypatch.setattr("contrapose.flows.cli.init.make_suite_schema", str)
    source = place(layout, form, in_tmp)
    goal = ["--goal", layout.goal] if layout.goal else []
    succeed(capsys, "init", "--model", "mock", "--data", source, "--out", "suite.yaml", *goal)
    printed = succeed(capsys, "preview", "--suite", "suite.yaml", "--prompt", "--json")
    unchanged = list(prompts(printed, "original"))
    assert unchanged
    for prompt in unchanged:
        assert [text for text in layout.asked() if flat(text) not in prompt] == []
        assert [text for text in layout.once if prompt.count(flat(text)) != 1] == []
    for prompt in (*unchanged, *prompts(printed, "perturbed")):
        assert [text for text in layout.must_not_ask if flat(text) in prompt] == []


@cache
def samples_of(layout: Layout, form: str) -> Sequence[Any]:
    with TemporaryDirectory() as folder:
        return loaded(Path(folder, place(layout, form, Path(folder))), KINDS[layout.kind]).samples


@each_form("question", "pair", "summary")
def test_every_row_becomes_a_sample(layout: Layout, form: str) -> None:
    samples = samples_of(layout, form)
    assert len(samples) == len({sample.id for sample in samples}) == layout.samples
    assert layout.id in (None, samples[0].id)
    clusters = {sample.cluster for sample in samples[: layout.together]}
    assert None not in clusters
    assert len(clusters) == min(layout.together, 1)


@each_form("question")
def test_first_question_has_its_passage_options_and_answers(layout: Layout, form: str) -> None:
    sample = samples_of(layout, form)[0]
    if layout.text is not None:
        assert flat(sample.text) == flat(layout.text)
        assert [text for text in layout.context if flat(text) not in flat(sample.context or "")] == []
        # Earlier messages may be kept as a passage.
        assert bool(sample.context) == bool(layout.context) or layout.also_ask
    arranged = sorted if layout.shuffled else list
    assert arranged(sample.options) == arranged(layout.options)
    if layout.answers is None:
        return
    known, expected = [flat(answer).casefold() for answer in sample.answers], {a.casefold() for a in layout.answers}
    assert len(known) == len(set(known))
    assert expected <= set(known) if layout.more_answers else expected == set(known)
    assert not sample.options or set(sample.answers) <= set(sample.options)


@each_form("pair")
def test_first_pair_knows_the_better_answer(layout: Layout, form: str) -> None:
    pair = samples_of(layout, form)[0]
    order = {"first": (pair.first, pair.second), "second": (pair.second, pair.first)}[pair.winner]
    better, worse = map(str.strip, order)
    assert (better, worse) == (layout.better, layout.worse)
    assert [text for text in layout.instruction if flat(text) not in flat(pair.instruction)] == []
    # HaluEval's passages hold the right answers.
    assert flat(better) not in flat(pair.instruction) or any(better in text for text in layout.instruction)


@each_form("summary")
def test_first_summary_pair_knows_the_correct_summary(layout: Layout, form: str) -> None:
    pair = samples_of(layout, form)[0]
    assert (pair.correct_sentence, pair.incorrect_sentence) == (layout.correct, layout.incorrect)
    assert [text for text in layout.article if text not in pair.article_sentence] == []


@pytest.mark.parametrize("layout", [each for each in LAYOUTS if each.shuffled], ids=lambda layout: layout.file)
def test_right_option_from_a_column_of_its_own_comes_at_different_places(layout: Layout) -> None:
    samples = samples_of(layout, Path(layout.file).suffix)
    assert len({sample.options.index(sample.answers[0]) for sample in samples}) > 1


@each_form("refused")
def test_file_without_a_question_is_refused_with_its_columns(
    layout: Layout, form: str, in_tmp: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = place(layout, form, in_tmp)
    for words in (
        ["init", "--model", "mock", "--data", source, "--out", "suite.yaml"],
        ["preview", "--data", source, "--test", "add_negation", "--json"],
    ):
        code = main(words)
        error = capsys.readouterr().err
        assert code == 2, f"contrapose {' '.join(words)}"
        assert [name for name in (source, "columns", *layout.names) if name not in error] == []
    assert [path.name for path in in_tmp.iterdir()] == [source]


def texts_in(value: Any) -> Iterator[str]:
    """Every key and every value within a value, as text."""
    if isinstance(value, Mapping):
        yield from (text for pair in value.items() for part in pair for text in texts_in(part))
    elif isinstance(value, list):
        yield from (text for part in value for text in texts_in(part))
    else:
        yield str(value)


def test_table_of_layouts_names_texts_of_each_file() -> None:
    wrong = []
    for layout in LAYOUTS:
        values: list[Any] = [row.values for row in rows_of(FOLDER / layout.file)]
        with suppress(ValueError):
            # A document has more in it than rows.
            values.append(json.loads((FOLDER / layout.file).read_text("utf-8")))
        content = flat("\n".join([*texts_in(values), SUMMARISE]))
        texts = (*layout.asked(), layout.text or "", *layout.must_not_ask, *layout.once, *layout.names, layout.id or "")
        wrong += [(layout.file, text) for text in texts if flat(text) not in content]
    assert wrong == []


def test_table_of_layouts_names_every_file_once() -> None:
    files = sorted(layout.file for layout in LAYOUTS)
    assert files == sorted(path.name for path in FOLDER.iterdir() if path.name != "layouts.toml")
