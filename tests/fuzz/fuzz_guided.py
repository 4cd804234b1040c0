"""Fuzz one target by coverage: `python fuzz_guided.py TARGET CORPUS`, and options of libFuzzer."""

from __future__ import annotations

import sys
from pathlib import Path

import atheris

sys.path.extend(map(str, Path(__file__).parents[1:3]))

with atheris.instrument_imports(include=["contrapose", "yaml", "json", "openpyxl"]):
    from fuzz_targets import targets

if __name__ == "__main__":
    # The first call of a reader loads its lexicons, which is no finding about an input.
    for each in targets()[sys.argv[1]].seeds:
        targets()[sys.argv[1]].run(each)
    atheris.Setup([sys.argv[0], *sys.argv[2:]], targets()[sys.argv[1]].run)
    atheris.Fuzz()
