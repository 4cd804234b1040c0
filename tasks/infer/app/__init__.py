"""An application that answers prompts: a Python callable, an HTTP address, or a command."""

from contrapose.tasks.infer.app.provider import App

__all__ = ["App"]
