"""Who works on something: a part of a process, by a name that says whether it can still live."""

from __future__ import annotations

import os
import socket
from uuid import uuid4


def new_owner() -> str:
    """`<machine>:<process>:<a random part>`: two owners never have one name, in one process or on two machines."""
    return f"{_machine()}:{os.getpid()}:{uuid4().hex[:12]}"


def gone(owner: str) -> bool:
    """Whether an owner is certainly no more: a process of this machine that has ended."""
    machine, process, _ = owner.rsplit(":", 2)
    if os.name != "posix" or machine != _machine() or here(owner):
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def here(owner: str) -> bool:
    """Whether an owner is, or was, part of this very process."""
    machine, process, _ = owner.rsplit(":", 2)
    return machine == _machine() and int(process) == os.getpid()


def _machine() -> str:
    """Host name and process namespace: containers may share the one, and have process numbers of their own."""
    try:
        namespace = os.readlink("/proc/self/ns/pid")
    except OSError:
        namespace = ""
    return f"{socket.gethostname()}/{''.join(filter(str.isdigit, namespace))}"
