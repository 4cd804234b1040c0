"""Deployments and automations as data files: `contrapose deploy` reads them, and the wheel contains them."""
