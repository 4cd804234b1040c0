"""Whose a claim or a run is: only a process of this machine that has surely ended is gone."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest

from contrapose.tasks.store.owners import is_gone, is_of_this_process, new_owner


def owner_of(process: int) -> str:
    """An owner on this machine, in some process."""
    return f"{new_owner().rsplit(':', 2)[0]}:{process}:0"


def refusing(error: OSError, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every signal be refused."""

    def kill(process: int, signal: int) -> None:
        raise error

    monkeypatch.setattr(os, "kill", kill)


def test_two_owners_of_one_process_have_names_of_their_own() -> None:
    first, second = new_owner(), new_owner()
    assert first != second
    assert is_of_this_process(first)
    assert is_of_this_process(second)
    assert not is_gone(first)


def test_an_owner_names_its_machine_and_its_process() -> None:
    machine, process, random = new_owner().rsplit(":", 2)
    assert len(random) == 12
    assert machine.startswith(f"{socket.gethostname()}/")
    assert int(process) == os.getpid()


def test_a_process_that_has_ended_is_gone(ended: int) -> None:
    assert is_gone(owner_of(ended))
    assert not is_of_this_process(owner_of(ended))


def test_a_process_that_lives_is_not_gone() -> None:
    assert not is_gone(owner_of(os.getppid()))
    assert not is_of_this_process(owner_of(os.getppid()))


def test_a_process_that_is_only_asked_after_is_left_alone() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        assert not is_gone(owner_of(process.pid))
        assert process.poll() is None
        process.communicate(b"\n")
        assert process.returncode == 0


@pytest.mark.parametrize("error", [PermissionError(1, "not yours"), OSError(22, "odd")])
def test_the_living_process_of_another_user_is_not_gone(error: OSError, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel refuses a signal to a process of somebody else, which shows that there is one."""
    refusing(error, monkeypatch)
    assert not is_gone(owner_of(os.getpid() + 1))


def test_a_process_of_which_the_kernel_knows_nothing_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    refusing(ProcessLookupError(3, "none such"), monkeypatch)
    assert is_gone(owner_of(os.getpid() + 1))


def test_of_another_machine_nothing_is_known(ended: int) -> None:
    assert not is_gone(f"elsewhere.example/1:{ended}:0")
    assert not is_of_this_process(f"elsewhere.example/1:{os.getpid()}:0")


def test_where_signals_mean_something_else_nobody_is_gone(ended: int, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = owner_of(ended)
    monkeypatch.setattr(os, "name", "nt")
    assert not is_gone(owner)


def test_this_very_process_is_not_asked_whether_it_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    refusing(ProcessLookupError(3, "none such"), monkeypatch)
    assert not is_gone(new_owner())


@pytest.mark.parametrize("host", ["fe80::1", "plain"])
def test_a_host_name_may_hold_colons(host: str, ended: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: host)
    assert is_of_this_process(new_owner())
    assert is_gone(owner_of(ended))


def test_containers_of_one_host_are_told_apart_by_their_processes(monkeypatch: pytest.MonkeyPatch, ended: int) -> None:
    monkeypatch.setattr(os, "readlink", lambda path: "pid:[4026531836]" if path == "/proc/self/ns/pid" else "")
    owner = owner_of(ended)
    assert owner.startswith(f"{socket.gethostname()}/4026531836:")
    monkeypatch.setattr(os, "readlink", lambda path: "pid:[4026531837]")
    assert not is_gone(owner)


def test_where_processes_have_no_namespace_the_host_name_tells(monkeypatch: pytest.MonkeyPatch, ended: int) -> None:
    def readlink(path: str) -> str:
        raise FileNotFoundError(2, "no such file")

    monkeypatch.setattr(os, "readlink", readlink)
    assert owner_of(ended) == f"{socket.gethostname()}/:{ended}:0"
    assert is_gone(owner_of(ended))
