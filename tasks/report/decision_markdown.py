"""Write verdict.md and verdict.json: the decision on a retrained model, for people and machines."""

from __future__ import annotations

from contrapose.tasks.core.decision import DEFINITIONS, Decision, Verdict
from contrapose.tasks.core.places import Place
from contrapose.tasks.report.comparison_markdown import MARKS as TEST_MARKS
from contrapose.tasks.report.publish import explain_unwritable
from contrapose.tasks.report.rows import cut_name
from contrapose.tasks.report.summary import to_json
from contrapose.tasks.report.templates import load_template

MARKS: dict[Verdict, str] = {"promote": "✅", "hold": "❌", "insufficient evidence": "❔"}


def render(decision: Decision) -> bytes:
    """Return the Markdown: verdict and reasons, the two models, then each test. Every text is escaped.

    Long texts are lists: the dialog of a person who approves cuts off wide tables.
    """
    facts = (("revision", decision["revision"]), ("training run", decision["training_run"]))
    text = load_template("contrapose.tasks.report", "decision.md.j2").render(
        {**decision, "reasons": [*decision["reasons"], *list_answer(decision)]},
        named=", ".join([decision["model"], *(f"{name} {value}" for name, value in facts if value)]),
        sides=[("candidate", decision["candidate"]), ("baseline", decision["baseline"])],
        marks=MARKS,
        test_marks=TEST_MARKS,
        definitions=DEFINITIONS,
        name_of=cut_name,
    )
    return text.encode()


def list_answer(decision: Decision) -> list[str]:
    """Return sentences on who approved or rejected a held candidate, and why; none if nobody answered."""
    if (answer := decision["answer"]) is None:
        return []
    who = answer.get("by") or "a person"
    return [f"{'Approved' if answer['approved'] else 'Rejected'} by {who}: {answer['reason']}"]


def write_decision(folder: Place, decision: Decision) -> None:
    """Write verdict.json and verdict.md into a folder, in place of those that are there, or raise ConfigError."""
    try:
        (folder / "verdict.md").write(render(decision))
        (folder / "verdict.json").write(f"{to_json(decision)}\n".encode())
    except OSError as error:
        remedy = "Choose another one in the configuration (output), and check the model again with again: true."
        raise explain_unwritable(folder, error, what="the verdict", remedy=remedy) from error
