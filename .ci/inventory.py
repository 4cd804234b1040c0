"""Install the wheel in dist/ from hashes into a new environment, try it, and write its SBOM and licences beside it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[1]
DIST, CLEAN = REPOSITORY / "dist", REPOSITORY / "build" / "clean"
PERMITTED = re.compile(r"\b(MIT|0?BSD|Apache|ISC|MPL|Mozilla|PSF|Python|Artistic)\b")
"""Licences under which others may use what they installed, whatever licence their own code has."""


def run(*command: str | Path, folder: Path = REPOSITORY) -> None:
    """Run a command, or end the program with its exit code."""
    if code := subprocess.run(command, cwd=folder, check=False).returncode:
        sys.exit(code)


def licence(component: dict[str, Any]) -> str:
    """Return what a component of the SBOM says of its licence: names or expressions, not whole texts."""
    said = (entry.get("expression") or named(entry.get("license", {})) for entry in component.get("licenses", []))
    return ", ".join(sorted({text for text in said if text})) or "not declared"


def named(entry: dict[str, Any]) -> str:
    """Return the id of a licence, or its name where that is short."""
    text = str(entry.get("id") or entry.get("name") or "")
    return text.removeprefix("License :: OSI Approved :: ") if len(text) < 100 and "\n" not in text else ""


def main() -> None:
    """Install, run the mock and the doctor, then list what was installed."""
    (wheel,) = DIST.glob("*.whl")
    venv.create(CLEAN, clear=True, with_pip=True)
    pip = [CLEAN / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    # The list is complete, and older versions of pip take hashes of packages with extras only so.
    run(*pip, "--no-deps", "--require-hashes", "--requirement", "requirements.txt")
    run(*pip, "--no-deps", wheel)
    run(CLEAN / "bin" / "python", "-m", "pip", "check")
    contrapose = CLEAN / "bin" / "contrapose"
    run(contrapose, "run", "--model", "mock", "--limit", "3", "--exit-zero", "--quiet", folder=CLEAN)
    run(contrapose, "doctor", folder=CLEAN)
    sbom = DIST / "sbom.cdx.json"
    describe = [Path(sys.executable).with_name("cyclonedx-py"), "environment", "--output-reproducible", "--validate"]
    run(*describe, "--pyproject", "pyproject.toml", "--output-file", sbom, CLEAN / "bin" / "python")
    components = json.loads(sbom.read_text())["components"]
    rows = [f"| {part['name']} | {part['version']} | {licence(part)} |" for part in components]
    table = "\n".join(["| package | version | licence |", "|---|---|---|", *rows])
    (DIST / "licences.md").write_text(f"{table}\n", encoding="utf-8")
    if others := [row for row in rows if not PERMITTED.search(row.split("|")[3])]:
        sys.exit("\n".join(["packages whose licence must be looked at, then named in PERMITTED:", *others]))
    print(f"{len(components)} packages in {sbom.relative_to(REPOSITORY)}")


if __name__ == "__main__":
    main()
