"""Stage: perturb. Samples in, cases out."""
