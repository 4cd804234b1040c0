"""Certificates of judges and agents: measure how consistent and how biased they are."""
