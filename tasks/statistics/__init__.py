"""Statistics that rooms and probes share: by scipy and statsmodels, which are imported where they are used."""
