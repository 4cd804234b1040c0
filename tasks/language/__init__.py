"""English text: words, clauses, edits that leave everything else as it is, and how replies are read."""
