"""The six rooms, a file for each, and the verdict: what each does over all selected tests."""
