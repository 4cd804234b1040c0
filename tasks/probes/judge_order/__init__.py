"""judge_order: two answers stand as A and B, then swapped; does the judge agree with people, or with the position?"""

from contrapose.tasks.probes.judge_order.probe import JudgeOrder, JudgeOrderSettings

__all__ = ["JudgeOrder", "JudgeOrderSettings"]
