"""The case of a changed text: two prompts, with options where the sample has them."""

from __future__ import annotations

from contrapose.tasks.errors import ConfigError
from contrapose.tasks.probes.answers.chance import guess
from contrapose.tasks.probes.answers.settings import AnswerSettings, Scorer
from contrapose.tasks.probes.base import letters, with_options
from contrapose.tasks.records import Case, Likelihoods, LossOf, TextSample

_LOSS_OF: dict[str, LossOf] = {"loss": "expected_result", "langtest_loss": "prompt"}


def scorer_for(sample: TextSample, scorer: Scorer, *, likelihoods: Likelihoods, where: str) -> str:
    """The scorer of a sample's case: the chosen one, or for `auto` the best that the provider and the sample allow.

    Raises:
        ConfigError: the scorer needs log-likelihoods, and the provider gives none; `where` names the setting.
    """
    if scorer == "auto":
        return "choice" if sample.options else "loss" if likelihoods == "all" else "embedding"
    if scorer in _LOSS_OF and likelihoods != "all":
        raise ConfigError(
            f"scorer {scorer!r} with a provider that gives no log-likelihoods of texts",
            expected="a scorer that works on replies alone",
            remedy="Use scorer 'embedding', or 'choice' for samples with options.",
            where=where,
        )
    return scorer


def text_case(
    sample: TextSample,
    *,
    probe: str,
    version: str,
    original: str,
    perturbed: str | None,
    skip_reason: str | None,
    confidence: str | None,
    scorer: str,
    likelihoods: Likelihoods,
    by_likelihood: bool,
    settings: AnswerSettings,
    stays: bool = False,
) -> Case:
    """The case of one changed text; skipped as `no_options` where the scorer is `choice` and there are none.

    With `documents_scores` a model that can is also asked for the loss that the design documents compare. A case
    passes when its answer changed, or, with `stays`, when it did not.
    """
    no_options = scorer == "choice" and not sample.options
    if no_options:
        original, perturbed, skip_reason, confidence = sample.text, None, "no_options", None
    return Case(
        id=f"{probe}/{sample.id}",
        sample_id=sample.id,
        probe=probe,
        version=version,
        original=original,
        perturbed=perturbed,
        original_prompt=with_options(original, sample.options),
        perturbed_prompt=None if perturbed is None else with_options(perturbed, sample.options),
        scorer=scorer,
        asks="choose" if scorer == "choice" and by_likelihood else "generate",
        loss_of=_LOSS_OF.get(scorer, "expected_result" if settings.documents_scores and likelihoods == "all" else None),
        labels=letters(len(sample.options)),
        options=sample.options,
        skip_reason=skip_reason,
        confidence=confidence,
        chance=_chance(sample, settings, scorer, stays=stays, by_likelihood=by_likelihood),
        slice=sample.slice,
        cluster=sample.cluster,
        details={"likelihoods": likelihoods} | ({} if sample.answer is None else {"answer": sample.answer}),
    )


def stays_by_chance(case: Case, *, stays: bool) -> float | None:
    """Probability that a guesser's answer to the control of a case stays as it was, which is when a control passes."""
    return case.chance if case.chance is None or stays else 1 - case.chance


def _chance(
    sample: TextSample, settings: AnswerSettings, scorer: str, *, stays: bool, by_likelihood: bool
) -> float | None:
    if scorer != "choice":
        return None
    band = settings.band("choice")
    found = guess(len(sample.options), upper=band and band[1], by_likelihood=by_likelihood)
    return found and (found.stays if stays else found.changes)
