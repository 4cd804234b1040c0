"""Deployments and automations as data: `contrapose deploy` reads them, and they travel in the wheel."""
