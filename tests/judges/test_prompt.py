"""Prompts: variables, text, values, and what no template may do."""

import datetime
import enum
import pickle
import types

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmeval_integrations import InputError, InvalidOptionError, MissingFieldError
from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.judges import Message, Prompt


def filled(template, template_format=None, **variables):
    (message,) = Prompt(template, template_format).render(variables)
    assert message.role == "user"
    return message.content


def agree(text, template, **variables):
    """Whether a template gives this text, or the error that this is a part of."""
    try:
        return filled(template, **variables) == text
    except (InputError, MissingFieldError) as error:
        return text in str(error) and " at 0x" not in str(error)


SYNTAXES = [
    # template, syntax, variables, text where each variable is worth its own name in capitals
    ("{a} {b} {a}", "f-string", ("a", "b"), "A B A"),
    ("{ a } {two words} {with-hyphen} {ü1}", "f-string", ("a", "two words", "with-hyphen", "ü1"), "A TWO WORDS WITH-HYPHEN Ü1"),
    ('{"a": {"b": {"c": {a}}}}', "f-string", ("a",), '{"a": {"b": {"c": A}}}'),
    ('{{"q": {{"r": {a}}}}}', "f-string", ("a",), '{"q": {"r": A}}'),
    ("{label: 'good' or 'bad'}", "f-string", (), "{label: 'good' or 'bad'}"),
    (r"{} {0} \d{3} {a, b} {Pass|Fail} {...} { } {", "f-string", (), r"{} {0} \d{3} {a, b} {Pass|Fail} {...} { } {"),
    ("{{a}} {{ b }} {{a}}", "mustache", ("a", "b"), "A B A"),
    ("{{a}} {x} {x.y} {x:9} {label: 1}", "mustache", ("a",), "A {x} {x.y} {x:9} {label: 1}"),
    ("{{{a}}} {{&b}} {{& c }}", "mustache", ("a", "b", "c"), "A B C"),
    ('{"a": {"b": {{a}}}}', "mustache", ("a",), '{"a": {"b": A}}'),
]  # fmt: skip


@pytest.mark.parametrize(("template", "syntax", "variables", "text"), SYNTAXES)
def test_what_is_a_variable_and_what_is_text(template, syntax, variables, text):
    given = {name: name.upper() for name in variables}
    for prompt in (Prompt(template), Prompt(template, syntax)):
        assert prompt.variables == variables
        assert prompt.render(given) == [Message("user", text)]


def test_the_syntax_can_be_set():
    assert filled("{{a}} {b}", "f-string", b="B") == "{a} B"
    assert filled("{{a}} {b}", "mustache", a="A") == filled("{{a}} {b}", a="A") == "A {b}"
    with pytest.raises(InvalidOptionError, match="'f-string', 'mustache' or None"):
        Prompt("{a}", "jinja2")
    with pytest.raises(InvalidOptionError, match="the prompt is built already"):
        Prompt(Prompt("{name}"), "mustache")


@pytest.mark.parametrize(
    ("reason", "templates"),
    [
        ("message 1, line 1, column 4: {x.__class__} is not a name; a template only names", ["ab {x.__class__}"]),
        ("line 3, column 2: ", ["\n\n {x.a.b}", "{{a}}\n\n {{b"]),
        ("line 1, column 1: .* is not a name", ["{x[0]}", "{ x!r}", "{x:>900000000}", "{x:{y}}"]),
        ("line 1, column 1: .* is not a name; a tag only names its variable", ["{{#a}}x{{/a}}", "{{^ a }}", "{{! a }}", "{{>/etc/passwd}}", "{{=<% %>=}}"]),
        ("line 1, column 6: .* is not a name", ["{{a}}{{x[0]}}", "{{a}}{{x | upper}}", "{{a}}{{f(x)}}", "{{a}}{{}}"]),
        ("line 1, column 6: .* not closed", ["{{a}}{{b", "{{a}}{{b}"]),
        ("is not a text or a list of messages", [b"text"]),
        ("has no message", [[]]),
        ("missing required field `content`", [[{"role": "user"}]]),
        (r"'human' - at `\$\[1\]\.role`", [[Message("user", "x"), each] for each in ({"role": "human", "content": "x"}, Message("human", "x"))]),
        ("length >= 1", [[{"role": "user", "content": []}], [Message("user", ())]]),
        ("unknown field `cache_control`", [[{"role": "user", "content": [{"type": "text", "text": "x", "cache_control": {}}]}]]),
        ("image", [[{"role": "user", "content": [{"type": "image_url", **more}]}] for more in ({}, {"image_url": "https://a/b.png"})]),
    ],
)  # fmt: skip
def test_what_is_no_template_says_where_and_why(reason, templates):
    for template in templates:
        with pytest.raises(InvalidOptionError, match=reason):
            Prompt(template)


@pytest.mark.parametrize("template", ["{a}, {c}", "{{a}}, {{c}}"])
def test_a_missing_variable_is_named_beside_those_given(template):
    for values in ({"b": 1, "c": 2}, {"b": 1, "c": 2, "a": MISSING}):
        with pytest.raises(MissingFieldError, match="no value for 'a'; given: 'b', 'c'"):
            Prompt(template).render(values)
    with pytest.raises(InputError, match="mapping"):
        Prompt(template).render([("a", 1)])


# --- values ---------------------------------------------------------------------------------------

any_text = st.text(st.characters()) | st.text("{}ab#/^!> .\n", max_size=30)


@settings(max_examples=150, deadline=None)
@given(any_text, any_text)
def test_values_come_out_as_they_went_in(a, b):
    assert filled("<{a}|{b}>{a}", a=a, b=b) == f"<{a}|{b}>{a}"
    assert filled("<{{a}}|{{{b}}}>{{&a}}", a=a, b=b) == f"<{a}|{b}>{a}"


class Colour(str, enum.Enum):
    RED = "red"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        ("é\ud800", "é\ud800"),
        (types.MappingProxyType({"b": ["é", {"a": None}]}), '{"b": ["é", {"a": null}]}'),
        (Colour.RED, "red"),
        (datetime.date(2024, 2, 3), '"2024-02-03"'),
        (object(), "of type object,"),
        (b"bytes", "of type bytes,"),
        (iter([]), "of type list_iterator,"),
        (float("nan"), "of type float,"),
    ],
)
def test_what_is_not_text_is_written_as_json_or_an_error_that_names_its_type(value, text):
    for template in ("{a}", "{{a}}", "{{b.0}}"):
        assert agree(text, template, a=value, b=[value])


def test_pydantic_models_and_numpy_are_written_as_json():
    pydantic, numpy = pytest.importorskip("pydantic"), pytest.importorskip("numpy")
    model = pydantic.create_model("Model", name=(str, pydantic.Field(alias="Name")))
    assert filled("{a}", a=[model(Name="é")]) == '[{"Name": "é"}]'
    assert filled("{a}", a={"x": numpy.arange(2), "y": numpy.int64(3)}) == '{"x": [0, 1], "y": 3}'


def test_messages_of_a_library_are_written_without_their_ids():
    messages = pytest.importorskip("langchain_core.messages")
    call = {"name": "add", "args": {"a": 0}, "id": "c1", "type": "tool_call"}
    asked = messages.HumanMessage("Add.", id="run-1")
    called = messages.AIMessage("", id="run-2", tool_calls=[call])
    written = filled("{a}", a=[asked, called])
    assert written.startswith('[{"content": "Add.", "type": "human"}, {"type": "ai", ')
    assert ("run-" in written, '"args": {"a": 0}' in written) == (False, True)


VALUES = {
    "m": {"k": "K", "l": ["zero", {"x": "X"}], "0": "nil"},
    "box": types.SimpleNamespace(inner=1),
    "f": breakpoint,
}


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{{m.k}} {{m.l.0}} {{m.l.1.x}} {{m.0}} {{m.l}}", 'K zero X nil ["zero", {"x": "X"}]'),
        ("{{m.x}}", "no value for 'm.x'"),
        ("{{m.l.2}}", "no value for 'm.l.2'"),
        ("{{box.inner}}", "a dot reaches keys and items, never an attribute"),
        ("{{f}}", "builtin_function_or_method"),
    ],
)
def test_dots_reach_keys_and_items_and_no_function_is_called(template, text):
    assert agree(text, template, **VALUES)


# --- messages -------------------------------------------------------------------------------------


def test_messages_keep_their_roles_parts_and_order():
    prompt = Prompt(
        [
            {"role": "system", "content": "You judge {topic}."},
            {"role": "user", "content": [{"type": "text", "text": "Q: {q}"}, {"type": "text", "text": "A: {a}"}]},
            Message("assistant", "Yes."),
            Message("user", ("{topic}", "again")),
        ]
    )  # fmt: skip
    assert prompt.variables == ("topic", "q", "a")
    for each in (prompt, Prompt(prompt), pickle.loads(pickle.dumps(prompt))):  # noqa: S301
        assert each == prompt
        assert each.render({"topic": "cats", "q": "why", "a": {"x": 1}}) == [
            Message("system", "You judge cats."),
            Message("user", ("Q: why", 'A: {"x": 1}')),
            Message("assistant", "Yes."),
            Message("user", ("cats", "again")),
        ]
