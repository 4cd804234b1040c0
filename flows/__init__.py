"""Flows: what Contrapose runs, from a terminal, a schedule or the Prefect UI."""
