"""Strategies of the JSON core's property tests: values, texts and broken texts."""

import json
import re
from collections.abc import Callable
from time import process_time
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from llmeval_integrations.json_values.values import canonical

law = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""For properties: no deadline, since other work may take the machine's time."""

few = settings(law, max_examples=50)
"""For properties that are tried on each of many things."""

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.integers(-(10**40), 10**40)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
)

documents = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)

# Few values that clash often: equal numbers of several types, booleans that Python calls equal.
clashing = st.recursive(
    st.sampled_from([0, 1, 1.0, -0.0, 2, True, False, None, "", "a", 10**16, 1e16, 2**64, 0.5]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=8,
)

_TYPES = st.sampled_from("object array string number integer boolean null".split())
_LIMITS = "maxItems minItems maxProperties minProperties minLength maximum".split()
_LEAVES = st.one_of(
    st.booleans(),
    st.fixed_dictionaries({"type": _TYPES | st.lists(_TYPES, min_size=1, max_size=3, unique=True)}),
    st.fixed_dictionaries({"enum": st.lists(clashing, min_size=1, max_size=3, unique_by=canonical)}),
    st.fixed_dictionaries({"const": clashing}),
    st.dictionaries(st.sampled_from(_LIMITS), st.integers(0, 2), min_size=1, max_size=1),
    st.sampled_from([
        {"required": ["a"]}, {"uniqueItems": True}, {"$ref": "#"}, {"$ref": "#/definitions/d"},
        {"propertyNames": {"enum": ["a", "b"]}}, {"$dynamicRef": "#"}, {"$recursiveRef": "#"},
    ]),
)  # fmt: skip
_ONE = "additionalProperties items contains not if then else unevaluatedProperties unevaluatedItems"


def _nest(inner):
    some = st.lists(inner, min_size=1, max_size=3)
    keywords = {
        "properties": st.dictionaries(st.sampled_from("abc"), inner, min_size=1, max_size=3),
        "patternProperties": st.dictionaries(st.sampled_from(["^a", "[bc]"]), inner, min_size=1),
        **dict.fromkeys(_ONE.split(), inner),
        **dict.fromkeys(("prefixItems", "allOf", "anyOf", "oneOf"), some),
    }
    part = st.fixed_dictionaries({}, optional=keywords)
    return st.builds(
        lambda one, leaf: {**leaf, **one},
        part,
        _LEAVES.filter(lambda leaf: leaf not in (True, False)),
    )


clashing_schemas = st.recursive(_LEAVES, _nest, max_leaves=8)
"""Schemas of few names and values, so that they meet, with every keyword that is followed."""


OUT_OF_RANGE = re.compile(r"[eE]\+?[0-9]{3,}")
"""Finds numbers that no double holds."""

_SPACES = st.sampled_from(["", "", "", " ", "\n", "\t", "\r\n  "])
_ATOMS = (
    st.sampled_from(["null", "true", "false", "0", "-0", "-0.0", "1", "1.0", "1e0", "0.1"])
    | st.sampled_from(["1e400", "-1E+400", "1e-400", "5e-324", "12345678901234567890123"])
    | st.sampled_from(["1.7976931348623157e308", '""', '"a"', '"\\ud83d\\ude00"'])
    | st.sampled_from(['"\\u00e9"', '"\\\\\\"\\/\\b\\f\\n\\r\\t"', '"[{,:"', '"```"', '"é😀"'])
    | st.sampled_from(['"\u2028"', '"\x7f"', '"// # /*"', '"\\u0000"'])
)


def _join(space: str, parts: list[str]) -> str:
    return f"{space}{f'{space},{space}'.join(parts)}{space}"


def _containers(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    names = st.sampled_from(['"a"', '"b"', '"c"', '"\\u0061"', '""'])
    members = st.builds("{}:{}".format, names, inner)
    items, parts = (
        st.builds(_join, _SPACES, st.lists(each, max_size=4)) for each in (inner, members)
    )
    return items.map("[{}]".format) | parts.map("{{{}}}".format)


json_texts = st.recursive(_ATOMS, _containers, max_leaves=8)
"""JSON texts with every spelling of numbers, texts and white space; names may come twice."""

_PIECES = (
    st.sampled_from("{}[]\",:\\/ \n\t\r`'~0123456789.eE+-truefalsnNIy#*_$…é\x00\x1f\u2028“”\ufeff")
    | st.sampled_from(["NaN", "-Infinity", "None", "// c\n", "/* c */", "```", "```json\n", "..."])
    | st.sampled_from(["\\u", "\\ud83d", "\\ude00", "\ud800", '"a":', "1e400", "undefined", "0x1F"])
    | st.sampled_from(['"action_input": "a\nb"', "Sure! ", "True", "“", "'"])
)
_CHANGES = st.lists(
    st.tuples(
        st.sampled_from(["cut", "behead", "delete", "insert", "replace", "twice"]),
        st.floats(0, 1),
        _PIECES,
    ),
    max_size=3,
)
_WRAPPERS = st.sampled_from([
    "{}", "{}", "{}", "  {}\n", "```json\n{}\n```", "```\n{}```", "`{}`", "Here: {}", "{}\nDone.", "~~~\n{}",
])  # fmt: skip


def _changed(text: str, changes: list[tuple[str, float, str]], wrapper: str) -> str:
    for change, where, piece in changes:
        at = round(where * len(text))
        if change == "cut":
            text = text[:at]
        elif change == "behead":
            text = text[at:]
        elif change == "twice":
            text += text
        else:
            new = "" if change == "delete" else piece
            text = text[:at] + new + text[at + (change != "insert") :]
    return wrapper.replace("{}", text)


broken_texts = st.builds(
    _changed, json_texts | documents.map(json.dumps) | st.text(max_size=9), _CHANGES, _WRAPPERS
)
"""JSON texts that were cut, changed and wrapped, so that most are not JSON any more."""


def seconds(function: Callable[..., Any], *arguments: Any) -> float:
    """Give the processor's best time of three calls."""
    best = float("inf")
    for _ in range(3):
        start = process_time()
        function(*arguments)
        best = min(best, process_time() - start)
    return best


def nested(levels: int, leaf: Any, kind: str = "array") -> Any:
    """Wrap a value in so many arrays, objects, or both by turns."""
    value = leaf
    for level in range(levels):
        array = kind == "array" or (kind == "both" and level % 2)
        value = [value] if array else {"a": value}
    return value


def shuffled(value: Any, choose: Any) -> Any:
    """Shuffle arrays and drop a member here and there."""
    if isinstance(value, list):
        items = [shuffled(item, choose) for item in value]
        choose.shuffle(items)
        return items
    if isinstance(value, dict):
        return {key: shuffled(item, choose) for key, item in value.items() if choose.random() < 0.7}
    return value
