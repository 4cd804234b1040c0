"""The history: every run appended, and what changed since the last good one."""
