"""What continuous integration runs after an evaluation: one comment, and a badge."""
