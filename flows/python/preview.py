"""`contrapose.preview`: the prompts of a run as a DataFrame; calls no model."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from contrapose.flows.python.arguments import RunArguments, is_dataframe, offer_model
from contrapose.flows.python.relation import RelationTest, name_relations
from contrapose.flows.python.session import run_in_session, silence_call

if TYPE_CHECKING:
    import pandas as pd

    from contrapose.tasks.config.run_config import RunConfig
    from contrapose.tasks.infer.function import Answering

COLUMNS = [
    *("test", "sample_id", "case_id", "changed", "skip_reason", "confidence", "control"),
    *("original", "perturbed", "options", "original_prompt", "perturbed_prompt"),
]


def preview(
    suite: str | Path | Mapping[str, Any] | None = None,
    *,
    model: str | Answering | None = None,
    model_args: Mapping[str, Any] | None = None,
    data: pd.DataFrame | str | Path | Mapping[str, Any] | None = None,
    columns: Mapping[str, str] | None = None,
    test: str | RelationTest | Sequence[str | RelationTest] | None = None,
    limit: int | None = None,
    seed: int | None = None,
    skip_bad_rows: bool = False,
    show_toxic: bool = False,
    settings: Mapping[str, Any] | None = None,
    quiet: bool = False,
) -> pd.DataFrame:
    """Show what a run would ask, as `contrapose preview` does: no model is loaded or asked, and nothing is stored.

    Args:
        suite: as in `evaluate`; None: every test that is on by default, with its default settings and all samples.
        model: as in `evaluate`; some prompts depend on what a model can tell.
        model_args: arguments of its provider.
        data: a DataFrame, a path, a bundled name, or a dict with a `source`.
        columns: our names to those of the columns of `data`.
        test: the only test, or tests.
        limit: at most this many samples a test.
        seed: of every random choice.
        skip_bad_rows: leave out rows that cannot be used.
        show_toxic: show toxic words in errors; the texts of the table are raw in any case.
        settings: any keys of a suite, dotted. Controls are shown where `{"tests.defaults.control": True}` asks for
            them.
        quiet: print nothing. Else remarks on the data are Python warnings.

    Returns:
        One row per case, in the order of the data: `test`, `sample_id`, `case_id`, `changed` (whether it is asked),
        `skip_reason` (why it is not), `confidence`, `control`, `original`, `perturbed`, `options` (a list),
        `original_prompt` and `perturbed_prompt` (missing where a case is skipped). Texts are raw: toxic words are not
        masked.

    Raises:
        ContraposeError: what you can mend, each problem in a line.

    Examples:
        >>> import contrapose, pandas
        >>> rows = pandas.DataFrame({"text": ["The sky is blue.", "No bird sings."]})
        >>> table = contrapose.preview(data=rows, test="add_negation")
        >>> table["perturbed"].dropna().tolist()
        ['The sky is not blue.']
        >>> table["skip_reason"].dropna().tolist()
        ['existing_negation']
    """
    arguments = RunArguments(
        suite=suite,
        data=data,
        columns=columns,
        test=None,
        settings=settings,
        plain={"limit": limit, "seed": seed, "skip_bad_rows": skip_bad_rows, "show_toxic": show_toxic},
    )

    def work() -> pd.DataFrame:
        with silence_call(quiet), offer_model(model) as name, name_relations(arguments, test) as chosen:
            config = chosen.config(name, model_args=model_args)
            with chosen.with_frame(config, keep=False) as complete:
                return _build_frame(complete, temporary=is_dataframe(chosen.data))

    return run_in_session(work, show_toxic=show_toxic)


def _build_frame(config: RunConfig, *, temporary: bool) -> pd.DataFrame:
    import pandas as pd

    from contrapose.flows.cli.preview import list_left_out, load_previews_to_show
    from contrapose.flows.orchestration.spinner import is_progress_hidden
    from contrapose.tasks.text.wording import foreign_text

    tests = load_previews_to_show(config)
    rows = [
        {
            **{name: getattr(case, name, None) for name in COLUMNS},
            "test": test.plan.test,
            "case_id": case.id,
            "changed": case.skip_reason is None,
            "options": list(case.options),
        }
        for test in tests
        for cases in test.cases()
        for case in cases
    ]
    remarks = dict.fromkeys(warning for test in tests for warning in test.loaded.warnings)
    firsts = (
        f"{test.plan.test}: {first}" for test in tests if (first := foreign_text(test.skips, len(test.loaded.samples)))
    )
    if is_progress_hidden():
        return pd.DataFrame(rows, columns=COLUMNS)
    if text := "; ".join((*remarks, *list_left_out(tests, show_toxic=config.show_toxic), *firsts)):
        # The file of a DataFrame is gone by the time that anybody reads this.
        shown = text.replace(config.data.source, "the DataFrame") if temporary and config.data else text
        warnings.warn(shown, stacklevel=2)
    return pd.DataFrame(rows, columns=COLUMNS)
