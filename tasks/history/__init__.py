"""History: a record of every run, and what changed since the last good one."""
