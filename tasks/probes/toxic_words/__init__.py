"""add_toxic_words: ugly words are added; does the answer turn ugly too?"""

from contrapose.tasks.probes.toxic_words.count import ToxicCount, ToxicMatch, count_toxic
from contrapose.tasks.probes.toxic_words.probe import AddToxicWords, AddToxicWordsSettings

__all__ = ["AddToxicWords", "AddToxicWordsSettings", "ToxicCount", "ToxicMatch", "count_toxic"]
