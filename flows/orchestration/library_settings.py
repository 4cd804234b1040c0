"""Settings of third-party libraries, set in each process of a run."""

from __future__ import annotations

SETTINGS = {
    "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "180",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "TRANSFORMERS_VERBOSITY": "error",
    "TQDM_DISABLE": "1",
    "TOKENIZERS_PARALLELISM": "true",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}
"""Settings of other people's libraries: no promotion, no noise, and of Arrow an allocator that returns what is freed;
no telemetry is set by importing Contrapose at all."""
