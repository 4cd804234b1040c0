"""Make texts safe and easy to read: clean them, mask toxic words, put numbers into words, show changes."""
