"""A model is asked again with the reason while its answer fails, and never once more than that."""

import json

import pytest
from framework_cases import RESULTS, TOLD, Fixed
from json_strategies import seconds

from llmeval_integrations import InvalidOptionError, JsonSchema, Result, Sample
from llmeval_integrations.core.errors import RejectedAnswerError
from llmeval_integrations.guards import guard

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
    app = Model(json.loads(HALF), json.loads(GOOD))
    done = ask(app)
    assert (done.output, done.edits) == (json.loads(GOOD), [])
    assert [result.passed for result in done.results] == [False, True]
    assert app.prompts == prompts


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (guard(CONFORMS)(lambda: pytest.fail("called")), InvalidOptionError, "finds no prompt"),
        (lambda: guard("json"), InvalidOptionError, "needs an evaluator, got 'json'"),
        (lambda: guard(CONFORMS, tries=0), InvalidOptionError, "tries must be 1 or more, got 0"),
        (lambda: guard(CONFORMS, refrence="{}"), TypeError, "refrence"),
    ],
)
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
