"""Traces of calls of OpenAI's client, which instrumentations write in an environment that has them.

`with_opentelemetry.py URL FOLDER KIND` writes the log of one kind: what is instrumented is so for a whole process.
"""

import json
import os
import sys
from contextlib import suppress
from pathlib import Path

url, folder, kind = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "true" if "old" in kind else "span_only"
if kind == "otel-event.jsonl":
    os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "event_only"
    os.environ["OTEL_INSTRUMENTATION_GENAI_EMIT_EVENT"] = "true"
if "old" not in kind:
    os.environ["OTEL_SEMCONV_STABILITY_OPT_IN"] = "gen_ai_latest_experimental"

from openai import APIStatusError, OpenAI
from opentelemetry._logs import set_logger_provider
from opentelemetry.exporter.otlp.json.file._log_exporter import FileLogExporter
from opentelemetry.exporter.otlp.json.file.trace_exporter import FileSpanExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import SimpleLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor

if "llmetry" in kind:
    from opentelemetry.instrumentation.openai import OpenAIInstrumentor
elif "old" in kind:
    from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor
else:
    from opentelemetry.instrumentation.genai.openai import OpenAIInstrumentor

path = folder / kind
spans, logs = TracerProvider(), LoggerProvider()
is_event = kind in ("otel-event.jsonl", "otel-old-events.jsonl")
exporter = ConsoleSpanExporter(out=path.open("w")) if "console" in kind else None
if is_event:
    logs.add_log_record_processor(SimpleLogRecordProcessor(FileLogExporter(path)))
else:
    spans.add_span_processor(SimpleSpanProcessor(exporter or FileSpanExporter(path)))
set_logger_provider(logs)
OpenAIInstrumentor().instrument(tracer_provider=spans, logger_provider=logs)
client = OpenAI(base_url=f"{url}/{kind.partition('.')[0]}/v1", api_key="none", max_retries=0)


def ask(*messages, **more):
    with suppress(APIStatusError):
        return client.chat.completions.create(model="m", messages=list(messages), **more)


def user(text):
    return {"role": "user", "content": text}


weather = {"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}
ask(user("It is."))
ask({"role": "system", "content": "Be brief."}, user("One?"), {"role": "assistant", "content": "1."}, user("Two?"))
ask(user([{"type": "text", "text": "It is "}, {"type": "text", "text": "in parts."}]))
ask(user("It has choices."), n=2)
ask(user("How is the weather?"), tools=[{"type": "function", "function": weather}])
ask(user("A long story."))
ask(user("A filtered one."))
ask(user("This would break it."))
ask(user("It is."))
spans.shutdown()
logs.shutdown()
