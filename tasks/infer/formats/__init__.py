"""Formats of recorded replies: one file and one line in `files.FORMATS` for each."""
