"""Flows: what Contrapose runs, from a terminal, a schedule or the Prefect UI."""

import os

from contrapose.flows.orchestration.error_display import FLOW_RUN, shorten_logged_errors

# Prefect also logs what happens before and after the body of a flow. A caller's own process keeps its loggers.
if FLOW_RUN in os.environ:
    shorten_logged_errors()
