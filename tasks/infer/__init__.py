"""The stage infer: it asks the model the prompts of cases, and returns trials."""
