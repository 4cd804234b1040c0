"""How choices were read, and how far that can be trusted, in words that are the same in every report."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from contrapose.tasks.outcome import Outcome, Summary
from contrapose.tasks.probes import in_words as words
from contrapose.tasks.probes import reading_checks as checks
from contrapose.tasks.probes.steps import READ_BY, step_shares
from contrapose.tasks.probes.steps import UNREAD as UNREAD_REPLIES
from contrapose.tasks.registry import names, probe
from contrapose.tasks.report.wording import ends, percent

THE_MODEL = "the model"
"""Who is asked back where no reader is named."""


def reader_of(summary: Summary) -> str:
    """Who was asked what replies choose: the id of the run's reader, or the model under test."""
    return summary["reader"]["id"] if "reader" in summary else THE_MODEL


def unread(outcome: Outcome) -> str:
    """How many pairs of orders lack a choice; empty where both orders always gave one."""
    counting = probe(outcome["test_type"]).without_choice if outcome["test_type"] in names("probes") else ()
    count = sum(int(outcome["figures"].get(name) or 0) for name in counting)
    pairs = outcome["scored"] + outcome["unscored"]
    told = f"{count:,} of {pairs:,} pairs lack a choice in one order or both: the verdict holds whatever they are"
    return told if count else ""


def steps(outcome: Outcome) -> str:
    """How the choices were read, such as `choices were read by the letter alone 81%, a statement 16%; unread 3%`."""
    shares = step_shares(outcome["figures"])
    by = ", ".join(f"{name} {percent(share)}" for name, share in shares.items() if name != UNREAD_REPLIES)
    unread_share = shares.get(UNREAD_REPLIES)
    more = f"unread {percent(unread_share)}" if unread_share else ""
    return "; ".join(filter(None, (f"choices were read by {by}" if by else "", more)))


def known_errors(outcome: Outcome) -> Iterator[str]:
    """How often a step misses or misreads a choice, by letter, a line for each set; none for what read nothing."""
    for (by, source), found in groupby(outcome["reader"], key=lambda each: (each["by"], each["source"])):
        told = ", ".join(
            f"{each['letter']}: missed {percent(each['missed'] / each['replies'])}, "
            f"read wrongly {percent(each['misread'] / each['replies'])} of {each['replies']:,}"
            for each in found
        )
        yield f"known error of {by}: {told} ({source})"


def asked_back(outcome: Outcome, *, reader: str = THE_MODEL) -> str:
    """How well the model that is asked back reads; empty where that decided nothing and was not checked."""
    agreed = outcome["estimates"].get("asked_agreement")
    if agreed is not None:
        told = f"of {agreed['rows']:,} replies that rules could read, {reader}, asked back, reads"
        return f"{told} {percent(agreed['value'])}{_shares(agreed['interval'])} as they do"
    if not outcome["figures"].get(f"{READ_BY}asked"):
        return ""
    return f"how well {reader} reads replies when it is asked back is unknown: rules could read none to check it by"


def in_words(outcome: Outcome) -> str:
    """How often replies in words say what the likelihoods say; empty where none were asked for."""
    agreed, unread_share = (outcome["estimates"].get(name) for name in ("reply_agreement", "reply_unread"))
    if unread_share is None:
        return ""
    asked = f"{unread_share['rows']:,} samples that were also answered in words"
    share = unread_share["value"]
    more = f"{percent(share)} of the replies could not be read" if share else ""
    more = "none of the replies could be read" if share == 1 else more
    if agreed is None:
        return f"of {asked}, {more}" if more else ""
    told = f"{percent(agreed['value'])}{_shares(agreed['interval'])} of {agreed['rows']:,} replies say what the"
    return "; ".join(filter(None, (f"{told} likelihoods say, among {asked}", more)))


def trust(outcome: Outcome, *, reader: str = THE_MODEL) -> Iterator[str]:
    """How far the replies bear a verdict out, as warnings where they do not; empty texts where nothing is known."""
    yield unlike(outcome) or in_words(outcome)
    yield misreads(outcome, reader=reader) or asked_back(outcome, reader=reader)


def doubts(outcome: Outcome, *, reader: str = THE_MODEL) -> Iterator[str]:
    """The warnings that stand beside a verdict."""
    yield from filter(None, (unlike(outcome), misreads(outcome, reader=reader)))


def unlike(outcome: Outcome) -> str:
    """That a verdict by likelihood may not hold for what the model replies; empty where the two agree."""
    agreed, told = outcome["estimates"].get("reply_agreement"), in_words(outcome)
    if not told or (agreed is not None and agreed["value"] >= words.LEAST_AGREEMENT):
        return ""
    return (
        f"its verdict is about likelihoods, and replies may earn another: {told}. Set read_with: reply to judge these"
    )


def misreads(outcome: Outcome, *, reader: str = THE_MODEL) -> str:
    """That asking back may have read choices wrongly; empty where it read none, or was seen to read well."""
    agreed, share = outcome["estimates"].get("asked_agreement"), outcome["figures"].get(f"{READ_BY}asked")
    if not share or (agreed is not None and agreed["value"] >= checks.LEAST_AGREEMENT):
        return ""
    return (
        f"asking back read {percent(share)} of the choices, perhaps wrongly: {asked_back(outcome, reader=reader)}. "
        "Set read_with: reply to leave them unread"
    )


def _shares(interval: tuple[float, float] | None) -> str:
    return "" if interval is None else f" ({ends(interval)})"
