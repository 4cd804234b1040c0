"""History: store a record of every run, and find what changed since the last passed run."""
