"""Use people's labels in a judge's certificate: agreement, and pass rates corrected by the labels."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np
import pandas as pd

from contrapose.tasks.certify.findings import decide_minimum, make_finding
from contrapose.tasks.certify.verdict_log import BY_PEOPLE
from contrapose.tasks.core.certificate import JudgeFinding
from contrapose.tasks.statistics.means import mean
from contrapose.tasks.statistics.predicted import Predicted, count_deciding_labels, predict_mean
from contrapose.tasks.text.wording import counted

SUFFIX = " with people"
EVEN = 0.5
"""Which of two models people prefer is decided on one side of it."""


def single_answer_findings(verdicts: pd.DataFrame, *, gate_rate: float | None) -> Iterator[JudgeFinding]:
    """Yield findings from labels on a judge of single answers; rows are those of `read_single_answers`.

    The rate by people passes if it reaches `gate_rate`.
    """
    both = verdicts[verdicts["label"].isin((0, 1)) & verdicts["verdict"].notna()]
    if len(both):
        cut = _find_cut(verdicts["verdict"], both)
        passed, good = both["verdict"] >= cut, both["label"] == 1
        note = "" if verdicts["verdict"].dropna().isin((0, 1)).all() else f"; {cut:g} or more is a pass"
        yield _measure(f"agreement{SUFFIX}", f"labelled replies with the verdict of people{note}", passed == good, both)
        for name, own in (("true", good), ("false", ~good)):
            says = "pass" if name == "true" else "fail"
            figure = f"of the replies that people {says}, the judge passes"
            yield _measure(f"{name} positive rate", figure, passed[own], both[own])
    predicted = predict_mean(verdicts["label"], verdicts["verdict"], verdicts["cluster"])
    if predicted is not None:
        figure = "replies that people would pass"
        yield from _imply(predicted, "pass rate by people", figure, gate_rate=gate_rate, side=gate_rate)


def _find_cut(verdict: pd.Series[float], labelled: pd.DataFrame) -> float:
    """Return the lowest verdict that counts as pass: 1, or the score that passes about as many replies as people do."""
    if verdict.dropna().isin((0, 1)).all():
        return 1.0
    scores, good = labelled["verdict"].to_numpy(), int((labelled["label"] == 1).sum())
    return float(min(np.unique(scores), key=lambda cut: abs(int((scores >= cut).sum()) - good)))


def _measure(name: str, figure: str, true: pd.Series[bool], rows: pd.DataFrame) -> JudgeFinding:
    own = mean(true.to_numpy(dtype=float), rows["cluster"], share=True) if len(rows) else None
    return make_finding(name, figure, own, gate=None)


def pair_findings(verdicts: pd.DataFrame) -> Iterator[JudgeFinding]:
    """Yield findings from labels on a judge of answer pairs, none without labels. Rows: `read_verdicts`."""
    if verdicts["label"].isna().all():
        return
    pairs = pd.DataFrame([_summarise(pair) for _, pair in verdicts.groupby(["pair", "answers"], sort=False)])
    for name, figure in (
        ("", "verdicts on labelled pairs that are the choice of people"),
        (" in both orders", "labelled pairs with the choice of people in both orders"),
    ):
        own = pairs[f"agrees{name}"]
        share = bool(own.dropna().isin((0, 1)).all())
        agreement = mean(own, pairs["cluster"], share=share, bounds=(0.0, 1.0))
        yield make_finding(f"agreement{SUFFIX}{name}", figure, agreement, gate=None)
    names = sorted(set(chain.from_iterable(pairs["answers"])))
    for name in names[:1] if len(names) == 2 else names:
        if name not in BY_PEOPLE:
            yield from _yield_preferred(pairs, name)


def _summarise(pair: pd.DataFrame) -> dict[str, object]:
    """Return a judge's verdicts on a pair as means over both orders."""
    label, answers = pair["label"].iloc[0], pair["answers"].iloc[0]
    orders = [own for _, own in pair[pair["choice"].notna()].groupby("order")["choice"]]
    agrees = [float((own == label).mean()) for own in orders] if label else []
    verdicts = [np.mean([_score_first(choice, answers) for choice in own]) for own in orders]
    return {
        "cluster": pair["cluster"].iloc[0],
        "answers": answers,
        "label": _score_first(label, answers),
        "verdict": np.mean(verdicts) if verdicts else np.nan,
        "agrees": np.mean(agrees) if agrees else np.nan,
        "agrees in both orders": np.prod(agrees) if len(agrees) == 2 else np.nan,
    }


def _score_first(choice: str | None, answers: tuple[str, str]) -> float:
    """Return 1 for the first name, 0 for the second, 0.5 for a tie; NaN for nothing."""
    return np.nan if choice is None else {answers[0]: 1.0, answers[1]: 0.0}.get(choice, 0.5)


def _yield_preferred(pairs: pd.DataFrame, name: str) -> Iterator[JudgeFinding]:
    """Yield the share of pairs in which people prefer the answers of one writer; a tie is half of one."""
    own = pairs[[name in answers for answers in pairs["answers"]]]
    turned = np.array([answers[0] != name for answers in own["answers"]])
    label, verdict = (np.where(turned, 1 - own[part], own[part]) for part in ("label", "verdict"))
    predicted = predict_mean(label, verdict, own["cluster"])
    if predicted is not None:
        yield from _imply(predicted, f"people prefer {name}", "pairs, ties as half of one", gate_rate=None, side=EVEN)


def _imply(
    predicted: Predicted, name: str, figure: str, *, gate_rate: float | None, side: float | None
) -> Iterator[JudgeFinding]:
    """Yield a rate by the labels and the verdicts, and the same by the labels alone; `side` is a gate or one half."""
    more = None if side is None else count_deciding_labels(predicted, side)
    finding = make_finding(name, f"{figure}, by labels and verdicts", predicted.mean, gate=None)
    finding["gate"], finding["gate_is_least"] = gate_rate, True
    if gate_rate is not None:
        finding["verdict"] = decide_minimum(predicted.mean.interval, gate_rate)
    finding["reason"] = _explain(predicted, side, more)
    finding["labels"], finding["labels_alone"] = predicted.labels, round(predicted.worth)
    finding["more_labels"] = more
    yield finding
    yield make_finding(f"{name}, labels alone", f"{figure}, by labels alone", predicted.alone, gate=None)


def _explain(predicted: Predicted, side: float | None, more: int | None) -> str:
    labels = counted("labels", predicted.labels)
    if predicted.strata is None:
        return f"The {labels} are all of one group, which shows nothing about how much they vary."
    text = f"Without the judge, {round(predicted.worth):,} labels would give as narrow an interval as these {labels}"
    text += f" ({100 * predicted.saved:.0f} % fewer)." if predicted.saved else ": the judge saves none."
    if side is None or more == 0:
        return text
    if more is None:
        return f"{text} Labels of all replies here would not decide whether it reaches {100 * side:g} %."
    return f"{text} About {counted('more labels', more)} decide whether it reaches {100 * side:g} %."
