"""The six stages of the pipeline (load, perturb, infer, evaluate, validate, report) and what they share."""
