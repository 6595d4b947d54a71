"""Which fields of an extraction are right: outcomes, figures, reasons, options."""

import json
from itertools import permutations

import pytest

from llmeval_integrations import (
    InvalidOptionError,
    InvalidReferenceError,
    JsonEditDistance,
    JsonEquality,
    JsonFields,
    JsonMatch,
    MissingFieldError,
    Sample,
    evaluate,
)

INVOICE = {"id": "INV-2024-001", "vendor": "Harbour Ltd", "total": 12.5, "paid": True, "note": None}
WIDE = {f"k{n}": n for n in range(40)}
ALL = {"nulls": "values", "empty": "values"}
"""The options by which every value is a leaf."""


def kinds(result):
    """Give the differences as `{pointer: kind}`."""
    return {
        outcome["pointer"]: outcome["kind"]
        for outcome in result.metadata["outcomes"]
        if outcome["kind"] != "match"
    }


def test_outcomes_hold_both_values_and_where_they_are():
    output = {"items": [{"sku": "a/b", "price": 1}, {"sku": "c"}]}
    reference = {"items": [{"sku": "a/b", "price": 2}], "b": {"c": 7}}
    result = JsonFields()(output, reference)
    assert result.metadata["outcomes"] == [
        {"pointer": "/items/0/price", "field": "/items/*/price", "kind": "mismatch", "output": 1, "reference": 2},
        {"pointer": "/items/1/sku", "field": "/items/*/sku", "kind": "extra", "output": "c", "within": "/items/1"},
        {"pointer": "/b/c", "field": "/b/c", "kind": "missing", "reference": 7, "within": "/b"},
    ]  # fmt: skip
    assert result.metadata["fields"] == {
        "/items/*/sku": {"match": 1, "extra": 1},
        "/items/*/price": {"mismatch": 1},
        "/b/c": {"missing": 1},
    }
    assert result.reason == "/items/0/price 1, expected 2; /items/1 extra; /b missing"
    assert result.label == "mismatch"


def test_an_output_that_is_no_json_misses_every_field():
    result = JsonFields(threshold=0)('{"id": ', INVOICE)
    assert (result.score, result.passed, result.label) == (0.0, False, "truncated")
    assert set(kinds(result).values()) == {"missing"}
    assert (result.metadata["recall"], result.metadata["precision"]) == (0.0, None)
    assert len(result.metadata["fields"]) == len(INVOICE) - 1  # null is left out
    assert result.metadata["unreadable"] is True
    assert kinds(JsonFields(nulls="values")("{", {"a": None, "b": 1})) == {
        "/a": "missing",
        "/b": "missing",
    }


# --- Reasons -------------------------------------------------------------------------------------

THREE = {"a": 1, "b": 1, "c": 1}
OTHERS = {"a": 2, "b": 2, "c": 2}


@pytest.mark.parametrize(
    ("output", "reference", "reason"),
    [
        ({"a": None}, {"a": {"b": 1, "c": 2}}, '/a null, expected {"b":1,"c":2}'),
        ({"d": 1}, {"a": {"b": 1, "c": 2}, "d": 1}, "/a missing (2 fields)"),
        ({"a": {"b": 1, "c": 2}}, {"a": []}, '/a {"b":1,"c":2}, expected []'),
        ({"a": [1, 2]}, {"a": {"b": 1}}, "/a extra (2 fields); /a missing"),
        ([1, 2, 3], {"a": 1, "b": 2}, "the whole extra (3 fields); the whole missing (2 fields)"),
        ({"a\n\x1b[31m": 1}, {"a\n\x1b[31m": 2}, "/a\n\x1b[31m 1, expected 2"),
        # what costs most comes first, also where it is many fields or a value in their place
        (THREE, {**OTHERS, "items": WIDE}, "/items missing (40 fields); /a 1, expected 2; /b 1, expected 2; and 1 more"),
        ({**THREE, "i": [1, 2]}, {**OTHERS, "i": "x"}, '/i [1,2], expected "x"; /a 1, expected 2; /b 1, expected 2; and 1 more'),
    ],
)  # fmt: skip
def test_the_reason_says_each_thing_once(output, reference, reason):
    assert JsonFields(**ALL)(output, reference).reason == reason
    for evaluator in (JsonMatch(), JsonEquality()):
        with pytest.raises(AssertionError) as raised:  # a terminal shows it
            evaluator.assert_passes(output, reference)
        assert str(raised.value).isprintable()


# --- A document beside its own copy --------------------------------------------------------------


def test_functions_may_change_what_they_are_given():
    def without_id(output, reference):
        return output.pop("id") == reference.pop("id") and output == reference

    text = '{"id": 1, "y": 2}'
    evaluators = {
        "by id": JsonFields(fields={"": {"compare": without_id}}),
        "all": JsonFields(),
        "operator": JsonEquality(operator=without_id),
        "canonicalize": JsonEditDistance(canonicalize=lambda value: str(value.pop("id"))),
    }
    document = json.loads(text)
    for sample in (Sample(text, text), Sample(document, text)):
        for names in permutations(evaluators):
            run = evaluate([sample], {name: evaluators[name] for name in names})
            assert [(row.passed, row.error) for row in run.rows] == [(True, None)] * 4
    assert document == json.loads(text)


# --- Schemas, names, options ---------------------------------------------------------------------


def test_a_model_and_its_objects_are_schema_and_reference():
    pydantic = pytest.importorskip("pydantic")
    model = pydantic.create_model("Entry", price=(float, ...), note=(str | None, None))
    assert JsonFields(model)({"price": 0.1 + 0.2}, model(price=0.3)).passed
    values = JsonFields(model, nulls="values")
    assert values({"price": 0.3}, model(price=0.3)).reason == "/note missing"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"tolerence": 1},
            r"fields\['/a'\]: 'tolerence' is not a setting; did you mean 'tolerance'",
        ),
        ({"text": "lose"}, "text='lose' is not 'loose' or None"),
        (
            {"min_similarity": 2},
            "min_similarity=2 is not a finite number, at least 0, at most 1, or None",
        ),
        ({"order": "ordered", "min_similarity": 0.5}, "min_similarity=0.5 has no effect with"),
        ({"tolerance": -1}, "tolerance=-1 is not a finite number, at least 0"),
        ({"format": "iban"}, "format='iban' is not one of 'date', "),
        ({"order": "random"}, "order='random' is not one of 'ordered', 'aligned', "),
        ({"order": "by_key"}, "order='by_key' needs the key"),
        ({"pattern": "("}, r"pattern='\(' is not a regular expression: missing"),
        (
            {"compare": "equal"},
            "compare='equal' is not the name of a function such as 'module:function'",
        ),
        ({"compare": "operator:equals"}, "compare='operator:equals' cannot be imported: Attr"),
        ({"ignore": 1}, "ignore=1 is not True or False"),
    ],
)
def test_a_wrong_setting_is_named(settings, message):
    with pytest.raises(InvalidOptionError, match=message):
        JsonFields(fields={"/a": settings})


def test_a_function_is_imported_from_a_module_of_any_name(tmp_path, monkeypatch):
    (tmp_path / "my-rules.py").write_text("def same(one, other):\n    return one[0] == other[0]\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert JsonFields(fields={"/a": {"compare": "my-rules:same"}})({"a": "xy"}, {"a": "xz"}).passed


def test_bad_options_and_bad_calls_raise():
    for options in ({"defaults": {"nonsense": 1}}, {"fields": []}, {"threshold": 2}):
        with pytest.raises(InvalidOptionError, match="|".join(options)):
            JsonFields(**options)
    with pytest.raises(MissingFieldError):
        JsonFields()("{}")
    with pytest.raises(InvalidReferenceError):
        JsonFields()("{}", "{")
    two = JsonFields(fields={"/a": {"compare": lambda one, other: 2}})
    with pytest.raises(InvalidOptionError, match="compare returned 2"):
        two({"a": 1}, {"a": 2})


def as_number(output, reference):
    return float(output) == reference


@pytest.mark.parametrize(
    ("options", "where"),
    [
        ({"fields": {"/a/*/n": {"compare": as_number}}}, "fields['/a/*/n']"),
        ({"defaults": {"compare": as_number}}, "defaults, at '/a/*/n'"),
        ({"fields": {"/a": {"key": "n"}, "/a/*/n": {"compare": as_number}}}, "fields['/a/*/n']"),
    ],
    ids=["a field's", "the default", "a key's"],
)
def test_what_a_function_of_the_callers_raises_says_where_and_for_what(options, where):
    evaluator = JsonFields(**options)
    with pytest.raises(InvalidOptionError) as raised:
        evaluator({"a": [{"n": "1,250.50"}]}, {"a": [{"n": 1250.5}]})
    assert str(raised.value) == (
        f"{where}: compare raised ValueError: could not convert string to float: '1,250.50', "
        "for '1,250.50' and 1250.5"
    )
    assert isinstance(raised.value.__cause__, ValueError)
