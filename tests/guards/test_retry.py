"""A model is asked again with the reason while its answer fails, and never once more than that."""

import json

import pytest
from framework_cases import RESULTS, Fixed
from json_strategies import seconds

from llmeval_integrations import InvalidOptionError, JsonSchema, Result, Sample
from llmeval_integrations.core.errors import RejectedAnswerError
from llmeval_integrations.guards import guard

CONFORMS = JsonSchema(
    {
        "properties": {"total": {"minimum": 0}, "currency": {"enum": ["EUR", "USD"]}},
        "required": ["total", "currency"],
    }
)
GOOD = '{"total": 3, "currency": "EUR"}'
HALF = '{"total": -3, "currency": "EUR"}'
BAD = '{"total": -3, "currency": "GBP"}'
TOLD = "The answer was not accepted:\n- /total: -3 is less than the minimum of 0"


def model(*replies):
    """Make a function that gives these replies in turn, and keeps what it was asked."""
    left = list(replies)

    def ask(prompt):
        ask.prompts.append(prompt)
        return left.pop(0)

    ask.prompts = []
    return ask


@pytest.mark.parametrize(
    ("replies", "best"), [((BAD, HALF, BAD), 1), ((HALF, BAD, "prose"), 0), ((HALF, BAD, HALF), 2)]
)
def test_after_the_last_try_the_best_answer_is_given_or_an_error_raised(replies, best):
    done = guard(CONFORMS)(model(*replies))("?")
    assert (done.output, done.result) == (replies[best], done.results[best])
    assert len(done.results) == 3
    message = r"no answer passed in 3 tries: .*\n- /total"
    with pytest.raises(RejectedAnswerError, match=message) as error:
        guard(CONFORMS, raises=True)(model(*replies))("?")
    assert error.value.best == done
    assert len(guard(CONFORMS, tries=2)(model(*replies))("?").results) == 2


class App:
    """An application's functions that ask a model."""

    def __init__(self):
        self.answer = model(json.loads(HALF), json.loads(GOOD))

    @guard(CONFORMS)
    def ask(self, messages, temperature=0):
        return self.answer(messages)

    @guard(CONFORMS)
    def write(self, name, prompt):
        return self.answer((name, prompt))

    @guard(CONFORMS)
    def order(self, number, feedback=None):
        return self.answer((number, feedback))


ASKED = [{"role": "user", "content": "?"}]
AGAIN = [*ASKED, {"role": "assistant", "content": HALF}, {"role": "user", "content": TOLD}]


@pytest.mark.parametrize(
    ("ask", "prompts"),
    [
        (lambda app: app.ask(ASKED), [ASKED, AGAIN]),
        (lambda app: app.ask(temperature=1, messages=ASKED), [ASKED, AGAIN]),
        (lambda app: app.write("m", "?"), [("m", "?"), ("m", f"?\n\nYour answer was:\n{HALF}\n\n{TOLD}")]),
        (lambda app: app.order(7), [(7, None), (7, TOLD)]),
    ],
)  # fmt: skip
def test_the_next_prompt_has_the_answer_and_what_is_wrong_with_it(ask, prompts):
    app = App()
    done = ask(app)
    assert (done.output, done.edits) == (json.loads(GOOD), [])
    assert [result.passed for result in done.results] == [False, True]
    assert app.answer.prompts == prompts


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (guard(CONFORMS)(lambda: pytest.fail("called")), InvalidOptionError, "finds no prompt"),
        (lambda: guard("json"), InvalidOptionError, "needs an evaluator, got 'json'"),
        (lambda: guard(CONFORMS, tries=0), InvalidOptionError, "tries must be 1 or more, got 0"),
        (lambda: guard(CONFORMS, refrence="{}"), TypeError, "refrence"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused_before_a_model_is_asked(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    "result",
    [RESULTS["unscored"], Result(0.4), Result(None, label="B", answered=True)],
    ids=["unscored", "no verdict", "label"],
)
def test_what_a_judge_does_not_fail_is_accepted_at_once(result):
    ask, judge = model("a"), Fixed(result)
    done = guard(judge, contexts=["c"], raises=True)(ask)("why?")
    assert (done.output, done.result, len(ask.prompts)) == ("a", result, 1)
    assert judge.samples == [Sample("a", input="why?", contexts=["c"])]


def test_a_repair_comes_before_another_try():
    done = guard(CONFORMS, repair=True)(model("{'total': 3, 'currency': 'EUR'}"))("?")
    assert (json.loads(done.output), len(done.results)) == (json.loads(GOOD), 1)
    assert [edit.defect for edit in done.edits] == ["single_quotes"] * 3
    done = guard(CONFORMS, repair=True, tries=2)(model("{'total': -3}", "{total: 3"))("?")
    assert (done.output, done.result.passed, done.edits) == ("{total: 3", False, [])


def test_a_guard_costs_less_than_fifty_microseconds_a_call():
    ask = guard(CONFORMS)(lambda prompt: GOOD)

    def times(function, argument):
        for _ in range(1_000):
            function(argument)

    assert seconds(times, ask, "?") - seconds(times, CONFORMS, GOOD) < 0.05
