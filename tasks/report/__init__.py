"""Stage: report. One run, shown to people and to programs."""
