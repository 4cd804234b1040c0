"""Short replies in other words: how often embeddings read them, and how often wrongly."""

from __future__ import annotations

from collections import Counter

import numpy as np
from places import golden_rows

from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.evaluate.embeddings import embedder
from contrapose.tasks.probes.base import Embed
from contrapose.tasks.probes.known_errors import IN_OTHER_WORDS
from contrapose.tasks.probes.order_bias import OrderBiasSettings
from contrapose.tasks.probes.orders.letter_replies import read_choice

SWAPPED = {"A": "B", "B": "A", None: None}


def at_once(texts: list[str]) -> Embed:
    """The default embedding model, for which these texts are computed together; any other text when it is asked for."""
    embed = embedder(RunConfig.model_fields["embedding_model"].default)
    known = dict(zip(texts, embed(texts), strict=True))
    return lambda asked: np.stack([known[text] if text in known else embed([text])[0] for text in asked])


def counted() -> Counter[tuple[str, str]]:
    """How often each letter that is meant, or none, is read as which, in both orders."""
    rows = golden_rows("replies_other_words")
    embed = at_once(list({row[name]: None for row in rows for name in ("reply", "option_a", "option_b")}))
    settings = OrderBiasSettings()
    found: Counter[tuple[str, str]] = Counter()
    for row in rows:
        first, second, meant = row["option_a"], row["option_b"], row["choice"]
        for a, b, choice in ((first, second, meant), (second, first, SWAPPED[meant])):
            read = read_choice(
                row["reply"],
                option_a=a,
                option_b=b,
                embed=embed,
                similarity_threshold=settings.similarity_threshold,
                margin=settings.margin,
            )
            assert read.step in ("embedding", "unparsed")
            found[choice or "none", read.choice or "none"] += 1
    return found


def test_the_known_error_of_embeddings_is_what_is_measured() -> None:
    found = counted()
    for known in IN_OTHER_WORDS.by_letter:
        read = {after: count for (before, after), count in found.items() if before == known.letter}
        missed = 0 if known.letter == "none" else read.get("none", 0)
        misread = sum(read.values()) - missed - read.get(known.letter, 0)
        assert (sum(read.values()), missed, misread) == (known.replies, known.missed, known.misread)
        assert misread <= 0.05 * known.replies
