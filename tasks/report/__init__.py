"""Report stage: write the results of one run, for people and for programs."""
