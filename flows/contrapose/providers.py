"""Public names for a package that adds a provider: base class, records and errors.

    from contrapose.providers import TextProvider

    class Shouting(TextProvider):
        async def generate(self, prompt, spec):
            return prompt.upper()

An entry point in the group `contrapose.providers` gives it a name: `shouting = "my_package:Shouting"`. Then
`contrapose run --model shouting/any` asks it, with budget, cache, retries and rate limits.
"""

from contrapose.tasks.config.model_spec import ModelSpec as ModelSpec
from contrapose.tasks.config.prices import FREE as FREE
from contrapose.tasks.config.prices import Price as Price
from contrapose.tasks.core.errors import ModelError as ModelError
from contrapose.tasks.core.provider import Argument as Argument
from contrapose.tasks.core.provider import Check as Check
from contrapose.tasks.core.records import Completion as Completion
from contrapose.tasks.core.records import Usage as Usage
from contrapose.tasks.infer.asking.outcomes import Failure as Failure
from contrapose.tasks.infer.asking.text_provider import TextProvider as TextProvider
