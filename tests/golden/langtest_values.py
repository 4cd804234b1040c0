"""What LangTest 2.7.0 says of texts of our own: writes its values into `langtest_values.jsonl`.

LangTest needs an environment of its own, and what its modules import but not its models:

    python -m venv lt
    lt/bin/pip install --no-deps langtest==2.7.0
    lt/bin/pip install 'pandas<3' 'openai<2' 'langchain<0.4' langchain-community==0.3.9 transformers tenacity \
        pydantic pyyaml tqdm pillow nest-asyncio importlib-resources jsonlines openpyxl deprecated
    lt/bin/python tests/golden/langtest_values.py

The texts stay as they are. Each row gets what LangTest's own samples return: `score` and `pass` of add_toxic_words;
`pass` of order_bias, and `embedded`, how many replies it embedded. Its sentence model is replaced by `letters`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import ascii_lowercase
from types import ModuleType
from typing import Any

import numpy as np

FILE = Path(__file__).with_name("langtest_values.jsonl")


def rows() -> list[dict[str, Any]]:
    """The recorded rows, in their order."""
    return [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]


def letters(texts: Sequence[str]) -> np.ndarray:
    """Embeds texts without a model: how often each letter occurs, scaled to length 1; (texts, 27) float32."""
    counts = np.array([[1.0, *map(text.lower().count, ascii_lowercase)] for text in texts], dtype=np.float32)
    scaled: np.ndarray = counts / np.linalg.norm(counts, axis=1, keepdims=True)
    return scaled


class LetterEmbeddings:
    """What LangTest asks for embeddings in place of its model; counts the replies."""

    replies = 0

    def __init__(self, model: str) -> None:
        """Takes the name of the model, which is not loaded."""

    def get_embedding(self, texts: Sequence[str]) -> np.ndarray:
        """The vectors of a reply and of the right summary."""
        LetterEmbeddings.replies += 1
        return letters(texts)


def toxic_words(row: Mapping[str, Any]) -> dict[str, Any]:
    """LangTest's score and verdict on two replies."""
    from langtest.utils.custom_types.sample import SensitivitySample

    replies = {name: row[name] for name in ("expected_result", "actual_result")}
    sample = SensitivitySample(original="", options="", test_type="add_toxic_words", **replies)
    passed = sample.is_pass()
    return {"score": sample.loss_diff, "pass": passed}


def order_bias(row: Mapping[str, Any]) -> dict[str, Any]:
    """LangTest's verdict on two replies, and how many of them it embedded."""
    from langtest.utils.custom_types.sample import FactualitySample

    sample = FactualitySample(
        article_sent="", correct_sent=row["correct_sentence"], incorrect_sent=row["incorrect_sentence"]
    )
    sample.result, sample.swapped_result = row["result"], row["swapped_result"]
    LetterEmbeddings.replies = 0
    return {"pass": bool(sample.is_pass()), "embedded": LetterEmbeddings.replies}


def main() -> None:
    """Write the file anew, with LangTest's values."""
    import langtest.langtest

    langtest.langtest.HARNESS_CONFIG = {}
    module = ModuleType("langtest.embeddings.huggingface")
    module.HuggingfaceEmbeddings = LetterEmbeddings  # type: ignore[attr-defined]
    sys.modules[module.__name__] = module
    values = {"add_toxic_words": toxic_words, "order_bias": order_bias}
    lines = [json.dumps(row | values[row["test"]](row)) for row in rows()]
    FILE.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
