"""The perturb room: samples in, cases out."""
