"""Opening a source's bytes, wherever they lie, with one clear error when that fails."""

from __future__ import annotations

import gzip
import hashlib
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import IO, Any, cast

import fsspec
from fsspec.implementations.local import LocalFileSystem

from contrapose.tasks.errors import DataError
from contrapose.tasks.load.rows import escaped

IN_MEMORY = 64 * 2**20
"""Bytes of a remote file that are held in memory; more goes to a temporary file."""
PACKAGES = {"smbclient": "smbprotocol"}
"""Modules that fsspec imports, to the packages that bring them where these are called otherwise."""


@contextmanager
def opened(source: str) -> Iterator[IO[bytes]]:
    """The bytes of a path or URL as a seekable file, unpacked when the name ends in .gz.

    A remote file is fetched whole first, so that a broken connection shows here and nowhere else.

    Raises:
        DataError: it is missing, a folder, empty, out of reach or damaged.
    """
    with ExitStack() as stack:
        file = stack.enter_context(_raw(source))
        if source.partition("::")[0].endswith(".gz"):
            file = stack.enter_context(cast(IO[bytes], gzip.GzipFile(fileobj=file)))
        try:
            if not file.read(1):
                raise failure(source, "the file is empty", expected="at least one row")
            file.seek(0)
            yield file
        except (OSError, EOFError, zlib.error) as error:
            raise failure(source, f"the file cannot be read ({told(error)})", expected="an intact file") from error


def sha256(source: str) -> str:
    """Of the bytes of a path or URL as they are stored, streamed.

    Raises:
        DataError: it is missing, a folder or out of reach.
    """
    with _raw(source) as file:
        return hashlib.file_digest(cast(Any, file), "sha256").hexdigest()


def failure(source: str, found: str, *, expected: str, remedy: str = "Correct the file or its path.") -> DataError:
    """A DataError about a source as a whole."""
    return DataError(found, expected=expected, remedy=remedy, where=escaped(source))


def folder_given(source: str) -> DataError:
    """The error for a folder where a file should be."""
    return failure(
        source,
        "this is a folder",
        expected="a file",
        remedy="Name a file in it, or write hf/<folder> for a dataset that was saved there.",
    )


def told(error: BaseException) -> str:
    """Type and first line of another library's error, shortened."""
    first = (str(error).strip().splitlines() or [""])[0]
    return f"{type(error).__name__}: {escaped(first, most=120)}" if first else type(error).__name__


def decoded(content: bytes, source: str) -> str:
    """Bytes as text without its byte order mark.

    Raises:
        DataError: they are not UTF-8.
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"byte {error.start} is not UTF-8 (0x{content[error.start]:02x})",
            expected="text in UTF-8",
            remedy="Save the file as UTF-8.",
            where=f"{escaped(source)}, line {line}",
        ) from error


@contextmanager
def _raw(source: str) -> Iterator[IO[bytes]]:
    try:
        files, path = fsspec.core.url_to_fs(source)
        local = isinstance(files, LocalFileSystem)
        if local and files.isdir(path):
            raise IsADirectoryError(path)
        file = files.open(path, "rb") if local else _fetched(files.open(path, "rb"))
    # Every fsspec backend raises its own kinds of errors for an address that does not answer.
    except Exception as error:
        raise _unopened(source, error) from error
    with file:
        yield cast(IO[bytes], file)


def _fetched(remote: Any) -> IO[bytes]:
    local = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 - the caller closes it
    with remote:
        shutil.copyfileobj(remote, local)
    local.seek(0)
    return cast(IO[bytes], local)


def _unopened(source: str, error: Exception) -> DataError:
    match error:
        case FileNotFoundError() if error.__cause__ is None:
            return failure(source, "there is no such file", expected="a file", remedy="Correct the path.")
        case IsADirectoryError():
            return folder_given(source)
        case PermissionError():
            return failure(
                source,
                "the file may not be read",
                expected="read permission",
                remedy="Change its permissions.",
            )
        case ImportError():
            return _not_installed(source, error)
        case ValueError() if "Protocol not known" in str(error):
            return failure(
                source,
                told(error),
                expected="a path or a URL that fsspec knows",
                remedy="Correct the address.",
            )
    return failure(
        source,
        f"the address cannot be read ({told(error.__cause__ or error)})",
        expected="a file within reach",
        remedy="Check the address, the network and your credentials.",
    )


def _not_installed(source: str, error: ImportError) -> DataError:
    module = str(getattr(error.__cause__ or error, "name", None) or "")
    package = PACKAGES.get(module, module)
    return failure(
        source,
        f"the package {package} is not installed" if package else told(error),
        expected="the package that reads this kind of address",
        remedy=f"Install it with pip install {package}." if package else "Install it.",
    )
