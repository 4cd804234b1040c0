"""What this machine computes with, and that torch is not asked twice where it has a processor alone."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.infer.local import machine
from contrapose.tasks.infer.local.machine import FIRST, LAST, choose_placement, search_batch_tokens


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CONTRAPOSE_HOME", str(tmp_path))
    return tmp_path


def test_torch_is_asked_once_on_a_machine_with_a_processor_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "ACCELERATORS", ())
    first = choose_placement(ModelSpec(id="embedded"))
    code = (
        "import sys\n"
        "from contrapose.tasks.infer.local import machine\n"
        "from contrapose.tasks.config.model_spec import ModelSpec\n"
        "machine.ACCELERATORS = ()\n"
        "print(repr(machine.choose_placement(ModelSpec(id='embedded'))) == sys.argv[1], 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, repr(first)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", str(not sys.platform.startswith("linux"))]


def changed(name: str) -> Callable[[pytest.MonkeyPatch, Path], None]:
    """Something that torch's answer hangs on becomes another one."""

    def of_environment(monkeypatch: pytest.MonkeyPatch, _: Path) -> None:
        monkeypatch.setenv(machine.CAPABILITY, "default")

    def of_torch(monkeypatch: pytest.MonkeyPatch, _: Path) -> None:
        monkeypatch.setattr(machine.metadata, "version", lambda _: "0.0")

    def an_accelerator(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        (folder / "nvidia0").touch()
        monkeypatch.setattr(machine, "ACCELERATORS", (str(folder / "nvidia*"),))

    return {"environment": of_environment, "torch": of_torch, "accelerator": an_accelerator}[name]


@pytest.mark.parametrize("name", ["environment", "torch", "accelerator"])
def test_torch_is_asked_again_where_its_answer_may_differ(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(machine, "ACCELERATORS", ())
    choose_placement(ModelSpec(id="embedded"))
    monkeypatch.setattr(machine, "_ask_torch", lambda device, dtype: {"device": "new", "dtype": "new"})
    assert choose_placement(ModelSpec(id="embedded"))["device"] != "new"
    changed(name)(monkeypatch, folder)
    assert choose_placement(ModelSpec(id="embedded"))["device"] == "new"


@pytest.mark.parametrize(("argument", "value"), [("dtype", "int3"), ("device", "cuda:77"), ("device", "toaster")])
def test_what_is_not_there_is_refused_each_time(folder: Path, argument: str, value: str) -> None:
    for _ in range(2):
        with pytest.raises(ModelError, match=f"{argument} '{value}'") as error:
            choose_placement(ModelSpec(id="embedded", args={argument: value}))
        assert error.value.where == f"model_args.{argument}"


def test_tokens_double_until_speed_stops_growing() -> None:
    assert search_batch_tokens(lambda tokens: max(1.0, tokens / 8192)) == 8192


def test_tokens_double_until_the_last() -> None:
    assert search_batch_tokens(lambda _: 1.0) == LAST


def test_where_memory_ends_half_of_what_fitted_is_taken() -> None:
    def seconds(tokens: int) -> float:
        if tokens > 8 * FIRST:
            raise RuntimeError("MPS backend out of memory")
        return 1.0

    assert search_batch_tokens(seconds) == 4 * FIRST


def test_one_slow_size_does_not_end_the_search() -> None:
    assert search_batch_tokens(lambda tokens: tokens if tokens == 4096 else max(1.0, tokens / 8192)) == 8192
