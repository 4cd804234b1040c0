"""Open the bytes of a source from a path or URL, with one clear error on failure."""

from __future__ import annotations

import codecs
import gzip
import hashlib
import os
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import IO, Any, cast

import fsspec
from fsspec.archive import AbstractArchiveFileSystem
from fsspec.implementations.local import LocalFileSystem

from contrapose.tasks.config.hosts import PORTS, open_socket, origin_of, refuse_forbidden
from contrapose.tasks.core.bounds import MOST_COLUMNS, MOST_RATIO, is_bomb
from contrapose.tasks.core.errors import ContraposeError, DataError
from contrapose.tasks.core.file_servers import find_missing_package, make_time_limits
from contrapose.tasks.load.rows import escape

PART = 2**18
"""Bytes that are unpacked or looked at at once."""
IN_MEMORY = 64 * 2**20
"""Bytes of a remote or unpacked file that are held in memory; more goes to a temporary file."""
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
"""First bytes of a text in UTF-16, such as Excel's "Unicode text"."""


@contextmanager
def open_source(source: str) -> Iterator[IO[bytes]]:
    """Open the bytes of a path or URL as a seekable file, unpacked when the name ends in .gz, or raise DataError.

    A remote file is fetched completely first, so that a broken connection shows here and nowhere else.
    """
    with ExitStack() as stack:
        file = stack.enter_context(_open_raw(source))
        try:
            if source.partition("::")[0].endswith(".gz"):
                unpacked = stack.enter_context(tempfile.SpooledTemporaryFile(max_size=IN_MEMORY))
                with gzip.GzipFile(fileobj=file) as packed:
                    for part in iter(lambda: packed.read(PART), b""):
                        unpacked.write(part)
                        refuse_bomb(source, packed=file.tell(), unpacked=unpacked.tell())
                unpacked.seek(0)
                file = cast(IO[bytes], unpacked)
            if not file.read(1):
                raise source_error(source, "the file is empty", expected="at least one row")
            file.seek(0)
            yield file
        except MemoryError as error:
            raise source_error(
                source,
                "the file needs more memory than there is",
                expected="rows that can be read one by one",
                remedy="Save it as JSON lines (.jsonl).",
            ) from error
        except (OSError, EOFError, zlib.error) as error:
            raise source_error(
                source, f"the file cannot be read ({library_error(error)})", expected="an intact file"
            ) from error


@contextmanager
def open_text(source: str) -> Iterator[IO[bytes]]:
    """Open a file of text as `open_source`; UTF-16 with a byte order mark becomes UTF-8."""
    with open_source(source) as file:
        mark = file.read(2)
        file.seek(0)
        if mark not in UTF_16:
            yield file
            return
        with tempfile.SpooledTemporaryFile(max_size=IN_MEMORY) as recoded:
            decoder = codecs.getincrementaldecoder("utf-16")()
            try:
                for part in iter(lambda: file.read(PART), b""):
                    recoded.write(decoder.decode(part).encode())
                decoder.decode(b"", final=True)
            except UnicodeDecodeError as error:
                raise decoding_error(file, source, "UTF-16") from error
            recoded.seek(0)
            yield cast(IO[bytes], recoded)


def sha256(source: str) -> str:
    """Return the hash of the bytes of a path or URL as they are stored, streamed, or raise DataError."""
    with _open_raw(source) as file:
        return hashlib.file_digest(cast(Any, file), "sha256").hexdigest()


def source_error(
    source: str, observed: str, *, expected: str, remedy: str = "Correct the file or its path."
) -> DataError:
    """Return a DataError about a complete source."""
    return DataError(observed, expected=expected, remedy=remedy, where=escape(source))


def folder_error(source: str) -> DataError:
    """Return the error that a source is a folder, not a file."""
    remedy = "Name a file in it, or write hf/<folder> for a dataset that was saved there."
    return source_error(source, "this is a folder", expected="a file", remedy=remedy)


def refuse_bomb(source: str, *, packed: int, unpacked: int) -> None:
    """Raise DataError if a packed file grows far more than any file with data."""
    if is_bomb(packed=packed, unpacked=unpacked):
        raise source_error(
            source,
            f"{packed:,} bytes unpack to {unpacked:,} or more",
            expected=f"at most {MOST_RATIO} times as many",
            remedy="If you trust the file, unpack it or save it as CSV, and name the new file.",
        )


def refuse_wide(count: int, source: str) -> None:
    """Raise DataError if a table has more columns than people ever make."""
    if count > MOST_COLUMNS:
        remedy = "Leave out columns that are not needed."
        raise source_error(source, f"{count:,} columns", expected=f"at most {MOST_COLUMNS:,}", remedy=remedy)


def library_error(error: BaseException) -> str:
    """Return the type and first line of another library's error, shortened."""
    first = (str(error).strip().splitlines() or [""])[0]
    return f"{type(error).__name__}: {escape(first, most=120)}" if first else type(error).__name__


def decoding_error(file: IO[bytes], source: str, encoding: str = "UTF-8") -> DataError:
    """Return the error that shows where a file breaks its encoding; this reads the file again."""
    decoder = codecs.getincrementaldecoder(encoding)()
    file.seek(0)
    passed, line = 0, 1
    for part in iter(lambda: file.read(PART), b""):
        whole = decoder.getstate()[0] + part
        try:
            decoder.decode(part)
        except UnicodeDecodeError as error:
            number = line + whole.count(b"\n", 0, error.start)
            return DataError(
                f"byte {passed + error.start} is not {encoding} (0x{whole[error.start]:02x})",
                expected=f"text in {encoding}",
                remedy="Save the file as UTF-8.",
                where=f"{escape(source)}, line {number}",
            )
        passed, line = passed + len(whole) - len(decoder.getstate()[0]), line + whole.count(b"\n")
    observed = "the file ends within a character"
    return source_error(source, observed, expected=f"text in {encoding}", remedy="Save it as UTF-8.")


async def _make_client(**options: Any) -> Any:
    """Return an aiohttp client that checks every address that a name or a redirect leads to."""
    import aiohttp

    return aiohttp.ClientSession(connector=aiohttp.TCPConnector(socket_factory=open_socket), **options)


@contextmanager
def _open_raw(source: str) -> Iterator[IO[bytes]]:
    """Open the bytes of a path or URL as they are stored; a remote file is fetched first."""
    place = source.rpartition("::")[2]
    scheme, mark, _ = place.partition("://")
    try:
        if (origin := origin_of(place)) is not None:
            refuse_forbidden(origin.host, where=escape(source))
        options: dict[str, Any] = make_time_limits(source)
        if mark and scheme in PORTS:
            options |= {scheme: {**options.get(scheme, {}), "get_client": _make_client}}
        files, path = fsspec.core.url_to_fs(source, **options)
        local = isinstance(files, LocalFileSystem)
        if local and files.isdir(path):
            raise IsADirectoryError(path)
        if local and os.path.exists(path) and not os.path.isfile(path):
            # Opening a pipe waits until something is written to it.
            observed = "this is a pipe or a device"
            raise source_error(source, observed, expected="a file", remedy="Copy its content to a file.")
        if isinstance(files, AbstractArchiveFileSystem):
            # An entry of an archive yields no more than it says of itself.
            entry = files.info(path)
            if (packed := entry.get("compress_size")) is not None:
                refuse_bomb(source, packed=packed, unpacked=entry.get("file_size") or 0)
        file = files.open(path, "rb")
        if not local:
            with file as remote:
                file = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 - closed below
                shutil.copyfileobj(remote, file)
            file.seek(0)
    except ContraposeError:
        raise
    # Every fsspec backend raises its own kinds of errors for an address that does not answer.
    except Exception as error:
        raise _opening_error(source, error) from error
    with file:
        yield cast(IO[bytes], file)


def _opening_error(source: str, error: Exception) -> DataError:
    """Return an error of fsspec or of the library below it as a DataError with a remedy."""
    observed = f"the address cannot be read ({library_error(error.__cause__ or error)})"
    expected, remedy = "a file within reach", "Check the address, the network and your credentials."
    match error:
        case FileNotFoundError() if error.__cause__ is None:
            observed, expected, remedy = "there is no such file", "a file", "Correct the path."
        case IsADirectoryError():
            return folder_error(source)
        case PermissionError():
            observed, expected = "the file may not be read", "read permission"
            remedy = "Change its permissions."
        case ImportError():
            package = find_missing_package(error)
            observed = f"the package {package} is not installed" if package else library_error(error)
            expected = "the package that reads this kind of address"
            remedy = f"Install it with pip install {package}." if package else "Install it."
        case ValueError() if "Protocol not known" in str(error):
            observed, expected = library_error(error), "a path or a URL that fsspec knows"
            remedy = "Correct the address."
    return source_error(source, observed, expected=expected, remedy=remedy)
