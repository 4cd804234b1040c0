"""Deployments and automations on a Prefect server, and the options that change them."""
