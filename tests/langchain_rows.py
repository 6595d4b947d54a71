"""Which row of the table in "Where we differ, and why" a difference from LangChain is."""

import json
import logging
import re
import warnings
from pathlib import Path

from langchain_classic import evaluation
from langchain_core.utils.json import parse_json_markdown, parse_partial_json

from llmeval_integrations import EvalError, InvalidReferenceError, InvalidSchemaError
from llmeval_integrations.frameworks.langchain import load_evaluator
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import check, parse
from llmeval_integrations.json_values.python_values import copy_value

PAGE = Path(__file__).parents[1] / "docs/guide/where-we-differ-and-why.md"

ROWS = {
    "cut": '`{"a": 1` against',
    "first": "`Here it is: ",
    "before": "`[1, 'x'`",
    "raw": "a raw line break",
    "back-tick": "one back-tick too many",
    "stray bracket": "`}`",
    "NaN": "`NaN`",
    "surrogate": "half a surrogate pair",
    "fence": "a fence of `~~~`",
    "reason": "the reason why",
    "reference": "a reference or schema with",
    "prose": "plain prose",
    "boolean": "`true` against `1`",
    "0": "anything else against an array",
    "infinite": "`1e400` against",
    "digits": "an integer of 5,000",
    "order": '`[{"b": 1',
    "deep": "more than 200 levels",
    "value": "a value that is parsed",
    "like JSON": "bytes, tuples and decimals",
    "unlike JSON": "`{1: 2}`",
    "no reference": "a reference that is not JSON",
    "no schema": "a schema that is none",
    "no keyword": "an object without a keyword",
    "remote": "`$ref` or `$schema`",
    "loop": '`{"$ref": "#"}`',
    "arithmetic": "`multipleOf` of decimals",
    "pattern": "patterns of a schema",
    "words": "the words for",
    "option": "an option that",
    "warning": "input or reference that",
}
"""A word for each row, and how the row begins."""

TABLE = [
    line.removeprefix("| ")
    for line in PAGE.read_text(encoding="utf-8")
    .partition("| output | LangChain |")[2]
    .partition("\n\n")[0]
    .splitlines()[2:]
]
"""The rows as they stand on the page."""

ALWAYS = frozenset(
    word
    for word, beginning in ROWS.items()
    for line in TABLE
    if line.startswith(beginning) and "always" in line
)
"""The rows that hold in lenient mode too."""

WORST = {
    "json_validity": 0,
    "json_equality": False,
    "json_edit_distance": 1.0,
    "json_schema_validation": False,
}
"""The evaluators, and what each gives to what is not JSON."""

MODES = ("markdown", "lenient")
OURS = {(name, mode): load_evaluator(name, parsing=mode) for name in WORST for mode in MODES}
THEIRS = {name: evaluation.load_evaluator(name) for name in WORST}
FENCE = "```"

_TOO_LARGE = "Number out of range"
_STRIPPED = " \n\r\t`"
_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*(")?|[\[\]{}]', re.DOTALL)
_DECODER = json.JSONDecoder(strict=False)
_NAMED = {"nan_or_infinity": "NaN", "lone_surrogate": "surrogate", "too_deep": "deep"}


def said(evaluator, **arguments):
    """Give an evaluator's result, or the error that it raises."""
    logging.disable(logging.CRITICAL)  # LangChain logs with traceback what it then swallows
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return evaluator.evaluate_strings(**arguments)
    except Exception as error:  # noqa: BLE001
        return error
    finally:
        logging.disable(logging.NOTSET)


def differences(name, prediction, reference):
    """Give mode, row, our answer and LangChain's, for each mode in which they differ at all."""
    arguments = {"prediction": prediction, "reference": reference}
    theirs = said(THEIRS[name], **arguments)
    for mode in MODES:
        ours = said(OURS[name, mode], **arguments)
        if repr(ours) != repr(theirs):
            yield mode, row_of(name, mode, (prediction, reference), ours, theirs), ours, theirs


def row_of(name, mode, texts, ours, theirs):
    """Name the row that says why two answers differ; None where none does.

    `texts` are the prediction and the reference.
    """
    prediction, reference = texts
    if name == "json_validity":
        return _row_of_validity(mode, prediction, ours, theirs)
    if isinstance(ours, EvalError):
        return _row_of_reference(name, mode, reference, ours)
    if isinstance(theirs, RecursionError) and "$ref" in str(reference):
        return "loop"
    output, wanted = parse(prediction, mode), parse(reference, mode)
    if name == "json_schema_validation" and mode == "lenient" and not isinstance(output, Defect):
        output = copy_value(output, finite=True)
        if isinstance(output, Defect):
            return _NAMED[output.name] if ours == _low(name, output) else None
    is_same = isinstance(output, Defect) and output.is_json and prediction == reference
    if isinstance(output, Defect) and not is_same and ours != _low(name, output):
        return None
    row = _row_of_text(prediction, output) or _row_of_text(reference, wanted)
    if row or isinstance(output, Defect):
        return row
    return _row_of_values(name, output, wanted, ours, theirs)


def _low(name, defect):
    return {"score": WORST[name], "reasoning": defect.reason}


# --- what differs when both sides read a text --------------------------------------------------


def _row_of_text(text, ours):
    """Name the row of a text that only one side can read, or that both read otherwise."""
    if not isinstance(text, str):
        return _row_of_object(text, ours)
    theirs = _read(text)
    if getattr(ours, "name", None) == "too_deep" or isinstance(theirs, RecursionError):
        return "deep"
    if "integer string conversion" in str(theirs):
        return "digits"
    if isinstance(ours, Defect) and ours.reason.startswith(_TOO_LARGE):
        return "infinite"
    if isinstance(ours, Defect):
        return "prose" if isinstance(theirs, Exception) else _row_of_defect(text, ours, theirs)
    if isinstance(theirs, Exception) or repr(ours) != repr(theirs):
        return "fence" if _is_fenced(text) else None
    return None


def _row_of_object(value, ours):
    if isinstance(ours, Defect):
        return _NAMED.get(ours.name, "unlike JSON")
    return None if repr(ours) == repr(value) else "like JSON"


def _row_of_defect(text, defect, theirs):
    """Name the row of an output that is JSON for LangChain alone."""
    if found := _row_of_whole(text, defect):
        return found
    body = text.strip(_STRIPPED)
    if isinstance(_attempt(parse_partial_json, body), Exception):
        return "first" if FENCE in text else None
    waiting = _left_open(body)
    if waiting is None:
        return "stray bracket" if theirs is None else None
    if defect.name == "control_character":
        return "raw"
    if defect.name == "truncated":
        return "cut"
    if not isinstance(_attempt(_DECODER.raw_decode, body), Exception):
        return "first"
    return "before" if waiting else None


def _row_of_whole(text, defect):
    """Name the row of a text that Python's parser reads to its end once LangChain stripped it."""
    body = text.strip(_STRIPPED)
    if not _loads(body, strict=False):
        return None
    if defect.name == "control_character":
        return "raw"
    return _NAMED.get(defect.name, "back-tick" if body != text.strip() else None)


def _row_of_validity(mode, text, ours, theirs):
    defect = check(text, mode)
    if ours != ({"score": 0, "reasoning": defect.reason} if defect else {"score": 1}):
        return None
    if not isinstance(text, str):
        return "value" if "object" in theirs["reasoning"] else None
    found = _attempt(parse_json_markdown, text, parser=json.loads)
    if isinstance(found, RecursionError) or getattr(defect, "name", None) == "too_deep":
        return "deep"
    if "integer string conversion" in str(found):
        return "digits"
    if defect is None:
        return "fence" if _is_fenced(text) else None
    if defect.reason.startswith(_TOO_LARGE):
        return "infinite"
    if theirs["score"] == 0:
        whole = text.strip(_STRIPPED + "~") == text and FENCE not in text
        return None if whole and '"action_input"' not in text else "reason"
    if defect.name == "control_character" and '"action_input"' in text:
        return "raw"
    return _row_of_whole(text, defect) or ("first" if FENCE in text else None)


# --- what differs when both sides have read the same -------------------------------------------


def _row_of_values(name, output, reference, ours, theirs):
    """Name the row of two documents that both sides read alike."""
    if name == "json_schema_validation":
        if "pattern" in str(reference):
            same = isinstance(theirs, dict) and theirs["score"] == ours["score"]
            return "words" if same else "pattern"
        keywords = {"multipleOf", "dependencies", "contentEncoding"}
        return None if keywords.isdisjoint(reference) else "arithmetic"
    if name != "json_equality":
        return None
    if isinstance(reference, list) and not isinstance(output, list):
        return "0" if (ours, theirs) == ({"score": False}, {"score": 0}) else None
    if ours["score"]:
        return "order" if isinstance(output, list) else None
    without = [json.dumps(_marked(value)) for value in (output, reference)]
    again = said(THEIRS[name], prediction=without[0], reference=without[1])
    return "boolean" if again == {"score": False} else None


def _row_of_reference(name, mode, reference, ours):
    """Name the row of a reference or schema that we refuse."""
    is_schema = name == "json_schema_validation"
    if type(ours) is not (InvalidSchemaError if is_schema else InvalidReferenceError):
        return None
    value = parse(reference, mode)
    if not isinstance(value, Defect):
        return _row_of_schema(value) if is_schema else None
    if not isinstance(reference, str):
        return "unlike JSON"
    if value.reason.startswith(_TOO_LARGE):
        return "digits" if "integer string conversion" in str(_read(reference)) else "infinite"
    if value.name in {"too_deep", "lone_surrogate"} and not isinstance(
        _read(reference), ValueError
    ):
        return _NAMED[value.name]
    return "no reference" if isinstance(_read(reference), Exception) else "reference"


def _row_of_schema(schema):
    """Name the row of what our parser reads, and is not a schema for us."""
    found = copy_value(schema, finite=True)
    if isinstance(found, Defect):
        return _NAMED[found.name]
    if "://" in str(schema):
        return "remote"
    attempted = said(THEIRS["json_schema_validation"], prediction="1", reference=schema)
    return "no schema" if isinstance(attempted, Exception) else "no keyword"


# --- small tools -------------------------------------------------------------------------------


def _attempt(function, *arguments, **options):
    try:
        return function(*arguments, **options)
    except (ValueError, RecursionError) as error:
        return error


def _read(text):
    """Give what LangChain makes of a text, or the error that it raises."""
    return _attempt(parse_json_markdown, text)


def _is_fenced(text):
    body = text.strip()
    return body.startswith(("`", "~")) or body.endswith(FENCE)


def _loads(text, **options):
    """Whether Python's parser takes a text."""
    return not isinstance(_attempt(json.loads, text, **options), Exception)


def _left_open(text):
    """List the brackets and quotes that are left open; None where a bracket closes nothing."""
    waiting = []
    for found in _BRACKET.finditer(text):
        mark = found[0][0]
        if mark in '"[{':
            waiting += [] if found[1] else [mark]
        elif not waiting or waiting.pop() + mark not in ("[]", "{}"):
            return None
    return waiting


def _marked(value):
    """Put texts in the place of booleans, so that none is like a number."""
    if isinstance(value, dict):
        return {key: _marked(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_marked(item) for item in value]
    return f"boolean {value}" if isinstance(value, bool) else value
