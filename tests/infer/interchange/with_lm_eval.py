"""Samples of lm-eval, which this script writes in an environment that has it: `with_lm_eval.py URL FOLDER`."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

url, folder = sys.argv[1], Path(sys.argv[2])
TASK = """
task: {name}
dataset_path: json
dataset_kwargs: {{data_files: {{test: rows.jsonl, train: shots.jsonl}}}}
training_split: train
test_split: test
output_type: generate_until
doc_to_text: "Q: {{{{question}}}}\\nA:"
doc_to_target: " {{{{answer}}}}"
target_delimiter: ""
generation_kwargs: {{until: ["never said"], max_gen_toks: 32}}
metric_list: [{{metric: bypass}}]
{more}
"""
FILTERS = """repeats: 3
filter_list:
  - name: first
    filter: [{function: take_first}]
  - name: upper
    filter: [{function: uppercase}, {function: take_first}]
"""
CHAT, TEXT = "local-chat-completions", "local-completions"
RUNS = {
    "lm-eval-chat": (CHAT, "", ["--apply_chat_template"]),
    "lm-eval-shots": (
        CHAT,
        "num_fewshot: 2",
        ["--apply_chat_template", "--fewshot_as_multiturn", "true", "--system_instruction", "Be brief."],
    ),
    "lm-eval-text": (TEXT, "num_fewshot: 1", []),
    "lm-eval-repeats": (CHAT, FILTERS, ["--apply_chat_template"]),
}
work = folder / "work"
work.mkdir()
os.chdir(work)
rows = [{"question": text, "answer": "4"} for text in ("What is it?", "Is “ß” a letter?", "Why? A long story.")]
Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
Path("shots.jsonl").write_text("".join(json.dumps({"question": f"Shot {n}?", "answer": str(n)}) + "\n" for n in (1, 2)))
for name, (model, more, options) in RUNS.items():
    Path("task.yaml").write_text(TASK.format(name=name.replace("-", "_"), more=more))
    path = "chat/completions" if model == CHAT else "completions"
    arguments = f"model=m,base_url={url}/{name}/v1/{path},tokenizer_backend=None,num_concurrent=1"
    command = [sys.executable, "-m", "lm_eval", "run", "--model", model, "--model_args", arguments]
    command += ["--tasks", name.replace("-", "_"), "--include_path", ".", "--output_path", "out", "--log_samples"]
    subprocess.run([*command, *options], check=True)
    shutil.move(next(Path("out").rglob("samples_*.jsonl")), folder / f"{name}.jsonl")
    shutil.rmtree("out")
os.chdir(folder)
shutil.rmtree(work)
