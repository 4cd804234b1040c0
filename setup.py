"""Which folders are packages: all of them, found as they stand."""

from setuptools import find_packages, setup

TOPS = ("data", "deployments", "flows", "tasks")
DOOR = "flows.contrapose"
"""The folder of `contrapose` itself."""

# `contrapose.` comes before each by `package-dir` in pyproject.toml.
names = find_packages(include=[*TOPS, *(f"{top}.*" for top in TOPS)], exclude=[DOOR])
setup(packages=["contrapose", *(f"contrapose.{name}" for name in names)])
