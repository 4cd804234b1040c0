"""The image and the compose file: what cannot be built or started here is linted, and read for our own rules."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml
from linters import DEPLOYMENTS, lint, understood
from places import REPOSITORY

DOCKERFILE = (DEPLOYMENTS / "docker" / "Dockerfile").read_text()
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOYMENTS / "docker" / "compose.yaml").read_text())
TIDY = """
extends: default
rules:
  line-length: {max: 120}
  document-start: disable
  truthy: {check-keys: false}
  comments: {min-spaces-from-content: 1}
"""
EXAMPLE = (DEPLOYMENTS / "docker" / ".env.example").read_text()


def instructions(word: str) -> list[str]:
    """What follows an instruction of the Dockerfile, comments left out and continued lines joined."""
    bare = re.sub(r"^#.*\n", "", DOCKERFILE, flags=re.MULTILINE).replace("\\\n", " ")
    return [line.removeprefix(word).strip() for line in bare.splitlines() if line.startswith(f"{word} ")]


def copied() -> set[str]:
    """Paths that the Dockerfile takes from the build context."""
    lines = [line for line in instructions("COPY") if not line.startswith("--from")]
    return {path for line in lines for path in shlex.split(line)[:-1]}


def variables(word: str) -> dict[str, str]:
    """The values that the Dockerfile gives to its arguments (ARG) or to the environment (ENV)."""
    pairs = [pair.partition("=") for line in instructions(word) for pair in shlex.split(line)]
    return {name: value for name, _, value in pairs}


def test_the_dockerfile_passes_hadolint_and_its_image_runs_as_nobody_in_particular() -> None:
    lint("hadolint", "docker/Dockerfile")
    user, _, group = instructions("USER")[-1].partition(":")
    assert int(user) > 0
    assert int(group) > 0
    assert re.search(r":\d", variables("ARG")["PYTHON_IMAGE"])


@pytest.mark.parametrize("name", ["compose.yaml", "compose.gpu.yaml"])
def test_compose_files_fit_the_specification(name: str) -> None:
    lint("check-jsonschema", "--builtin-schema", "vendor.compose-spec", f"docker/{name}")


def test_yaml_is_tidy() -> None:
    lint("yamllint", "--strict", "-d", TIDY, "docker", "kubernetes", "github", "gitlab")


def test_everything_that_the_image_copies_exists_and_reaches_the_build() -> None:
    ignored = (REPOSITORY / ".dockerignore").read_text().splitlines()
    assert ignored[1] == "*"
    for path in copied():
        assert (REPOSITORY / path).exists()
        assert f"!{path}" in ignored


def test_everything_that_is_packaged_is_copied() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    folders = {folder.partition("/")[0] for folder in project["tool"]["setuptools"]["package-dir"].values()}
    files = {
        project["project"]["readme"],
        *project["project"]["license-files"],
        "pyproject.toml",
        "setup.py",
        "constraints.txt",
    }
    assert folders | files <= copied()


@pytest.mark.parametrize(
    "path", ["deployments/docker/.env", ".venv/bin/python", "runs/a/results.csv", "tasks/__pycache__"]
)
def test_no_secret_and_nothing_local_enters_the_image(path: str) -> None:
    lines = (REPOSITORY / ".dockerignore").read_text().splitlines()
    kept = False
    for line in lines:
        pattern = line.lstrip("!").replace("**/", "*")
        parents = ["/".join(path.split("/")[: end + 1]) for end in range(path.count("/") + 1)]
        if any(fnmatch(parent, pattern) for parent in parents):
            kept = line.startswith("!")
    assert not kept


def test_the_image_says_nothing_to_anyone() -> None:
    from contrapose import NO_TELEMETRY
    from contrapose.flows.cli.start import SETTINGS

    told = variables("ENV")
    promotion = {name: value for name, value in SETTINGS.items() if "PROMOTIONAL" in name}
    assert told.items() >= (NO_TELEMETRY | promotion).items()


def test_every_value_that_compose_asks_for_is_documented() -> None:
    text = (DEPLOYMENTS / "docker" / "compose.yaml").read_text()
    asked = set(re.findall(r"\$\{(\w+)", text))
    documented = set(re.findall(r"^(\w+)=", EXAMPLE, re.MULTILINE))
    assert asked == documented
    for name in documented:
        assert re.search(rf"^# .+\n{name}=", EXAMPLE, re.MULTILINE), f"{name} has no line that says what it is"


def test_no_password_is_written_down() -> None:
    for service in COMPOSE["services"].values():
        for name, value in service.get("environment", {}).items():
            if re.search("PASSWORD|KEY|SECRET|AUTH|TOKEN", name):
                assert re.fullmatch(r"\$\{\w+(:\?[^}]+|:-)?\}", value), name
            assert not re.search(r"://[^/$]*:[^$/]*@", value), name
    assert not re.search(r"^(?!CONTRAPOSE_EXTRAS)\w+=.", EXAMPLE, re.MULTILINE)


@pytest.mark.parametrize("name", ["postgres", "server", "deploy", "worker"])
def test_our_containers_can_do_little_and_what_stays_up_says_whether_it_is_well(name: str) -> None:
    service = COMPOSE["services"][name]
    assert re.search(r":\d", service["image"]), "every image has a version"
    if name != "postgres":
        assert service["read_only"]
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
    if name != "deploy":
        assert service["healthcheck"]["test"]


def test_nothing_is_open_to_the_network() -> None:
    ports = [port for service in COMPOSE["services"].values() for port in service.get("ports", [])]
    assert ports == ["127.0.0.1:4200:4200"]


def test_the_server_is_closed_as_the_guide_for_teams_says() -> None:
    guide = (REPOSITORY / "docs" / "behind-a-proxy.md").read_text()
    said = set(re.findall(r"^(PREFECT_SERVER_\w+)=", guide, re.MULTILINE))
    assert "PREFECT_SERVER_CORS_ALLOWED_ORIGINS" in said
    server = COMPOSE["services"]["server"]
    assert said <= server["environment"].keys()
    assert server["environment"]["PREFECT_SERVER_CSRF_PROTECTION_ENABLED"] == "true"
    own, _, inside = server["ports"][0].rpartition(":")
    assert inside == "4200"
    assert server["environment"]["PREFECT_SERVER_CORS_ALLOWED_ORIGINS"] == f"http://{own}"


def folders_of_the_user() -> dict[str, dict[str, str]]:
    """Folders that the image makes for its user, each with the options of a mount that is as good."""
    made = [re.findall(r"install --directory .*?--mode=(\d+) (\S+)", line) for line in instructions("RUN")]
    uid, _, gid = instructions("USER")[-1].partition(":")
    return {path: {"uid": uid, "gid": gid, "mode": mode} for found in made for mode, path in found}


def mounts_in_memory() -> list[tuple[str, dict[str, str]]]:
    """Folders of services that are kept in memory, each with its options."""
    mounts = [mount for service in COMPOSE["services"].values() for mount in service.get("tmpfs", [])]
    parts = [mount.partition(":") for mount in mounts]
    return [(path, dict(each.split("=") for each in options.split(",") if each)) for path, _, options in parts]


def test_folders_in_memory_and_on_volumes_can_be_written_by_the_user_of_the_image() -> None:
    made = folders_of_the_user()
    assert variables("ENV")["HOME"] in made
    for path, options in mounts_in_memory():
        assert options == made.get(path, {"mode": "1777"}), path
    ours = [each for each in COMPOSE["services"].values() if each["image"].startswith("contrapose:")]
    assert {volume.partition(":")[2] for service in ours for volume in service.get("volumes", [])} == made.keys()


def words(command: str, **environment: str) -> list[str]:
    """The arguments of a command that is a string: its variables and quotes mean to Compose what they mean to bash."""
    done = subprocess.run(
        ["bash", "-c", f"printf '%s\\n' {command}"], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


@pytest.mark.parametrize("notify", ["", "slack-webhook/team"])
def test_the_deployments_are_made_with_a_command_that_exists(notify: str) -> None:
    command = words(COMPOSE["services"]["deploy"]["command"], CONTRAPOSE_MODEL="mock", CONTRAPOSE_NOTIFY=notify)
    assert understood(command)
    assert command[4:] == (["--notify", notify] if notify else [])


def extras(told: str) -> set[str]:
    """The extras in a list, all of which exist."""
    known = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(told.split(",")) <= known.keys()
    return set(told.split(","))


def test_no_model_is_in_the_image_and_the_embedding_model_alone_where_compose_builds_it() -> None:
    assert not extras(variables("ARG")["EXTRAS"]) & {"embedded", "embeddings"}
    (default,) = re.findall(r"\$\{CONTRAPOSE_EXTRAS:-(.+)\}", COMPOSE["services"]["worker"]["build"]["args"]["EXTRAS"])
    assert "embeddings" in extras(default)
    assert f"\nCONTRAPOSE_EXTRAS={default}\n" in EXAMPLE


def installs() -> list[list[str]]:
    """The arguments of every `pip install` of the Dockerfile."""
    found = [re.findall(r"bin/(pip install .*?)(?= ;;|$)", line) for line in instructions("RUN")]
    return [shlex.split(command) for commands in found for command in commands]


def test_versions_are_constrained_wherever_pip_installs() -> None:
    assert len(installs()) == 2
    assert all("-c constraints.txt" in " ".join(arguments) for arguments in installs())


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_image_can_be_installed_from_what_it_copies(tmp_path: Path) -> None:
    source, venv = tmp_path / "source", tmp_path / "venv"
    source.mkdir()
    subprocess.run(["cp", "-r", *copied(), source], cwd=REPOSITORY, check=True)
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    command = [argument.replace("$EXTRAS", variables("ARG")["EXTRAS"]) for argument in installs()[-1]]
    done = subprocess.run(
        [venv / "bin" / command[0], "install", "--dry-run", "--quiet", *command[2:]],
        cwd=source,
        env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
