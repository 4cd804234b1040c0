"""Compare finished runs of several models on the same cases."""
