"""Prompts: which syntax, what is a variable, what stays text, and what no template may do."""

import json
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pace import at_most

from llmeval_integrations import EvalError, InvalidOptionError, MissingFieldError
from llmeval_integrations.judges.prompts.prompt import Prompt
from llmeval_integrations.llm.messages import Message


def filled(template, template_format=None, **variables):
    (message,) = Prompt(template, template_format).render(variables)
    assert message.role == "user"
    return message.content


SINGLE_JSON = """
Question: {question}
Answer: {answer}

Reply in this form:
{
  "why": "...",
  "nested": {"label": "good", "more": {"empty": {}, "list": [{}]}},
  "verdict": "Pass"
}
"""
DOUBLED_JSON = """
    Question: {question}
    Answer: {answer}
    Reply in this form:
    {{
        "why": "...", "nested": {{"label": "{answer}"}},
        "verdict": "Pass"
    }}
    """
MUSTACHE_JSON = """
Question: {{question}}
Answer: {{ answer }}
Reply in this form: {"why": "...", "nested": {"label": "good"}, "literal": "{x}"}
"""


@pytest.mark.parametrize(
    ("template", "syntax", "text"),
    [
        (SINGLE_JSON, "f-string", SINGLE_JSON.replace("{question}", "Q").replace("{answer}", "A")),
        (
            DOUBLED_JSON,
            "f-string",
            DOUBLED_JSON.replace("{{", "{").replace("}}", "}")
            .replace("{question}", "Q").replace("{answer}", "A"),
        ),
        (
            MUSTACHE_JSON,
            "mustache",
            MUSTACHE_JSON.replace("{{question}}", "Q").replace("{{ answer }}", "A"),
        ),
    ],
    ids=["f-string, JSON as it is", "f-string, JSON in doubled braces", "mustache"],
)  # fmt: skip
def test_a_template_with_json_in_it_works_in_either_syntax(template, syntax, text):
    prompt = Prompt(template)
    assert (prompt.syntax, prompt.variables) == (syntax, ("question", "answer"))
    assert prompt.render({"question": "Q", "answer": "A"}) == [Message("user", text)]


TOLD = [
    # template, syntax, variables, text where each variable is worth its own name in capitals
    ("", "f-string", (), ""),
    ("no variable", "f-string", (), "no variable"),
    ("{a} {b} {a}", "f-string", ("a", "b"), "A B A"),
    ("{ a }", "f-string", ("a",), "A"),
    ("{two words} {with-hyphen} {_x} {ü1}", "f-string", ("two words", "with-hyphen", "_x", "ü1"), "TWO WORDS WITH-HYPHEN _X Ü1"),
    ('{"label": 1} {a}', "f-string", ("a",), '{"label": 1} A'),
    ("{'label': 1}", "f-string", (), "{'label': 1}"),
    ('{"a": {"b": {"c": {a}}}}', "f-string", ("a",), '{"a": {"b": {"c": A}}}'),
    ('{"a":{"b":1}}', "f-string", (), '{"a":{"b":1}}'),
    ('{"a":{"b":"}}"}}', "f-string", (), '{"a":{"b":"}}"}}'),
    ('[{{"a": {"b": 1}}}, {"c": {"d": {a}}}]', "f-string", ("a",), '[{"a": {"b": 1}}, {"c": {"d": A}}]'),
    ('{{"q": {a}}}', "f-string", ("a",), '{"q": A}'),
    ("{label: 'good' or 'bad'}", "f-string", (), "{label: 'good' or 'bad'}"),
    ("{label:\n  good}", "f-string", (), "{label:\n  good}"),
    (r"{} {0} {12} \d{3} {a, b} {Pass|Fail} {...} { } {", "f-string", (), r"{} {0} {12} \d{3} {a, b} {Pass|Fail} {...} { } {"),
    ("}} {a} }", "f-string", ("a",), "}} A }"),
    ("{{}} {{ }} {a}", "f-string", ("a",), "{} { } A"),
    ("{{a", "f-string", (), "{a"),
    ("{{a}} {{ b }} {{a}}", "mustache", ("a", "b"), "A B A"),
    ("{{two words}} {{with-hyphen}}", "mustache", ("two words", "with-hyphen"), "TWO WORDS WITH-HYPHEN"),
    ("{{a}} {x} {x.y} {x:9} {label: 1}", "mustache", ("a",), "A {x} {x.y} {x:9} {label: 1}"),
    ("{{{a}}} {{&b}} {{& c }}", "mustache", ("a", "b", "c"), "A B C"),
    ('{"a": {"b": {{a}}}}', "mustache", ("a",), '{"a": {"b": A}}'),
    ("{{! not said }}{{a}}", "mustache", ("a",), "A"),
    ("{{#a}}{{.}}{{.}}{{/a}}{{^b}}{{c}}{{/b}}", "mustache", ("a", "b"), "AA"),
]  # fmt: skip


@pytest.mark.parametrize(("template", "syntax", "variables", "text"), TOLD)
def test_what_is_a_variable_and_what_is_text(template, syntax, variables, text):
    prompt = Prompt(template)
    assert (prompt.syntax, prompt.variables) == (syntax, variables)
    given = {name: name.upper() for name in variables}
    assert prompt.render(given) == [Message("user", text)]
    assert Prompt(template, syntax).render(given) == [Message("user", text)]


def test_the_syntax_can_be_set():
    assert filled("{{a}} {b}", "f-string", b="B") == "{a} B"
    assert filled("{{a}} {b}", "mustache", a="A", b="B") == "A {b}"
    assert filled("{{{a}}}", "f-string", a="A") == "{A}"
    assert filled("{{> a}}", "f-string") == "{> a}"
    assert filled("{a}", "mustache", a="A") == "{a}"
    for wrong in ("jinja2", "", 1, ["mustache"]):
        with pytest.raises(InvalidOptionError, match="'f-string', 'mustache' or None"):
            Prompt("{a}", wrong)


def test_one_tag_anywhere_makes_all_messages_mustache():
    prompt = Prompt([{"role": "system", "content": "{a}"}, {"role": "user", "content": "{{b}}"}])
    assert prompt.variables == ("b",)
    assert [message.text for message in prompt.render({"b": 1})] == ["{a}", "1"]


def test_a_variable_left_in_single_braces_of_a_mustache_template_is_not_said_silently():
    prompt = Prompt("{{a}} {b}")
    assert prompt.render({"a": "A"})[0].text == "A {b}"
    with pytest.raises(InvalidOptionError, match=r"\{b\} is text in a mustache template"):
        prompt.render({"a": "A", "b": "B"})


@pytest.mark.parametrize(
    ("template", "place", "reason"),
    [
        ("ab {x.__class__}", "line 1, column 4", "attribute"),
        ("\n\n {x.a.b}", "line 3, column 2", "attribute"),
        ("{x[0]}", "line 1, column 1", "index"),
        ("{x[key]}", "line 1, column 1", "index"),
        ("{ x!r}", "line 1, column 1", "convert"),
        ("{x:>900000000}", "line 1, column 1", "format"),
        ("{x: >900000000}", "line 1, column 1", "format"),
        ("{x: 9}", "line 1, column 1", "format"),
        ("{x:{y}}", "line 1, column 1", "format"),
        ("{x:%Y}", "line 1, column 1", "format"),
        ("{{x} {y}", "line 1, column 1", "closes with one"),
        ("{{> partial}}", "line 1, column 1", "reads no file"),
        ("{{>/etc/passwd}}", "line 1, column 1", "reads no file"),
        ("{{a}}\n{{> ../b.txt }}", "line 2, column 1", "reads no file"),
        ("{{=<% %>=}}", "line 1, column 1", "delimiters"),
        ("{{a}} {{= | | =}}", "line 1, column 7", "delimiters"),
        ("{{x[0]}}", "line 1, column 1", "holds no name"),
        ("{{x!r}}", "line 1, column 1", "holds no name"),
        ("{{x:>9}}", "line 1, column 1", "holds no name"),
        ("{{x | upper}}", "line 1, column 1", "holds no name"),
        ("{{f(x)}}", "line 1, column 1", "holds no name"),
        ("{{a}} {{}}", "line 1, column 7", "holds no name"),
        ('{{a}} {{"label": 1}}', "line 1, column 7", "braces that are meant literally stand single"),
        ("{{a}} {{b", "line 1, column 7", "not closed"),
        ("{{a}} {{b}", "line 1, column 7", "not closed"),
        ("{{a}} {{{b}} ", "line 1, column 7", "not closed by }}}"),
        ("a\n {{#a}} {{b}}", "line 2, column 2", "{{#a}} is not closed"),
        ("{{#a}}\n{{^b}}{{/b}}{{# c }}{{/a}}", "line 2, column 21", "{{# c }} has to be closed first"),
        ("{{/a}}", "line 1, column 1", "closes nothing"),
        ("{{.}}", "line 1, column 1", "stands in none"),
        ("{{#.}}{{/.}}", "line 1, column 1", "stands in none"),
        ("{{^.}}{{/.}}", "line 1, column 1", "stands in none"),
        ("{{^a}}{{.}}{{/a}}", "line 1, column 7", "stands in none"),
    ],
)  # fmt: skip
def test_a_template_that_reaches_further_or_is_broken_says_where_and_why(template, place, reason):
    with pytest.raises(InvalidOptionError) as error:
        Prompt(template)
    assert f"message 1, {place}: " in str(error.value)
    assert reason in str(error.value)


def test_the_message_of_an_error_is_numbered():
    with pytest.raises(InvalidOptionError, match="message 2, line 1, column 2"):
        Prompt([{"role": "system", "content": "{a}"}, {"role": "user", "content": [{"type": "text", "text": " {b.c}"}]}])  # fmt: skip


HOSTILE = [
    "{", "}", "{{", "{{{", "{a", "{{a", "{ ", "{{ ", "{{!", "{{#a}}", "{{/a}}", "{a:", "{a: 0", "{a.",
    "{{a}}", "{a}", "{{^a}}{{/a}} \n", "a b-", " ", "}}{{", '{"a":', "{{=", "{{>", "0", ".a", "\n",
]  # fmt: skip


@pytest.mark.once
@pytest.mark.parametrize("unit", HOSTILE)
@pytest.mark.parametrize("start", ["", "{{", "{a", "{a: ", "{{a.", "{{a}} {{! "])
def test_time_grows_with_the_length_of_the_template_only(start, unit):
    for template_format in (None, "f-string", "mustache"):
        template = start + unit * (100_000 // len(unit))
        message = ""
        with at_most(5):  # some 0.1 s; what is quadratic takes minutes
            try:
                Prompt(template, template_format).render({"a": "v"})
            except EvalError as error:
                message = str(error)
        assert len(message) < 1_000


def test_long_values_cost_no_more_than_copying_them():
    value = "{{a}} {a} {{#a}}" * 300_000
    with at_most(5):
        assert filled("{a}{b}", a=value, b=[value]) == value + json.dumps([value])
        assert filled("{{a}}{{#b}}{{.}}{{/b}}", a=value, b=[value]) == value + value


pieces = st.sampled_from(["{{", "}}", "{a}", "{b}", '"k": 1', "x", " ", "\n", "é"])


@settings(max_examples=300, deadline=None)
@given(st.lists(pieces, max_size=10).map("".join))
def test_where_str_format_takes_a_template_with_escapes_we_say_the_same(template):
    values = {"a": "A{b}}}", "b": "{{"}
    try:
        text = string.Formatter().format(template, **values)
    except (ValueError, KeyError, IndexError):
        return
    if "{{" in template or "}}" not in template:  # where only }} stands, it is taken for JSON's
        assert filled(template, "f-string", **values) == text


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(["{{", "}}", "{a}", "{b}", "x"])).map("".join))
def test_where_langchain_takes_a_template_with_escapes_we_say_the_same(template):
    prompts = pytest.importorskip("langchain_core.prompts")
    template = "{{" + template + "}}"
    values = {"a": "A{b}}}", "b": "{{"}
    try:
        text = prompts.PromptTemplate.from_template(template).format(**values)
    except ValueError:
        return
    assert filled(template, "f-string", **values) == text


def test_the_hint_on_a_missing_variable_fits_the_template():
    def message(template, **given):
        with pytest.raises(MissingFieldError) as caught:
            Prompt(template).render(given)
        return str(caught.value)

    assert message("{a}").endswith("To say {a} as it stands, double its braces")
    assert message("{{a}}").endswith("set template_format='f-string'")
    assert message("{{#a}}{{b}}{{/a}} {{c}}", c=1).endswith("as false or as an empty list")
    assert message("{{#a}}{{b}}{{/a}} {{c}}", a=0).endswith("given: 'a'")
