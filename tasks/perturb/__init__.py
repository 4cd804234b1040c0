"""The perturb stage: make cases from samples."""
