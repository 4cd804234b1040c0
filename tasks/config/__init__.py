"""The configuration of a run: suites, models, prices, hosts and permissions."""
