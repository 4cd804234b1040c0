"""Models whose skill and bias are known, scored and summarised by the project: is what is known recovered?"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bench.simulated.draws import Finding, covered, labels
from contrapose.tasks.core.records import Case, Completion, Likelihoods, SummaryPair, Trial
from contrapose.tasks.evaluate.summarise import estimate_measures
from contrapose.tasks.probes.order_bias import OrderBias, OrderBiasSettings
from contrapose.tasks.tables.results import make_result_table

RECOVERED = 0.93
SAYS = ("{}", "{}.", "({})", "Answer: {}", "The answer is {}.", "Summary {} is consistent with the article.")

Ask = Callable[[np.random.Generator, np.ndarray], Sequence[tuple[Completion, Completion]]]
"""From a generator and the cluster of each pair: the completions in the original and in the swapped order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighing:
    """Gives log-odds: content and position of each pair, in nats, part of which its article shares, and noise."""

    content: float = 0.6
    position: float = 0.8
    spread: tuple[float, float] = (1.2, 0.6)
    """Standard deviations of content and of position."""
    of_article: float = 0.3
    """Share of both variances that the pairs of an article have in common."""
    noise: float = 0.5
    """Standard deviation, of each prompt."""
    likelihoods: Likelihoods = "choices"

    def ask(self, rng: np.random.Generator, cluster: np.ndarray) -> list[tuple[Completion, Completion]]:
        content = self._effect(rng, cluster, self.content, self.spread[0])
        position = self._effect(rng, cluster, self.position, self.spread[1])
        leads = position + content, position - content
        noisy = [lead + rng.normal(0, self.noise, len(cluster)) for lead in leads]
        return [(_weighed(first), _weighed(second)) for first, second in zip(*noisy, strict=True)]

    def _effect(self, rng: np.random.Generator, cluster: np.ndarray, centre: float, spread: float) -> np.ndarray:
        shared = rng.normal(0, spread * self.of_article**0.5, cluster.max() + 1)[cluster]
        return centre + shared + rng.normal(0, spread * (1 - self.of_article) ** 0.5, len(cluster))

    def truth(self) -> dict[str, float]:
        """By normal theory; the prior by quadrature."""
        from scipy.stats import multivariate_normal, norm

        content, position = (np.hypot(each, self.noise / 2**0.5) for each in self.spread)
        covariance = self.spread[1] ** 2 - self.spread[0] ** 2
        lead = self.spread[0] ** 2 + self.spread[1] ** 2 + self.noise**2
        joint = [[lead, covariance], [covariance, lead]]
        means = np.array([self.position + self.content, self.position - self.content])
        both_a, both_b = (float(multivariate_normal.cdf(sign * means, cov=joint)) for sign in (1, -1))
        points, weights = np.polynomial.hermite_e.hermegauss(80)
        prior = float(weights @ (1 / (1 + np.exp(-self.position - position * points))) / weights.sum())
        pull = np.log(prior / (1 - prior))
        single = [norm.cdf((self.content + sign * (self.position - pull)) / lead**0.5) for sign in (1, -1)]
        plain = [norm.cdf((self.content + sign * self.position) / lead**0.5) for sign in (1, -1)]
        return {
            "content_score": self.content,
            "position_score": self.position,
            "position_bias_index": (both_a - both_b) / 2,
            "accuracy": float(np.mean(plain)),
            "debiased_accuracy": float(norm.cdf(self.content / content)),
            "pride_prior_a": prior,
            "pride_accuracy": float(np.mean(single)),
            "pride_gain": float(np.mean(single) - np.mean(plain)),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Saying:
    """Gives replies alone: it knows a share of the pairs, more of some articles, and else leans to a letter."""

    knows: float = 0.45
    says_a: float = 0.8
    """How often a pair that it does not know is answered with A."""
    alike: float = 0.3
    """Correlation of what it knows of one article."""
    likelihoods: Likelihoods = "none"

    def ask(self, rng: np.random.Generator, cluster: np.ndarray) -> list[tuple[Completion, Completion]]:
        spread = (1 - self.alike) / self.alike
        article = rng.beta(self.knows * spread, (1 - self.knows) * spread, cluster.max() + 1)
        known = rng.random(len(cluster)) < article[cluster]
        guesses = np.where(rng.random((2, len(cluster))) < self.says_a, "A", "B")
        chosen = np.where(known, np.array([["A"], ["B"]]), guesses)
        forms = rng.integers(0, len(SAYS), chosen.shape)
        both = zip(forms, chosen, strict=True)
        told = [[SAYS[form].format(letter) for form, letter in zip(*each, strict=True)] for each in both]
        return [(Completion(text=first), Completion(text=second)) for first, second in zip(*told, strict=True)]

    def truth(self) -> dict[str, float]:
        guessed, a = 1 - self.knows, self.says_a
        return {
            "accuracy": self.knows + guessed / 2,
            "accuracy_original": self.knows + guessed * a,
            "accuracy_swapped": self.knows + guessed * (1 - a),
            "position_bias_index": guessed * (a**2 - (1 - a) ** 2) / 2,
            "choice_changed": guessed * (a**2 + (1 - a) ** 2),
        }


def recovery(sizes: np.ndarray, runs: int) -> Iterator[Finding]:
    """How often the interval of each figure holds what is true, and how far their mean lies from it."""
    for model in (Weighing(), Saying()):
        values, held = _asked(model.ask, model.truth(), model.likelihoods, sizes, runs)
        for name, true in model.truth().items():
            label = f"{type(model).__name__} {name} (true {true:.3f}, mean {np.mean(values[name]):.3f})"
            yield Finding(name=label, value=float(np.mean(held[name])), low=RECOVERED)
        if "pride_prior_a" in values:
            off = abs(np.mean(values["pride_prior_a"]) - model.truth()["pride_prior_a"])
            yield Finding(name="PriDe's prior, mean error", value=float(off), high=0.005)


def _asked(
    ask: Ask, truth: Mapping[str, float], likelihoods: Likelihoods, sizes: np.ndarray, runs: int
) -> tuple[dict[str, list[float]], dict[str, list[bool]]]:
    """Of each figure, every run's value and whether its interval holds what is true."""
    probe, settings, cluster = OrderBias(), OrderBiasSettings(), labels(sizes)
    cases = [_case(probe, settings, number, article, likelihoods) for number, article in enumerate(cluster)]
    values: dict[str, list[float]] = defaultdict(list)
    held: dict[str, list[bool]] = defaultdict(list)
    for run in range(runs):
        answers = ask(np.random.default_rng([6, run]), cluster)
        trials = [Trial(case=case, expected=a, actual=b) for case, (a, b) in zip(cases, answers, strict=True)]
        scores = probe.score(trials, settings, embed=_never)
        results = make_result_table(trials, scores, probe=probe, model="simulated").to_pandas()
        found = estimate_measures(probe.measures(results), results)
        for name, true in truth.items():
            values[name].append(found[name]["value"])
            held[name].append(covered(found[name]["interval"], true))
    return values, held


def _case(probe: OrderBias, settings: OrderBiasSettings, number: int, article: int, likelihoods: Likelihoods) -> Case:
    sample = SummaryPair(
        id=f"pair {number}",
        article_sentence=f"Article {article} has {number} lines.",
        correct_sentence=f"There are {number} lines.",
        incorrect_sentence=f"There are {number + 1} lines.",
        cluster=f"article {article}",
    )
    (case,) = probe.cases(sample, settings, rng=random.Random(0), likelihoods=likelihoods)
    return case


def _weighed(lead: float) -> Completion:
    """Log-likelihoods of A and B whose difference is the lead."""
    return Completion(
        text="A" if lead > 0 else "B",
        option_loglikelihoods=(-float(np.logaddexp(0, -lead)), -float(np.logaddexp(0, lead))),
    )


def _never(texts: Sequence[str]) -> np.ndarray:
    raise AssertionError(f"nothing needs embedding: {texts}")
