"""Writes docs/board.md from recorded verdicts: `python docs/tools/board.py MTBENCH LLMBAR [CERTIFICATE …]`.

MTBENCH: position_bias_mtbench.jsonl.gz; LLMBAR: llmbar_replies.jsonl.gz; CERTIFICATE: certificate.json of a run.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from contrapose.tasks.certify.recorded import certify_verdicts
from contrapose.tasks.core.certificate import Certificate
from contrapose.tasks.report.certificate_page import render_board

PAGE = Path(__file__).parents[1] / "board.md"
SOURCES = (
    (
        "MT-Bench pairs, three askings",
        "96 pairs of answers to 24 questions, both orders, three askings. Replies by Shi et al., Judging the Judges "
        "(2024), from github.com/Slimshilin/Position-Bias-Analyzer at 9f8b7e8, MIT licence. A verdict is one mark "
        "[[A]], [[B]] or [[C]].",
    ),
    (
        "LLMBar, one asking",
        "Up to 442 pairs, both orders, several prompts. Replies by Zeng et al., LLMBar (ICLR 2024), from "
        "github.com/princeton-nlp/LLMBar, MIT licence. Each prompt was asked once: noise and net change are unknown.",
    ),
)


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recorded", nargs=2, metavar="FILE")
    parser.add_argument("certificates", nargs="*", type=Path, metavar="CERTIFICATE")
    arguments = parser.parse_args()
    boards: list[tuple[str, str, Sequence[Certificate]]] = [
        (title, note, certify_verdicts([file])) for (title, note), file in zip(SOURCES, arguments.recorded, strict=True)
    ]
    if arguments.certificates:
        own = [one for path in arguments.certificates for one in json.loads(path.read_text())["certificates"]]
        note = "Runs of contrapose certify on the bundled pairs. Models of this machine choose by log-probability."
        boards.append(("Bundled judges", note, own))
    PAGE.write_text(render_board(boards), encoding="utf-8")


if __name__ == "__main__":
    main()
