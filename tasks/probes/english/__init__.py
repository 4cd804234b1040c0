"""English for probes: words, clauses, and edits that leave everything else as it is."""
