"""Analyse English text: words and clauses, small edits of them, and the reading of replies."""
