"""What a schema says of how values are compared, and what it leaves to defaults."""

import pytest
from one_field import passes

from llmeval_integrations import JsonFields

MOMENT, SAME = "2024-01-05T10:00:00Z", "2024-01-05T11:00:00+01:00"
TEXT, NUMBER, INTEGER, NULL = ({"type": kind} for kind in ("string", "number", "integer", "null"))
DATE, AT, EMAIL, URI = (
    {"type": "string", "format": each} for each in ("date", "date-time", "email", "uri")
)
PATTERN = {"pattern": "@"}
ADDRESS = ("a@B.c", "a@b.c")
NEAR = (1.0000000001, 1)


def both_ways(*alternatives):
    return [{"anyOf": [*alternatives]}, {"oneOf": [*reversed(alternatives)]}]


# schema, pairs that match, pairs that do not
PLAIN = [
    (NUMBER, [(0.1 + 0.2, 0.3), (0.3000000000001, 0.3), (3.0, 3)], [(0.30001, 0.3), ("0.3", 0.3), (10**12 + 1, 10**12)]),
    ({**NUMBER, "multipleOf": 0.01}, [(12.344, 12.34), (12.3351, 12.34)], [(12.35, 12.34), (12.346, 12.34)]),
    (INTEGER, [(3.0, 3)], [(4, 3), (3.0000000001, 3)]),
    ({"type": ["integer", "null"]}, [(3.0, 3)], [(None, 3)]),
    ({"type": "array"}, [], [([3, 1, 2], [1, 2, 3])]),
    ({"type": "array", "uniqueItems": True}, [([3, 1, 2], [1, 2, 3])], [([1, 2], [1, 2, 3]), ([1, 2, 4], [1, 2, 3])]),
    (TEXT, [], [(SAME, MOMENT)]),
    (EMAIL, [ADDRESS], []),
]  # fmt: skip
TOGETHER = [
    # what fixes a text counts for the format that holds with it
    *[(schema, [], [ADDRESS]) for schema in (
        {**EMAIL, **PATTERN},
        {**EMAIL, "enum": ["a@b.c", "a@B.c"]},
        {"$ref": "#/$defs/Email", **PATTERN},
        {"allOf": [EMAIL, {"const": "a@b.c"}]},
        {"allOf": [{"allOf": [EMAIL]}, {"$ref": "#/$defs/Short"}]},
        {"anyOf": [{"$ref": "#/$defs/Email", **PATTERN}, NULL]},
        {**EMAIL, "anyOf": [PATTERN, NULL]},
        {**EMAIL, "anyOf": [PATTERN, {"pattern": "c$"}]},
        {**PATTERN, "anyOf": [EMAIL, NULL]},
        {**EMAIL, "if": {}, "then": PATTERN, "else": PATTERN},
    )],
    # and is nothing to a format in another alternative
    *[({"anyOf": [other, EMAIL]}, [ADDRESS], [("None", "none")]) for other in (
        {"pattern": "^x"}, {"const": "none"}, {"allOf": [{"enum": ["none"]}]},
    )],
    ({**EMAIL, "if": {"minLength": 9}, "then": PATTERN}, [ADDRESS], []),
    # a number is an integer where one of the schemas that hold says so
    ({"allOf": [NUMBER, INTEGER]}, [], [NEAR]),
    ({**NUMBER, "anyOf": [INTEGER, NULL]}, [], [NEAR]),
    ({"anyOf": [INTEGER, TEXT]}, [], [NEAR]),
    ({"anyOf": [NUMBER, INTEGER]}, [NEAR], []),
    ({"type": ["number", "integer"]}, [NEAR], []),
]  # fmt: skip
ALTERNATIVES = [
    # a text is compared by the format whose form it has
    *[(schema, [(SAME, MOMENT), ("2024-01-05",) * 2], [("2024-01-05T10:00:00+01:00", MOMENT), ("2024-01-05", "2024-01-06")])
      for schema in both_ways(DATE, AT) + both_ways(AT, URI, EMAIL, DATE)],
    *[(schema, [("HTTP://x.org:80/A", "http://x.org/A"), ("Ann@X.org", "ann@x.org")],
       [("http://x.org/A", "http://x.org/a"), ("http://ann@x.org/A", "http://ann@x.org/a"), ("N/A", "n/a")])
      for schema in both_ways(EMAIL, URI)],
    # a value that one alternative names does not make another exact
    *[(schema, [(0.1 + 0.2, 0.3)], [(0.3001, 0.3)])
      for schema in both_ways({"const": 0}, NUMBER) + both_ways({"enum": [1]}, NUMBER) + both_ways(NULL, NUMBER)],
    # a grid holds where all have one
    *[(schema, [], [(3.5, 4)]) for schema in both_ways({**NUMBER, "multipleOf": 10}, NUMBER)],
    *[(schema, [(4.5, 5)], [(6, 8)]) for schema in both_ways({**NUMBER, "multipleOf": 10}, {**NUMBER, "multipleOf": 5})],
    *[(schema, [(11, 10)], []) for other in ([NULL, TEXT], [{"enum": ["N/A"]}], [{"const": None}])
      for schema in both_ways({**NUMBER, "multipleOf": 10}, *other)],
    *[(schema, [(1.004, 1.0)], [(1.01, 1), (1, 2)]) for schema in both_ways({**NUMBER, "multipleOf": 0.01}, INTEGER)],
]  # fmt: skip


@pytest.mark.parametrize(
    ("schema", "same", "other"), PLAIN + TOGETHER + ALTERNATIVES, ids=lambda value: str(value)[:60]
)
def test_the_schema_says_how_values_are_compared(schema, same, other):
    whole = {"properties": {"a": schema}, "$defs": {"Email": EMAIL, "Short": {"pattern": "^.{5}$"}}}
    evaluator = JsonFields(whole)
    for output, reference in same:
        assert evaluator({"a": output}, {"a": reference}).passed, (output, reference)
    for output, reference in other:
        assert not evaluator({"a": output}, {"a": reference}).passed, (output, reference)


# --- Members, items, references ------------------------------------------------------------------


def test_schemas_of_members_by_name_and_pattern_and_of_items_by_position():
    schema = {
        "properties": {
            "on_day": {"type": "string"},
            "x": {},
            "pair": {"prefixItems": [EMAIL], "items": NUMBER},
        },
        "patternProperties": {"^on_": AT, "(a+)+$": NUMBER},
        "additionalProperties": EMAIL,
    }
    evaluator = JsonFields(schema)
    output = {"on_day": SAME, "y": "A@b.c", "pair": ["A@b.c", 0.1 + 0.2]}
    assert evaluator(output, {"on_day": MOMENT, "y": "a@b.c", "pair": ["a@b.c", 0.3]}).passed
    assert not evaluator({"pair": [1, "A@b.c"]}, {"pair": [1, "a@b.c"]}).passed
    for name in ("x", "on_y"):  # additionalProperties are those of neither
        assert not evaluator({name: "A@b.c"}, {name: "a@b.c"}).passed


# --- Defaults ------------------------------------------------------------------------------------

LOOSE = {"tolerance": 0.1, "relative_tolerance": 0.1, "multiple_of": 1, "similarity": 0.1}


def always(output, reference):
    return True


@pytest.mark.parametrize(
    ("schema", "output", "reference", "settings"),
    [
        ({"const": 1}, 1.0001, 1, LOOSE),
        ({"const": 1}, 1.0001, 1, {"compare": always}),
        ({"enum": [1, 1.0001]}, 1.0001, 1, LOOSE),
        ({"anyOf": [{"const": 1}, NULL]}, 1.0001, 1, LOOSE),
        (INTEGER, 1.0001, 1, LOOSE),
        ({**NUMBER, "multipleOf": 0.01}, 12.34, 15.0, {"tolerance": 5}),
        ({**NUMBER, "multipleOf": 0.01}, 12.34, 12.5, {"relative_tolerance": 0.1}),
        (DATE, "2024-01-05", "2024-01-06", {"similarity": 0.8}),
        (EMAIL, "ann@e.org", "anne@e.org", {"similarity": 0.8}),
        (EMAIL, "ann@e.org", "bob@e.org", {"compare": always}),
        (URI, "http://e.com/A", "http://e.com/a", {"ignore_case": True}),
        ({"enum": ["A", "B"]}, "a", "A", {"ignore_case": True, "similarity": 0.1}),
        ({"pattern": "^[A-Z]$"}, "a", "A", {"ignore_case": True}),
        (PATTERN, "A@b.c", "a@b.c", {"format": "email"}),
        ({"enum": ["1", "2"]}, 1, "1", {"coerce": True}),
        ({"pattern": "^[0-9]{3}$"}, 7, "007", {"coerce": True}),
    ],
)
def test_defaults_change_nothing_that_the_schema_says(schema, output, reference, settings):
    assert not passes(schema, output, reference, defaults=settings)
    assert passes({}, output, reference, defaults=settings)
    assert passes(schema, output, reference, fields={"/a": settings})
    assert passes(schema, output, reference, fields={"": settings})


@pytest.mark.parametrize(
    ("schema", "output", "reference", "settings"),
    [
        (AT, SAME, MOMENT, {"compare": lambda output, reference: False}),
        (NUMBER, "3", 3, {"coerce": True}),
        (NUMBER, 3.5, 3, {"tolerance": 1}),
        ({"anyOf": [DATE, NUMBER]}, 3.5, 3, {"tolerance": 1}),
        ({"anyOf": [NUMBER, {**TEXT, "pattern": "^[0-9.]+$"}]}, 1.05, 1, LOOSE),
        (TEXT, "Harbor", "Harbour", {"similarity": 0.8}),
    ],
)
def test_defaults_hold_for_what_the_schema_does_not_say(schema, output, reference, settings):
    assert passes(schema, output, reference, defaults=settings)


# --- Decimals ------------------------------------------------------------------------------------

OWN = {**TEXT, "pattern": r"^(?!^[-+.]*$)[+-]?0*\d*\.?\d*$"}
LIMITED = {
    **TEXT,
    "pattern": r"^(?!^[-+.]*$)[+-]?0*(?:\d{0,4}|(?=[\d.]{1,7}0*$)\d{0,4}\.\d{0,2}0*$)",
}
DECIMALS = [
    {"anyOf": [NUMBER, TEXT]},  # Pydantic to 2.11, and from 2.14 on
    {"anyOf": [{**NUMBER, "minimum": 0, "description": "EUR"}, {**TEXT, "title": "Price"}], "default": None},
    {"anyOf": [{**TEXT, "const": "auto"}, NUMBER, TEXT, DATE]},
    {"anyOf": [NUMBER, OWN]},  # 2.12 and 2.13
    {"anyOf": [NUMBER, LIMITED, NULL]},
    OWN,  # in the schema of what is dumped
    {"anyOf": [OWN, NULL]},
]  # fmt: skip


@pytest.mark.parametrize("schema", DECIMALS, ids=str)
def test_a_decimal_is_a_number_however_it_is_written(schema):
    for output, reference, matches in [
        ("1250.50", "1250.5", True),
        (1250.5, "1250.50", True),
        ("1250.50", 1250.5, True),
        (0.1, "0.10", True),
        ("1E+3", 1000, True),
        ("1250.50", "1250.51", False),
        (10**12 + 1, str(10**12), False),
        ("1,250.50", 1250.5, False),
        ("n/a", "N/A", False),
        ("007", "7", False),  # which may be a code
        ("5", True, False),
        (" 5", 5, False),
        (12345678901234567.89, "12345678901234567.89", True),
        ("1e-99999999999999999999", "0", False),
    ]:
        assert passes(schema, output, reference) is matches, (output, reference)
    for settings in ({"tolerance": 0.01}, {"relative_tolerance": 1e-3}, {"multiple_of": 0.05}):
        for options in ({"fields": {"/a": settings}}, {"defaults": settings}):
            assert passes(schema, "12.504", "12.50", **options)
            assert passes(schema, 12.504, "12.50", **options)
            assert not passes(schema, "12.60", "12.50", **options)
