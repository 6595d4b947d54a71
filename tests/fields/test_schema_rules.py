"""Schemas that hold together, schemas of which one holds, and what they leave to others."""

import pytest
from one_field import passes
from pace import at_most

from llmeval_integrations import InvalidOptionError, JsonFields

MOMENT, SAME = "2024-01-05T10:00:00Z", "2024-01-05T11:00:00+01:00"
ANY_ORDER = {"": {"order": "any_order"}}


# --- Schemas that hold together ------------------------------------------------------------------


@pytest.mark.parametrize(
    "schema",
    [
        {"format": "email", "pattern": "^a"},
        {"$ref": "#/$defs/Email", "pattern": "^a"},
        {"$ref": "#/$defs/Email", "enum": ["a@b.c", "a@B.c"]},
        {"allOf": [{"format": "email"}, {"const": "a@b.c"}]},
        {"allOf": [{"allOf": [{"format": "email"}]}, {"$ref": "#/$defs/Short"}]},
        {"anyOf": [{"$ref": "#/$defs/Email", "pattern": "^a"}, {"type": "null"}]},
        {"format": "email", "anyOf": [{"pattern": "^a"}, {"type": "null"}]},
        {"format": "email", "anyOf": [{"pattern": "^a"}, {"pattern": "c$"}]},
        {"pattern": "^a", "anyOf": [{"format": "email"}, {"type": "null"}]},
    ],
    ids=str,
)
def test_what_fixes_a_text_counts_for_the_format_that_holds_with_it(schema):
    whole = {
        "properties": {"a": schema},
        "$defs": {"Email": {"format": "email"}, "Short": {"pattern": "^.{5}$"}},
    }
    assert not JsonFields(whole)({"a": "a@B.c"}, {"a": "a@b.c"}).passed
    assert JsonFields(whole, {"/a": {"format": "email"}})({"a": "a@B.c"}, {"a": "a@b.c"}).passed


def test_what_fixes_a_text_is_nothing_to_a_format_in_another_alternative():
    for other in ({"pattern": "^x"}, {"const": "none"}, {"allOf": [{"enum": ["none"]}]}):
        assert passes({"anyOf": [other, {"format": "email"}]}, "a@B.c", "a@b.c")
        assert not passes({"oneOf": [other, {"format": "date-time"}]}, "None", "none")
    then = {"if": {"minLength": 9}, "then": {"pattern": "^x"}}
    assert passes({"format": "email", **then}, "a@B.c", "a@b.c")
    assert not passes({"format": "email", **then, "else": {"pattern": "@"}}, "a@B.c", "a@b.c")


def test_members_of_schemas_that_hold_together_have_all_their_rules():
    email, pattern = (
        {"properties": {"m": {"format": "email"}}},
        {"properties": {"m": {"pattern": "a"}}},
    )
    for together in (
        {"allOf": [email, pattern]},
        {**email, "oneOf": [pattern]},
        {"items": {"allOf": [{"$ref": "#/$defs/Email"}, pattern]}, "$defs": {"Email": email}},
    ):
        output, reference = {"m": "a@B.c"}, {"m": "a@b.c"}
        if "items" in together:
            output, reference = [output], [reference]
        assert not JsonFields(together)(output, reference).passed
    assert JsonFields({"oneOf": [email, pattern]})({"m": "a@B.c"}, {"m": "a@b.c"}).passed


def test_a_number_is_an_integer_where_one_of_the_schemas_that_hold_says_so():
    near = 1.0000000001
    number, integer = {"type": "number"}, {"type": "integer"}
    assert not passes({"allOf": [number, integer]}, near, 1)
    assert not passes({**number, "anyOf": [integer, {"type": "null"}]}, near, 1)
    assert not passes({"anyOf": [integer, {"type": "string"}]}, near, 1)
    assert passes({"anyOf": [number, integer]}, near, 1)
    assert passes({"type": ["number", "integer"]}, near, 1)


@pytest.mark.parametrize("models", [31, 32, 200, 300])
def test_each_of_many_alternatives_has_its_rules(models):
    named = {f"M{n}": {"properties": {f"due{n}": {"format": "date-time"}}} for n in range(models)}
    schema = {"items": {"oneOf": [{"$ref": f"#/$defs/{name}"} for name in named]}, "$defs": named}
    for number in (0, models - 1):
        name = f"due{number}"
        assert JsonFields(schema)([{name: SAME}], [{name: MOMENT}]).passed


def expressions(kinds):
    """Give a schema of expressions of some kinds, each of which has another one in it."""
    of_kind = {
        f"K{kind}": {
            "properties": {
                "op": {"const": kind},
                "at": {"format": "date-time"},
                "child": {"$ref": "#/$defs/Any", "description": str(kind)},
                "children": {"items": {"anyOf": [{"$ref": f"#/$defs/K{n}"} for n in range(kinds)]}},
            }
        }
        for kind in range(kinds)
    }
    either = {"anyOf": [{"$ref": f"#/$defs/{name}"} for name in of_kind]}
    return {"$ref": "#/$defs/Any", "$defs": {"Any": either, **of_kind}}


@pytest.mark.parametrize(("kinds", "levels"), [(2, 130), (6, 100), (30, 20)])
def test_alternatives_that_contain_each_other_take_no_longer_further_in(kinds, levels):
    def nested(moment):
        value = {"op": 0, "at": moment}
        for level in range(levels):
            inside = {"child": value} if level % 2 else {"children": [value]}
            value = {"op": level % kinds, **inside}
        return value

    evaluator = JsonFields(expressions(kinds))
    output, reference = nested(SAME), nested(MOMENT)
    with at_most(5):  # 0.1 to 0.5; it doubled with each level
        assert evaluator(output, reference).passed


def test_schemas_that_pile_up_further_in_have_a_bound():
    """Each of these holds for its own children too, with one of all others."""
    count = 14
    both = {
        f"C{n}": {
            "type": "object",
            "properties": {"child": {"$ref": f"#/$defs/C{n}"}, f"at{n}": {"format": "date-time"}},
            "anyOf": [{"$ref": f"#/$defs/P{other}"} for other in range(count)],
        }
        for n in range(count)
    }
    one = {f"P{n}": {"properties": {"child": {"$ref": f"#/$defs/C{n}"}}} for n in range(count)}
    output, reference = ({f"at{n}": at for n in range(count)} for at in (SAME, MOMENT))
    for _ in range(12):
        output, reference = {"child": output}, {"child": reference}
    evaluator = JsonFields({"$ref": "#/$defs/C0", "$defs": {**both, **one}})
    with at_most(10):  # 1 s
        assert evaluator(output, reference).passed


# --- What the schema leaves to `defaults` --------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "output", "reference", "settings"),
    [
        ({"format": "date"}, "2024-01-05", "2024-01-06", {"similarity": 0.8}),
        ({"format": "date-time"}, MOMENT, "2024-01-05T10:00:01Z", {"similarity": 0.8}),
        ({"format": "email"}, "ann@e.org", "anne@e.org", {"similarity": 0.8}),
        ({"format": "uri"}, "http://e.com/A", "http://e.com/a", {"ignore_case": True}),
        ({"format": "uri"}, "http://e.com/a", " http://e.com/a", {"ignore_whitespace": True}),
        ({"format": "email"}, "ann@e.org", "bob@e.org", {"compare": lambda one, other: True}),
        ({"enum": ["1", "2"]}, 1, "1", {"coerce": True}),
        ({"const": "true"}, True, "true", {"coerce": True}),
        ({"pattern": "^[0-9]{3}$"}, 7, "007", {"coerce": True}),
        ({"type": "integer"}, "3", 3, {"coerce": True}),
        ({"type": "number", "multipleOf": 0.01}, 12.34, 15.0, {"tolerance": 5}),
        ({"type": "number", "multipleOf": 0.01}, 12.34, 12.5, {"relative_tolerance": 0.1}),
        ({"multipleOf": 0.01}, 12.34, 12.5, {"compare": lambda one, other: True}),
    ],
)
def test_defaults_change_nothing_that_the_schema_says(schema, output, reference, settings):
    assert not passes(schema, output, reference, defaults=settings)
    assert passes({}, output, reference, defaults=settings)
    assert passes(schema, output, reference, fields={"/a": settings})
    assert passes(schema, output, reference, fields={"": settings})


def test_defaults_say_what_the_schema_does_not():
    def never(output, reference):
        return False

    assert passes({"format": "date-time"}, SAME, MOMENT, defaults={"compare": never})
    assert passes({"type": "number"}, "3", 3, defaults={"coerce": True})
    assert passes({"type": "number", "multipleOf": 0.01}, "3", 3, defaults={"coerce": True})
    assert passes({"type": "number"}, 3.5, 3, defaults={"tolerance": 1})
    assert passes({"type": "string"}, "Harbor", "Harbour", defaults={"similarity": 0.8})
    either = {"anyOf": [{"format": "date"}, {"type": "number"}]}
    assert passes(either, 3.5, 3, defaults={"tolerance": 1})


# --- Paths of `fields` ---------------------------------------------------------------------------


def test_of_two_paths_the_longer_one_counts_then_the_one_with_more_names():
    near = {"a": {"b": {"c": 1}}}, {"a": {"b": {"c": 2}}}
    loose, exact = {"tolerance": 5}, {"tolerance": 0}
    assert not JsonFields(fields={"/a/b": loose, "/*/*/c": exact})(*near).passed
    assert JsonFields(fields={"/a/b": exact, "/*/*/c": loose})(*near).passed
    assert not JsonFields(fields={"/a/*/c": exact, "/*/*/c": loose})(*near).passed
    assert JsonFields(fields={"/a/*/c": exact, "/*/b/c": loose})(*near).passed


def test_an_order_is_that_of_one_array_where_it_is_set_and_of_all_by_default():
    document, other = {"a": [1, 2], "b": [[1, 2]]}, {"a": [2, 1], "b": [[2, 1]]}
    assert not JsonFields(fields=ANY_ORDER)(document, other).passed
    assert JsonFields(fields={"/a": ANY_ORDER[""], "/b/*": ANY_ORDER[""]})(document, other).passed
    assert not JsonFields(fields={"/a": ANY_ORDER[""], "/b": ANY_ORDER[""]})(document, other).passed
    assert JsonFields(defaults=ANY_ORDER[""])(document, other).passed


def test_a_weight_is_no_more_than_can_be_added_up():
    with pytest.raises(InvalidOptionError, match=r"weight=1e\+308 is not a number from 0"):
        JsonFields(fields={"": {"weight": 1e308}})
    assert JsonFields(fields={"": {"weight": 1e100}})([1, 2, 3], [1, 2, 4]).score == 2 / 3


# --- Where a value that matches two others need not leave these a match ---------------------------


@pytest.mark.parametrize(
    ("evaluator", "output", "reference", "score"),
    [
        (JsonFields(None, ANY_ORDER, {"similarity": 0}), ["ab", "aba"], ["aba", "ba"], 2 / 3),
        (JsonFields(None, ANY_ORDER, {"similarity": 0.01}), ["ab", "aba"], ["aba", "ba"], 2 / 3),
        (
            JsonFields(
                {"anyOf": [{"type": "array", "uniqueItems": True}, {"type": "integer"}]},
                defaults={"tolerance": 1},
            ),
            [1, 2],
            [2, 3],
            1.0,
        ),
        (
            JsonFields({"enum": [1]}, {**ANY_ORDER, "/*": {"tolerance": 1}}),
            [1, 2],
            [2, 3],
            1.0,
        ),
    ],
)
def test_equal_items_are_no_pair_where_another_gives_more(evaluator, output, reference, score):
    assert evaluator(output, reference).score == pytest.approx(score)
