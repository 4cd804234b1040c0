"""Add a cue to one of two equal answers, and measure whether it sways a judge."""

from contrapose.tasks.probes.judge_cues.cues import CUES, Cue, add_cue
from contrapose.tasks.probes.judge_cues.probe import JudgeCues, JudgeCuesSettings

__all__ = ["CUES", "Cue", "JudgeCues", "JudgeCuesSettings", "add_cue"]
