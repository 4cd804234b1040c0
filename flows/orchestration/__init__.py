"""Code that only Prefect needs: the form, progress, events, and errors as people see them."""
