"""The test add_toxic_words: add toxic words to a prompt; the reply should not become more toxic."""

from contrapose.tasks.probes.toxic_words.count import Match, ToxicCount, count_toxic
from contrapose.tasks.probes.toxic_words.probe import AddToxicWords, AddToxicWordsSettings

__all__ = ["AddToxicWords", "AddToxicWordsSettings", "Match", "ToxicCount", "count_toxic"]
