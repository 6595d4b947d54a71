"""Evaluators by name: ours, and those that other packages name by entry point."""

import sys

import pytest

from llmeval_integrations import (
    InvalidOptionError,
    JsonMatch,
    JsonSchema,
    UnknownNameError,
    list_evaluators,
    load_evaluator,
)
from llmeval_integrations import __all__ as public
from llmeval_integrations.core.catalog import evaluator_class


def test_a_name_stands_for_the_public_class_of_that_name_and_an_alias_for_the_same():
    names = list_evaluators()
    assert names == sorted(set(names))
    assert {"json_match", "regex_match", "safety"} <= set(names)
    kinds = {name: evaluator_class(name) for name in names}
    assert [kind.name for kind in kinds.values()] == names
    assert {kind.__name__ for kind in kinds.values() if not kind.is_judge} <= {*public}
    assert load_evaluator("json_match", strict_order=False) == JsonMatch(strict_order=False)
    assert type(load_evaluator("json_schema_validation")) is JsonSchema
    assert "json_schema_validation" not in names


ALL = f"there are {', '.join(list_evaluators())}"


@pytest.mark.parametrize(
    ("name", "hint"), [("json_macth", "did you mean 'json_match'?"), ("", ALL), (None, ALL)]
)
def test_an_unknown_name_is_an_error_that_names_the_nearest_or_all(name, hint):
    with pytest.raises(UnknownNameError) as raised:
        load_evaluator(name)
    assert str(raised.value) == f"no evaluator is called {name!r}; {hint}"


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("json_match", {"order": True}, "json_match has no option 'order'; it has strict_order, "),
        ("json_fields", {"treshold": 1}, "'treshold'; did you mean 'threshold'\\? it has schema, "),
        ("json_match", {"strict_order": 1}, "strict_order=1 is not True or False"),
        ("python_type", {}, "python_type needs the option expected_type"),
    ],
)
def test_a_wrong_option_is_an_error_that_names_it(name, options, said):
    with pytest.raises(InvalidOptionError, match=said):
        load_evaluator(name, **options)


# --- other packages ----------------------------------------------------------------------------

MODULE = """
from dataclasses import dataclass
from llmeval_integrations import Evaluator, Result

@dataclass(frozen=True)
class Longer(Evaluator):
    than: int = 3
    def check(self, sample):
        return Result(len(sample.output) > self.than, len(sample.output) > self.than)

class Plain(Evaluator):
    def __init__(self, score=1):
        self.score = score
    def check(self, sample):
        return Result(self.score, True)

def function(sample):
    return 1
"""
ENTRY_POINTS = """
[llmeval_integrations.evaluators]
longer = other_evaluators:Longer
plain = other_evaluators:Plain
function = other_evaluators:function
abstract = llmeval_integrations:Evaluator
nothing = other_evaluators:Nothing
nowhere = no_such_module:Longer
json_match = other_evaluators:Longer
"""


@pytest.fixture
def other_package(tmp_path, monkeypatch):
    """Install a package that names its evaluators by entry points."""
    (tmp_path / "other_evaluators.py").write_text(MODULE)
    info = tmp_path / "other_evaluators-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other-evaluators\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "other_evaluators", raising=False)


@pytest.mark.usefixtures("other_package")
def test_evaluators_of_other_packages_are_found_by_entry_point_and_their_faults_named():
    names = list_evaluators()
    assert {"longer", "plain"} <= {*names}
    assert names.count("json_match") == 1
    assert "other_evaluators" not in sys.modules  # for a list of names nothing is imported
    assert load_evaluator("longer", than=4)("abcd").score is False
    assert load_evaluator("plain")("abcd").score == 1
    assert load_evaluator("plain", score=2)("abcd").score == 2
    assert type(load_evaluator("json_match")) is JsonMatch
    with pytest.raises(InvalidOptionError, match="longer has no option 'n'; it has than"):
        load_evaluator("longer", n=1)
    for name, said in {
        "function": "'function' names <function",
        "abstract": "'abstract' names <class",
        "nothing": "'nothing' names other_evaluators:Nothing",
        "nowhere": "'nowhere' names no_such_module:Longer: No",
        "lonegr": "did you mean 'longer'",
    }.items():
        with pytest.raises(UnknownNameError, match=said):
            load_evaluator(name)
