"""Bundled samples, lexicons and suites. README.md in this folder is their data card."""
