"""The test swap_roles for Contrapose, registered by its entry point."""
