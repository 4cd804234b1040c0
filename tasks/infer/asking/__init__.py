"""Concurrent asking: thousands of requests to one endpoint, with limits, retries and giving up."""
