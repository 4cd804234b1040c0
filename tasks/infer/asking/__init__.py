"""Concurrent requests to one endpoint, with rate limits, retries and a rule when to give up."""
