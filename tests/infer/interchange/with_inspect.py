"""Logs of Inspect, which this script writes in an environment that has it: `with_inspect.py URL FOLDER`."""

import shutil
import sys
from pathlib import Path

from inspect_ai import Task
from inspect_ai import eval as run_tasks
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser, GenerateConfig
from inspect_ai.scorer import includes, match
from inspect_ai.solver import generate, multiple_choice, system_message, use_tools
from inspect_ai.tool import tool

url, folder = sys.argv[1], Path(sys.argv[2])


@tool
def weather():
    async def execute(city: str) -> str:
        """Get the weather.

        Args:
            city: where.
        """
        return f"Sun in {city}."

    return execute


def samples(*texts):
    return [Sample(id=number, input=text, target="Reply") for number, text in enumerate(texts, start=1)]


LONG = [
    ChatMessageSystem(content="Be brief."),
    ChatMessageUser(content="What is one?"),
    ChatMessageAssistant(content="A number."),
    ChatMessageUser(content="What is two, then?"),
]
TASKS = {
    "inspect-chat.eval": Task(dataset=samples("It is.", "It is not."), solver=generate(), scorer=includes()),
    "inspect-turns.json": Task(
        dataset=[Sample(id="turns", input=LONG, target="2"), *samples("One turn.")],
        solver=[system_message("You are terse."), generate()],
        scorer=match(),
    ),
    "inspect-epochs.eval": Task(dataset=samples("It is."), solver=generate(), epochs=11),
    "inspect-tools.eval": Task(
        dataset=samples("How is the weather in Paris?", "No tool is needed."), solver=[use_tools(weather()), generate()]
    ),
    "inspect-outcomes.json": Task(
        dataset=samples("It is.", "A long story.", "A filtered one.", "This would break it."), solver=generate()
    ),
    "inspect-choices.eval": Task(
        dataset=[Sample(id="q", input="Which is a colour?", choices=["Red", "Bread"], target="A")],
        solver=multiple_choice(),
    ),
}
for name, task in TASKS.items():
    stem, _, form = name.partition(".")
    config = GenerateConfig(num_choices=2) if stem == "inspect-choices" else GenerateConfig()
    [log] = run_tasks(
        task,
        model="openai/m",
        model_base_url=f"{url}/{stem}/v1",
        model_args={"responses_api": False, "api_key": "none"},
        log_dir=str(folder / "logs"),
        log_format=form,
        display="none",
        fail_on_error=False,
        **config.model_dump(exclude_none=True),
    )
    shutil.move(log.location.removeprefix("file://"), folder / name)
shutil.rmtree(folder / "logs", ignore_errors=True)
