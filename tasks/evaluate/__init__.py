"""The evaluate room: trials in, results out."""
