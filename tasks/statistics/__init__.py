"""Statistics that rooms and probes share: by scipy, which is imported where it is used."""
