"""The test judge_cues: add a cue, such as a layout or a plea, to one of two equal answers; does it sway a judge?"""

from contrapose.tasks.probes.judge_cues.cues import CUES, Cue, add_cue
from contrapose.tasks.probes.judge_cues.probe import JudgeCues, JudgeCuesSettings

__all__ = ["CUES", "Cue", "JudgeCues", "JudgeCuesSettings", "add_cue"]
