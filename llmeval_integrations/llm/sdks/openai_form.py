"""Asking for an answer's form in the words of OpenAI's chat completions, which many speak."""

from __future__ import annotations

from typing import Any

from llmeval_integrations.llm.request import JudgeRequest, Output
from llmeval_integrations.llm.sdks.strict_schema import strict_schema


def openai_form(request: JudgeRequest, output: Output) -> dict[str, Any]:
    """Return the arguments that ask for the form; strictly where the schema can be strict."""
    if request.schema is None or output not in ("json_schema", "tool"):
        return {}
    strict = strict_schema(request.schema)
    name, schema, is_strict = request.schema_name, strict or request.schema, strict is not None
    if output == "json_schema":
        form = {"name": name, "schema": schema, "strict": is_strict}
        return {"response_format": {"type": "json_schema", "json_schema": form}}
    function = {"name": name, "parameters": schema, "strict": is_strict}
    return {
        "tools": [{"type": "function", "function": function}],
        "tool_choice": {"type": "function", "function": {"name": name}},
    }
