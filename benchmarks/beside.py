"""Print the README's table: what five libraries make of the same outputs.

    python -m venv beside && beside/bin/pip install . openevals deepeval stickler-eval
    npm install promptfoo
    beside/bin/python benchmarks/beside.py

"yes" is the right answer, "no" a wrong one, "raises" an exception where the output is at fault,
and "–" that the library has nothing for it that asks no model.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from deepeval.metrics import JsonCorrectnessMetric
from deepeval.models import DeepEvalBaseLLM
from deepeval.test_case import LLMTestCase
from openevals.json import create_json_match_evaluator
from pydantic import BaseModel, create_model
from stickler import ComparableField, StructuredModel
from stickler.comparators import ExactComparator, NumericComparator

from llmeval_integrations import JsonFields, JsonMatch, JsonValidity

FENCED = '```json\n{"paid": 1}\n```'
BROKEN = '{"paid": 1,}'
NESTED = {"vendor": {"city": "Kiel", "zip": "1"}}
NESTED_REFERENCE = {"vendor": {"city": "Kiel", "zip": "2"}}


def answer(holds: Callable[[], object]) -> str:
    """Say whether a library's answer is the right one, or that it gave none."""
    try:
        return "yes" if holds() else "no"
    except Exception:  # noqa: BLE001  what a library raises is its answer here
        return "raises"


class NoModel(DeepEvalBaseLLM):
    """DeepEval wants a model even where it asks none."""

    def load_model(self) -> NoModel:
        return self

    def generate(self, *_: Any, **__: Any) -> str:
        return ""

    async def a_generate(self, *_: Any, **__: Any) -> str:
        return ""

    def get_model_name(self) -> str:
        return "none"


def ours() -> Iterator[str]:
    similar = JsonFields(fields={"/tags": {"order": "any_order"}, "/n": {"tolerance": 0.01}})
    yield answer(lambda: JsonMatch()(FENCED, {"paid": 1}).passed)
    yield answer(lambda: not JsonMatch()('{"paid": true}', {"paid": 1}).passed)
    yield answer(lambda: JsonMatch()('{"n": 1.0}', {"n": 1}).passed)
    yield answer(lambda: similar({"tags": ["b", "a"], "n": 1}, {"tags": ["a", "b"], "n": 1}).passed)
    yield answer(lambda: similar({"tags": [], "n": 1.004}, {"tags": [], "n": 1}).passed)
    yield answer(lambda: "/vendor/zip" in JsonFields()(NESTED, NESTED_REFERENCE).reason)
    yield answer(lambda: JsonValidity()(BROKEN).label == "trailing_comma")


def openevals() -> Iterator[str]:
    whole = create_json_match_evaluator(aggregator="all", list_aggregator="all")
    by_key = create_json_match_evaluator()

    def score(output: Any, reference: Any) -> float:
        return float(whole(outputs=output, reference_outputs=reference)[0]["score"])

    yield answer(lambda: score(FENCED, {"paid": 1}) == 1)
    yield answer(lambda: score({"paid": True}, {"paid": 1}) == 0)
    yield answer(lambda: score({"n": 1.0}, {"n": 1}) == 1)
    yield answer(lambda: score({"tags": ["b", "a"]}, {"tags": ["a", "b"]}) == 1)
    yield "–"
    keys = by_key(outputs=NESTED, reference_outputs=NESTED_REFERENCE)
    yield answer(lambda: any("zip" in one["key"] for one in keys))
    yield answer(lambda: "comma" in str(whole(outputs=BROKEN, reference_outputs={"paid": 1})))


def deepeval() -> Iterator[str]:
    def judge(output: str, model: type[BaseModel]) -> JsonCorrectnessMetric:
        metric = JsonCorrectnessMetric(expected_schema=model, model=NoModel(), async_mode=False)
        metric.measure(LLMTestCase(input="", actual_output=output), _show_indicator=False)
        return metric

    model = create_model("Invoice", paid=(int, ...))
    yield answer(lambda: judge(FENCED, model).success)
    yield answer(lambda: not judge('{"paid": true}', model).success)
    yield answer(lambda: judge('{"paid": 1.0}', model).success)
    yield from ("–", "–", "–")
    yield answer(lambda: "comma" in str(judge(BROKEN, model).reason))


def promptfoo(folder: Path) -> Iterator[str]:
    cases = [
        (FENCED, {"type": "contains-json"}),
        ('{"paid": true}', {"type": "not-equals", "value": {"paid": 1}}),
        ('{"n": 1.0}', {"type": "equals", "value": {"n": 1}}),
        ('{"tags": ["b", "a"]}', {"type": "equals", "value": {"tags": ["a", "b"]}}),
        (json.dumps(NESTED), {"type": "equals", "value": NESTED_REFERENCE}),
        (BROKEN, {"type": "is-json"}),
    ]
    tests = [{"vars": {"output": output}, "assert": [check]} for output, check in cases]
    config = {"prompts": ["{{output}}"], "providers": ["echo"], "tests": tests}
    (folder / "config.json").write_text(json.dumps(config))
    files = ["-c", str(folder / "config.json"), "-o", str(folder / "out.json")]
    offline = {"PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1"}
    subprocess.run(
        ["npx", "promptfoo", "eval", "--no-cache", "--no-table", *files],  # noqa: S607
        env={**os.environ, **offline, "PROMPTFOO_CONFIG_DIR": str(folder)},
        capture_output=True,
        check=False,  # a failed test is exit code 100
    )
    results = json.loads((folder / "out.json").read_text())["results"]["results"]
    fence, boolean, number, order, field, broken = sorted(results, key=lambda one: one["testIdx"])
    for one in (fence, boolean, number, order):
        yield "yes" if one["success"] else "no"
    yield "–"
    # Its reasons repeat both documents; "/vendor/zip" alone would be an answer.
    yield "yes" if "vendor/zip" in field["gradingResult"]["reason"] else "no"
    yield "yes" if "comma" in broken["gradingResult"]["reason"] else "no"


def stickler() -> Iterator[str]:
    def score(fields: dict[str, Any], output: Any, reference: Any) -> dict[str, Any]:
        model = create_model("Record", __base__=StructuredModel, **fields)
        expected = model.from_json(reference)
        return expected.compare_with(model.from_json(output), document_non_matches=True)

    def exact(kind: Any) -> tuple[Any, Any]:
        return kind, ComparableField(comparator=ExactComparator(), threshold=1.0)

    paid, tags = {"paid": exact(Any)}, {"tags": exact(list[str])}
    near = {"n": (float, ComparableField(comparator=NumericComparator(absolute_tolerance=0.01)))}
    vendor = create_model("Vendor", __base__=StructuredModel, city=exact(str), zip=exact(str))
    whole = {"vendor": (vendor, ComparableField())}

    def overall(*case: Any) -> float:
        return float(score(*case)["overall_score"])

    yield answer(lambda: overall(paid, FENCED, {"paid": 1}) == 1)
    yield answer(lambda: overall(paid, {"paid": True}, {"paid": 1}) == 0)
    yield answer(lambda: overall(near, {"n": 1.0}, {"n": 1}) == 1)
    yield answer(lambda: overall(tags, {"tags": ["b", "a"]}, {"tags": ["a", "b"]}) == 1)
    yield answer(lambda: overall(near, {"n": 1.004}, {"n": 1}) == 1)
    yield answer(lambda: "vendor.zip" in str(score(whole, NESTED, NESTED_REFERENCE)))
    yield answer(lambda: "comma" in str(score(paid, BROKEN, {"paid": 1})))


ROWS = [
    "JSON in a Markdown fence is read",
    "`true` is not `1`",
    "`1.0` is `1`",
    "items in any order, as an option",
    "numbers within a tolerance",
    "the wrong field is named by its path",
    "the reason names a trailing comma",
]


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    npm = ["npx", "promptfoo", "--version"]
    with tempfile.TemporaryDirectory() as folder:
        columns = {
            "ours": ours(),
            f"openevals {version('openevals')}": openevals(),
            f"DeepEval {version('deepeval')}": deepeval(),
            "promptfoo " + subprocess.check_output(npm, text=True).strip(): promptfoo(Path(folder)),
            f"stickler {version('stickler-eval')}": stickler(),
        }
        print("|", " | ".join(["", *columns]), "|")
        print("|", " | ".join(["---"] * (len(columns) + 1)), "|")
        for name, *cells in zip(ROWS, *columns.values(), strict=True):
            print("|", " | ".join([name, *cells]), "|")


if __name__ == "__main__":
    main()
