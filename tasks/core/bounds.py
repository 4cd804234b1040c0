"""Size limits of all input from outside, and a YAML loader that enforces them."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextvars import copy_context
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple, TypeVar

import yaml
from yaml.error import Mark
from yaml.nodes import MappingNode, Node, ScalarNode

from contrapose.tasks.core.damage import refuse_pipe

R = TypeVar("R")

SECONDS = 5.0
"""Default for the seconds that a server may take to answer."""
SURROGATE = re.compile("[\ud800-\udfff]")
MOST_COLUMNS = 16_384
"""Columns of a table; as many as a spreadsheet has."""
MOST_SHEET_ROWS = 1_048_576
"""Rows of a spreadsheet; the last row number that Excel knows."""
MOST_CHARACTERS = 1_000_000
"""Characters of a cell."""
MOST_LINE = 32 * 2**20
"""Bytes of a line of JSON, and characters of a record of CSV: a file without line ends must not fill the memory."""
MOST_DOCUMENT = 256 * 2**20
"""Bytes of a JSON document or of an unpacked spreadsheet, which have to be read as a whole."""
HARMLESS = 8 * 2**20
"""Bytes up to which it does not matter how small a file was packed."""
MOST_RATIO = 100
"""Times that a packed file may grow when it is unpacked; texts grow four to twenty times, a bomb a thousand times."""
MOST_CLAIMED_ROWS = 1_000_000
"""Rows of a Parquet file up to which it does not matter how few bytes it has."""
MOST_YAML = 2**20
"""Bytes of a suite or of a file of expectations."""
MOST_NODES = 50_000
"""Values of such a file, each counted as often as aliases repeat it."""
MOST_DEPTH = 50
"""Levels of lists and mappings inside each other."""
MOST_DIGITS = 100
"""Characters of a number."""


class YamlProblem(NamedTuple):
    """A problem with a file, in the words of an error."""

    where: str
    """The file, with line and column where they are known."""
    observed: str
    expected: str


class UnboundedError(yaml.MarkedYAMLError):
    """A YAML text is larger or deeper than any configuration, or has a key twice."""

    def __init__(self, observed: str, *, expected: str, mark: Mark | None = None) -> None:
        """Keep the words for the final error, and the place."""
        super().__init__(problem=observed, problem_mark=mark)
        self.expected = expected


def read_bytes(path: Path) -> bytes:
    """Return the bytes of a YAML file, or raise OSError, or YAMLError if it is too large."""
    with refuse_pipe(path).open("rb") as file:
        content = file.read(MOST_YAML + 1)
    if len(content) > MOST_YAML:
        raise UnboundedError(f"more than {MOST_YAML:,} bytes", expected=f"at most {MOST_YAML:,} bytes of YAML")
    return content


def parse_yaml(content: str | bytes) -> Any:
    """Return the values of a YAML text, or raise YAMLError, also for a date or number that does not exist."""
    loader = _Bounded(content)
    try:
        return loader.get_single_data()
    finally:
        loader.dispose()


def describe_yaml_problem(error: yaml.YAMLError, where: str, *, expected: str) -> YamlProblem:
    """Return the problem that an error of `parse_yaml` shows; `expected` is used if the file is no YAML."""
    mark = getattr(error, "problem_mark", None)
    place = f"{where}, line {mark.line + 1}, column {mark.column + 1}" if mark else where
    if isinstance(error, UnboundedError):
        return YamlProblem(place, str(error.problem), error.expected)
    reason = getattr(error, "problem", None) or getattr(error, "reason", None) or "unreadable"
    return YamlProblem(place, f"not YAML ({reason})", expected)


def holds_surrogate(text: str) -> bool:
    """Return whether a text holds half of a surrogate pair, so that no file can store it."""
    return SURROGATE.search(text) is not None


class _Bounded(yaml.SafeLoader):
    """The safe YAML loader with limits; it counts nodes before it makes any value."""

    def __init__(self, stream: str | bytes) -> None:
        super().__init__(stream)
        self._depth = self._nodes = 0
        self._sizes = dict[int, int]()
        """Values in each composed node, itself included."""

    def compose_node(self, parent: Node | None, index: Any) -> Node | None:
        """Compose and count the next node; an alias counts as all the nodes that it repeats."""
        event = self.peek_event()  # type: ignore[no-untyped-call]
        self._depth += 1
        self._refuse_depth(self._depth, event.start_mark)
        before, repeats = self._nodes, self.check_event(yaml.AliasEvent)
        node = super().compose_node(parent, index)
        self._depth -= 1
        if repeats and id(node) not in self._sizes:
            raise UnboundedError("an alias of what it stands in", expected="values that end", mark=event.start_mark)
        self._nodes += self._sizes[id(node)] if repeats else 1
        if self._nodes > MOST_NODES:
            observed = f"more than {MOST_NODES:,} values, aliases counted as what they repeat"
            raise UnboundedError(observed, expected=f"at most {MOST_NODES:,} values", mark=event.start_mark)
        self._sizes.setdefault(id(node), self._nodes - before)
        return node

    def compose_scalar_node(self, anchor: Any) -> ScalarNode:
        """Compose the next text or number, or raise an error for half of a surrogate pair."""
        node: ScalarNode = super().compose_scalar_node(anchor)
        if holds_surrogate(node.value):
            observed = f"half of a surrogate pair alone in {node.value[:40]!a}"
            raise UnboundedError(observed, expected="characters that UTF-8 can hold", mark=node.start_mark)
        return node

    def compose_mapping_node(self, anchor: Any) -> MappingNode:
        """Compose the next mapping, or raise an error for a repeated key, of which Python would take the last."""
        node: MappingNode = super().compose_mapping_node(anchor)
        first = dict[tuple[str, str], int]()
        for key, _ in node.value:
            name, line = (key.tag, str(key.value)), key.start_mark.line + 1
            if isinstance(key, ScalarNode) and name in first:
                observed = f"the key {key.value[:80]!r} a second time; the first is in line {first[name]}"
                raise UnboundedError(observed, expected="each key once", mark=key.start_mark)
            first[name] = line
        return node

    def fetch_flow_collection_start(self, token: Any) -> None:
        """Read the beginning of a list or mapping in brackets, and check the depth before it is composed."""
        self._refuse_depth(self.flow_level, self.get_mark())
        super().fetch_flow_collection_start(token)

    def _refuse_depth(self, depth: int, mark: Mark) -> None:
        """Raise UnboundedError if lists and mappings are nested too deeply."""
        if depth > MOST_DEPTH:
            observed = f"lists or mappings nested more than {MOST_DEPTH} levels deep"
            raise UnboundedError(observed, expected=f"at most {MOST_DEPTH} levels", mark=mark)


def _construct(kind: str, loader: _Bounded, node: ScalarNode) -> Any:
    """Make a number, a date or bytes, or raise YAMLError if it does not exist, such as the 30th of February."""
    if kind in ("int", "float") and len(node.value) > MOST_DIGITS:
        observed = f"a number of {len(node.value):,} characters"
        raise UnboundedError(observed, expected=f"at most {MOST_DIGITS} characters", mark=node.start_mark)
    try:
        return getattr(yaml.SafeLoader, f"construct_yaml_{kind}")(loader, node)
    except (ValueError, ArithmeticError, LookupError, AttributeError) as error:
        problem = f"{node.value[:80]!r} has the form of a value that there is not"
        raise yaml.constructor.ConstructorError(problem=problem, problem_mark=node.start_mark) from error


for _kind in ("int", "float", "bool", "binary", "timestamp"):
    _Bounded.add_constructor(f"tag:yaml.org,2002:{_kind}", partial(_construct, _kind))


def is_bomb(*, packed: int, unpacked: int) -> bool:
    """Return whether a packed file holds, or claims to hold, more bytes than any real data file of its size."""
    return unpacked > HARMLESS and unpacked > MOST_RATIO * packed


def call_with_timeout(call: Callable[[], R], seconds: float = SECONDS) -> R:
    """Return the result of a call or raise its error; raise TimeoutError after `seconds`, though the call goes on."""
    outcome = Future[R]()

    def keep() -> None:
        try:
            outcome.set_result(call())
        except BaseException as error:
            outcome.set_exception(error)

    # A daemon: the command ends although a server never answers. Prefect keeps its settings in the context.
    Thread(target=copy_context().run, args=(keep,), daemon=True).start()
    if not wait((outcome,), seconds).done:
        raise TimeoutError(f"no answer within {seconds:g} s")
    return outcome.result()
