"""Everything that a provider of another package needs.

    from contrapose.providers import TextProvider

    class Shouting(TextProvider):
        async def generate(self, prompt, spec):
            return prompt.upper()

An entry point in the group `contrapose.providers` gives it a name: `shouting = "my_package:Shouting"`. Then
`contrapose run --model shouting/any` asks it, with budget, cache, retries and rate limits.
"""

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.config.prices import FREE, Price
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.core.provider import Argument, Check
from contrapose.tasks.core.records import Completion, Usage
from contrapose.tasks.infer.asking.outcomes import Failure
from contrapose.tasks.infer.asking.text_provider import TextProvider

__all__ = [
    "FREE",
    "Argument",
    "Check",
    "Completion",
    "Failure",
    "ModelError",
    "ModelSpec",
    "Price",
    "TextProvider",
    "Usage",
]
