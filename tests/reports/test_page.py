"""The page in a real browser: it sorts and filters, loads nothing, and no text in it acts."""

import json
import re
import time
from itertools import product
from pathlib import Path

import pytest
from pace import at_most
from scripted import Scripted

from llmeval_integrations import (
    ExactMatch,
    JsonFields,
    JsonGrounded,
    JsonMatch,
    JsonSchema,
    JsonValidity,
    ToolCalls,
    ToolCallSchema,
    evaluate,
)
from llmeval_integrations.judges import Classification
from llmeval_integrations.reports import html
from llmeval_integrations.runs.load import read_run

COUNT = "document.getElementById('count').innerText.trim()"
SAMPLES_AT = "document.getElementById('samples').getBoundingClientRect().top + scrollY"
HEIGHT = "document.documentElement.scrollHeight"
TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
IDS, VERDICT = "tr.sample th", "document.querySelector('.verdict').innerText"


@pytest.fixture
def opened(page, tmp_path):
    """Writes runs as a page and opens it."""

    def opened(*runs, at=""):
        with (tmp_path / "report.html").open("wb") as file:
            html.write(runs, file)
        page.open("about:blank")
        page.open(f"file://{tmp_path}/report.html{at}")
        return page

    return opened


@pytest.fixture
def ran(tmp_path):
    """Evaluates a file of rows into a directory."""

    def ran(rows, evaluators, name="run", **options):
        data = tmp_path / f"{name}.jsonl"
        data.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return evaluate(data, evaluators, out=tmp_path / name, **options)

    return ran


def turn(page, number=0):
    """Open or close a sample."""
    page.click("tr.sample button", number)


def test_the_page_of_a_run(opened, people, tmp_path):
    page = opened(people)
    assert page.requests == [f"file://{tmp_path}/report.html"]
    said = "25.0 % of 4 samples pass json_match, the lowest rate. 1 output is not JSON."
    assert (page.run(VERDICT), page.run(COUNT)) == (said, "4 of 4 samples, worst first")
    assert page.texts("#bar a") == ["Overview", "Samples", "Fields", "Run"]
    assert page.rows("#list") == [
        ["sample", "json_validity", "json_match", "json_fields", "problem"],
        ["cut", "✗failed", "✗failed", "✗failed", 'truncated: the text stops in the middle: \'{"name": "Ad\' (line 1, column 10)'],
        ["old", "✓passed", "✗failed", "✗failed 0.500", "mismatch: /age 63, expected 36"],
        ["older", "✓passed", "✗failed", "✗failed 0.500", "mismatch: /age 64, expected 36"],
        ["right", "✓passed", "✓passed", "✓passed", ""],
    ]  # fmt: skip
    turn(page, 1)
    assert page.rows(".places") == [
        ["place", "what", "output", "expected", "evaluator"],
        ["/age", "mismatch", "63", "36", "json_match, json_fields"],
    ]
    assert page.texts(".places wbr") == []
    turn(page, 1)
    assert page.texts("tr.detail") == []
    page.run("scrollTo(0, 1e6)")
    assert page.run("document.getElementById('bar').getBoundingClientRect().top") == 0
    worst = ["cut", "old", "older", "right"]
    for column, expected in ((0, worst), (0, worst[::-1]), (3, worst), (3, ["right", "old", "older", "cut"])):  # fmt: skip
        page.click("#list thead button", column)
        assert page.texts(IDS) == expected
    assert page.run("location.hash") == "#sort=-json_fields"
    assert page.texts("[aria-sort=descending]") == ["json_fields"]
    page.run("[...document.querySelectorAll('.causes a')].find(a => a.textContent.startsWith('truncated')).click()")  # fmt: skip
    assert (page.texts(IDS), page.run("location.hash")) == (["cut"], "#label=truncated&sort=-json_fields")  # fmt: skip
    page.run("[...document.querySelectorAll('.fields a')].find(a => a.textContent === '/age').click()")  # fmt: skip
    assert page.run("document.querySelector('tr.detail').previousSibling.innerText").startswith("old")  # fmt: skip
    assert page.run("document.activeElement.ariaExpanded") == "true"
    assert opened(people, at="#sort=-id&outcome=failed").texts(IDS) == ["older", "old", "cut"]
    assert page.complaints == []


def test_each_control_filters_and_an_empty_list_can_be_cleared(opened, moods):
    page = opened(moods)
    for name, value, found in (
        ("outcome", "error", ["raise"]),
        ("outcome", "passed", ["good"]),
        ("label", "failed", ["bad"]),
        ("text", "NOBODY", ["unscored"]),
        ("evaluator", "moody", ["bad", "raise", "unscored", "good"]),
    ):
        page.choose(name, value)
        assert sorted(page.texts(IDS)) == sorted(found)
        page.choose(name, "")
    page.choose("text", "nothing like it")
    assert page.run(COUNT).startswith("No sample has all of this.")
    page.click("#clear")
    assert page.run(COUNT) == "4 of 4 samples, worst first"


def test_a_label_without_a_verdict_stands_in_its_column_and_is_no_problem(opened, ran):
    tone = Classification("tone", Scripted(lambda _: "warm"), "{output}", ["warm", "cold"])
    rows = [{"id": "good", "output": "{}"}, {"id": "bad", "output": "I like it"}]
    assert opened(ran(rows, [tone, JsonValidity()])).rows("#list")[1:] == [
        ["bad", "·no verdict warm", "✗failed", "prose: no JSON at all: 'I like it' (line 1, column 1)"],
        ["good", "·no verdict warm", "✓passed", ""],
    ]  # fmt: skip


A, B = {"sku": "A", "price": 3}, {"sku": "B", "price": 4}
PARTS = ["Harbour Ltd, 5 January 2024 😀", "12 EUR in 30 days"]
DUE = {"day": "2024-01-05", "due": 30, "name": "Acme"}
FOUND = ["/day date: 5 January 2024", "/due number: 30"]
BY_KEY = JsonFields(fields={"/i": {"key": "sku"}})
MARKS = [
    (BY_KEY, {"output": {"i": [{**B, "price": 5}, A]}, "reference": {"i": [A, B]}}, ['"price": 5'], ['"price": 4']),
    (JsonMatch(strict_order=False), {"output": {"i": [{**B, "price": 5}, A]}, "reference": {"i": [A, B]}}, ['"price": 5'], ['"price": 4']),
    # Where a value stands twice none is marked, for it may be right.
    (BY_KEY, {"output": {"i": [{**B, "price": 5}, A]}, "reference": {"i": [A, {**B, "price": 3}]}}, ['"price": 5'], []),
    (JsonFields(), {"output": '{"name": "Ad', "reference": {"name": "Ada"}}, ['"'], []),
    (ExactMatch(), {"output": "the quick brown fox", "reference": "the slow brown fox"}, ["quick"], ["slow"]),
    (JsonGrounded(), {"output": DUE, "input": [{"role": "user", "content": each} for each in PARTS]}, [DUE["name"]], FOUND),
    (JsonGrounded(source="contexts"), {"output": DUE, "contexts": PARTS}, [DUE["name"]], FOUND),
]  # fmt: skip


@pytest.mark.parametrize(("evaluator", "row", "ours", "theirs"), MARKS)
def test_differences_are_marked_on_both_sides_and_values_in_their_source(opened, ran, evaluator, row, ours, theirs):  # fmt: skip
    page = opened(ran([row], [evaluator]))
    turn(page)
    marks = page.run(
        "[...document.querySelectorAll('.reference mark')]"
        ".map(mark => (mark.title ? mark.title + ': ' : '') + mark.textContent.trim())"
    )
    assert marks == theirs
    assert all(each in mark for each, mark in zip(ours, page.texts(".output mark"), strict=True))


def test_a_long_text_is_shown_around_its_defect(opened, ran):
    output = '{"a": "' + "😀" * 30_000 + '", "b": }, ' + "9" * 30_000
    page = opened(ran([{"output": output, "reference": output}], [JsonValidity(), ExactMatch()]))
    turn(page)
    assert (page.texts(".output mark"), page.texts(".reference mark")) == (["}"], [])
    before = page.run("document.querySelector('.output mark').previousSibling.data")
    assert before.endswith('😀", "b": ')
    [shown] = page.texts(".output p")
    assert re.fullmatch(rf"Characters [\d,]+ to [\d,]+ of {len(output):,}", shown)


CALLS = [{"name": "weather", "arguments": {"city": "Paris", "days": 3}}, {"name": "time"}]
WRONG = [{"name": "weather", "arguments": {"city": "Nice", "days": "3"}}, {"name": "clock"}]
TOOLS = [{"name": "weather", "input_schema": {"properties": {"city": {}, "days": {"type": "integer"}}}}]  # fmt: skip


def test_wrong_calls_are_listed_by_argument_and_the_message_is_folded(opened, ran):
    page = opened(ran([{"output": WRONG, "reference": CALLS}], [ToolCalls(), ToolCallSchema(TOOLS)]))  # fmt: skip
    turn(page)
    assert page.rows(".places") == [
        ["call", "argument", "what", "output", "expected", "evaluator"],
        ["1. weather", "/city", "mismatch", '"Nice"', '"Paris"', "tool_calls"],
        ["1. weather", "/days", "wrong_type", '"3"', "3", "tool_calls"],
        ["2. clock", "(the call)", "wrong_name", "clock", "2. time", "tool_calls"],
        ["1. weather", "/days", "type", "", '"3" is not of type "integer"', "tool_call_schema"],
        ["2. clock", "(the call)", "unknown_tool", "", "there is no such tool", "tool_call_schema"],
    ]
    assert page.texts(".body mark") == []
    assert page.run("document.querySelector('.sides').closest('details').open") is False


def test_two_runs_are_side_by_side_with_worse_samples_first(opened, ran):
    rows = [{"id": f"s{n:02}", "output": '{"a": 1}', "reference": '{"a": 1}'} for n in range(20)]
    worse = [{**row, "output": '{"a": "<b>2</b>"}'} for row in rows[8:]] + rows[:8]
    page = opened(ran(rows, [JsonFields()], "old"), ran(worse, [JsonFields()], "new"))
    assert page.run(VERDICT).startswith("B is worse: ")
    assert page.run(COUNT) == "20 of 20 samples, those that got worse first"
    assert page.rows("#list")[1][:2] == ["s08", "✓passed → ✗failed"]
    for outcome, count in (("worse", 12), ("better", 0), ("", 20)):
        page.choose("outcome", outcome)
        assert len(page.texts(IDS)) == count
    turn(page)
    assert page.texts(".sides h3") == ["Output of old", "Output of new", "Reference"]
    tops = "[...document.querySelectorAll('.sides > div')].map(each => each.getBoundingClientRect().top)"  # fmt: skip
    assert len(set(page.run(tops))) == 1
    box = "document.querySelector('.differences').parentNode"
    assert page.run(f"{box}.scrollWidth - {box}.clientWidth") == 0  # the verdict is in view
    assert page.complaints == []


ABSENT = "The texts of this sample are not in this page. A run keeps only the texts of samples that did not pass. Other texts are read from the data, if it is still the same and the page has room."


def test_a_score_below_1_is_not_1_and_a_better_score_is_found(opened):
    runs = [evaluate([{"output": "{}"}], JsonValidity()) for _ in "ab"]
    for run, score in zip(runs, (0.5, 0.99996), strict=True):
        run.rows[0].score = score
    page = opened(*runs)
    assert page.rows("#list")[1][1] == "✓passed 0.500 → ✓passed 0.99996"
    page.choose("outcome", "better")
    assert page.texts(IDS) == ["1"]


def test_texts_are_read_from_unchanged_data_and_the_worst_come_first(opened, ran, tmp_path, monkeypatch):  # fmt: skip
    rows = [{"id": "good", "said": "{}", "input": "why?"}, {"id": "bad", "said": "{"}]
    run = ran(rows, [JsonValidity()], columns={"output": "said"})

    def texts(run):
        page = opened(run)
        turn(page, 1)
        turn(page, 0)
        return page.texts(".output pre, .input pre, .body > p")

    assert texts(run) == ["{ ⟨end⟩", "{}", "why?"]
    monkeypatch.setattr("llmeval_integrations.reports.samples.MOST_CHARACTERS", 60)
    cut = ["{ ⟨end⟩", ABSENT]
    assert texts(run) == cut  # there is no room for another
    monkeypatch.undo()
    (tmp_path / "run.jsonl").write_text("")
    assert texts(read_run(run.out)) == cut


def test_text_of_models_does_not_act(opened, hostile):
    page = opened(*hostile)
    page.click(".fields a")
    page.run("for (const all of document.querySelectorAll('button.all')) all.click()")
    for number in range(1, 3):
        turn(page, number)
    page.run("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert (page.complaints, len(page.requests)) == ([], 1)
    assert page.run("document.title") != "acted"
    assert page.texts("img, a[href^=javascript], b b") == []
    assert page.run("document.scripts.length") == 2
    assert "\u202e" not in page.run("document.body.innerText")  # nothing turns the text around


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_is_high_in_light_and_dark(opened, people, scheme):
    page = opened(people)
    page.do("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])  # fmt: skip
    turn(page, 1)
    ratios = page.run(
        """(() => {
        const light = css => css.match(/\\d+/g).map(c => ((c / 255 + 0.055) / 1.055) ** 2.4)
            .reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0);
        const back = each => { for (; each; each = each.parentElement) {
            const color = getComputedStyle(each).backgroundColor; if (color !== 'rgba(0, 0, 0, 0)') return color; } };
        return ['.verdict', '.good', '.bad', '.warn', '.quiet', '#count', 'h1', '.causes a', '.output mark', '.reference mark']
            .flatMap(name => [...document.querySelectorAll(name)].slice(0, 1)).map(each => {
            const pair = [light(getComputedStyle(each).color), light(back(each))].sort((a, b) => a - b);
            return (pair[1] + 0.05) / (pair[0] + 0.05); });
        })()"""
    )
    page.do("Emulation.setEmulatedMedia", features=[])
    assert len(ratios) >= 8
    assert min(ratios) > 4.5  # WCAG 2.2, 1.4.3


def many(count, unit="unit"):
    """Give rows as large as those of the figures that the page promises."""
    for n in range(count):
        text = f"a measured value with its {unit}, " * 3
        lines = [{"sku": k, "price": k * n % 97} for k in range(6)]
        right = {"name": f"item {n}", "text": text.replace(unit, "unit"), "lines": lines}
        said = {**right, "name": "?" if n % 3 == 0 else right["name"], "text": text}
        row = {"output": json.dumps(said), "reference": json.dumps(right)}
        yield {"id": f"sample-{n:05}", "schema": {"type": "object"}, **row}


SOB = Path(__file__).parents[3] / "shared/data/sob"
OURS = [[*many(209, unit)] for unit in ("unit", "dimension")]
REAL = pytest.param(
    [SOB / "phi-4.jsonl", SOB / "claude-sonnet-4-6.jsonl"],
    marks=pytest.mark.skipif(not SOB.exists(), reason="the benchmark is not on this machine"),
)


@pytest.mark.parametrize("data", [OURS, REAL], ids=["our own", "of a real benchmark"])
def test_a_page_of_209_records_is_short_and_does_not_scroll_sideways(opened, tmp_path, data):
    evaluators = [JsonValidity(), JsonSchema(), JsonFields()]
    runs = [evaluate(each, evaluators, out=tmp_path / f"{n}") for n, each in enumerate(data)]
    body = "document.querySelector('.body')"
    for shown, width in product((runs[:1], runs), (1280, 390)):
        page = opened(*shown)
        page.do("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)  # fmt: skip
        assert page.run(COUNT).startswith("209 of 209 samples")
        assert page.run(SAMPLES_AT) < 1_800
        assert page.run(HEIGHT) < 6_000
        assert (tmp_path / "report.html").stat().st_size < 2_000_000 * len(shown)
        assert page.run(TOO_WIDE) <= 0
        turn(page)
        assert page.run(TOO_WIDE) <= 0
        assert page.run(f"{body}.getBoundingClientRect().right <= innerWidth")
        assert page.run(f"{body}.scrollWidth <= {body}.clientWidth")
        assert page.run(f"{body}.scrollHeight <= {body}.clientHeight")
        page.do("Emulation.clearDeviceMetricsOverride")


@pytest.mark.once
def test_ten_thousand_samples_open_quickly(page, opened, tmp_path):
    opened(evaluate(many(10_000), [JsonValidity(), JsonFields()], out=tmp_path / "many"))
    assert (tmp_path / "report.html").stat().st_size < 12_000_000
    with at_most(2, time.perf_counter):
        page.open(f"file://{tmp_path}/report.html")
        assert page.run(COUNT) == "10,000 of 10,000 samples, worst first"
    assert len(page.texts(IDS)) == 50
    with at_most(1, time.perf_counter):
        page.choose("text", "sample-09999")
        assert page.texts(IDS) == ["sample-09999"]
    page.choose("text", "")
    page.click("#pages button", 1)
    assert page.texts("#pages span") == ["Page 2 of 200"]
