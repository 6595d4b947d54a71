"""A text is repaired if it can mean one thing; a model is asked again with the reason, or not."""

import json

import pytest
from framework_cases import RESULTS, TOLD, Fixed
from hypothesis import given
from hypothesis import strategies as st
from json_strategies import broken_texts, clashing, json_texts, law, seconds

from llmeval_integrations import InvalidOptionError, JsonSchema, Result, Sample
from llmeval_integrations.core.errors import RejectedAnswerError
from llmeval_integrations.guards import guard, repair
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import parse

PROPERTIES = {"total": {"minimum": 0}, "currency": {"enum": ["EUR", "USD"]}}
CONFORMS = JsonSchema({"properties": PROPERTIES, "required": [*PROPERTIES]})
GOOD = '{"total": 3, "currency": "EUR"}'
HALF = '{"total": -3, "currency": "EUR"}'
BAD = '{"total": -3, "currency": "GBP"}'


class Model:
    """Gives these replies in turn, by functions of an application; keeps what it was asked."""

    def __init__(self, *replies):
        self.replies, self.prompts = list(replies), []

    def __call__(self, prompt):
        self.prompts.append(prompt)
        return self.replies.pop(0)

    @guard(CONFORMS)
    def ask(self, messages, temperature=0):
        return self(messages)

    @guard(CONFORMS)
    def write(self, name, prompt):
        return self((name, prompt))

    @guard(CONFORMS)
    def order(self, number, feedback=None):
        return self((number, feedback))


# The text, its value, and the defects that are repaired, in order.
REPAIRED = [
    ('Here it is: {"a": 1} ok?', {"a": 1}, "prose_around prose_around"),
    ('Sure!\n```json\n{"a": 1,}\n```\nDone', {"a": 1}, "prose_around trailing_comma prose_around"),
    ('{"a": 1},', {"a": 1}, "trailing_comma"),
    ('{"a": "b", # c\n}', {"a": "b"}, "comment trailing_comma"),
    ('/* a */ {"a": 1} // done', {"a": 1}, "comment comment"),
    ("{'a': 'it's', 'b': None}", {"a": "it's", "b": None},
     "single_quotes single_quotes single_quotes python_literal"),
    ("{'a': 'it\\'s \"so\"'}", {"a": 'it\'s "so"'}, "single_quotes single_quotes"),
    ("{'a': TRUE}", {"a": True}, "single_quotes bare_word"),
    ("{a: 1, $b-c: 2}", {"a": 1, "$b-c": 2}, "unquoted_key unquoted_key"),
    ('{"a": "x\ny\x01"}', {"a": "x\ny\x01"}, "control_character control_character"),
    ('{"a": "it\\\'s"}', {"a": "it's"}, "invalid_escape"),
    ('{"a": 1}}]', {"a": 1}, "mismatched_bracket"),
    ("\ufeff{}", {}, "byte_order_mark"),
]  # fmt: skip

# What was meant is not in the text, or two things may have been.
UNCLEAR = [
    ("", "empty"),
    ("I cannot help with that.", "prose"),
    ("As [1, 2] show, there is none.", "prose_around"),
    ('Either {"a": 1} or {"a": 2}', "prose_around"),
    ('{"a": {"b": 1}}, "c": 2}', "extra_data"),
    ('{"a": 1, "b": "hel', "truncated"),
    ("[1, ..., 9]", "ellipsis"),
    ("[1,,2]", "missing_value"),
    ("[1 2]", "missing_comma"),
    ("{“a”: 1}", "smart_quotes"),
    ('{"a": NaN}', "nan_or_infinity"),
    ('{"a": "\\d+"}', "invalid_escape"),
    ('{"size": 5 kg}', "number"),
    ("[1,000]", "number"),
    ('{"a": yes}', "bare_word"),
    ('{"a": 1]', "mismatched_bracket"),
    ('{"a": "the "large" one"}', "unescaped_quote"),
    ("['the boys', she said']", "bare_word"),
    ("[1e999]", "number_out_of_range"),
]

DRESSES = [
    repr,
    lambda value: json.dumps(value, indent=1).replace(",\n", ", // [what, {follows}\n"),
    lambda value: json.dumps(value, indent=1).replace("\n]", ",\n]").replace("\n}", ",\n}"),
    lambda value: f"Here you are:\n{json.dumps(value)}\nIs it right?",
    lambda value: json.dumps(value).replace("true", "True").replace("null", "None"),
]
_TEXTS = st.text("ab ',:é\"\\\n{}[]#/", max_size=6) | st.sampled_from(["it's", "a, b", "None"])
_DOCUMENTS = st.dictionaries(_TEXTS, _TEXTS | clashing | st.lists(_TEXTS), min_size=1, max_size=3)

ASKED = [{"role": "user", "content": "?"}]
AGAIN = [*ASKED, {"role": "assistant", "content": HALF}, {"role": "user", "content": TOLD}]
PROMPTS = [
    (lambda app: app.ask(ASKED), [ASKED, AGAIN]),
    (lambda app: app.ask(temperature=1, messages=ASKED), [ASKED, AGAIN]),
    (lambda app: app.write("m", "?"), [("m", "?"), ("m", f"?\n\nYour answer was:\n{HALF}\n\n{TOLD}")]),
    (lambda app: app.order(7), [(7, None), (7, TOLD)]),
]  # fmt: skip
REFUSED = [
    (guard(CONFORMS)(lambda: pytest.fail("called")), InvalidOptionError, "finds no prompt"),
    (lambda: guard("json"), InvalidOptionError, "needs an evaluator, got 'json'"),
    (lambda: guard(CONFORMS, tries=0), InvalidOptionError, "tries must be 1 or more, got 0"),
    (lambda: guard(CONFORMS, refrence="{}"), TypeError, "refrence"),
]


@pytest.mark.parametrize(
    ("replies", "best"), [((BAD, HALF, BAD), 1), ((HALF, BAD, "prose"), 0), ((HALF, BAD, HALF), 2)]
)
def test_after_the_last_try_the_best_answer_is_given_or_an_error_raised(replies, best):
    done = guard(CONFORMS)(Model(*replies))("?")
    assert (done.output, done.result) == (replies[best], done.results[best])
    assert len(done.results) == 3
    message = r"no answer passed in 3 tries: .*\n- /total"
    with pytest.raises(RejectedAnswerError, match=message) as error:
        guard(CONFORMS, raises=True)(Model(*replies))("?")
    assert error.value.best == done
    assert len(guard(CONFORMS, tries=2)(Model(*replies))("?").results) == 2


@pytest.mark.parametrize(("ask", "prompts"), PROMPTS)
def test_the_next_prompt_has_the_answer_and_what_is_wrong_with_it(ask, prompts):
    app = Model(json.loads(HALF), json.loads(GOOD))
    done = ask(app)
    assert (done.output, done.edits) == (json.loads(GOOD), [])
    assert [result.passed for result in done.results] == [False, True]
    assert app.prompts == prompts


@pytest.mark.parametrize(("call", "error", "message"), REFUSED)
def test_what_makes_no_sense_is_refused_before_a_model_is_asked(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    "result", [RESULTS["unscored"], Result(0.4), Result(None, label="B", answered=True)]
)
def test_what_a_judge_does_not_fail_is_accepted_at_once(result):
    ask, judge = Model("a"), Fixed(result)
    done = guard(judge, contexts=["c"], raises=True)(ask)("why?")
    assert (done.output, done.result, len(ask.prompts)) == ("a", result, 1)
    assert judge.samples == [Sample("a", input="why?", contexts=["c"])]


def test_a_repair_comes_before_another_try():
    done = guard(CONFORMS, repair=True)(Model("{'total': 3, 'currency': 'EUR'}"))("?")
    assert (json.loads(done.output), len(done.results)) == (json.loads(GOOD), 1)
    assert [edit.defect for edit in done.edits] == ["single_quotes"] * 3
    done = guard(CONFORMS, repair=True, tries=2)(Model("{'total': -3}", "{total: 3"))("?")
    assert (done.output, done.result.passed, done.edits) == ("{total: 3", False, [])


def test_a_guard_costs_less_than_fifty_microseconds_a_call():
    def times(function, argument):
        for _ in range(1_000):
            function(argument)

    ask = guard(CONFORMS)(lambda prompt: GOOD)
    assert seconds(times, ask, "?") - seconds(times, CONFORMS, GOOD) < 0.05


@pytest.mark.parametrize(("text", "value", "defects"), REPAIRED)
def test_what_can_mean_one_thing_is_repaired(text, value, defects):
    done = repair(text)
    assert repr(done.value) == repr(value)
    assert done.refusal is None
    assert " ".join(edit.defect for edit in done.edits) == defects


@pytest.mark.parametrize(("text", "name"), UNCLEAR)
def test_what_can_mean_more_is_refused(text, name):
    done = repair(text)
    assert (done.value, done.refusal.name) == (None, name)


def test_edits_are_told_by_their_places_in_the_text_that_was_given():
    text = "Here: {'a': 'b',\n \"c\": None,}"
    done = repair(text)
    assert [edit.offset for edit in done.edits] == [0, 7, 12, 23, 27]
    for offset, _, old, new in reversed(done.edits):
        assert text[offset:].startswith(old)
        text = text[:offset] + new + text[offset + len(old) :]
    assert text == done.text == '{"a": "b",\n "c": null}'


@law
@given(json_texts | broken_texts)
def test_any_text_is_repaired_or_refused_and_json_stays(text):
    value, done = parse(text), repair(text)
    assert repr(parse(done.text)) == repr(done.refusal or done.value)
    assert all(0 <= edit.offset <= len(text) for edit in done.edits)
    if not isinstance(value, Defect) or value.is_json:  # such as a number out of range
        assert (done.edits, done.text) == ([], text)


@law
@given(_DOCUMENTS, st.sampled_from(DRESSES))
def test_a_dressed_document_is_itself_or_refused(value, dress):
    done = repair(dress(value))
    assert done.refusal is not None or done.value == value
