"""Flows: what Contrapose runs, from a terminal, a schedule or the Prefect UI."""

from contrapose.flows.orchestration.error_display import tell_in_one_line

# Here, since whoever runs a flow imports this, and Prefect also logs what happens before and after its body.
tell_in_one_line()
