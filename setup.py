"""Which folders are packages: all of them, found as they stand."""

from setuptools import find_packages, setup

TOPS = ("data", "deployments", "flows", "tasks")

# `contrapose.` comes before each by `package-dir` in pyproject.toml.
setup(packages=[f"contrapose.{name}" for name in find_packages(include=[*TOPS, *(f"{top}.*" for top in TOPS)])])
