"""Sections, dots and line ends, beside the libraries that have them."""

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pace import at_most

from llmeval_integrations import EvalError, InputError, InvalidOptionError, MissingFieldError
from llmeval_integrations.judges.prompts.filling import MAX_LENGTH, MAX_STEPS
from llmeval_integrations.judges.prompts.mustache import MAX_DEPTH
from llmeval_integrations.judges.prompts.prompt import Prompt


def filled(template, template_format=None, **variables):
    (message,) = Prompt(template, template_format).render(variables)
    assert message.role == "user"
    return message.content


@dataclasses.dataclass
class Box:
    inner: object


DATA = {
    "a": "<b> & 'c'",
    "m": {"k": "K", "deep": {"l": ["zero", {"x": "X"}]}, "0": "nil"},
    "l": ["x", "y"],
    "rows": [{"k": 1}, {"k": 2, "a": "own"}],
    "grid": [[1, 2], [3]], "yes": True, "no": False, "none": None, "zero": 0, "empty": [], "blank": "", "void": {},
}  # fmt: skip


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{{a}}", "<b> & 'c'"),
        ("{{m.k}} {{m.deep.l.0}} {{m.deep.l.1.x}} {{m.0}}", "K zero X nil"),
        ("{{m.deep.l}}", '["zero", {"x": "X"}]'),
        ("{{none}} {{no}}", "null false"),
        ("{{#l}}{{.}},{{/l}}", "x,y,"),
        ("{{#rows}}{{k}}{{a}};{{/rows}}", "1<b> & 'c';2own;"),
        ("{{#m}}{{k}}{{/m}}{{#m.deep}}{{l.0}}{{/m.deep}}", "Kzero"),
        ("{{#grid}}{{#.}}{{.}},{{/.}};{{/grid}}", "1,2,;3,;"),
        ("{{#yes}}{{a}}{{/yes}}{{#a}}{{.}}{{/a}}", "<b> & 'c'" * 2),
        ("".join(f"{{{{#{name}}}}}no{{{{/{name}}}}}" for name in ("no", "none", "zero", "empty", "blank", "void")), ""),
        ("".join(f"{{{{^{name}}}}}y{{{{/{name}}}}}" for name in ("no", "none", "zero", "empty", "blank", "void")), "yyyyyy"),
        ("{{^yes}}no{{/yes}}{{^l}}no{{/l}}", ""),
        ("{{#rows}}{{#a}}!{{/a}}{{#b}}b{{/b}}{{^b}}no b,{{/b}}{{/rows}}", "!no b,!no b,"),
        ("{{#m.none}}x{{/m.none}}{{#m.k.x}}x{{/m.k.x}}", ""),
        ("List:\n{{#l}}\n- {{.}}\n{{/l}}\nEnd", "List:\n- x\n- y\nEnd"),
        ("a\n  {{! alone }}  \nb {{! not }}\n", "a\nb \n"),
        ("a\r\n{{#yes}}\r\nb\r\n{{/yes}}\r\nc", "a\r\nb\r\nc"),
    ],
)  # fmt: skip
def test_sections_dots_and_line_ends(template, text):
    assert filled(template, "mustache", **DATA) == text


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{{m.x}}", "'m.x': m is of type dict"),
        ("{{m.deep.l.2}}", "m.deep.l.2"),
        ("{{m.deep.l.-1}}", "holds no name"),
        ("{{m.deep.l.append}}", "m.deep.l.append"),
        ("{{l." + "9" * 5_000 + "}}", "never reaches an attribute"),
        ("{{a.upper}}", "'a.upper': a is of type str"),
        ("{{a.__class__}}", "a.__class__"),
        ("{{box.inner}}", "Box; a dot walks mappings by key and lists by number"),
        ("{{#box}}{{inner}}{{/box}}", "no value for 'inner'; given: "),
        ("{{#rows}}{{b}}{{/rows}}", "no value for 'b'; given: "),
        ("{{#rows}}{{k.real}}{{/rows}}", "k is of type int"),
    ],
)
def test_a_dot_reaches_keys_and_items_and_nothing_else(template, message):
    with pytest.raises(EvalError) as error:
        filled(template, "mustache", **DATA, box=Box(1))
    assert message in str(error.value)
    assert " at 0x" not in str(error.value)


def test_a_function_among_the_values_is_not_called():
    for template in ("{{f}}", "{{#f}}x{{/f}}", "{{^f}}x{{/f}}", "{{#l}}{{.}}{{/l}}"):
        with pytest.raises(InputError, match="builtin_function_or_method"):
            filled(template, f=breakpoint, l=[breakpoint])


def test_sections_nest_up_to_the_limit():
    def nested(depth):
        return "{{#a}}" * depth + "{{.}}" + "{{/a}}" * depth

    assert filled(nested(MAX_DEPTH), a="x") == "x"
    with pytest.raises(InvalidOptionError, match=f"more than {MAX_DEPTH} sections"):
        Prompt(nested(MAX_DEPTH + 1))


@pytest.mark.once
@pytest.mark.parametrize(
    ("template", "value"),
    [
        ("{{#a}}" * 30 + "{{/a}}" * 30, [1] * 10),
        ("{{#a}}" * 3 + "{{/a}}" * 3, [""] * 1_000),
        ("{a}" * 1_001, "x" * (MAX_LENGTH // 1_000)),
        ("{{#x}}" + "{{a}}" * 50 + "{{/x}}", "x" * (MAX_LENGTH // 1_000)),
    ],
)
def test_a_text_that_sections_multiply_beyond_reason_is_not_made(template, value):
    with (
        at_most(30),
        pytest.raises(
            InputError,
            match=rf"{MAX_LENGTH} characters, or its sections have more than {MAX_STEPS}",
        ),
    ):
        filled(template, a=value, x=[0] * 100)


tags = st.sampled_from(
    ["{{a}}", "{{ b }}", "{{{a}}}", "{{&b}}", "{{m.k}}", "{{! c }}", "x", "\n", "  ", "\n  ", "{ ", '{"k": {"l": 1}}']
)  # fmt: skip
sections = st.recursive(
    st.lists(tags, max_size=5).map("".join),
    lambda inner: st.tuples(st.sampled_from(["t", "l", "m", "o", "f", "e"]), inner, inner, inner).map(
        lambda parts: "{1}{{{{#{0}}}}}x{2}{{{{/{0}}}}}{3}".format(*parts)
    ),
    max_leaves=8,
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(sections)
def test_as_chevron_and_langchain_render_ordinary_mustache(template):
    chevron = pytest.importorskip("chevron")
    langchain = pytest.importorskip("langchain_core.utils.mustache")
    template += "."  # they keep spaces behind a last tag that has its line for itself
    values = {"a": "A", "b": "{{a}} é", "t": True, "f": False, "e": [], "l": ["x", "y"], "m": {"k": "K", "a": "own"}, "o": [{"k": "1"}, {"a": "2"}]}  # fmt: skip
    text = filled(template, "mustache", **values)
    assert text == chevron.render(template, values) == langchain.render(template, values)


@pytest.mark.parametrize(
    ("template", "values", "ours", "theirs"),
    [
        ("{{a}}", {"a": "<&>"}, "<&>", "&lt;&amp;&gt;"),  # no HTML
        ("{{a}}", {"a": None}, "null", ""),
        ("{{a}}", {"a": True}, "true", "True"),
        ("{{{a}}}", {"a": {"k": "é"}}, '{"k": "é"}', "{'k': 'é'}"),
        ("{{a}}", {}, MissingFieldError, ""),
        ("{{a.b}}", {"a": {}}, MissingFieldError, ""),
        ("{{#l}}{{a}}{{/l}}", {"l": [0], "a": "A"}, "A", ""),
        ("{{#l}}{{^l}}x{{/l}}y{{/l}}{{t}}", {"l": [1], "t": "T"}, "yT", IndexError),
        ("{{#t}}x\n{{/t}}  ", {"t": "T"}, "x\n", "x\n  "),
    ],
)
def test_where_we_differ_from_chevron(template, values, ours, theirs):
    chevron = pytest.importorskip("chevron")
    for render, expected in (
        (lambda: filled(template, "mustache", **values), ours),
        (lambda: chevron.render(template, values), theirs),
    ):
        if isinstance(expected, str):
            assert render() == expected
        else:
            with pytest.raises(expected):
                render()
