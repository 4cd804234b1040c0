"""Statistics that stages and probes share; scipy is imported where it is used."""
