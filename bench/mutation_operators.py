"""The small changes that mutation testing makes to a module, each of which some test ought to notice.

Left alone is what is no behaviour: annotations, docstrings, decorators, the wording of messages, tables of words, and
`strict` of `zip`, which is an assertion.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import partial

COMPARED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
"""A boundary that is moved, and a comparison that is turned round."""
CALCULATED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
OPPOSITES = (
    *(("min", "max"), ("any", "all"), ("startswith", "endswith"), ("split", "rsplit"), ("find", "rfind")),
    *(("partition", "rpartition"), ("ceil", "floor"), ("lstrip", "rstrip"), ("lower", "upper")),
)
OPPOSITE = dict(OPPOSITES) | {second: first for first, second in OPPOSITES}
WORDING = frozenset({"comment", "description", "expected", "remedy", "title", "where", "doc"})
"""Keyword arguments whose text is read by people only."""
MOST_WORDS = 6
"""Collections with more texts than these are tables of words."""
SYMMETRIC = ("min", "max", "isinstance", "np.maximum", "np.minimum", "np.hypot")
"""Calls whose first two arguments may change places, or of which any reader sees that they may not."""
EFFECTIVE = ("os.kill", "os.killpg", "shutil.rmtree", "os.unlink", "os.remove")
"""Calls that are left as they are: with other arguments they would end processes or remove files of others."""
MEASURED = ("MeasuredErrors",)
"""Calls that hold what was counted once, over thousands of replies: no test counts them again."""
SENTENCE = 3
"""Blanks from which on a text is a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One change of one module."""

    kind: str
    name: str
    """Of the function or class that holds it; `<module>` outside."""
    first: int
    last: int
    """Lines of the statement, of a compound one its head."""
    at_import: bool
    """Whether the statement runs when the module is imported."""
    before: str
    after: str
    """The statement, or its head, in normal form."""
    put: Callable[[], object]
    """Changes the tree."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a walk through the tree has come to."""

    statement: ast.stmt
    name: str = "<module>"
    at_import: bool = True
    texts: bool = True
    """Whether a text is behaviour here."""


def mutants(tree: ast.Module) -> list[Mutant]:
    """Every change of a module's tree, in the order of its lines; each `put` changes this very tree."""
    return list(_statements(tree, "<module>", at_import=True))


def _statements(parent: ast.AST, name: str, *, at_import: bool) -> Iterator[Mutant]:
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        for index, child in enumerate(getattr(parent, field, [])):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                inner = child.name if name == "<module>" else f"{name}.{child.name}"
                yield from _defaults(child, inner, at_import=at_import)
                yield from _statements(child, inner, at_import=at_import and isinstance(child, ast.ClassDef))
            elif isinstance(child, ast.ExceptHandler | ast.match_case):
                yield from _statements(child, name, at_import=at_import)
            elif not _is_silent(child):
                place = _Place(child, name, at_import)
                yield from _whole(parent, field, index, place)
                yield from _within(child, place)
                yield from _statements(child, name, at_import=at_import)


def _is_silent(statement: ast.stmt) -> bool:
    """Docstrings, imports, and what only a type checker reads."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return True
    if isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING":
        return True
    if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) in ("__all__", "__slots__"):
        return True
    return isinstance(statement, ast.Import | ast.ImportFrom)


def _defaults(
    child: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, name: str, *, at_import: bool
) -> Iterator[Mutant]:
    if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
        for each in (child.args.defaults, child.args.kw_defaults):
            for index, default in enumerate(each):
                if default is not None:
                    yield from _expression(default, each, index, _Place(child, name, at_import))


def _whole(parent: ast.AST, field: str, index: int, place: _Place) -> Iterator[Mutant]:
    """Changes of a whole statement."""
    statement, body = place.statement, getattr(parent, field)
    match statement:
        case ast.Expr(value=ast.Call()) | ast.Raise():
            yield _mutant("statement left out", place, body, index, ast.Pass())
        case ast.Break():
            yield _mutant("loop", place, body, index, ast.Continue())
        case ast.Continue():
            yield _mutant("loop", place, body, index, ast.Break())
        case ast.AugAssign(op=op) if type(op) in CALCULATED:
            yield _mutant("arithmetic", place, statement, "op", CALCULATED[type(op)]())
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield _mutant("return value", place, statement, "value", ast.Constant(None))


def _within(statement: ast.stmt, place: _Place) -> Iterator[Mutant]:
    """Changes of the expressions of a statement, of a compound one those of its head."""
    if isinstance(statement, ast.If | ast.While) and not _turns_round(statement.test):
        yield _mutant("condition", place, statement, "test", _negated(statement.test))
    if isinstance(statement, ast.Raise):
        place = _Place(statement, place.name, place.at_import, texts=False)
    for field, value in ast.iter_fields(statement):
        if field in ("annotation", "body", "orelse", "finalbody", "handlers", "cases", "decorator_list"):
            continue
        if isinstance(value, ast.expr):
            yield from _expression(value, statement, field, place)
        elif isinstance(value, list):
            for index, each in enumerate(value):
                if isinstance(each, ast.expr):
                    yield from _expression(each, value, index, place)
                elif isinstance(each, ast.withitem):
                    yield from _expression(each.context_expr, each, "context_expr", place)


def _expression(node: ast.expr, holder: object, slot: str | int, place: _Place) -> Iterator[Mutant]:
    """Changes of an expression and of all that it holds."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) in (*EFFECTIVE, *MEASURED):
        return
    yield from _changes(node, holder, slot, place)
    if _is_type(node):
        return
    for field, value in ast.iter_fields(node):
        if isinstance(value, ast.expr) and field not in ("format_spec", "annotation"):
            yield from _expression(value, node, field, place)
        elif isinstance(value, list):
            yield from _members(node, value, place)


def _members(node: ast.expr, members: list[object], place: _Place) -> Iterator[Mutant]:
    many = isinstance(node, ast.List | ast.Tuple | ast.Set | ast.Dict) and len(members) > MOST_WORDS
    quiet = _Place(place.statement, place.name, place.at_import, texts=False)
    for index, each in enumerate(members):
        if isinstance(each, ast.expr):
            silent = many or (isinstance(node, ast.JoinedStr) and isinstance(each, ast.Constant))
            yield from _expression(each, members, index, quiet if silent else place)
        elif isinstance(each, ast.keyword) and each.arg != "strict":
            yield from _expression(each.value, each, "value", quiet if each.arg in WORDING else place)
        elif isinstance(each, ast.comprehension):
            yield from _comprehension(each, place)


def _comprehension(each: ast.comprehension, place: _Place) -> Iterator[Mutant]:
    yield from _expression(each.iter, each, "iter", place)
    for index, condition in enumerate(each.ifs):
        yield _mutant("condition", place, each.ifs, index, ast.Constant(True))
        yield from _expression(condition, each.ifs, index, place)


def _is_type(node: ast.expr) -> bool:
    return isinstance(node, ast.Subscript) and ast.unparse(node.value) in ("Literal", "Annotated", "Callable")


def _changes(node: ast.expr, holder: object, slot: str | int, place: _Place) -> Iterator[Mutant]:
    """Changes of an expression itself."""
    match node:
        case ast.Compare(ops=ops):
            for index, op in enumerate(ops):
                for other in COMPARED[type(op)]:
                    yield _mutant("comparison", place, ops, index, other())
        case ast.BinOp(op=op) if type(op) in CALCULATED and not (place.at_import and isinstance(op, ast.BitOr)):
            yield _mutant("arithmetic", place, node, "op", CALCULATED[type(op)]())
        case ast.BoolOp(op=op, values=values):
            yield _mutant("boolean", place, node, "op", ast.Or() if isinstance(op, ast.And) else ast.And())
            for index in range(len(values)):
                rest = values[:index] + values[index + 1 :]
                left = rest[0] if len(rest) == 1 else ast.BoolOp(op, rest)
                yield _mutant("boolean", place, holder, slot, left)
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert(), operand=operand):
            yield _mutant("sign or not", place, holder, slot, operand)
        case ast.IfExp(test=test) if not _turns_round(test):
            yield _mutant("condition", place, node, "test", _negated(test))
        case ast.Constant(value=value):
            yield from _constants(value, holder, slot, place)
        case ast.Call():
            yield from _calls(node, place)


def _constants(value: object, holder: object, slot: str | int, place: _Place) -> Iterator[Mutant]:
    other: object = None
    if isinstance(value, bool):
        other = not value
    elif isinstance(value, int):
        other = value + 1
    elif isinstance(value, float):
        other = value * 2 or 1.0
    elif isinstance(value, str) and place.texts and value.count(" ") < SENTENCE:
        other = f"XX{value}XX"
    if other is not None:
        yield _mutant("constant", place, holder, slot, ast.Constant(other))


def _calls(node: ast.Call, place: _Place) -> Iterator[Mutant]:
    name = ast.unparse(node.func)
    match node.func:
        case ast.Name(id=name) if name in OPPOSITE:
            yield _mutant("opposite", place, node.func, "id", OPPOSITE[name])
        case ast.Attribute(attr=name) if name in OPPOSITE:
            yield _mutant("opposite", place, node.func, "attr", OPPOSITE[name])
    if (
        name not in SYMMETRIC
        and not name.endswith(".where")
        and len(node.args) > 1
        and not any(isinstance(each, ast.Starred) for each in node.args[:2])
    ):
        first, second = node.args[:2]
        if ast.unparse(first) != ast.unparse(second):
            yield _mutant("swapped arguments", place, node, "args", [second, first, *node.args[2:]])


def _turns_round(test: ast.expr) -> bool:
    """Whether another change turns this condition round already."""
    return isinstance(test, ast.Compare) or (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not))


def _negated(test: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.Not(), test)


def _mutant(kind: str, place: _Place, holder: object, slot: str | int, new: object) -> Mutant:
    """The mutant with `new` in a slot of `holder`, which is put there for a moment to see what it reads like."""
    before = _read(place.statement)
    old = _exchange(holder, slot, new)
    after = type(new).__name__.lower() if isinstance(new, ast.stmt) else _read(place.statement)
    _exchange(holder, slot, old)
    statement = place.statement
    body = getattr(statement, "body", None)
    last = body[0].lineno - 1 if isinstance(body, list) and body else statement.end_lineno
    return Mutant(
        kind=kind,
        name=place.name,
        first=statement.lineno,
        last=max(statement.lineno, last or 0),
        at_import=place.at_import,
        before=before,
        after=after,
        put=partial(_exchange, holder, slot, new),
    )


def _exchange(holder: object, slot: str | int, new: object) -> object:
    """Put something in a slot, and return what was there."""
    if isinstance(slot, int):
        assert isinstance(holder, list)
        old, holder[slot] = holder[slot], new
    else:
        old = getattr(holder, slot)
        setattr(holder, slot, new)
    return old


def _read(statement: ast.stmt) -> str:
    """A statement in normal form, in one line; of a compound one its head."""
    head = deepcopy(statement) if hasattr(statement, "body") else statement
    for field in ("body", "orelse", "finalbody", "handlers", "decorator_list", "cases"):
        if getattr(head, field, None):
            setattr(head, field, [])
    return " ".join(ast.unparse(head).split())
