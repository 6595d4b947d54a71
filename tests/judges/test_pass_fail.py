"""A verdict on one question: what the judge is shown, and what its reply makes of the output."""

from itertools import product
from os.path import commonprefix

import pytest
from scripted import Scripted, judgement

from llmeval_integrations import InvalidOptionError, MissingFieldError, Sample, load_evaluator
from llmeval_integrations.judges import Judgement, PassFail, Questionnaire, ScoreTable, Tone, Vote

QUESTION = "Does the text name a price? (Pass = it does)"
FULL = Sample("The output.", "The reference.", "The input.", ["The context."])


OWN = ScoreTable(pass_medium=0.8, pass_low=0.5, fail_medium=0.2, fail_low=0.5)


@pytest.mark.parametrize(
    ("table", "scores"),
    [(ScoreTable(), (1.0, 0.85, 0.6, 0.0, 0.15, 0.4)), (OWN, (1.0, 0.8, 0.5, 0.0, 0.2, 0.5))],
)
def test_verdict_and_confidence_make_the_score(table, scores):
    words = product(("Pass", "Fail"), ("High", "Medium", "Low"))
    for (verdict, confidence), score in zip(words, scores, strict=True):
        model = Scripted(judgement(verdict, confidence))
        result = PassFail(model, QUESTION, scores=table)("A TV for $999.")
        assert (result.score, result.passed, result.label) == (score, verdict == "Pass", verdict)
        assert (result.reason, result.metadata["judge"]["calls"]) == ("because", 1)
        assert result.metadata["verdict"] == verdict
        assert result.metadata["confidence"] == confidence


def test_a_score_table_has_numbers_from_0_to_1():
    assert ScoreTable().score(Judgement("because", "Pass")) == 0.85
    assert ScoreTable().score({"verdict": "FAIL", "confidence": "low"}) == 0.4
    with pytest.raises(InvalidOptionError, match=r"Verdict 4\.0 is not one of Pass, Fail"):
        ScoreTable().score(Judgement("because", 4.0))


def test_the_judge_sees_question_role_and_labelled_samples_and_what_there_is():
    model = Scripted(judgement())
    examples = [{"output": "A TV.", "label": "Fail", "reasoning": "No price."}]
    PassFail(model, QUESTION, role="You are a copywriter.", examples=examples)("The output.")
    labelled = "Example 1\nReasoning: No price.\nOutput: A TV.\nLabel: Fail\n"
    for text in (QUESTION, "The output.", "You are a copywriter.", labelled):
        assert text in model.said
    PassFail(model, QUESTION)("The output.", input=None, contexts=None)
    for word in ("reference", "documents", "role", "was asked"):
        assert word not in model.requests[1].messages[1].text


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        ({"input": "Say."}, "asked, as background:\n<instruction MARK>\nSay.\n</instruction MARK>"),
        ({"contexts": ["One.", "Two."]}, "[1] One.\n\n[2] Two.\n</documents MARK>\n"),
        ({"reference": "A TV."}, "<reference MARK>\nA TV.\n</reference MARK>"),
        ({"output": {"name": "Füller"}}, '<output MARK>\n{"name": "Füller"}\n</output MARK>'),
        ({"input": ""}, "<instruction MARK>\n(empty)\n"),
        ({"contexts": []}, "<documents MARK>\n(none)\n"),
        ({"reference": ""}, "<reference MARK>\n(empty)\n"),
    ],
)
def test_fields_stand_between_marks_and_what_is_empty_says_so(fields, shown):
    model = Scripted(judgement())
    PassFail(model, QUESTION)(**{"output": "x", **fields})
    assert shown in model.said.replace(model.requests[0].fence, "MARK")


@pytest.mark.parametrize(
    ("package", "name", "field"),
    [
        ("langchain_core.documents", "Document", "page_content"),
        ("llama_index.core.schema", "TextNode", "text"),
    ],
)
def test_documents_of_frameworks_are_shown_as_their_text(package, name, field):
    make = getattr(pytest.importorskip(package), name)
    documents = [
        make(**{field: text}, metadata={"source": "a"}) for text in ("One\ntwo.", "Three.")
    ]
    model = Scripted(judgement())
    prompt = "{documents} | {contexts} | {output}"
    PassFail(model, QUESTION, prompt=prompt)("x", contexts=documents)
    shown = '[1] One\ntwo.\n\n[2] Three. | ["One\\ntwo.", "Three."] | <output'
    assert model.said.startswith(shown)


def test_a_prompt_of_ones_own_takes_all_names():
    model = Scripted(judgement())
    fields = "{output} {input} {reference} {topic} {background} {prediction_b}"
    content = "{question} | {instruction} | {documents} | " + fields
    prompt = [{"role": "system", "content": "As {role}."}, {"role": "user", "content": content}]
    judge = PassFail(model, QUESTION, "a teacher", "Be brief.", prompt=prompt)
    variables = {"topic": "T", "background": "B", "role": "theirs", "prediction_b": "Verdict: Pass"}
    judge("x", "R", "I", contexts=["One."], variables=variables)
    assert model.requests[0].messages[0].text == "As a teacher."
    assert f"{QUESTION} | Be brief. | [1] One. | " in model.said
    mark = model.requests[0].fence
    other = f"<prediction_b {mark}>\nVerdict: Pass\n</prediction_b {mark}>"
    assert f"> I R T B {other}\n" in model.said
    with pytest.raises(MissingFieldError, match="reference"):
        PassFail(model, QUESTION, prompt="{question} {output} {reference}")("a")


# --- marks, and prompts that begin alike ----------------------------------------------------------


def test_a_mark_is_that_of_the_contexts_and_cannot_be_foreseen():
    model = Scripted(judgement())
    judge = PassFail(model, QUESTION)
    for output, context in (("a", "One."), ("b", "One."), ("a", "Two.")):
        judge(output, contexts=[context])
    first, second, third = (request.fence for request in model.requests)
    assert first == second != third
    request, *_, last = model.requests
    assert f"<output {first}>\na\n</output {first}>" in request.messages[1].text
    assert first in request.text.splitlines()[-1]
    assert request.schema == last.schema  # so that the schema leaves the mark open
    assert request.schema["properties"]["mark"] == {"type": "string"}
    assert "mark" in request.schema["required"]
    telling = Scripted(lambda request: judgement(reasoning=f"It ends with {request.fence}."))
    assert PassFail(telling, QUESTION)("a").reason == "It ends with ."


def shared(requests):
    """Return the share of characters that all requests begin with."""
    texts = [request.text for request in requests]
    return len(commonprefix(texts)) / max(map(len, texts))  # noqa: RUF071 - of texts, not paths


def test_prompts_over_one_long_text_begin_alike():
    long = "Some words of a long document. " * 700
    model = Scripted(judgement())
    for output in ("one", "two", "three", "four", "five"):
        PassFail(model, QUESTION)(output, contexts=[long], input="What?")
    assert shared(model.requests) >= 0.9
    model, again = Scripted(judgement()), Scripted(judgement())
    Questionnaire(model, ["Is it short?", "Is it new?", "Is it kind?"])(long)
    Vote(PassFail(again, QUESTION), n=5)(long)
    assert (len(model.requests), len(again.requests)) == (3, 5)
    assert min(shared(model.requests), shared(again.requests)) >= 0.9


# --- ready-made criteria --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "needs"),
    [
        ("correctness", ("reference",)),
        ("faithfulness", ("contexts",)),
        ("relevance", ("input",)),
        ("completeness", ("input",)),
        ("instruction_adherence", ("input",)),
        ("tone", ()),
        ("safety", ()),
    ],
)
def test_a_criterion_asks_its_own_question_and_says_what_it_needs(name, needs):
    model = Scripted(judgement("Fail", "Medium"))
    judge = load_evaluator(name, model=model)
    result = judge.evaluate(FULL)
    assert (result.score, result.passed, judge.needs) == (0.15, False, needs)
    assert f"Question: {judge.criterion}\n" in model.said
    assert "(Pass = " in judge.criterion
    for field in needs:
        assert f"The {field.rstrip('s')}." in model.said
        with pytest.raises(MissingFieldError, match=field):
            judge("The output.")


def test_a_tone_can_be_chosen_and_an_instruction_stands_for_the_input():
    model = Scripted(judgement())
    Tone(model, tone="warm {and} plain")("a")
    assert "tone of the text warm {and} plain throughout" in model.said
    assert load_evaluator("relevance", model=model, instruction="Be brief.")("a").label == "Pass"
