"""Formats of recorded replies: each tool has one file here and one line in `files.FORMATS`."""
