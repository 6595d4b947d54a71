"""What readers of verdicts make of the replies in tests/judges/replies/replies.jsonl.

    .venv/bin/python benchmarks/verdicts.py [--cases]

The same text goes to every reader. A peer's own function reads it; what that gives is taken as its
documentation says a verdict is typed: "Pass" or "Fail", in any case, all else refused. Peers of
which no function reads a text by itself are called where their text arrives: openevals at the reply
of an OpenAI client, autoevals at the arguments of the tool call that it forces (where the verdict's
key is called "choice"). deepeval and ragas take part where they can be imported. phoenix-evals and
trulens have no reader of their own: the first hands `json.loads` what structured output gave, the
second looks for numbers.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

from llmeval_integrations.judges import parse_judgement

CASES = Path(__file__).parent.parent / "tests" / "judges" / "replies" / "replies.jsonl"
REQUIRED = ("verdict",)
TOLD = ("required_keys", "ignoring", "fence")
COLUMNS = ("read", "flipped", "made up", "unread", "refused")
LEGEND = """\
read: the right verdict. flipped: the opposite one. made up: a verdict, although the reply has none.
unread: no verdict, although the reply has one. refused: no verdict, and the reply has none.
"""

Reader = Callable[[dict[str, Any]], Any]


def ours(case: dict[str, Any]) -> str:
    told = {"required_keys": REQUIRED, **{key: case[key] for key in TOLD if key in case}}
    return parse_judgement(case["reply"], **told).verdict.value


def ours_untold(case: dict[str, Any]) -> str:
    return parse_judgement(case["reply"], case.get("required_keys", REQUIRED)).verdict.value


def verdict_key(case: dict[str, Any]) -> str:
    """Return the name of the verdict in a case."""
    required = case.get("required_keys", REQUIRED)
    return next((key for key in required if key in ("decision", "outcome")), "verdict")


def reads_mapping(load: Callable[[str], Any]) -> Reader:
    """Make a reader of a function that turns the reply into a mapping."""
    return lambda case: load(case["reply"])[verdict_key(case)]


# --- peers --------------------------------------------------------------------------------------


def openevals() -> Reader:
    from openevals.llm import create_llm_as_judge

    reply = SimpleNamespace(content="")
    response = SimpleNamespace(choices=[SimpleNamespace(message=reply)])
    completions = SimpleNamespace(create=lambda **_: response)
    client = SimpleNamespace(chat=SimpleNamespace(completions=completions))
    schema = {"type": "object", "properties": {"verdict": {"type": "string"}}}
    judge: Any = create_llm_as_judge(
        prompt="{outputs}", judge=client, model="openai:any", output_schema=schema
    )

    def read(case: dict[str, Any]) -> Any:
        reply.content = case["reply"]
        return judge(outputs="")[verdict_key(case)]

    return read


def autoevals() -> Reader:
    from autoevals.llm import LLMClassifier

    classifier = LLMClassifier("verdict", "", {"Pass": 1, "Fail": 0}, model="any", client=None)

    def read(case: dict[str, Any]) -> Any:
        arguments = case["reply"].replace(verdict_key(case), "choice")
        call = {"function": {"name": "select_choice", "arguments": arguments}}
        return classifier._process_response({"tool_calls": [call]}).metadata["choice"]  # noqa: SLF001

    return read


def openjudge() -> Reader:
    from openjudge.utils.utils import repair_and_load_json

    return reads_mapping(repair_and_load_json)


def langchain() -> Reader:
    from langchain_core.utils.json import parse_json_markdown

    return reads_mapping(parse_json_markdown)


def llama_index() -> Reader:
    from llama_index.core.output_parsers import PydanticOutputParser
    from pydantic import create_model

    def read(case: dict[str, Any]) -> Any:
        key = verdict_key(case)
        model = create_model("Answer", **{key: (Literal["Pass", "Fail"], ...)})  # type: ignore[call-overload]
        return getattr(PydanticOutputParser(model).parse(case["reply"]), key)

    return read


def deepeval() -> Reader:
    os.environ.setdefault("DEEPEVAL_TELEMETRY_OPT_OUT", "YES")
    from deepeval.metrics.utils.generation import trimAndLoadJson

    return reads_mapping(trimAndLoadJson)


def ragas() -> Reader:
    from ragas.prompt.utils import extract_json

    return reads_mapping(lambda reply: json.loads(extract_json(reply)))


# --- ways of reading that many share, in our own words ------------------------------------------


def outermost_braces() -> Reader:
    return reads_mapping(lambda reply: json.loads(reply[reply.index("{") : reply.rindex("}") + 1]))


def first_word_behind_the_label() -> Reader:
    return lambda case: re.search(rf"(?i){verdict_key(case)}\W+(pass|fail)", case["reply"])[1]  # type: ignore[index]


def last_word_of_the_reply() -> Reader:
    return lambda case: re.findall(r"(?i)\b(pass|fail)\b", case["reply"])[-1]


def json_then_labels() -> Reader:
    """Read JSON, else the first flat braces, else what stands between labels in small letters."""

    def read(case: dict[str, Any]) -> Any:
        reply, key = case["reply"], verdict_key(case)
        braces = re.search(r"\{[^{}]*\}", reply)
        for text in (reply, braces[0] if braces else ""):
            try:
                return json.loads(text)[key]
            except (ValueError, KeyError, TypeError):
                continue
        return re.search(rf"{key}:(.*?)(?:confidence:|\Z)", reply.lower(), re.DOTALL)[1]  # type: ignore[index]

    return read


READERS: dict[str, tuple[Callable[[], Reader], str | None]] = {
    "openevals": (openevals, "openevals"),
    "autoevals": (autoevals, "autoevals"),
    "py-openjudge": (openjudge, "py-openjudge"),
    "langchain parse_json_markdown": (langchain, "langchain-core"),
    "llama-index PydanticOutputParser": (llama_index, "llama-index-core"),
    "deepeval trimAndLoadJson": (deepeval, "deepeval"),
    "ragas extract_json": (ragas, "ragas"),
    "outermost braces": (outermost_braces, None),
    "JSON, then braces, then labels": (json_then_labels, None),
    "first word behind the label": (first_word_behind_the_label, None),
    "last word of the reply": (last_word_of_the_reply, None),
}


def verdict_of(reader: Reader, case: dict[str, Any]) -> str | None:
    """Return what a reader reads; whatever it raises is its way of saying nothing."""
    try:
        value = reader(case)
    except Exception:  # noqa: BLE001
        return None
    word = value.strip().capitalize() if isinstance(value, str) else None
    return word if word in ("Pass", "Fail") else None


def outcome(says: str | None, read: str | None) -> str:
    """Name what became of a reply."""
    if read is None:
        return "unread" if says else "refused"
    if read == says:
        return "read"
    return "flipped" if says else "made up"


def available() -> Iterator[tuple[str, Reader | None]]:
    """Yield every reader with its version, or None where it cannot be imported."""
    yield "ours", ours
    yield "ours, told of no text", ours_untold
    for name, (make, package) in READERS.items():
        try:
            label = f"{name} {version(package)}" if package else name
            yield label, make()
        except (ImportError, PackageNotFoundError):
            yield name, None


def main() -> None:
    parser = argparse.ArgumentParser(description="Readers of verdicts on the same hard replies.")
    parser.add_argument("--cases", action="store_true", help="list each case that went wrong")
    listed = parser.parse_args().cases
    cases = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
    readable = sum(bool(case["says"]) for case in cases)
    print(f"{len(cases)} replies: {readable} with a verdict, {len(cases) - readable} without\n")
    print(f"| {'reader':<40} | {' | '.join(f'{column:>7}' for column in COLUMNS)} | µs a reply |")
    print(f"| {'---':<40} | {' | '.join(['---:   '] * len(COLUMNS))} | ---:       |")
    for name, reader in available():
        if reader is None:
            print(f"| {name + ' (not importable)':<40} |" + "         |" * len(COLUMNS))
            continue
        start = time.perf_counter()
        outcomes = [outcome(case["says"], verdict_of(reader, case)) for case in cases]
        spent = (time.perf_counter() - start) / len(cases) * 1e6
        count = Counter(outcomes)
        figures = " | ".join(f"{count[column]:>7}" for column in COLUMNS)
        print(f"| {name:<40} | {figures} | {spent:>10.0f} |")
        if listed:
            for case, what in zip(cases, outcomes):
                if what in ("flipped", "made up", "unread"):
                    print(f"{name}, {what}: {case['tries']}", file=sys.stderr)
    print(f"\n{LEGEND}", end="")


if __name__ == "__main__":
    main()
