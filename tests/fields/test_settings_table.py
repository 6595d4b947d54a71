"""The rows of the guide's table of settings."""

import pytest

from llmeval_integrations import JsonFields

ROWS = [
    ({"ignore": True}, 1, "x", True),
    ({"tolerance": 0.01}, 12.5, 12.51, True),
    ({"tolerance": 0.01}, 12.5, 12.52, False),
    ({"tolerance": 0.01}, "12.5", 12.5, False),
    ({"relative_tolerance": 0.1}, 110, 100, True),
    ({"relative_tolerance": 0.1}, 111, 100, False),
    ({"multiple_of": 5}, 101, 100, True),
    ({"multiple_of": 5}, 103, 100, False),
    ({"similarity": 0.9}, "Harbor Ltd", "Harbour Ltd", True),
    ({"similarity": 0.9}, "Haven Ltd", "Harbour Ltd", False),
    ({"ignore_case": True}, "ACME", "Acme", True),
    ({"ignore_whitespace": True}, " a\n b ", "a b", True),
    ({"ignore_whitespace": True}, "ab", "a b", False),
    ({"normalize_unicode": True}, "\ufb01ne", "fine", True),
    ({"normalize_unicode": True}, "E", "e", False),
    ({"format": "date"}, "2024-01-05", "2024-01-05", True),
    ({"format": "date"}, "05.01.2024", "2024-01-05", False),
    ({"coerce": True}, "5", 5, True),
    ({"coerce": True}, "true", True, True),
    ({"coerce": True}, "1,250.50", 1250.5, False),
    ({"coerce": True}, "5", "5.0", False),
    ({"coerce": True, "tolerance": 0.01}, "1250.50", "1250.5", True),
    ({"coerce": True, "tolerance": 0.01}, "1250.60", "1250.5", False),
    ({"compare": lambda output, reference: output[:3] == reference[:3]}, "abcd", "abcx", True),
    ({"compare": lambda output, reference: output[:3] == reference[:3]}, "xbcd", "abcx", False),
    ({"order": "any_order"}, [3, 1, 2], [1, 2, 3], True),
    ({"order": "any_order"}, [1, 2], [1, 2, 3], False),
    ({"key": "sku"}, [{"sku": "B"}, {"sku": "A"}], [{"sku": "A"}, {"sku": "B"}], True),
    ({"key": "sku"}, [{"sku": "B"}, {"sku": "C"}], [{"sku": "A"}, {"sku": "B"}], False),
]


@pytest.mark.parametrize(("settings", "output", "reference", "matches"), ROWS)
def test_a_setting_matches_what_the_table_says(settings, output, reference, matches):
    evaluator = JsonFields(fields={"/a": settings})
    assert evaluator({"a": output}, {"a": reference}).passed is matches


def test_a_weight_counts_as_often_as_it_says():
    evaluator = JsonFields(fields={"/id": {"weight": 3}})
    assert evaluator({"id": 1, "a": 2}, {"id": 1, "a": 3}).score == 0.75


@pytest.mark.parametrize("value", [9, "x", None, [1, {"a": 2.0}], {"a": []}], ids=str)
def test_a_function_is_not_asked_of_what_is_equal(value):
    evaluator = JsonFields(fields={"/a": {"compare": lambda one, other: 0}})
    assert evaluator({"a": value}, {"a": value}).passed
    assert evaluator({"a": 9.0}, {"a": 9}).passed
    assert evaluator({"a": [9.0, 1]}, {"a": [9, 1.0]}).passed
    assert not evaluator({"a": True}, {"a": 1}).passed
