"""The report room: one run, shown to people and to programs."""
