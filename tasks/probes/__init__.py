"""Probes: each turns a sample into a case and scores the trial. One file each, all pure."""
