"""Noise figures: their names, explanations, and the sentence that shows them."""

from __future__ import annotations

from collections.abc import Mapping

from contrapose.tasks.core.outcome import Estimate

AGAIN, ACROSS, NET, LEAN = "changed_when_asked_again", "changed_under_the_change", "net_of_noise", "position_lean"

EXPLANATIONS: Mapping[str, str] = {
    AGAIN: "Share of pairs of replies to the same prompt whose answers differ, over both prompts: the noise of the "
    "model.",
    ACROSS: "Share of pairs of a reply to each prompt whose answers differ, among the samples that were asked again. "
    "It holds the noise and the effect of the change.",
    NET: "What the change adds to the noise: the share under the change minus the share when asked again. 0: the "
    "change of the prompt changes no answer.",
    LEAN: "Share of choices of the first position minus that of the second, over both orders. Noise alone gives 0. 1 "
    "always chooses the first, -1 the second.",
}


def describe_noise(estimates: Mapping[str, Estimate]) -> str:
    """Return the clause that compares changes with noise, or an empty text if no sample was asked again."""
    if not {AGAIN, ACROSS, NET} <= estimates.keys():
        return ""
    again, across, net = (estimates[name] for name in (AGAIN, ACROSS, NET))
    ends = "" if net["interval"] is None else f" (95 %: {' to '.join(f'{100 * end:.0f}' for end in net['interval'])})"
    return (
        f"asked the same prompt again, the model changes {again['value']:.0%} of its answers; under the change "
        f"{across['value']:.0%}: the change adds {100 * net['value']:.0f} points{ends}, from {net['rows']:,} cases"
    )
