"""Servers on this machine: the local Prefect, the viewer of runs, and who may ask them."""
