"""Build the wheel and the sdist of the last commit, the same bytes each time, and check them: `make release-check`."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]


def run(*command: str | Path, folder: Path = REPOSITORY, **environment: str) -> bytes:
    """Return what a command prints; a failure ends the program with what it said."""
    environ = {**os.environ, **environment}
    done = subprocess.run(command, cwd=folder, env=environ, umask=0o022, capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{(done.stdout + done.stderr).decode(errors='replace')}")
    return done.stdout


def build_release(target: Path, commit: str = "HEAD") -> list[Path]:
    """Return a wheel and an sdist of a commit, in a new folder; what is not committed is in neither of them.

    Every timestamp is that of the commit, and owners, modes and order are always the same. The wheel is built from the
    sdist, so that whoever builds from the sdist gets this wheel.
    """
    epoch = run("git", "log", "-1", "--format=%ct", commit).decode().strip()
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", target]
    with tempfile.TemporaryDirectory() as name:
        source, unpacked = Path(name, "source"), Path(name, "unpacked")
        _unpack(run("git", "archive", "--format=tar", commit), source)
        run(*build, "--sdist", source, SOURCE_DATE_EPOCH=epoch)
        (sdist,) = target.glob("*.tar.gz")
        sdist.write_bytes(_normalize(sdist.read_bytes(), int(epoch)))
        _unpack(gzip.decompress(sdist.read_bytes()), unpacked)
        run(*build, "--wheel", next(unpacked.iterdir()), SOURCE_DATE_EPOCH=epoch)
    return sorted(target.iterdir())


def _unpack(archive: bytes, folder: Path) -> None:
    with tarfile.open(fileobj=io.BytesIO(archive)) as members:
        members.extractall(folder, filter="data")


def _normalize(sdist: bytes, epoch: int) -> bytes:
    """Return an sdist whose members are in order, all of one time and of nobody."""
    written = io.BytesIO()
    with tarfile.open(fileobj=io.BytesIO(sdist)) as old, tarfile.open(fileobj=written, mode="w") as new:
        for member in sorted(old.getmembers(), key=lambda member: member.name):
            content = old.extractfile(member)
            member.pax_headers, member.mtime = {}, epoch
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            new.addfile(member, content)
    return gzip.compress(written.getvalue(), mtime=epoch)


def digests(files: list[Path]) -> dict[str, str]:
    """Return the SHA-256 of each file, by name."""
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def main() -> None:
    """Build twice, in places that differ in all that should not matter; then check and keep the files in dist/."""
    target = REPOSITORY / "dist"
    target.mkdir(exist_ok=True)
    for old in target.iterdir():
        old.unlink()
    files = build_release(target)
    with tempfile.TemporaryDirectory() as name:
        os.environ["TZ"] = "Asia/Kathmandu"
        os.umask(0o077)
        again = digests(build_release(Path(name)))
    if digests(files) != again:
        sys.exit(f"two builds differ:\n{digests(files)}\n{again}")
    run(sys.executable, "-m", "twine", "check", "--strict", *files)
    run(Path(sys.executable).with_name("check-wheel-contents"), *target.glob("*.whl"))
    for file, digest in digests(files).items():
        print(f"{digest}  dist/{file}")


if __name__ == "__main__":
    main()
