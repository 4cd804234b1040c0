"""Run Contrapose once on each kind of model that is installed: the mock, an API on this machine, the embedded one."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))
TEST = ["--test", "option_order", "--limit", "3", "--exit-zero"]


def main() -> None:
    """Run each, and the doctor; end with an error where one of them does not end well."""
    from fake_endpoint import serving

    from contrapose.flows.cli import main as contrapose

    with serving() as server:
        runs = {
            "doctor": ["doctor"],
            "mock": ["run", "--model", "mock", "--suite", "quickstart", "--limit", "3", "--exit-zero"],
            "api": ["run", "--model", "openai/any", *TEST, "--set", f"model_args.base_url=http://127.0.0.1:{server.port}/v1"],
            "embedded": ["run", "--model", "embedded", *TEST],
        }
        if find_spec("torch") is None:
            del runs["embedded"]
        codes = {name: contrapose(words) for name, words in runs.items()}
    print(codes)
    if any(codes.values()):
        sys.exit(1)


if __name__ == "__main__":
    main()
