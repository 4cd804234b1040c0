"""Opening a source's bytes, wherever they lie, with one clear error when that fails."""

from __future__ import annotations

import codecs
import gzip
import hashlib
import io
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
from contrapose.tasks.core.bounds import HARMLESS, MOST_COLUMNS, MOST_RATIO, is_bomb
from contrapose.tasks.core.errors import ContraposeError, DataError
from contrapose.tasks.core.file_servers import time_limits
from contrapose.tasks.load.rows import escaped

PART = 2**18
"""Bytes that are unpacked or looked at at once."""
IN_MEMORY = 64 * 2**20
"""Bytes of a remote file that are held in memory; more goes to a temporary file."""
PACKAGES = {"smbclient": "smbprotocol"}
"""Modules that fsspec imports, to the packages that bring them where these are called otherwise."""
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
"""First bytes of a text in UTF-16, such as Excel's "Unicode text"."""


@contextmanager
def opened(source: str) -> Iterator[IO[bytes]]:
    """The bytes of a path or URL as a seekable file, unpacked when the name ends in .gz.

    A remote file is fetched completely first, so that a broken connection shows here and nowhere else.

    Raises:
        DataError: it is missing, a folder, empty, out of reach, damaged, or grows like a bomb when it is unpacked.
    """
    with ExitStack() as stack:
        file = stack.enter_context(_raw(source))
        try:
            if source.partition("::")[0].endswith(".gz"):
                file = stack.enter_context(_unpacked(file, source))
            if not file.read(1):
                raise failure(source, "the file is empty", expected="at least one row")
            file.seek(0)
            yield file
        except MemoryError as error:
            raise failure(
                source,
                "the file needs more memory than there is",
                expected="rows that can be read one by one",
                remedy="Save it as JSON lines (.jsonl).",
            ) from error
        except (OSError, EOFError, zlib.error) as error:
            raise failure(
                source, f"the file cannot be read ({library_error(error)})", expected="an intact file"
            ) from error


@contextmanager
def opened_text(source: str) -> Iterator[IO[bytes]]:
    """A file of text as `opened` gives it; UTF-16 with a byte order mark becomes UTF-8.

    Raises:
        DataError: as `opened`, or it is not the UTF-16 that its first bytes announce.
    """
    with opened(source) as file:
        mark = file.read(2)
        file.seek(0)
        if mark not in UTF_16:
            yield file
            return
        with tempfile.SpooledTemporaryFile(max_size=IN_MEMORY) as recoded:
            _recode(file, recoded, source)
            recoded.seek(0)
            yield cast(IO[bytes], recoded)


def _recode(file: IO[bytes], recoded: Any, source: str) -> None:
    """Write a text in UTF-16 as UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-16")()
    try:
        for part in iter(lambda: file.read(PART), b""):
            recoded.write(decoder.decode(part).encode())
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise not_decodable(file, source, "UTF-16") from error


def sha256(source: str) -> str:
    """Of the bytes of a path or URL as they are stored, streamed.

    Raises:
        DataError: it is missing, a folder or out of reach.
    """
    with _raw(source) as file:
        return hashlib.file_digest(cast(Any, file), "sha256").hexdigest()


def failure(source: str, observed: str, *, expected: str, remedy: str = "Correct the file or its path.") -> DataError:
    """A DataError about a source as a whole."""
    return DataError(observed, expected=expected, remedy=remedy, where=escaped(source))


def folder_given(source: str) -> DataError:
    """The error for a folder where a file should be."""
    return failure(
        source,
        "this is a folder",
        expected="a file",
        remedy="Name a file in it, or write hf/<folder> for a dataset that was saved there.",
    )


def refuse_bomb(source: str, *, packed: int, unpacked: int) -> None:
    """Stop where a packed file grows as none does that holds data.

    Raises:
        DataError: it does.
    """
    if is_bomb(packed=packed, unpacked=unpacked):
        raise failure(
            source,
            f"{packed:,} bytes unpack to {unpacked:,} or more",
            expected=f"at most {MOST_RATIO} times as many",
            remedy="If the file is to be trusted, unpack it and name what comes out.",
        )


def refuse_wide(count: int, source: str) -> None:
    """Stop where a table has more columns than any that people make.

    Raises:
        DataError: it has.
    """
    if count > MOST_COLUMNS:
        remedy = "Leave out columns that are not needed."
        raise failure(source, f"{count:,} columns", expected=f"at most {MOST_COLUMNS:,}", remedy=remedy)


def library_error(error: BaseException) -> str:
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
        raise not_decodable(io.BytesIO(content), source) from error


def not_decodable(file: IO[bytes], source: str, encoding: str = "UTF-8") -> DataError:
    """The error that says where a file does not follow its encoding; the file is read once more for it."""
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
                where=f"{escaped(source)}, line {number}",
            )
        kept = len(decoder.getstate()[0])
        passed, line = passed + len(whole) - kept, line + whole.count(b"\n")
    return failure(
        source, "the file ends within a character", expected=f"text in {encoding}", remedy="Save it as UTF-8."
    )


class _Unpacked(io.RawIOBase):
    """What a .gz file holds; reading stops where it turns out to be a bomb."""

    def __init__(self, packed: IO[bytes], source: str) -> None:
        self._packed, self._source = packed, source
        self._file = gzip.GzipFile(fileobj=packed)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = self._file.readinto(buffer)
        refuse_bomb(self._source, packed=self._packed.tell(), unpacked=self._file.tell())
        return count

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move as a file does; the way to the end leads through all that comes before, as it is checked."""
        if whence == io.SEEK_END:
            while self.read(PART):
                pass
            whence = io.SEEK_CUR
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def close(self) -> None:
        self._file.close()
        super().close()


@contextmanager
def _unpacked(packed: IO[bytes], source: str) -> Iterator[IO[bytes]]:
    """The content of a .gz file, of which as much is unpacked at once as tells a bomb before its rows are read."""
    with io.BufferedReader(_Unpacked(packed, source), PART) as file:
        while file.tell() <= HARMLESS and file.read(PART):
            pass
        file.seek(0)
        yield cast(IO[bytes], file)


@contextmanager
def _raw(source: str) -> Iterator[IO[bytes]]:
    try:
        _refuse_host(source)
        files, path = fsspec.core.url_to_fs(source, **_options(source))
        local = isinstance(files, LocalFileSystem)
        if local and files.isdir(path):
            raise IsADirectoryError(path)
        if local and os.path.exists(path) and not os.path.isfile(path):
            # Whoever opens a pipe waits until something is written to it.
            raise failure(source, "this is a pipe or a device", expected="a file", remedy="Copy its content to a file.")
        if isinstance(files, AbstractArchiveFileSystem):
            # An entry of an archive yields no more than it says of itself.
            entry = files.info(path)
            if (packed := entry.get("compress_size")) is not None:
                refuse_bomb(source, packed=packed, unpacked=entry.get("file_size") or 0)
        opened_there = files.open(path, "rb")
        file = opened_there if local else _fetched(opened_there)
    except ContraposeError:
        raise
    # Every fsspec backend raises its own kinds of errors for an address that does not answer.
    except Exception as error:
        raise _unopened(source, error) from error
    with file:
        yield cast(IO[bytes], file)


def _refuse_host(source: str) -> None:
    """Refuse a web address of a host that nothing is sent to.

    Raises:
        ConfigError: it is one.
    """
    if (origin := origin_of(source.rpartition("::")[2])) is not None:
        refuse_forbidden(origin.host, where=escaped(source))


def _options(source: str) -> dict[str, Any]:
    """Options of fsspec for an address: time limits; and of the web where a name or a redirect leads is looked at."""
    scheme, mark, _ = source.rpartition("::")[2].partition("://")
    options: dict[str, Any] = time_limits(source)
    return (
        options | {scheme: {**options.get(scheme, {}), "get_client": _client}} if mark and scheme in PORTS else options
    )


async def _client(**options: Any) -> Any:
    import aiohttp

    return aiohttp.ClientSession(connector=aiohttp.TCPConnector(socket_factory=open_socket), **options)


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
                source, "the file may not be read", expected="read permission", remedy="Change its permissions."
            )
        case ImportError():
            module = str(getattr(error.__cause__ or error, "name", None) or "")
            package = PACKAGES.get(module, module)
            return failure(
                source,
                f"the package {package} is not installed" if package else library_error(error),
                expected="the package that reads this kind of address",
                remedy=f"Install it with pip install {package}." if package else "Install it.",
            )
        case ValueError() if "Protocol not known" in str(error):
            expected = "a path or a URL that fsspec knows"
            return failure(source, library_error(error), expected=expected, remedy="Correct the address.")
    return failure(
        source,
        f"the address cannot be read ({library_error(error.__cause__ or error)})",
        expected="a file within reach",
        remedy="Check the address, the network and your credentials.",
    )
