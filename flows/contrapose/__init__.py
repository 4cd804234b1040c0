"""How does a language model behave when a prompt changes a little?

From Python: `evaluate`, `relation`, `compare`, `certify`, `preview`, `shrink`; in tests of pytest `stays`, `changes`,
`not_worse` and `becomes`.

    from contrapose import evaluate

    run = evaluate("quickstart", model="hf/./my-model")
    run.verdict, run.results

`help(contrapose.evaluate)` says what it takes. What is named here is imported when it is first used: the command, and
whoever imports a part of this package, waits for nothing.
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contrapose.flows.python.certify import certify as certify
    from contrapose.flows.python.compare import compare as compare
    from contrapose.flows.python.decorators import becomes as becomes
    from contrapose.flows.python.decorators import changes as changes
    from contrapose.flows.python.decorators import not_worse as not_worse
    from contrapose.flows.python.decorators import stays as stays
    from contrapose.flows.python.evaluate import evaluate as evaluate
    from contrapose.flows.python.outcomes import ComparedRuns as ComparedRuns
    from contrapose.flows.python.outcomes import EvaluatedRun as EvaluatedRun
    from contrapose.flows.python.preview import preview as preview
    from contrapose.flows.python.relation import RelationTest as RelationTest
    from contrapose.flows.python.relation import relation as relation
    from contrapose.flows.python.shrink import shrink as shrink
    from contrapose.tasks.core.errors import ContraposeError as ContraposeError
    from contrapose.tasks.shrink.shortest import ShortestPrompt as ShortestPrompt

    __version__: str

NO_TELEMETRY = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_CLOUD_ENABLE_ORCHESTRATION_TELEMETRY": "false",
    "PREFECT_TELEMETRY_ENABLE_RESOURCE_METRICS": "false",
    "GX_ANALYTICS_ENABLED": "false",
    "HF_HUB_DISABLE_TELEMETRY": "1",
}
"""Settings of other people's libraries by which they tell their makers nothing; whoever has set one decides."""

# Here, since whoever imports any part of Contrapose imports this first, and the libraries read it as they are imported.
for _name, _value in NO_TELEMETRY.items():
    os.environ.setdefault(_name, _value)

_PLACES = {
    "evaluate": "contrapose.flows.python.evaluate",
    "certify": "contrapose.flows.python.certify",
    "compare": "contrapose.flows.python.compare",
    "preview": "contrapose.flows.python.preview",
    "relation": "contrapose.flows.python.relation",
    "RelationTest": "contrapose.flows.python.relation",
    "shrink": "contrapose.flows.python.shrink",
    **dict.fromkeys(("stays", "changes", "not_worse", "becomes"), "contrapose.flows.python.decorators"),
    "EvaluatedRun": "contrapose.flows.python.outcomes",
    "ComparedRuns": "contrapose.flows.python.outcomes",
    "ContraposeError": "contrapose.tasks.core.errors",
    "ShortestPrompt": "contrapose.tasks.shrink.shortest",
}
"""The module of each name."""

__all__ = [*_PLACES]


def __getattr__(name: str) -> object:
    """Import a public name when it is used for the first time."""
    if name == "__version__":
        return import_module("importlib.metadata").version("contrapose")
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_PLACES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
