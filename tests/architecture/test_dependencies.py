"""Every package that the code imports is declared, by itself and not only as what another one needs."""

from __future__ import annotations

import ast
import sys
import tomllib
from importlib.metadata import packages_distributions

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from places import REPOSITORY

NAMED_OTHERWISE = {"mlflow": "mlflow-skinny"}
"""Packages whose distribution has another name, and may not be installed here."""
TYPES_ONLY = {"_typeshed"}


def imported_packages() -> dict[str, str]:
    """Top packages of others that are imported anywhere in the code, each with a file that imports it."""
    found = dict[str, str]()
    for top in ("flows", "tasks", "data", "deployments"):
        for path in sorted((REPOSITORY / top).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
                for name in (name.partition(".")[0] for name in names):
                    if name not in {*sys.stdlib_module_names, *TYPES_ONLY, "contrapose", ""}:
                        found[name] = str(path.relative_to(REPOSITORY))
    return found


def test_every_imported_package_is_declared() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    extras = (line for name, lines in project["optional-dependencies"].items() if name != "dev" for line in lines)
    declared = {canonicalize_name(Requirement(line).name) for line in (*project["dependencies"], *extras)}
    providers = packages_distributions()
    missing = {
        package: file
        for package, file in imported_packages().items()
        if not declared.intersection(
            map(canonicalize_name, providers.get(package, [NAMED_OTHERWISE.get(package, package)]))
        )
    }
    assert missing == {}
