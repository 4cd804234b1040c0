"""Traces of calls of OpenAI's client, which an instrumentation writes in an environment that has it.

`with_opentelemetry.py URL FILE MODULE`: one file and one instrumentation for a process, whose variables choose how it
writes.
"""

import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from openai import APIStatusError, OpenAI
from opentelemetry._logs import set_logger_provider
from opentelemetry.exporter.otlp.json.file._log_exporter import FileLogExporter
from opentelemetry.exporter.otlp.json.file.trace_exporter import FileSpanExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import SimpleLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor

url, path, module = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
spans, logs = TracerProvider(), LoggerProvider()
if "event" in path.stem:
    logs.add_log_record_processor(SimpleLogRecordProcessor(FileLogExporter(path)))
else:
    exporter = ConsoleSpanExporter(out=path.open("w")) if "console" in path.stem else FileSpanExporter(path)
    spans.add_span_processor(SimpleSpanProcessor(exporter))
set_logger_provider(logs)
import_module(module).OpenAIInstrumentor().instrument(tracer_provider=spans, logger_provider=logs)
client = OpenAI(base_url=f"{url}/{path.stem}/v1", api_key="none", max_retries=0)


def ask(*messages, **more):
    with suppress(APIStatusError):
        return client.chat.completions.create(model="m", messages=list(messages), **more)


def user(text):
    return {"role": "user", "content": text}


weather = {"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}
tools = [{"type": "function", "function": weather}]
ask(user("It is."))
ask({"role": "system", "content": "Be brief."}, user("One?"), {"role": "assistant", "content": "1."}, user("Two?"))
ask(user([{"type": "text", "text": "It is "}, {"type": "text", "text": "in parts."}]))
ask(user("It has choices."), n=2)
ask(user("How is the weather?"), tools=tools)
[choice] = ask(user("How is the weather in Paris?"), tools=tools).choices
returned = {"role": "tool", "tool_call_id": choice.message.tool_calls[0].id, "content": "Sun."}
ask(user("How is the weather in Paris?"), choice.message.model_dump(exclude_none=True), returned, tools=tools)
ask(user("A long story."))
ask(user("A filtered one."))
ask(user("This would break it."))
ask(user("It is."))
spans.shutdown()
logs.shutdown()
