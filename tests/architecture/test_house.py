"""The house stands as it is drawn: packaging complete, imports light, nothing foreign inside."""

from __future__ import annotations

import runpy
import subprocess
import sys
import tomllib
from functools import cache
from importlib.metadata import requires, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from places import REPOSITORY

HEAVY = (
    "prefect",
    "torch",
    "transformers",
    "sentence_transformers",
    "openai",
    "great_expectations",
    "pandas",
    "pydantic",
)


def loaded_after(code: str) -> set[str]:
    """Top-level names in sys.modules after running some code in a new process."""
    program = f"{code}\nimport sys\nprint(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(found.stdout.splitlines()[-1].split())


def test_the_help_imports_nothing_heavy() -> None:
    loaded = loaded_after(
        "from contrapose.flows.cli import main\ntry:\n    main(['run', '--help'])\nexcept SystemExit:\n    pass"
    )
    assert not loaded & set(HEAVY)


VERBS = ("preview", "estimate", "cache", "history", "compare", "resume", "list", "view", "validate", "init")


@cache
def loaded_by_verbs() -> dict[str, set[str]]:
    """What each verb loads that those before it have not, in one process: each of ten would load most of it again."""
    program = (
        "import sys\nfrom contrapose.flows.cli import load_verb\nknown = set()\n"
        f"for verb in {VERBS}:\n"
        "    load_verb(verb)\n"
        "    loaded = {name.partition('.')[0] for name in sys.modules}\n"
        "    print(verb, *sorted(loaded - known))\n    known |= loaded"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    lines = (line.split() for line in done.stdout.splitlines())
    return {verb: set(loaded) for verb, *loaded in lines}


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_that_asks_no_model_imports_no_orchestrator(verb: str) -> None:
    assert not loaded_by_verbs()[verb] & {
        "prefect",
        "torch",
        "transformers",
        "sentence_transformers",
        "openai",
        "great_expectations",
        "altair",
    }


def test_an_api_run_imports_no_model_library() -> None:
    loaded = loaded_after("import contrapose.flows.evaluate_model, contrapose.tasks.infer.openai")
    assert not loaded & {"torch", "transformers", "sentence_transformers", "great_expectations"}


def test_every_folder_with_modules_is_a_package_under_our_name(monkeypatch: pytest.MonkeyPatch) -> None:
    listed: list[str] = []
    monkeypatch.chdir(REPOSITORY)
    monkeypatch.setattr("setuptools.setup", lambda *, packages: listed.extend(packages))
    runpy.run_path("setup.py")
    folders = {
        "contrapose." + ".".join(path.parent.relative_to(REPOSITORY).parts)
        for top in ("flows", "tasks", "data", "deployments")
        for path in (REPOSITORY / top).rglob("*.py")
    }
    # The one folder that is known by another name: what `import contrapose` finds.
    assert sorted(listed) == sorted({*folders, "contrapose"} - {"contrapose.flows.contrapose"})


def test_importing_the_package_costs_nothing() -> None:
    before = loaded_after("import typing")
    assert loaded_after("import contrapose") - before <= {"contrapose"}


def test_what_the_package_names_is_there() -> None:
    import contrapose

    assert set(contrapose.__all__) <= set(dir(contrapose))
    assert all(getattr(contrapose, name).__name__ == name for name in contrapose.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'evaluat'"):
        contrapose.evaluat  # type: ignore[attr-defined]  # noqa: B018


def test_a_preview_from_python_imports_no_orchestrator() -> None:
    loaded = loaded_after("import contrapose\ncontrapose.preview(test='order_bias', limit=2)")
    assert "pandas" in loaded
    assert not loaded & {"prefect", "torch", "transformers", "great_expectations"}


@pytest.mark.parametrize("table", ["PROBES", "PROVIDERS", "SOURCES", "REPORTS"])
def test_every_line_of_every_table_leads_somewhere(table: str) -> None:
    from contrapose.tasks.core import registry

    for name in getattr(registry, table):
        assert registry.find(table.lower(), name) is not None


def test_no_file_is_long() -> None:
    for top in ("flows", "tasks"):
        for path in (REPOSITORY / top).rglob("*.py"):
            assert len(path.read_text().splitlines()) <= 400, path


def test_constraints_pin_every_version() -> None:
    lines = [
        line for line in (REPOSITORY / "constraints.txt").read_text().splitlines() if line and not line.startswith("#")
    ]
    assert all("==" in line and "@" not in line for line in lines)
    assert "torch==2.13.0" in lines
    pinned = {canonicalize_name(name): version for name, _, version in (line.partition("==") for line in lines)}
    installed = installed_by("contrapose", ("embedded", "dev"))
    assert len(installed) > 200
    assert {name: version for name, version in installed.items() if pinned.get(name) != version} == {}


def installed_by(package: str, extras: tuple[str, ...]) -> dict[str, str]:
    """Versions of what the set-up installs for a package: all that it requires, however far away."""
    versions: dict[str, str] = {}
    ahead, known = [(package, extras)], set[tuple[str, tuple[str, ...]]]()
    while ahead:
        known.add(wanted := ahead.pop())
        name, chosen = wanted
        for requirement in map(Requirement, requires(name) or ()):
            marker = requirement.marker
            if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *chosen)):
                required = canonicalize_name(requirement.name), tuple(sorted(requirement.extras))
                ahead += [required] if required not in known else []
        if name != package:
            versions[name] = version(name).partition("+")[0]
    return versions


@pytest.mark.parametrize("folder", [".", "examples/contrapose-swap-roles"])
def test_what_builds_the_package_is_pinned_too(folder: str) -> None:
    built_by = tomllib.loads((REPOSITORY / folder / "pyproject.toml").read_text())["build-system"]["requires"]
    assert set(built_by) <= set((REPOSITORY / "constraints.txt").read_text().splitlines())


def test_every_bundled_file_is_on_the_data_card_with_its_hash() -> None:
    import hashlib

    card = (REPOSITORY / "data" / "README.md").read_text()
    for path in sorted(
        p for folder in ("samples", "lexicons", "suites", "prompts") for p in (REPOSITORY / "data" / folder).iterdir()
    ):
        assert f"{path.parent.name}/{path.name}" in card, path
        assert hashlib.sha256(Path(path).read_bytes()).hexdigest() in card, path
