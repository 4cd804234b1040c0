"""What a run is told: its configuration, suites, models, prices and secrets."""
