"""A disk of some size, whose size can change while it is used: a file system in memory."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

AS_ROOT = () if os.geteuid() == 0 else ("sudo", "--non-interactive")
LARGE = 256 * 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class Disk:
    """Where it is mounted."""

    folder: Path

    def used(self) -> int:
        """Bytes, in whole pages of memory."""
        return shutil.disk_usage(self.folder).used

    def resize(self, size: int) -> None:
        """Give it another size, in bytes; what lies on it stays."""
        _mount("-o", f"remount,size={size}", self.folder)

    def fill(self) -> None:
        """Leave no room on it."""
        self.resize(max(self.used(), 4096))


@contextmanager
def small_disk(folder: Path, size: int = LARGE) -> Iterator[Disk]:
    """Mount one of so many bytes at a folder; skipped where nobody may mount."""
    folder.mkdir(parents=True)
    try:
        _mount("-t", "tmpfs", "-o", f"size={size},mode=0700,uid={os.geteuid()},gid={os.getegid()}", "tmpfs", folder)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("needs to mount a file system: root, or sudo without a password")
    try:
        yield Disk(folder=folder)
    finally:
        subprocess.run([*AS_ROOT, "umount", "--lazy", folder], check=True)


def _mount(*words: str | Path) -> None:
    subprocess.run([*AS_ROOT, "mount", *words], check=True, capture_output=True)
