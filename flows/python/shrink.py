"""`contrapose.shrink`: find the shortest prompt of a failed case, like `contrapose shrink`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from contrapose.flows.python.arguments import offer_model
from contrapose.flows.python.outcomes import EvaluatedRun
from contrapose.flows.python.session import run_in_session, silence_call, use_prefect
from contrapose.tasks.core.user_functions import offer_functions
from contrapose.tasks.shrink.shortest import MOST_CALLS, REPEATS, ShortestPrompt

if TYPE_CHECKING:
    from contrapose.flows.python.relation import RelationTest
    from contrapose.tasks.infer.function import Answering


def shrink(
    run: EvaluatedRun | str | Path,
    case: str,
    *,
    model: Answering | None = None,
    test: RelationTest | None = None,
    repeats: int = REPEATS,
    max_calls: int | None = MOST_CALLS,
    max_tokens: int | None = None,
    max_cost: float | None = None,
    runs: str | Path = "runs",
    show_toxic: bool = False,
    quiet: bool = False,
) -> ShortestPrompt:
    """Return the shortest prompt of a failed case with which its test still fails, as `contrapose shrink` does.

    It leaves out whole sentences first, then words. It shows the prompt in the report of the run, too.

    Args:
        run: what `evaluate` returned, the folder of a finished run, or its id in `runs`.
        case: id of a failed case, or of its sample. Its test must edit a text and expect the same answer.
        model: the function, if the run asked one; None: the model of the run.
        test: the relation of the case, if it has functions of this process.
        repeats: a prompt counts as failed if it fails so often; 1 where replies never differ.
        max_calls: the most requests; then the search ends with the shortest prompt so far, as for the next two.
        max_tokens: the most tokens, read and written.
        max_cost: the most US dollars.
        runs: folder of the runs that ids name.
        show_toxic: show toxic words in errors; the returned texts are raw in any case.
        quiet: print nothing.

    Raises:
        ContraposeError: what you can fix: an unknown run or case, a case that passed, a test without an edit, replies
            of a recording or a batch, a failure that is noise, a budget that is too small.

    Examples:
        >>> import contrapose, pandas
        >>> def answer(prompt):
        ...     return "B" if "ferry" in prompt else "A"
        >>> rows = pandas.DataFrame({"text": ["When does the next Ferry leave?"], "options": [["at 9", "at 10"]]})
        >>> run = contrapose.evaluate(model=answer, revision="1", data=rows, test="casing", quiet=True)
        >>> contrapose.shrink(run, "frame-0001", model=answer, quiet=True).text
        'Ferry'
    """
    location = run.location if isinstance(run, EvaluatedRun) else str(run)

    def work() -> ShortestPrompt:
        from contrapose.flows.orchestration.spinner import show_step
        from contrapose.flows.shrinking import open_case, shrink_case
        from contrapose.tasks.infer.budget import Limits

        settings = {} if test is None else {name: test.settings.get(name) for name in ("edit", "score")}
        own = {name: function for name, function in settings.items() if callable(function)}
        with silence_call(quiet), offer_model(model) as name, offer_functions(*own.values()) as offered:
            of_tests = dict(zip(own, offered, strict=True))
            failed = open_case(location, case, runs=str(runs), function=name, of_tests=of_tests)
            limits = Limits(max_calls=max_calls, max_tokens=max_tokens, max_cost=max_cost)
            with use_prefect(failed.config.key_block), show_step("shrink"):
                return shrink_case(failed, limits=limits, repeats=repeats)

    return run_in_session(work, show_toxic=show_toxic)
