"""Records, errors, registries and task policy that all stages share."""
