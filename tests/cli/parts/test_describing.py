"""What an evaluator needs and takes is known before one is built."""

from dataclasses import dataclass, field, make_dataclass

import pytest

from llmeval_integrations import JsonMatch, JsonValidity, RegexMatch, list_evaluators
from llmeval_integrations.cli.describe import describe, write_long, write_short
from llmeval_integrations.core.catalog import evaluator_class


@dataclass(frozen=True)
class Strange(JsonMatch):
    """Is it strange?

    Only where it must be.
    """

    words: list = field(default_factory=lambda: ["a"])
    """The words,
    all of them."""

    plain: int = 3


def test_a_description_says_what_the_class_says():
    found = describe(Strange)
    assert (found.name, found.needs) == ("strange", ("reference",))
    assert (found.summary, found.documentation) == ("Is it strange?", "Only where it must be.")
    options = {option.name: option for option in found.options}
    assert list(options) == ["strict_order", "ignore_extra_keys", "parsing", "words", "plain"]
    assert options["strict_order"].documentation == "Whether the order of array items counts."
    assert options["parsing"].type == "'strict' | 'markdown' | 'lenient'"
    assert (options["words"].default, options["words"].documentation) == (
        ["a"],
        "The words, all of them.",
    )
    assert (options["plain"].default, options["plain"].documentation) == (3, "")


@pytest.mark.parametrize(
    ("kind", "needs", "heading"),
    [
        (JsonValidity, (), "json_validity"),
        (JsonMatch, ("reference",), "json_match  needs reference"),
        (
            RegexMatch,
            ("reference",),
            "regex_match  needs reference, unless options say otherwise",
        ),
    ],
)
def test_needs_are_those_of_an_evaluator_without_options(kind, needs, heading):
    assert describe(kind).needs == needs
    assert write_short(describe(kind)).splitlines()[0] == heading


@pytest.mark.parametrize("name", list_evaluators())
def test_every_evaluator_describes_itself_and_each_of_its_options(name):
    found = describe(evaluator_class(name))
    assert found.name == name
    assert found.summary.endswith("?")
    assert all(option.documentation and option.type for option in found.options)
    assert found.summary in write_short(found)
    for option in found.options:
        assert f"{option.name}: {option.type}" in write_long(found)


def test_an_option_without_a_default_is_needed():
    [option] = describe(evaluator_class("python_type")).options
    assert (option.required, option.default) == (True, None)
    assert "(needed)" in write_long(describe(evaluator_class("python_type")))


def test_a_class_made_where_there_is_no_source_is_described_too():
    made = make_dataclass("Made", [("x", int, 1)], bases=(JsonMatch,), frozen=True)
    option = describe(made).options[-1]
    assert (option.name, option.type, option.default, option.documentation) == ("x", "int", 1, "")
    assert describe(made).options[0].documentation == "Whether the order of array items counts."
