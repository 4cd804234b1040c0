"""Servers on this machine: the local Prefect and the viewer of runs, and the keys that protect them."""
