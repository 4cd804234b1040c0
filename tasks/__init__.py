"""The six rooms of Contrapose: load, perturb, infer, evaluate, validate, report."""
