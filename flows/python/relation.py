"""`contrapose.relation`: define a test from two texts or a function, for `contrapose.evaluate`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from contrapose.flows.python.arguments import RunArguments
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.user_functions import offer_functions

if TYPE_CHECKING:
    import pandas as pd

Edit = Callable[[str], str | None]
"""Changes a text; None leaves it out."""
Compare = Callable[[str, str], bool | float]
"""Compares two replies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationTest:
    """A relation to test: pass it as `test` to `contrapose.evaluate` or `contrapose.preview`."""

    name: str
    """Its name in the report: `relation.<name>`."""
    settings: Mapping[str, Any]
    """Settings of the test; functions as objects."""
    rows: pd.DataFrame | None = None
    """The texts, where they were passed themselves and not as columns."""


def relation(
    before: str | Sequence[str] | None = None,
    after: str | Sequence[str] | Edit | None = None,
    *,
    expect: str | Mapping[str, str] = "stays",
    score: str | Compare | None = None,
    name: str = "relation",
    **settings: Any,
) -> RelationTest:
    """Return a test of your own: change the prompt so, then the answer should do what you expect.

    Args:
        before: the column of the unchanged text, or the texts themselves; None: the column that holds the question.
        after: the column of the changed text, the texts themselves, or a function that changes a text (None leaves the
            sample out), also as `"module:function"`.
        expect: `"stays"`, `"changes"`, `"not_worse"` (right where it was right before), or `{"becomes": COLUMN}`.
        score: a function that compares two replies: whether they say the same, or by how much they differ.
        name: letters, digits, `-` and `_`; the report calls the test `relation.<name>`.
        settings: further settings of the test, such as `control`, `min_pass_rate`, `options_after` or `variant`.

    Raises:
        ContraposeError: `before` and `after` are texts, and not as many of each.

    Examples:
        >>> import contrapose
        >>> politely = contrapose.relation(after=lambda text: f"Please answer: {text}")
        >>> run = contrapose.evaluate(model="mock", test=politely, data="negation", limit=20, quiet=True)
        >>> run.summary["tests"][0]["test_type"]
        'relation.relation'
    """
    own: dict[str, Any] = {"expect": dict(expect) if isinstance(expect, Mapping) else expect, **settings}
    own |= {} if score is None else {"score": score}
    rows = None
    if isinstance(after, Sequence) and not isinstance(after, str):
        rows = _rows(before, after)
        own |= {"before": "before", "after": "after"}
    else:
        own |= {} if before is None else {"before": before}
        is_edit = callable(after) or (isinstance(after, str) and ":" in after)
        own |= {} if after is None else {"edit" if is_edit else "after": after}
    return RelationTest(name=name, settings=own, rows=rows)


def _rows(before: object, after: Sequence[str]) -> pd.DataFrame:
    import pandas as pd

    texts = list(before) if isinstance(before, Sequence) and not isinstance(before, str) else []
    if len(texts) != len(after):
        raise ConfigError(
            f"{len(texts)} texts before and {len(after)} after",
            expected="as many of each",
            remedy="Pass two lists of the same length.",
            where="relation",
        )
    return pd.DataFrame({"before": texts, "after": list(after)})


@contextmanager
def name_relations(
    arguments: RunArguments, test: str | RelationTest | Sequence[str | RelationTest] | None
) -> Iterator[RunArguments]:
    """Yield arguments with names for all tests; runs can call functions of relations while the context is open."""
    several = [test] if isinstance(test, str | RelationTest) else list(test or ())
    own = [one for one in several if isinstance(one, RelationTest)]
    functions = [value for one in own for value in one.settings.values() if callable(value)]
    with offer_functions(*functions) as offered:
        by_object = {id(function): name for function, name in zip(functions, offered, strict=True)}
        settings = {
            f"tests.relation.{one.name}.{key}": by_object[id(value)] if callable(value) else value
            for one in own
            for key, value in one.settings.items()
        }
        names = [f"relation.{one.name}" if isinstance(one, RelationTest) else one for one in several]
        frames = [one.rows for one in own if one.rows is not None]
        if len(frames) + (bool(frames) and arguments.data is not None) > 1:
            raise ConfigError(
                "texts of a relation together with other data",
                expected="one source of samples",
                remedy="Put the texts into two columns of the data, and name these columns.",
                where="relation",
            )
        yield replace(
            arguments,
            test=names if test is not None else None,
            settings={**settings, **(arguments.settings or {})},
            data=frames[0] if frames else arguments.data,
        )
