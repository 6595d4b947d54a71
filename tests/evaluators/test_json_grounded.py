"""JsonGrounded: which values of an extraction are in its source."""

import json
from collections import Counter, defaultdict
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pace import at_most
from planted_values import SENTENCES, make_case

from llmeval_integrations import (
    InputError,
    InvalidSchemaError,
    JsonGrounded,
    MissingFieldError,
    Sample,
    evaluate,
)
from llmeval_integrations.json_values.parse import parse

DATA = Path(__file__).parents[3] / "shared/data"


def ground(value, source, **options):
    """Return the kind of a single value, and what stands at its place in the source."""
    outcome = JsonGrounded(**options)([value], input=source).metadata["outcomes"][0]
    start, end = outcome.get("place", (0, 0))
    return outcome["kind"], source[start:end]


FOUND = [
    # value, source, kind, what stands there
    ("Acme Ltd", "sold by ACME  Ltd. in", "exact", "ACME  Ltd"),
    ("cafe", "au Cafe\u0301 noir", "exact", "Cafe\u0301"),
    ("email", "by e-mail", "exact", "e-mail"),
    ("continued", "is con-\n  tinued", "exact", "con-\n  tinued"),
    ("北京大学", "他在北京大学学习", "exact", "北京大学"),
    ("★★★", "rated ★★★ by us", "exact", "★★★"),
    (97, "quatre-vingt-dix-sept jours", "number", "quatre-vingt-dix-sept"),
    (250_000, "two hundred and fifty thousand", "number", "two hundred and fifty thousand"),
    (4, "Chapter IV", "number", "IV"),
    (1250.5, "EUR 1.250,50", "number", "1.250,50"),
    (1250, "it costs 1.250", "number", "1.250"),
    (3_650_000, "3,65 millones de personas", "number", "3,65 millones"),
    (0.12, "12 Prozent", "number", "12 Prozent"),
    (0.5, "1/2 cup", "number", "1/2"),
    ("1,250.50 EUR", "1.250,50 €", "number", "1.250,50"),
    ("$1.2 million", "1,200,000 dollars", "number", "1,200,000"),
    ("2024-01-05", "on January 5th, 2024", "date", "January 5th, 2024"),
    ("2024-03-01", "le 1er mars 2024", "date", "1er mars 2024"),
    ("Friday, 5 January 2024", "2024/1/5", "date", "2024/1/5"),
    ("2024-01-05T10:30:00Z", "5 Jan 2024, 10:30", "date", "5 Jan 2024, 10:30"),
    ("2024-01-05", "Statement 2024\n05 Jan rent", "date", "05 Jan"),
    ("planting seeds", "seeds that were planted", "words", "seeds that were planted"),
    ("Harbour Logistics", "by Harb0ur Logistics", "fuzzy", "Harb0ur Logistics"),
    ("WHO (World Health Organization)", "WHO, " + "x " * 40 + "World Health Organization", "words", "WHO"),
    ("A wild plant spreads quickly in cold regions", "In cold regions this plant will quickly spread.", "paraphrase", "cold regions this plant will quickly spread"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "source", "kind", "place"), FOUND, ids=str)
def test_a_value_is_found_in_whatever_form_it_has(value, source, kind, place):
    assert ground(value, source) == (kind, place)


NOT_FOUND = [
    ("Northern Trading Ltd", "Southern Trading Ltd"),
    ("Silver Foods Ltd", "Silver Crown Ltd sold it. We then wrote to the buyers, who were Baker Foods Ltd"),
    ("INV-2024-0012", "INV-2024-0013 and 12"),
    ("version 3.5.2", "version 3.5.1"),
    (1250.51, "1.250,50"),
    (89370400440532013001, "89370400440532013000"),
    ("2024-01-05T10:45:00Z", "5 Jan 2024, 10:30"),
    ("the 12 largest rivers of Spain", "the 11 largest rivers of Spain" + " and so on" * 20 + " 12 lakes"),
    ("a plant that is cooked and eaten in soups", "the plant spreads quickly in cold regions"),
    ("★★★★", "rated ★★★"),
    (1, ""),
]  # fmt: skip


@pytest.mark.parametrize(("value", "source"), NOT_FOUND, ids=str)
def test_a_value_that_is_nearly_there_is_not_found(value, source):
    assert ground(value, source)[0] == "ungrounded"


SOURCE = "Invoice of Harbour Ltd, 5 January 2024: 1,250.50 EUR"
OUTPUT = {"vendor": "Acme Ltd", "date": "2024-01-05", "lines": [{"total": 1250.5}, {"total": 8}]}


def test_the_score_is_the_share_of_values_that_are_found():
    result = JsonGrounded()(OUTPUT, input=SOURCE)
    assert (result.score, result.passed, result.label) == (0.5, False, "ungrounded")
    assert result.reason == 'not in the source: /vendor "Acme Ltd"; /lines/1/total 8'
    assert {name: result.metadata[name] for name in ("grounded", "ungrounded", "open")} == {
        "grounded": 2, "ungrounded": 2, "open": 0,
    }  # fmt: skip
    assert result.metadata["outcomes"][2] == {
        "pointer": "/lines/0/total", "field": "/lines/*/total", "output": 1250.5, "kind": "number", "place": [40, 48],
    }  # fmt: skip
    assert result.feedback().splitlines()[1:] == [
        '- /vendor: "Acme Ltd" is not in the source',
        "- /lines/1/total: 8 is not in the source",
    ]
    assert JsonGrounded(threshold=0.5)(OUTPUT, input=SOURCE).passed
    right = JsonGrounded()({"total": 1250.5}, input=SOURCE)
    assert (right.score, right.passed, right.reason) == (1.0, True, "Every value is in the source")
    assert JsonGrounded()({str(name): name for name in range(6, 13)}, input="x").reason.endswith(
        "; and 4 more"
    )


@pytest.mark.parametrize(
    ("fields", "score", "judged"),
    [
        ({"/vendor": {"weight": 3}}, 2 / 6, 4),
        ({"/vendor": {"weight": 0}, "/lines": {"ignore": True}}, 1, 2),
        ({"/lines/*/total": {"derived": True}, "/date": {"ignore": True}}, 0, 1),
    ],
)
def test_fields_are_weighed_ignored_and_derived(fields, score, judged):
    result = JsonGrounded(fields=fields)(OUTPUT, input=SOURCE)
    assert (result.score, result.passed) == (pytest.approx(score), score == 1)
    assert (result.label is None) == (score == 1)
    assert result.metadata["grounded"] + result.metadata["ungrounded"] == judged


def test_what_the_schema_names_and_what_no_text_says_is_open():
    schema = {
        "properties": {
            "status": {"enum": ["open", "paid"]},
            "kind": {"$ref": "#/$defs/kind"},
            "unit": {"anyOf": [{"const": "EUR"}, {"type": "null"}]},
        },
        "$defs": {"kind": {"const": "invoice"}},
    }
    output = {"status": "paid", "kind": "invoice", "unit": "EUR", "ok": True, "note": "", "none": None}  # fmt: skip
    for result in (
        JsonGrounded(schema=schema)(output, input="x"),
        JsonGrounded()(output, input="x", schema=schema),
    ):
        assert (result.scored, result.label, result.metadata["open"]) == (False, "open", 6)
    assert JsonGrounded(schema=schema)({"status": "sent"}, input="x").score == 0
    assert JsonGrounded(schema=False)(output, input="x", schema=schema).score == 0
    with pytest.raises(InvalidSchemaError, match="json_grounded: the sample's schema"):
        JsonGrounded()(output, input="x", schema=5)


DICTS = [{"text": "in Rome", "page": 3, "score": 0.5, "is_first": True, "title": None}]
ASKED = [
    {"role": "system", "content": "Extract."},
    {"role": "user", "content": [{"type": "text", "text": SOURCE}]},
]


def test_the_source_is_a_text_or_messages_or_documents():
    assert JsonGrounded()({"total": 1250.5}, input=ASKED).score == 1
    assert JsonGrounded("contexts")({"total": 1250.5}, contexts=SOURCE).score == 1
    assert JsonGrounded("contexts")(["Rome", 3, 0.5], contexts=DICTS).score == 1


def test_messages_and_documents_of_langchain_and_llama_index_are_searched_but_not_their_ids():
    documents = pytest.importorskip("langchain_core.documents")
    messages = pytest.importorskip("langchain_core.messages")
    schema = pytest.importorskip("llama_index.core.schema")
    rome = documents.Document("in Rome", metadata={"page": 3}, id="doc-811")
    bern = schema.TextNode(text="in Bern", metadata={"page": 4}, start_char_idx=120)
    oslo = schema.Document(text="in Oslo")
    contexts = [rome, schema.NodeWithScore(node=bern, score=0.5), oslo]
    output = ["Rome", 3, "Bern", 4, "Oslo", 811, 120, 0.5]
    for each in (contexts, parse(contexts)):  # as they are, and as a run keeps them
        found = JsonGrounded("contexts")(output, contexts=each).metadata["outcomes"]
        assert [one.get("context") for one in found] == [0, 0, 1, 1, 2, None, None, None]
    usage = {"input_tokens": 77, "output_tokens": 1, "total_tokens": 78}
    asked, said = messages.HumanMessage("1,250.50"), messages.AIMessage("Yes", usage_metadata=usage)
    assert JsonGrounded()([1250.5, "yes", 77], input=[asked, said]).metadata["ungrounded"] == 1


def test_a_value_has_its_place_in_its_context_and_a_source_is_asked_for():
    grounded, contexts = JsonGrounded("contexts"), ["Harbour Ltd", "Baker Ltd, 1,250.50 EUR"]
    found = grounded({"a": 1250.5, "b": "Harbour"}, contexts=contexts).metadata["outcomes"]
    assert [(each["context"], each["place"]) for each in found] == [(1, [11, 19]), (0, [0, 7])]
    apart = ["met Harbour", "Ltd of 12", "employees and sold silver", "foods to buyers"]
    values = ["Harbour Ltd", "12 employees", "sold silver foods to buyers"]
    found = grounded(values, contexts=apart).metadata["outcomes"]
    assert [each["kind"] for each in found] == ["ungrounded", "ungrounded", "words"]
    assert (found[2]["context"], found[2]["place"]) == (2, [14, 25])  # not beyond its text
    with pytest.raises(MissingFieldError, match="json_grounded needs contexts"):
        grounded("{}", input=SOURCE)
    with pytest.raises(InputError, match="a text, or a list"):
        JsonGrounded()("{}", input=5)


def test_common_values_are_marked_and_a_run_counts_fields():
    evaluator = JsonGrounded(common=[8, "EUR"])
    rows = [{"output": {"n": n, "unit": "EUR"}, "input": "8 eur, 250 EUR"} for n in (8, 8, 250, 9)]
    rows.append({"output": {"n": None}, "input": "x"})
    run = evaluate(rows, [evaluator])
    assert run.summary["evaluators"]["json_grounded"]["grounding"] == {
        "/n": {"grounded": 3, "ungrounded": 1, "open": 1, "share": 0.75, "common": pytest.approx(2 / 3)},
        "/unit": {"grounded": 4, "ungrounded": 0, "open": 0, "share": 1.0, "common": 1.0},
    }  # fmt: skip
    assert [row.score for row in run.rows] == [1, 1, 1, 0.5, None]
    wide = evaluate([{"output": {f"{n}": n for n in range(1_002)}, "input": "1"}], [evaluator])
    fields = wide.summary["evaluators"]["json_grounded"]["grounding"]
    assert (len(fields), fields["(other)"]["ungrounded"]) == (1_001, 2)


@given(
    st.text(st.sampled_from("aé\u0301ßﬁœ1².,'\u2019$ \n\u00a0\u00ad北🙂"), max_size=30), st.data()
)
def test_any_part_of_a_source_is_found_there(source, data):
    inner = range(1, len(source))
    borders = [place for place in inner if any(map(str.isspace, source[place - 1 : place + 1]))]
    places = st.sampled_from([0, *borders, len(source)])
    start, end = sorted(data.draw(st.lists(places, min_size=2, max_size=2)))
    part = source[start:end]
    if part.strip():
        kind, found = ground(part, source)
        assert kind == "exact"
        assert ground(found, part)[0] == ground(part, found)[0] == "exact"


@pytest.mark.parametrize("language", SENTENCES)
def test_planted_values_are_found_and_near_ones_are_not(language):
    counts = Counter()
    for seed in range(1_000, 1_040):
        source, right, near = make_case(language, seed)
        for kind, values in ("right", right), ("near", near):
            for value in values:
                counts[kind, ground(value, source)[0] == "ungrounded"] += 1
    assert counts["right", False] >= 0.97 * (counts["right", False] + counts["right", True])
    assert counts["near", True] >= 0.95 * (counts["near", False] + counts["near", True])


@pytest.fixture(scope="module")
def extractions():
    """Real outputs and their references, with the documents they are from."""
    path = DATA / "sob_sources/sources.jsonl"
    if not path.exists():
        pytest.skip("without the data of the Structured Output Benchmark")
    sources = {row["id"]: row["source"] for row in map(json.loads, path.open())}
    rows = [json.loads(line) for each in sorted(DATA.glob("sob/*.jsonl")) for line in each.open()]
    rows.sort(key=lambda row: row["id"])  # so that each source is read once
    return [
        Sample(row["output"], row["reference"], sources[row["id"]], id=row["id"])
        for row in rows
        if row["id"] in sources
    ]


def outcomes_of(output, source):
    metadata = JsonGrounded()(output, input=source).metadata
    return [each for each in metadata.get("outcomes", ()) if each["kind"] != "open"]


def test_real_references_are_grounded_and_what_is_not_is_wrong(extractions):
    documents = {sample.id: sample for sample in extractions}
    right, kinds = defaultdict(set), Counter()
    for sample in documents.values():
        for each in outcomes_of(sample.reference, sample.input):
            kinds[each["kind"] == "ungrounded"] += 1
            right[sample.id, each["field"]].add(loosen(each["output"]))
    assert kinds.total() > 2_000
    assert kinds[True] <= 0.01 * kinds.total()
    wrong = Counter(
        loosen(each["output"]) not in right[sample.id, each["field"]]
        for sample in extractions
        for each in outcomes_of(sample.output, sample.input)
        if each["kind"] == "ungrounded"
    )
    assert wrong.total() > 500
    assert wrong[True] >= 0.9 * wrong.total()


def loosen(value):
    return " ".join(value.casefold().split()) if isinstance(value, str) else value


@pytest.mark.nightly
def test_a_value_is_looked_for_in_30_microseconds(extractions):
    documents = [*{sample.id: sample for sample in extractions}.values()]
    evaluator, best = JsonGrounded(), []
    for sample in documents:
        times = []
        for _ in range(3):  # the first one reads the source
            start = process_time()
            result = evaluator(sample.reference, input=sample.input)
            times.append(process_time() - start)
        best.append((min(times), len(result.metadata["outcomes"])))
    assert sum(time for time, _ in best) <= 30e-6 * sum(count for _, count in best)


LONG = [
    "a" * 40_000, "9" * 40_000, "'" * 40_000, "1 " * 20_000, "two " * 10_000, "million " * 6_000, "1,1." * 10_000, "Ltd " * 10_000,
    "a-" + " " * 40_000, "a-\n" * 10_000, "5" + " " * 40_000, "111'" * 10_000, "1a" * 20_000 + "!", "a(" * 20_000, "12/" * 10_000,
    " ".join(f"w{number}x" for number in range(5_000)), " ".join(f"Ab{'c' * (number % 90)}" for number in range(5_000)),
]  # fmt: skip


@pytest.mark.parametrize("source", LONG, ids=[text[:8] for text in LONG])
def test_no_long_text_takes_long(source):
    with at_most(2):
        for value in (source, "Acme Ltd", 5, "2024-01-05", "two million of 1"):
            ground(value, source)
