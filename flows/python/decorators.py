"""`contrapose.stays`, `changes`, `not_worse`, `becomes`: make a pytest test from a function that answers a prompt.

pytest imports this module together with a test file, so it imports the standard library alone.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import pandas as pd

Answer = TypeVar("Answer", bound=Callable[..., Any])

ATTRIBUTE = "contrapose_test"
"""Attribute of a decorated function that holds its `PromptTest`."""
OPTION = "--contrapose-report"
"""Option of pytest that names the folder of reports."""
PROPERTY = "contrapose"
"""Property of a test, in JUnit files too: the verdict, or `error`."""
RECEIVERS = ("self", "cls")
"""First parameters of methods, which Python fills in."""
NO_ARGUMENTS = (
    "a decorator without parentheses; expected a change and samples. Write @contrapose.stays(edit=FUNCTION, data=FILE)."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptTest:
    """The test of a decorated function, which the pytest plugin runs."""

    relation: Mapping[str, Any]
    """Arguments of `contrapose.relation`."""
    run: Mapping[str, Any]
    """Arguments of `contrapose.evaluate`."""
    fixtures: tuple[str, ...] = ()
    """Parameters after the prompt, which pytest fills in."""
    problem: str = ""
    """Reason why pytest cannot collect the function; empty where it can."""


@dataclass(frozen=True, slots=True)
class RelationDecorator:
    """Makes a test of pytest from a function that takes a prompt and returns the answer of your application.

    Examples:
        @contrapose.stays(edit=shorten, data="questions.csv", gate=0.9)
        def test_answer(prompt):
            return my_application(prompt)
    """

    expect: str | Mapping[str, str] = field(default="stays")

    @property
    def __name__(self) -> str:
        """Return the name under which the package offers it."""
        return str(self.expect)

    def __call__(
        self,
        function: Callable[..., Any] | None = None,
        /,
        *,
        edit: Callable[[str], str | None] | str | None = None,
        before: str | Sequence[str] | None = None,
        after: str | Sequence[str] | None = None,
        score: Callable[[str, str], bool | float] | str | None = None,
        name: str | None = None,
        data: pd.DataFrame | str | Path | Mapping[str, Any] | None = None,
        columns: Mapping[str, str] | None = None,
        limit: int | None = None,
        seed: int | None = None,
        gate: float | None = None,
        revision: str | None = None,
        model_args: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> Callable[[Answer], Answer]:
        """Return the decorator.

        Args:
            function: the function where the decorator has no parentheses, which pytest then refuses to collect.
            edit: a function that changes a text, or None to leave the sample out; also as `"module:function"`.
            before: the column of the unchanged text, or the texts; None: the column that holds the question.
            after: in place of `edit`, the column of the changed text, or the texts.
            score: a function that compares two replies, as in `contrapose.relation`.
            name: name in the report; None: that of the function without `test_`.
            data: as in `contrapose.evaluate`; a relative path may start at the folder of the test file.
            columns: our names to those of the columns of `data`.
            limit: at most this many samples; None: all.
            seed: of every random choice, 0 or more.
            gate: least pass rate, from 0 to 1; None: 0.7.
            revision: version of the function. Its answers are cached under this version.
            model_args: `concurrency` (4), `timeout` (60 seconds for a call) and `requests_per_minute`.
            settings: further settings of the relation, such as `control` or `options_after`.
        """
        relation: dict[str, Any] = {
            "before": before,
            "after": after,
            "expect": self.expect,
            "score": score,
            "name": name,
        }
        relation |= {"edit": edit, "min_pass_rate": gate, **settings}
        run: dict[str, Any] = {"data": data, "columns": columns, "limit": limit, "seed": seed, "revision": revision}
        run |= {"model_args": model_args}
        problem = _find_problem(gate, has_rows=data is not None or not isinstance(after, str | None))

        def decorate(function: Answer) -> Answer:
            return _mark(function, _drop_none(relation), _drop_none(run), problem)

        return decorate if function is None else _mark(function, {}, {}, NO_ARGUMENTS)


stays = RelationDecorator("stays")
"""After the change, the answer should mean the same."""
changes = RelationDecorator("changes")
"""After the change, the answer should differ."""
not_worse = RelationDecorator("not_worse")
"""After the change, the answer should be right where it was right before."""


def becomes(column: str, **arguments: Any) -> Callable[[Answer], Answer]:
    """Return a decorator as `contrapose.stays` does: the answer should become the one in a column of the data."""
    if callable(column):
        return _mark(column, {}, {}, NO_ARGUMENTS)
    return RelationDecorator({"becomes": column})(**arguments)


def _drop_none(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if value is not None}


def _find_problem(gate: object, *, has_rows: bool) -> str:
    """Return what is wrong with the arguments of a decorator; "" if nothing is."""
    if gate is not None and not (isinstance(gate, int | float) and not isinstance(gate, bool) and 0 <= gate <= 1):
        return f"gate is {gate!r}; expected a share from 0 to 1. Write gate=0.9 for 90 %."
    if not has_rows:
        return "no data; expected samples to ask about. Pass data=FILE, or a DataFrame, as for contrapose.evaluate."
    return ""


def _mark(function: Answer, relation: dict[str, Any], run: dict[str, Any], problem: str) -> Answer:
    """Return the function with its test attached; pytest sees it without the prompt argument, and not as async."""

    @wraps(function)
    def test(*arguments: Any, **named: Any) -> Any:
        return function(*arguments, **named)

    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())
    place = 1 if parameters and parameters[0].name in RECEIVERS else 0
    if hasattr(function, ATTRIBUTE):
        problem = "two decorators of contrapose; expected one. Write a function for each."
    elif len(parameters) <= place or parameters[place].kind > inspect.Parameter.VAR_POSITIONAL:
        problem = "no parameter for the prompt; expected one. Write def test_answer(prompt): …"
    rest = [value for value in parameters[place + 1 :] if value.kind not in (value.VAR_POSITIONAL, value.VAR_KEYWORD)]
    own = PromptTest(
        relation={"name": function.__name__.removeprefix("test_"), **relation},
        run=run,
        fixtures=tuple(value.name for value in rest if value.default is value.empty),
        problem=problem,
    )
    vars(test).update({ATTRIBUTE: own, "__signature__": signature.replace(parameters=parameters[:place] + rest)})
    return test  # type: ignore[return-value]
