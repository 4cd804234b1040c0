"""Base class of tests that compare the answers before and after a change: metrics, gates and chart.

One figure is the contrast rate: the answer changes with the meaning, and stays if only the wording changes. The
documents' pass rate of a test that should change the answer rewards random changes: random guessing among four options
picks another one in 75 %. The guess also stays under the control in 25 %, so its contrast rate is 19 %; with the right
answer before, 5 %.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pyarrow as pa

from contrapose.tasks.core.outcome import Outcome
from contrapose.tasks.core.records import READ_BY, FollowUp, Likelihoods, Score, TextSample, Trial
from contrapose.tasks.probes import choices
from contrapose.tasks.probes.answers.scores import score_trials
from contrapose.tasks.probes.answers.settings import LOSS_OF, AnswerSettings, Thresholds, choose_scorer, compute_chance
from contrapose.tasks.probes.base import UNRELATED_NOT, Column, Criterion, Embed, Measure, Probe
from contrapose.tasks.probes.known_errors import OF_OPTIONS, MeasuredErrors, measure_steps
from contrapose.tasks.probes.panels import Bars, Panel, PanelShare, Picture, shares
from contrapose.tasks.probes.values import all_hold, average_known, get_numbers, get_texts, get_truths, numbers, where

NOTICED, CONTRAST, STEADY = "noticed_rate", "contrast_rate", "steady_rate"
RIGHT_AND_NOTICED = "right_and_noticed"

COLUMNS: Mapping[str, Column] = {
    "chosen_before": Column("string", "Letter that was chosen under the unchanged prompt."),
    "chosen_after": Column("string", "Letter that was chosen under the changed prompt."),
    "chosen_before_step": Column("string", "Which step read the choice under the unchanged prompt."),
    "chosen_after_step": Column("string", "Which step read the choice under the changed prompt."),
    "right_before": Column("bool", "Whether the reply to the unchanged prompt was the right answer."),
    "js_divergence": Column(
        "float", "Jensen-Shannon divergence of the two distributions over the options, 0 to 1.", "bit"
    ),
    "answer_changed": Column("bool", "Whether the answer changed."),
    "option_count": Column("int", "Options to choose from.", "1"),
    "right_logprob_change": Column("float", "Log of the right option's share, after - before.", "nat"),
    "gold_lost": Column("bool", "Whether the right answer, given before, was not given to the changed prompt."),
    "noticed": Column(
        "bool",
        "Of a right answer before, whether it was given up as the change asks: with options the right one is chosen no "
        "more, without them the answer changed.",
    ),
    RIGHT_AND_NOTICED: Column(
        "bool", "Whether the answer was right before, and then noticed; missing where that is not known."
    ),
    "embedding_score": Column("float", "1 - cosine of the embeddings of the two replies.", "1"),
    "loss_score": Column("float", "Mean loss a token of the old reply, after - before.", "nat/token"),
    "letters_only": Column("bool", "Whether both replies are mere letters, whose embeddings mean nothing."),
    "threshold_low": Column(
        "float", "Lower end of the threshold that was taken from the controls.", "depends on scorer"
    ),
    "threshold_high": Column(
        "float", "Upper end of the threshold that was taken from the controls.", "depends on scorer"
    ),
    **choices.COLUMNS,
}

EXPLANATIONS: Mapping[str, str] = {
    **choices.EXPLANATIONS,
    "choices": "Cases in which a choice could be read from both replies.",
    "letter_only_replies": "Cases whose replies are mere letters: their embeddings mean nothing.",
    "threshold_low_*": "Lower end of the scores that count as an unchanged answer; it was taken from the controls.",
    "threshold_high_*": "Upper end of the scores that count as an unchanged answer; it was taken from the controls.",
    "mean_eval_score_*": "Mean score of the cases that this scorer judged. The further it lies from 0, the more the "
    "answers moved.",
    "choice_changed": "Share of the cases with two readable choices in which another option was chosen after the "
    "change.",
    "right_before": "Share of the cases answered rightly before anything was changed: how well the model knows the "
    "subject.",
    "answer_changed": "Share of the cases whose answer changed, however it was judged. Compare it with the share under "
    "the control, which keeps the meaning.",
    "js_divergence": "How far the probabilities of the options moved: 0 bit is not at all, 1 bit is entirely.",
    "right_logprob_change": "How the log-probability of the right option changed. Below 0 the model came to trust the "
    "right option less.",
    "gold_lost": "Share of the right answers before the change that were not given after it.",
    "embedding_score": "1 minus the cosine of the two replies' embeddings: 0 means the same, greater is more "
    "different.",
    "loss_score": "How much more surprising the old reply became, in nats a token. Near 0 the model would still say "
    "it.",
    NOTICED: "share of right answers that changed with the meaning. An answer that was already wrong may fit the "
    "changed prompt, so it does not count.",
    STEADY: "share of answers that stayed next to an unrelated 'not'. A model that only reacts to the word changes its "
    "answer there.",
    CONTRAST: "share of answers that changed with the meaning, not the wording. A known answer must also have been "
    "right before. Guessing does not raise it.",
    "choice": "Compares which option each reply chooses; the score is how far the choice moved.",
    "embedding": "Compares the meaning of the two replies by their embeddings: 0 means the same, greater is more "
    "different.",
    "calls": "Compares the tools that the two replies call, with their arguments: 0 means the same calls, 1 means "
    "other calls. Where neither calls one, it compares the texts as `embedding` does.",
    "loss": "Measures how much more surprising the old reply is under the changed prompt, in nats a token.",
    "langtest_loss": "The loss as LangTest computes it, to compare with its reports.",
}


LABELS: Mapping[str, str] = {
    "gold_lost": "right answers lost",
    "net_gold_lost": "right answers lost",
    "net_sensitivity": "answers changed",
    "js_divergence": "shift of the option probabilities",
    "net_js_divergence": "shift of the option probabilities",
    "right_logprob_change": "change in log-probability of the right option",
    "net_right_logprob_change": "change in log-probability of the right option",
}

INDEPENDENT = 0.25
"""Largest contrast rate of two independent answers: one changes with probability p, the other stays with 1 - p."""
LEAST_RIGHT = 20
"""Least samples answered rightly before for which the noticed rate is reported."""
WITHOUT_OPTIONS = 0.7
"""Default gate of the noticed rate without options, where nothing can be guessed."""


def make_change_gates(results: pd.DataFrame, settings: AnswerSettings, *, steady: float = 0.0) -> Sequence[Criterion]:
    """Return gates that show whether answers change because of the edit, for a test that should change them."""
    criteria = (
        make_noticed_criterion(results, settings.min_noticed_rate),
        make_contrast_criterion(results, settings.min_contrast_rate),
        make_steady_criterion(results, steady),
    )
    return [criterion for criterion in criteria if criterion is not None]


def make_noticed_criterion(results: pd.DataFrame, wanted: float | None) -> Criterion | None:
    """Return the gate on the share of right answers that changed as they should; None if right answers are unknown.

    Where there are options it was noticed if the right option is chosen no more: any other one fits the changed prompt.
    Without options it was if the answer changed. A sample whose first reply leaves open whether it was right is open.
    """
    cases = ~results["control"].to_numpy(dtype=bool)
    known = cases & results["answer_known"].eq(True).to_numpy()
    if wanted == 0 or 2 * known.sum() < cases.sum() or not known.any():
        return None
    right = numbers(results["right_before"])
    gate, guessed = compute_noticed_gate(numbers(results["option_count"])[known & (right == 1)])
    count = int((known & (right == 1)).sum())
    return Criterion(
        name=NOTICED,
        wanted=gate if wanted is None else wanted,
        met=where(right == 1, numbers(results["noticed"])),
        applies=known & (right != 0),
        chance=guessed,
        too_few=describe_few_right(count, int(known.sum()), NOTICED),
        knows_answers=True,
    )


def describe_few_right(right: int, known: int, rate: str) -> str:
    """Return a sentence if too few samples were answered correctly before the change; otherwise an empty text."""
    if right >= LEAST_RIGHT:
        return ""
    few = f"The model answered {right:,} of {known:,} samples correctly before the change. The "
    few += f"{rate.replace('_', ' ')} needs at least {LEAST_RIGHT} such samples"
    return f"{few}: this data set has too few." if known < LEAST_RIGHT else f"{few}."


def compute_noticed_gate(options: np.ndarray) -> tuple[float, float | None]:
    """Return the default gate of the noticed rate, and the rate that random guessing reaches (None without options)."""
    guessed = average_known(1 - 1 / options)
    return WITHOUT_OPTIONS if guessed is None else (1 + guessed) / 2, guessed


def make_contrast_criterion(results: pd.DataFrame, wanted: float) -> Criterion | None:
    """Return the gate of the contrast rate over the cases that have a control; None if no control was asked.

    A case meets it if its answer changed, the answer to the control stayed, and the answer before was right (if that is
    known). If one of the three fails, the case fails; otherwise, if one is unknown, the case is open. A wrong answer
    before is no evidence against the other two: `at_best` leaves it out.
    """
    control = results["control"].to_numpy(dtype=bool)
    if not control.any():
        return None
    # The control of each row's sample, in the order of the rows; nothing where there is none.
    asked = pd.DataFrame({name: results[name].fillna(0) for name in choices.ASKED if name in results})
    answers = results[["control", "answer_changed", "chance"]].set_index(pd.MultiIndex.from_frame(asked))[control]
    twins = answers[~answers.index.duplicated()].reindex(pd.MultiIndex.from_frame(asked))
    paired = ~control & twins["control"].eq(True).to_numpy()
    changed, stayed = numbers(results["answer_changed"]), 1 - numbers(twins["answer_changed"])
    right = numbers(results["right_before"])
    # Random guessing changes, stays, and is right before as often as one of the options.
    both = numbers(results["chance"]) * numbers(twins["chance"])
    known = ~np.isnan(right) & results["option_count"].notna().to_numpy()
    guessed = np.where(known, 1 / numbers(results["option_count"]), 1.0)
    chances = np.where(np.isnan(both), INDEPENDENT, both * guessed)[paired]
    return Criterion(
        name=CONTRAST,
        wanted=wanted,
        met=all_hold(changed, stayed, np.nan_to_num(right, nan=1.0)),
        at_best=all_hold(changed, stayed),
        applies=paired,
        chance=float(np.mean(chances)) if paired.any() else None,
    )


def make_steady_criterion(results: pd.DataFrame, wanted: float) -> Criterion | None:
    """Return the gate on answers that stay next to an unrelated "not"; None if no control has such a "not"."""
    beside = results["control_kind"].eq(UNRELATED_NOT).to_numpy()
    if not wanted or not beside.any():
        return None
    return Criterion(
        name=STEADY,
        wanted=wanted,
        met=1 - numbers(results["answer_changed"]),
        applies=beside,
        chance=average_known(numbers(results["chance"])[beside]),
    )


class ChangeCounts:
    """Counts of changed answers and of right answers, for the card of a test."""

    def __init__(self) -> None:
        self._changed: Counter[str] = Counter()
        self._asked: Counter[str] = Counter()
        self._right: Counter[str] = Counter()

    def add(self, rows: pd.DataFrame) -> None:
        """Count the cases for which it is known whether the answer changed."""
        known = rows[rows["pass"].notna() & rows["error"].isna() & rows["answer_changed"].notna()]
        forms = [classify_text_form(str(text)) for text in known["original"]]
        self._asked.update(forms)
        self._changed.update(name for name, changed in zip(forms, known["answer_changed"], strict=True) if changed)
        judged = known[known["right_before"].notna()]
        for was_right, was_lost in zip(judged["right_before"], judged["gold_lost"], strict=True):
            lost = "lost" if was_lost is True or was_lost == 1 else "kept"
            self._right[f"right before, {lost}" if was_right else "wrong before"] += 1

    def panels(self, outcome: Outcome) -> Sequence[Panel]:
        """Return bars of the changed answers, and of the right answers if they are known."""
        changed = tuple(
            PanelShare(name=name, count=self._changed[name], total=total) for name, total in sorted(self._asked.items())
        )
        bars = (
            Bars(title="Answers that changed, of all scored, by kind of text", shares=changed),
            Bars(title="What became of the right answer", shares=shares(dict(sorted(self._right.items())))),
        )
        return [bar for bar in bars if bar.shares]


class AnswerProbe(Probe):
    """A test that compares the answer to the changed prompt with the answer to the unchanged prompt."""

    settings_type: ClassVar[type[AnswerSettings]] = AnswerSettings
    columns: ClassVar[Mapping[str, Column]] = COLUMNS
    explanations: ClassVar[Mapping[str, str]] = EXPLANATIONS
    labels: ClassVar[Mapping[str, str]] = LABELS
    reader_errors: ClassVar[Sequence[MeasuredErrors]] = OF_OPTIONS
    stays: ClassVar[bool] = False
    """Whether the answer should stay, because the change keeps the meaning."""
    beside_langtest: ClassVar[bool] = False
    """Whether result rows also have LangTest's score and verdict."""

    def scoring_fields(self, sample: TextSample, settings: AnswerSettings, likelihoods: Likelihoods) -> dict[str, Any]:
        """Return the fields of a case that decide how answers are requested and compared."""
        scorer = choose_scorer(sample, settings.scorer, likelihoods=likelihoods, where=f"{self.where}.scorer")
        likely = settings.require_likelihoods(likelihoods, where=self.where)
        documented = settings.documents_scores and likelihoods == "all"
        chance = None
        if scorer == "choice":
            band = settings.band("choice")
            chance = compute_chance(len(sample.options), upper=band and band[1], by_likelihood=likely)
            chance = 1 - chance if chance is not None and self.keeps_answer(settings) else chance
        return {
            "scorer": scorer,
            "asks": "choose" if scorer == "choice" and likely else "generate",
            "loss_of": LOSS_OF.get(scorer, "expected_result" if documented else None),
            "options": sample.options,
            "context": sample.surroundings,
            "chance": chance,
            "details": {"likelihoods": likelihoods, **({READ_BY: "label"} if settings.labels_are_own else {})},
        }

    def has_changed(self, score: Score) -> bool | None:
        """Return whether the answer changed, by the scorer of the case."""
        changed = score.columns.get("answer_changed")
        return None if changed is None else bool(changed)

    def score(self, trials: Sequence[Trial], settings: Any, *, embed: Embed) -> list[Score]:
        """Score each trial with the scorer of its case; it passes if the answer changed, or stayed, as it should."""
        stays = self.keeps_answer(settings)
        return score_trials(trials, settings, embed=embed, stays=stays, langtest=self.beside_langtest)

    def follow_ups(self, trials: Sequence[Trial], settings: Any, *, embed: Embed) -> Sequence[FollowUp]:
        """Return questions about the replies that name no one option, and about those that rules read."""
        chosen = [] if settings.labels_are_own else [trial for trial in trials if trial.case.scorer == "choice"]
        return [asked for trial in chosen for asked in choices.ask_about_choices(trial, changed=trial.case.options)]

    def expected_pass(self, part: pa.Table, settings: Any) -> np.ndarray:
        """Return 1 if, by score and band, the answer changed or stayed as it should; else 0; NaN without a band."""
        score, scorer = get_numbers(part, "eval_score"), get_texts(part, "scorer")
        low, high = get_numbers(part, "threshold_low"), get_numbers(part, "threshold_high")
        if not settings.calibrated:
            # A band from the controls stands in the row itself.
            low, high = np.full((2, len(scorer)), np.nan)
            for name in dict.fromkeys(scorer):
                band = settings.band(name) if name in Thresholds.model_fields else None
                if band is not None:
                    low[scorer == name], high[scorer == name] = band
        other = get_texts(part, "chosen_before") != get_texts(part, "chosen_after")
        changed = np.where(scorer == "choice", other | (score > high), (score < low) | (score > high))
        keeps = np.logical_or(get_truths(part, "control"), self.keeps_answer(settings))
        return np.where(np.isnan(low) | np.isnan(high), np.nan, changed != keeps)

    def summarise(self, results: pd.DataFrame) -> Mapping[str, float | int | None]:
        """Return counts of readable pairs and of letter-only replies, the thresholds, and how choices were read.

        What no row says is left out.
        """
        if results.empty or not set(COLUMNS) <= set(results.columns):
            return {}
        read = int((results["chosen_before"].notna() & results["chosen_after"].notna()).sum())
        letters = int(results["letters_only"].eq(True).sum())
        choosing = results[results["option_count"].notna()]
        ends = ["threshold_low", "threshold_high"]
        own = results[["scorer", *ends]].dropna().drop_duplicates("scorer").sort_values("scorer").set_index("scorer")
        return {
            **({"choices": read} if read else {}),
            **({"letter_only_replies": letters} if letters else {}),
            **{f"{end}_{scorer}": float(own.loc[scorer, end]) for scorer in own.index for end in ends},
            **measure_steps(choosing[name] for name in ("chosen_before_step", "chosen_after_step")),
        }

    def picture(self) -> Picture:
        """Return bars of the changed answers by kind of text, and of the right answers before and after."""
        return ChangeCounts()

    def criteria(self, results: pd.DataFrame, settings: Any) -> Sequence[Criterion]:
        """Return gates that show whether answers change because of the edit; none if the answer should stay."""
        return [] if self.stays else make_change_gates(results, settings)

    def measures(self, results: pd.DataFrame) -> Sequence[Measure]:
        """Return means: the score of each scorer, changed answers, moved choices and lost right answers.

        Among samples that were not answered wrongly, `answer_changed` is compared with the controls. `gold_lost` is how
        often a right answer was given to the original and not again.
        """
        if "pass" not in results or results.empty:
            return []
        scores, scorer = numbers(results["eval_score"]), results["scorer"].astype(str)
        before, after = results["chosen_before"], results["chosen_after"]
        right = numbers(results["right_before"])
        divergence, logprob = numbers(results["js_divergence"]), numbers(results["right_logprob_change"])
        changed, lost = np.where(right == 0, np.nan, numbers(results["answer_changed"])), numbers(results["gold_lost"])
        not_wrong = "that were right, or had no known answer, before the change"
        was_right = "that were right before the change"
        return [
            *(
                Measure(name=f"mean_eval_score_{name}", values=where(scorer == name, scores))
                for name in sorted(set(scorer))
            ),
            Measure(name="choice_changed", share=True, values=where(before.notna() & after.notna(), before != after)),
            Measure(name="right_before", share=True, values=right),
            Measure(name="answer_changed", share=True, values=changed, among=not_wrong, net="net_sensitivity"),
            Measure(name="js_divergence", values=divergence, bounds=(0, 1), net="net_js_divergence"),
            Measure(name="right_logprob_change", values=logprob, net="net_right_logprob_change"),
            Measure(name="gold_lost", share=True, values=lost, among=was_right, net="net_gold_lost"),
            *(
                Measure(name=f"{name}_score", values=where(scorer != name, numbers(results[f"{name}_score"])))
                for name in ("embedding", "loss")
            ),
            *choices.yield_reading_measures(results),
        ]


def classify_text_form(text: str) -> str:
    """Return the kind of a text (question, statement, …), by its beginning and its end."""
    if text.startswith("True or false:"):
        return "true or false"
    end = text.rstrip("\"'”’) \n")[-1:]
    return {"?": "question", ".": "statement", "!": "statement"}.get(end, "unfinished")
