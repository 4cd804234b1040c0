"""What a cache key knows of the code: all that a task rests on, however far away, and nothing that does not matter."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from importlib import invalidate_caches
from pathlib import Path

import pytest

from contrapose.tasks.core import import_closure, registry
from contrapose.tasks.core.import_closure import code_sha256

FILES = {
    "__init__.py": "",
    "task.py": "from elsewhere.first import first\n\n\ndef run():\n    return first()\n",
    "first.py": "from elsewhere import second as other\n\n\ndef first():\n    return other.second()\n",
    "second.py": "def second():\n    from .deep.third import third\n\n    return third()\n",
    "deep/__init__.py": "",
    "deep/third.py": "from importlib.resources import files\n\n\ndef third():\n"
    '    return 1, files("elsewhere").joinpath("words", "plain.txt").read_text()\n',
    "words/plain.txt": "one",
    "words/unused.txt": "two",
    "unused.py": "x = 1\n",
}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package in which a task rests on a helper three imports away, and that on a file."""
    for name, text in FILES.items():
        path = tmp_path / "elsewhere" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    import_closure._place.cache_clear()
    import_closure._folder.cache_clear()
    invalidate_caches()
    return tmp_path / "elsewhere"


def changed(package: Path, name: str, change: Callable[[str], str]) -> bool:
    """Whether a change of one file is another hash."""
    before = code_sha256("elsewhere.task")
    path = package / name
    path.write_text(change(path.read_text()))
    return code_sha256("elsewhere.task") != before


@pytest.mark.parametrize("name", [name for name in FILES if "unused" not in name and name.endswith(".py")])
def test_a_helper_however_far_away_is_another_hash(package: Path, name: str) -> None:
    assert changed(package, name, lambda text: text + "\nSOMETHING = 2\n")


def test_a_constant_inside_a_function_is_another_hash(package: Path) -> None:
    assert changed(package, "deep/third.py", lambda text: text.replace("return 1", "return 2"))


def test_a_file_that_is_read_is_another_hash(package: Path) -> None:
    assert changed(package, "words/plain.txt", lambda _: "three")


@pytest.mark.parametrize("name", ["unused.py", "words/unused.txt"])
def test_what_nothing_rests_on_is_the_same_hash(package: Path, name: str) -> None:
    assert not changed(package, name, lambda text: text + "\n\ny = 2")


@pytest.mark.parametrize(
    "change",
    [
        lambda text: f'"""Of the module."""\n# Why.\n\n{text}',
        lambda text: text.replace("():\n", '():\n    """Of the function."""\n'),
        lambda text: text.replace("\n\n\n", "\n\n\n\n# And layout.\n"),
    ],
)
def test_comments_docstrings_and_layout_are_the_same_hash(package: Path, change: Callable[[str], str]) -> None:
    assert not changed(package, "deep/third.py", change)


def test_what_only_a_type_checker_is_told_is_no_import(package: Path) -> None:
    head = "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n"
    text = head + "    from elsewhere import unused\nelse:\n    from elsewhere import seen\n"
    (package / "task.py").write_text(text)
    (package / "seen.py").write_text("s = 1\n")
    import_closure._place.cache_clear()
    assert not changed(package, "unused.py", lambda text: text + "\ny = 2\n")
    assert changed(package, "seen.py", lambda text: text + "\nz = 3\n")


def test_a_new_module_behind_a_name_that_was_imported_is_seen(package: Path) -> None:
    (package / "deep" / "__init__.py").write_text("from elsewhere.deep.third import third as fourth\n")
    (package / "second.py").write_text("from elsewhere.deep import fourth\n")
    before = code_sha256("elsewhere.task")
    (package / "deep" / "fourth.py").write_text("z = 1\n")
    import_closure._place.cache_clear()
    assert code_sha256("elsewhere.task") != before


def test_what_is_remembered_is_the_same_and_is_not_parsed_again(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memo = tmp_path / "home" / "code.json"
    first = code_sha256("elsewhere.task", memo=memo)
    assert first == code_sha256("elsewhere.task")
    with monkeypatch.context() as patched:
        patched.delattr(import_closure, "_read")
        assert code_sha256("elsewhere.task", memo=memo) == first
    (package / "second.py").write_text("def second():\n    return 3\n")
    assert code_sha256("elsewhere.task", memo=memo) != first
    memo.write_text("{damaged")
    assert code_sha256("elsewhere.task", memo=memo) == code_sha256("elsewhere.task")


def test_the_hash_is_the_same_in_another_process() -> None:
    name = "contrapose.tasks.perturb.task"
    code = f"from contrapose.tasks.core.import_closure import code_sha256; print(code_sha256({name!r}))"
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert found.stdout.strip() == code_sha256(name)


def test_a_module_that_is_not_there_is_an_error() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"contrapose\.tasks\.nowhere"):
        code_sha256("contrapose.tasks.nowhere")


@pytest.mark.parametrize("room", ["load", "perturb", "evaluate", "validate"])
def test_a_task_rests_on_what_it_imports_and_on_no_other_room(room: str) -> None:
    rooms = {"load", "perturb", "infer", "evaluate", "validate", "report"}
    notes = import_closure._Notebook(None)
    names = import_closure._closure((f"contrapose.tasks.{room}.task",), {"contrapose"}, notes)
    found = {name.split(".")[2] for name in names if name.count(".") > 1}
    assert found & rooms == {room}
    assert {"core", "tables", "probes"} <= found


def test_a_table_of_names_leads_to_code() -> None:
    assert registry.modules("probes", "order_bias") == ["contrapose.tasks.probes.order_bias"]
    assert "contrapose.tasks.load.jsonl" in registry.modules("sources", "")
    for kind in ("probes", "sources"):
        assert len(code_sha256(*registry.modules(kind, ""))) == 64


def test_a_probe_rests_on_its_word_lists(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = code_sha256(*registry.modules("probes", "add_toxic_words"))
    (tmp_path / "lexicons").mkdir()
    (tmp_path / "lexicons" / "words.csv").write_text("word\n")
    folder = import_closure._folder
    monkeypatch.setattr(import_closure, "_folder", lambda name: tmp_path if name == "contrapose.data" else folder(name))
    assert code_sha256(*registry.modules("probes", "add_toxic_words")) != before
