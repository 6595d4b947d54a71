"""The page in a real browser: it opens, filters, asks for nothing and lets nothing act."""

import io
import json
import re
import time
import unicodedata

import pytest
from pace import at_most

from llmeval_integrations import (
    ExactMatch,
    JsonFields,
    JsonMatch,
    JsonValidity,
    StringDistance,
    ToolCalls,
    ToolCallSchema,
    evaluate,
)
from llmeval_integrations.core.printable import make_printable
from llmeval_integrations.reports import html
from llmeval_integrations.reports.parts import comparing
from llmeval_integrations.runs.stored import read_run

COUNT = "document.getElementById('count').textContent"
CARDS = "document.querySelectorAll('#list > details').length"
IDS = (
    "[...document.querySelectorAll('#list > details > summary > b')].map(each => each.textContent)"
)
TEXT = "document.body.innerText"


def written(run, path):
    with path.open("wb") as file:
        html.write(run if isinstance(run, list) else [run], file)
    return f"file://{path}"


@pytest.fixture
def opened(page, tmp_path):
    def opened(run):
        page.open(written(run, tmp_path / "report.html"))
        return page

    return opened


def choose(page, name, value):
    kind = "input" if name in {"reason", "text"} else "change"
    page.run(
        f"document.getElementById('by-{name}').value = {value!r};"
        f"document.getElementById('by-{name}').dispatchEvent(new Event('{kind}'))"
    )


def test_it_opens_with_the_answer_and_asks_for_nothing(opened, people, tmp_path):
    page = opened(people)
    assert page.complaints == []
    assert page.requests == [f"file://{tmp_path}/report.html"]
    text = page.run(TEXT)
    assert "3 samples, 3 evaluators. Lowest pass rate: json_match, 33.3 %." in text
    assert "6.1 to 79.2 %" in text  # Wilson's interval of one in three
    assert "truncated" in text


def test_a_run_that_was_interrupted_or_killed_is_told(opened, interrupted, moods):
    assert "cut is incomplete: it was interrupted." in opened([moods, interrupted]).run(TEXT)
    (moods.out / "summary.json").unlink()
    text = opened(read_run(moods.out)).run(TEXT)
    assert "moods is incomplete: there is no summary.json, so it was killed or is under" in text
    assert "incomplete" not in opened(moods).run(TEXT)


def test_unscored_rows_and_errors_are_counted_apart_and_told(opened, moods):
    text = opened(moods).run(TEXT)
    assert "1 row unscored and 1 error counted in no rate." in text
    assert "error: InputError" in text
    assert "the output asked for it" in text
    assert "nobody can tell" in text


def test_fields_have_their_table(opened, people):
    rows = opened(people).run(
        "[...document.querySelectorAll('#fields tbody tr')].map(row => row.innerText.split('\\t'))"
    )
    assert [row[0] for row in rows] == ["/age", "/name"]
    heads = "[...document.querySelectorAll('#fields thead th')].map(head => head.innerText)"
    assert opened(people).run(heads)[1:] == [
        *("right", "precision", "recall", "F1", "leaves", "match"),
        *("mismatch", "missing", "unreadable", "most often wrong", "for example"),
    ]  # fmt: skip
    assert rows[0][1:5] == ["33.3 %", "0.5", "0.3333", "0.4"]
    assert rows[0][5:10] == ["3", "1", "1", "1", "1"]  # kinds that no field has take no room
    assert [row[-2].strip() for row in rows] == ["63 for 36 (1)", ""]
    assert [row[-1].strip() for row in rows] == ["old", ""]


def test_the_words_of_the_fields_are_explained_beside_them(opened, people):
    said = opened(people).run("document.querySelector('#fields p').innerText")
    assert said.startswith("A leaf is a single value, or an empty array or object; right is the")
    assert "the unreadable, whose output is not JSON, are among the missing" in said


def test_a_field_that_never_has_a_value_says_so_in_place_of_shares(opened):
    rows = [{"output": {"lines": [], "a": 1}, "reference": {"lines": [], "a": 1}}]
    text = opened(evaluate(rows, [JsonFields()])).run("document.querySelector('#fields').innerText")
    [line] = [line for line in text.splitlines() if line.startswith("/lines")]
    assert line.split("\t")[:5] == ["/lines", "100.0 %", "only empty arrays or objects", "1", "1"]


def test_the_title_names_the_data_and_the_day_of_the_run(opened, people, tmp_path):
    data = tmp_path / "<b>people &.jsonl"
    data.write_text('{"output": "{}", "reference": "{}"}\n' * 3)
    run = evaluate(data, [JsonFields()], out=tmp_path / "run")
    for each, day in ((people, "2020-01-31"), (run, "2020-02-01")):
        file = each.out / "manifest.json"
        manifest = {**json.loads(file.read_text()), "started": f"{day}T09:00:00+00:00"}
        file.write_text(json.dumps(manifest))
    title = "Evaluation: people (2020-01-31), run (<b>people &.jsonl, 2020-02-01)"
    page = opened([people, run])
    assert page.run("document.title") == title
    assert page.run("document.querySelector('h1').innerText") == title
    assert page.run(TEXT).count("3 and 3 samples, 3 evaluators") == 1
    assert "Lowest pass rate: json_match in people, 33.3 %." in page.run(TEXT)


@pytest.mark.parametrize(("cost", "shown"), [(None, "not known"), (0.5, "$0.5000")])
def test_a_cost_that_is_not_known_is_told_with_why(opened, cost, shown):
    run = evaluate([{"output": "{}"}], [JsonValidity()])
    run.summary["evaluators"]["json_validity"]["judge"] = {"calls": 1, "cost": cost}
    text = opened(run).run("document.querySelector('#judges').innerText")
    assert f"\t{shown}" in text
    assert ("genai-prices" in text) is (cost is None)


def test_an_example_of_a_field_leads_to_its_sample(opened, people):
    page = opened(people)
    page.run("document.querySelector('#fields a').click()")
    assert page.run("document.querySelector('#list details[open]').innerText").startswith("old")
    assert page.run("document.activeElement.tagName") == "SUMMARY"
    assert page.complaints == []


def test_an_example_is_found_by_the_keyboard_on_a_later_page_of_its_run(opened, tmp_path):
    rows = [{"id": n, "output": {"a": n, "b": n // 60}, "reference": {"a": 0, "b": 0}} for n in range(63)]  # fmt: skip
    runs = [evaluate(rows, [JsonFields()], out=tmp_path / name) for name in ("one", "two")]
    page = opened(runs)
    examples = "[...document.querySelectorAll('#fields a')]"
    assert page.run(f"{examples}.map(a => a.innerText)") == ["1", "2", "3", "60", "61", "62"] * 2
    for place in (6, 10):  # the worst come first: in both fields, then the others
        page.run(f"{examples}[{place}].focus()")
        page.press("Enter", 13)
        named = page.run("document.activeElement.querySelector('b').innerText")
        assert named == page.run(f"{examples}[{place}].innerText")
        assert page.run("document.activeElement.parentNode.open") is True
    assert page.run("document.getElementById('by-run').value") == "two"
    page.run(f"{examples}[11].dataset.sample = '59'; {examples}[11].click()")
    assert "page=2" in page.run("location.hash")
    assert page.complaints == []


def test_an_example_that_is_not_listed_is_looked_for(opened, people):
    page = opened(people)
    page.run("document.querySelector('#fields a').dataset.sample = 'gone'")
    page.run("document.querySelector('#fields a').click()")
    assert page.run("document.getElementById('by-text').value") == "gone"
    assert page.run(COUNT) == "0 of 2 listed samples, worst first"


def test_text_of_models_does_not_act_in_fields(opened):
    evil = "</td><script>document.title = 'acted'</script><img src=x onerror=alert(1)>\u202e"
    rows = [{"id": f"{evil} {n}", "output": {evil: evil}, "reference": {evil: "x"}} for n in range(2)]  # fmt: skip
    page = opened(evaluate(rows, {evil: JsonFields()}))
    page.run("document.querySelector('#fields a').click()")
    assert page.complaints == []
    assert page.run("document.querySelectorAll('#fields img, #fields script').length") == 0
    assert page.run("document.title").startswith("Evaluation")
    assert "\u202e" not in page.run(TEXT)


def test_a_filter_by_each_control(opened, moods):
    page = opened(moods)
    assert page.run(COUNT) == "3 of 3 listed samples, worst first"
    for name, value, found in (
        ("outcome", "error", ["raise"]),
        ("label", "failed", ["bad"]),
        ("reason", "NOBODY", ["unscored"]),
        ("text", "ba", ["bad"]),
        ("evaluator", "moody", ["bad", "raise", "unscored"]),
    ):
        choose(page, name, value)
        assert page.run(IDS) == found
        choose(page, name, "")
    assert page.complaints == []


def test_a_finding_leads_to_its_samples(opened, people):
    page = opened(people)
    page.run("[...document.querySelectorAll('#found a')].find(a => a.textContent === 'truncated').click()")  # fmt: skip
    assert page.run(IDS) == ["cut"]
    assert page.run("location.hash") == "#evaluator=json_validity&label=truncated"


def test_a_label_without_a_verdict_is_nothing_that_went_wrong(opened, tones):
    page = opened(tones)
    assert "1 sample did not pass." in page.run(TEXT)
    kinds = "[...document.querySelectorAll('#found a')].map(each => each.textContent)"
    assert page.run(kinds) == ["failed"]
    assert "positive" not in page.run("document.querySelector('#found').innerText")


def test_a_finding_of_a_long_label_leads_to_its_samples(opened, kinds):
    long = "long " * 60
    page = opened(kinds(1, long))
    page.run("document.querySelector('#found a').click()")
    assert page.run("document.getElementById('by-label').value") == long[:200]
    assert page.run(COUNT) == "2 of 3 listed samples, worst first"


def test_a_label_that_is_no_choice_leads_to_its_samples_all_the_same(page, kinds, tmp_path):
    address = written(kinds(230), tmp_path / "report.html")
    page.open(address)
    choices = "[...document.getElementById('by-label').options].map(each => each.value)"
    rare = max({f"kind {n}" for n in range(230)} - set(page.run(choices)))
    page.run(f"document.querySelector('#found a').dataset.label = {rare!r}")
    page.run("document.querySelector('#found a').click()")
    assert page.run("document.querySelector('#list summary span').textContent") == f"kinds: {rare}"
    assert page.run(CARDS) == 1
    for label, found in ((rare, 1), ("gone", 0)):
        page.open("about:blank")
        page.open(f"{address}#label={label}")
        assert page.run(CARDS) == found


def test_what_stands_for_many_kinds_leads_nowhere(opened, kinds):
    page = opened(kinds(1_003))
    entries = "[...document.querySelectorAll('#found li')].map(each => [each.innerText.split('\\n')[0], each.querySelector('a') !== null])"  # fmt: skip
    found = page.run(entries)
    assert found[0] == ["(other)", False]
    assert all(leads for _, leads in found[1:])


def test_the_address_keeps_the_filter(page, people, tmp_path):
    address = written(people, tmp_path / "report.html")
    page.open(f"{address}#evaluator=json_match&label=mismatch")
    assert page.run(IDS) == ["old"]


def test_a_difference_is_marked_on_both_sides_and_named_by_its_pointer(opened, people):
    page = opened(people)
    choose(page, "label", "mismatch")
    marks = "[...document.querySelectorAll('.{} mark')].map(mark => mark.textContent.trim())"
    assert page.run(marks.format("output")) == ['"age": 63']
    assert page.run(marks.format("reference")) == ['"age": 36']
    assert page.run("document.querySelector('.differences .pointer').textContent") == "/age"


def test_the_place_of_a_defect_is_marked(opened, people):
    page = opened(people)
    choose(page, "label", "truncated")
    before = "document.querySelector('.output pre').firstChild.textContent"
    assert page.run(before) == '{"name": '
    assert page.run("document.querySelector('.output mark').textContent") == '"'


MARKS = "[...document.querySelectorAll('.{} mark')].map(mark => mark.textContent)"


CALLS = [{"name": "weather", "arguments": {"city": "Paris", "days": 3}}, {"name": "time"}]
MESSAGE = {
    "role": "assistant",
    "content": [
        {"type": "text", "text": "<img src=x onerror=\"document.title='acted'\">"},
        {"type": "tool_use", "id": "1", "name": "weather", "input": {"city": "Nice", "days": "3"}},
        {"type": "tool_use", "id": "2", "name": "clock", "input": {}},
    ],
}
TOOLS = [{"name": "weather", "input_schema": {"type": "object", "properties": {"city": {}, "days": {"type": "integer"}}}}, {"name": "time", "input_schema": {}}]  # fmt: skip


def cells(page):
    return page.run(
        "[...document.querySelectorAll('.differences tr')]"
        ".map(row => [...row.cells].map(cell => cell.textContent))"
    )


def test_wrong_calls_are_told_by_argument_and_the_message_is_folded_and_not_marked(
    opened, tmp_path
):
    rows = [{"output": MESSAGE, "reference": CALLS}]
    evaluators = [ToolCalls(), ToolCallSchema(TOOLS), ExactMatch()]
    page = opened(evaluate(rows, evaluators, out=tmp_path / "run"))
    assert cells(page) == [
        ["call", "argument", "what", "output", "expected", "evaluator"],
        ["1. weather", "/city", "mismatch", '"Nice"', '"Paris"', "tool_calls"],
        ["1. weather", "/days", "wrong_type", '"3"', "3", "tool_calls"],
        ["2. clock", "(the call)", "wrong_name", "clock", "time", "tool_calls"],
        ["1. weather", "/days", "type", "", '"3" is not of type "integer"', "tool_call_schema"],
        ["2. clock", "(the call)", "unknown_tool", "", "there is no such tool", "tool_call_schema"],
    ]
    assert page.run("document.querySelectorAll('.body mark').length") == 0
    folded = "document.querySelector('.body details')"
    assert page.run(f"{folded}.open") is False
    assert page.run(f"{folded}.contains(document.querySelector('.sides'))") is True
    page.run(f"{folded}.querySelector('summary').focus()")
    page.press("Enter", 13)
    assert page.run(f"{folded}.open") is True
    assert page.complaints == []
    assert page.run("document.title").startswith("Evaluation")


@pytest.mark.parametrize(
    ("made", "expected", "rows"),
    [
        ([], [{"name": "f", "arguments": {"a": 1}}], [["f", "(the call)", "missing", "", "f"], ["f", "/a", "missing", "", "1"]]),
        ([{"name": "f", "arguments": {"a": 1}}], [], [["f", "(the call)", "extra", "f", ""], ["f", "/a", "extra", "1", ""]]),
        ([{"name": "g"}, {"name": "f"}], [{"name": "f"}, {"name": "g"}], [["1. g", "(the call)", "wrong_order", "call 1", "call 2"]]),
        ([{"name": "f", "arguments": "{"}], [{"name": "f"}], [["f", "(the call)", "unreadable", None, ""]]),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_whole_call_is_told(opened, tmp_path, made, expected, rows):
    sample = {"output": made, "reference": expected}
    page = opened(evaluate([sample], [ToolCalls(call_order="strict")], out=tmp_path / "run"))
    found = [[None if given is None else cell for cell, given in zip(row, wanted)] for row, wanted in zip(cells(page)[1:], rows)]  # fmt: skip
    assert found == rows


def test_calls_that_cannot_be_read_are_marked_where_they_break_off(opened, tmp_path):
    rows = [{"output": '[{"name', "reference": CALLS}]
    page = opened(evaluate(rows, [ToolCalls()], out=tmp_path / "run"))
    assert page.run(MARKS.format("output")) == ['"']
    assert page.run("document.querySelectorAll('.body details').length") == 0


def test_a_defect_and_the_difference_of_plain_texts_are_both_marked(opened, tmp_path):
    rows = [{"output": "the quick brown fox", "reference": "the slow brown fox"}]
    page = opened(evaluate(rows, [JsonValidity(), ExactMatch()], out=tmp_path / "run"))
    assert page.run(MARKS.format("output")) == ["t", "quick"]
    assert page.run(MARKS.format("reference")) == ["slow"]


@pytest.mark.parametrize(
    ("output", "before", "mark"),
    [
        ('{"a": "' + "y" * 30_000 + '", "b": }', 'yyyy", "b": ', "}"),
        ('{"a": "' + "😀" * 30_000 + '", "b": }, ' + "9" * 30_000, '😀", "b": ', "}"),
        ("[" + "1, " * 10_000 + "1", "1, 1", " ⟨end⟩"),
    ],
)
def test_the_place_of_a_defect_in_a_long_text_is_marked(opened, tmp_path, output, before, mark):
    rows = [{"output": output, "reference": output.replace("b", "c")}]
    page = opened(evaluate(rows, [JsonValidity(), ExactMatch()], out=tmp_path / "run"))
    place = page.run("data.samples[0][4].find(each => typeof each[1] === 'number')[1]")
    assert page.run(MARKS.format("output")) == [mark]
    assert page.run(MARKS.format("reference")) == []
    assert page.run("document.querySelector('.output mark').previousSibling.data").endswith(before)
    assert f"Characters {place - 999:,} to " in page.run(
        "document.querySelector('.output').innerText"
    )
    assert f" of {len(output):,}" in page.run("document.querySelector('.output').innerText")


@pytest.mark.parametrize("as_text", [True, False])
def test_a_long_text_is_shown_where_it_differs_and_nothing_wrong_is_marked(
    opened, tmp_path, as_text
):
    right = {"a": 1, "big": [f"w{n}" for n in range(2_999)] + ["zzz"]}
    wrong = {"a": 1, "big": [f"w{n}" for n in range(3_000)]}
    texts = [json.dumps(each) if as_text else each for each in (wrong, right)]
    rows = [{"output": texts[0], "reference": texts[1], "input": "why? " * 5_000}]
    page = opened(evaluate(rows, [JsonMatch(), ExactMatch()], out=tmp_path / "run"))
    assert page.run("document.querySelectorAll('.sides mark').length") == 0
    assert page.run("document.querySelector('.output pre').textContent").endswith('"w2999"]}')
    assert page.run("document.querySelector('.reference pre').textContent").endswith('"zzz"]}')
    text = page.run("document.querySelector('.body').textContent")
    assert "Differences are marked in whole texts only." in text
    assert "Characters 1 to 20,000 of 25,000" in text  # the input
    assert "/big/2999" in text
    choose(page, "text", "zzz")
    assert page.run(CARDS) == 1


def test_of_a_long_text_the_part_around_what_is_named_is_shown(opened, tmp_path):
    """The texts differ from their first characters on, in spaces alone."""
    right = {"items": [{"sku": n, "price": n % 7} for n in range(2_000)]}
    wrong = json.loads(json.dumps(right))
    wrong["items"][1_900]["price"] = 12.75
    rows = [{"output": json.dumps(wrong, indent=1), "reference": right}]
    page = opened(evaluate(rows, [JsonMatch()], out=tmp_path / "run"))
    for side, around in (("output", '"price": 12.75'), ("reference", '"sku":1900,"price":3')):
        assert around in page.run(f"document.querySelector('.{side} pre').textContent")
    assert page.run(MARKS.format("reference")) == []


@pytest.mark.parametrize(
    "evaluator", [JsonFields(fields={"/items": {"key": "sku"}}), JsonMatch(strict_order=False)]
)
def test_of_an_array_in_any_order_the_item_that_was_meant_is_marked(opened, tmp_path, evaluator):
    a, b = {"sku": "A", "price": 12.5}, {"sku": "B", "price": 3}
    rows = [{"output": {"items": [{**b, "price": 4}, a]}, "reference": {"items": [a, b]}}]
    page = opened(evaluate(rows, [evaluator], out=tmp_path / "run"))
    assert [each.strip() for each in page.run(MARKS.format("output"))] == ['"price": 4']
    assert [each.strip() for each in page.run(MARKS.format("reference"))] == ['"price": 3']


def test_a_short_reference_of_a_long_output_is_marked_by_pointers(opened, tmp_path):
    rows = [{"output": {"a": 2, "b": "x" * 30_000}, "reference": {"a": 1, "b": "x"}}]
    page = opened(evaluate(rows, [JsonMatch()], out=tmp_path / "run"))
    assert page.run(MARKS.format("output")) == []
    marked = page.run(MARKS.format("reference"))
    assert [each.strip() for each in marked] == ['"a": 1,', '"b": "x"']


def test_what_does_not_print_is_written_out_as_python_does_it(opened, moods):
    """Of all characters but those of private use in planes of their own, 15 and 16."""
    chars = "Array.from({length: 0xf0000}, (_, code) => String.fromCodePoint(code))"
    forms = "[char.codePointAt(0), printable(char), visible(char)]"
    assigned = f"{chars}.filter(char => !/\\p{{Cn}}/u.test(char)).map(char => {forms})"
    page = opened(moods)
    found = page.run(f"{assigned}.filter(([code, long]) => long !== String.fromCodePoint(code))")
    expected = []
    for char in map(chr, range(0xF0000)):
        kind = unicodedata.category(char)
        if kind != "Cn" and not char.isprintable():
            stays = kind == "Zs" or char in "\n\t"
            expected.append(
                [ord(char), make_printable(char), char if stays else make_printable(char)]
            )
    known = [each for each in found if unicodedata.category(chr(each[0])) != "Cn"]
    assert known == expected  # of a newer Unicode the browser may know more


@pytest.mark.parametrize(
    "id_", ["a\u00adb", "a\u061cb", "a\U000e0041b", "a b\tc\nd", "\u3000x", "\u0000"]
)
def test_an_example_with_what_does_not_print_leads_to_its_sample(opened, id_):
    rows = [{"id": "other", "output": {"a": 3}, "reference": {"a": 2}}]
    rows += [{"id": id_, "output": {"b": 3}, "reference": {"b": 2}}]
    page = opened(evaluate(rows, [JsonFields()]))
    page.run(
        "[...document.querySelectorAll('#fields a')].find(a => a.innerText !== 'other').click()"
    )
    assert page.run(
        "document.querySelector('#list details[open] summary b').textContent != 'other'"
    )
    assert page.run("document.activeElement.tagName") == "SUMMARY"
    assert not set(id_) & {"\u00ad", "\u061c", "\U000e0041", "\0"} & set(page.run(TEXT))


def test_kinds_that_are_not_listed_are_counted(opened, kinds):
    page = opened(kinds(37))
    assert page.run("document.querySelector('#found summary').innerText") == "31 further kinds"
    page.run("document.querySelector('#found details').open = true")
    assert page.run("document.querySelectorAll('#found li').length") == 30
    assert "and 7 more" in page.run("document.querySelector('#found').innerText")


def test_text_of_models_does_not_act(opened, hostile):
    page = opened(hostile)
    for state in (True, False):
        page.run(f"document.querySelectorAll('details').forEach(each => each.open = {str(state).lower()})")  # fmt: skip
    assert page.complaints == []
    assert len(page.requests) == 1
    assert page.run("document.title").startswith("Evaluation")
    assert (
        page.run("document.querySelectorAll('img, a[href^=javascript], b b, main h1').length") == 0
    )
    assert page.run("document.scripts.length") == 2
    assert "\u202e" not in page.run(TEXT)  # nothing turns the text around


def test_several_runs_stand_beside_each_other(opened, moods, people):
    page = opened([moods, people])
    assert page.run("[...document.querySelectorAll('#by-run option')].map(each => each.value)") == [
        "",
        "moods",
        "people",
    ]
    choose(page, "run", "people")
    assert page.run(IDS) == ["cut", "old"]
    assert "Page 1 of 1" not in page.run(TEXT)


def test_several_runs_are_compared_with_the_first(opened, tmp_path):
    rows = [{"id": n, "output": '{"a": 1}', "reference": '{"a": 1}'} for n in range(20)]
    worse = [{**row, "output": '{"a": "<b>2</b>"}'} for row in rows[:12]] + rows[12:]
    others = [{**row, "id": f"other {row['id']}"} for row in rows]
    runs = [
        evaluate(each, [JsonFields()], out=tmp_path / name)
        for name, each in (("old", rows), ("new", worse), ("elsewhere", others))
    ]
    page = opened(runs)
    assert page.run(
        "[...document.querySelectorAll('#comparison h3, #comparison .wide ~ p, #comparison p')]"
        ".map(each => each.innerText)"
    )[:2] == ["A: old; B: new", "B is worse in json_fields pass rate, json_fields /a."]
    cells = page.run(
        "[...document.querySelectorAll('#comparison .figures tbody tr')]"
        ".map(row => row.innerText.split('\\t'))"
    )
    assert [row[1] for row in cells] == ["pass rate", "/a"]
    assert cells[0][5] == "0.0010"
    assert cells[0][3] == "-0.600"
    assert cells[0][6:8] == ["0", "12"]
    assert float(cells[0][8]) > 0.1
    assert cells[0][9] == "worse"
    assert "Not compared: no sample is in both runs" in page.run(
        "document.querySelector('#comparison').innerText"
    )


def test_what_is_compared_is_explained_and_no_p_is_nought(opened, tmp_path):
    right = {f"field_{n}": 1 for n in range(12)}
    rows = [{"id": n, "output": right, "reference": right} for n in range(40)]
    worse = [{**row, "output": {**right, "field_0": 2}} for row in rows]
    runs = [
        evaluate(each, [JsonFields()], out=tmp_path / name)
        for name, each in (("old", rows), ("new", worse))
    ]
    text = opened(runs).run("document.querySelector('#comparison').innerText")
    assert "\tadjusted p\t" in text
    assert "<0.0001" in text
    assert "and 2 fields more, of no smaller p" in text
    assert "an interval is not, so that it may exclude 0 where none is shown" in text
    assert "of a field, those whose reference or output has it" in text


def test_where_nothing_is_sure_it_says_what_could_have_been_seen(opened, tmp_path):
    rows = [{"id": n, "output": "{" if n < 2 else "{}"} for n in range(20)]
    runs = [evaluate(rows, [JsonValidity()], out=tmp_path / name) for name in ("old", "new")]
    said = opened(runs).run("document.querySelector('#comparison p').innerText")
    assert re.fullmatch(
        r"No difference is more than what chance may do\. A difference of 0\.\d+ in json_validity "
        r"pass rate would have been shown with a chance of 80 %\.",
        said,
    )


def test_samples_that_changed_are_listed_and_lead_to_what_is_wrong(opened, tmp_path):
    old = [{"id": f"{n:02}", "output": "{" if n < 3 else "{}"} for n in range(60)]
    new = [{"id": f"{n:02}", "output": "<b>" if 3 <= n < 28 else "{}"} for n in range(60)]
    runs = [
        evaluate(each, {"valid": JsonValidity()}, out=tmp_path / name)
        for each, name in ((old, "old"), (new, "new"))
    ]
    page = opened(runs)
    page.run("document.querySelector('#comparison details').open = true")
    cells = page.run(
        "[...document.querySelectorAll('#comparison details tbody tr')]"
        ".map(row => row.innerText.split('\\t'))"
    )
    assert [row[2] for row in cells] == ["worse"] * 20 + ["better"] * 3
    assert cells[0][:5] == ["valid", "03", "worse", "passed", "failed"]
    assert cells[-1][:5] == ["valid", "02", "better", "failed", "passed"]
    assert "line 1" in cells[-1][5]
    assert "and 5 more; llmeval compare --json" in page.run(TEXT)
    for place, id_, run in ((0, "03", "new"), (20, "00", "old")):
        page.run(f"document.querySelectorAll('#comparison details a')[{place}].click()")
        assert page.run("document.getElementById('by-run').value") == run
        opened_sample = "document.querySelector('#list details[open] summary b').innerText"
        assert page.run(opened_sample) == id_
    assert page.complaints == []


def test_very_long_runs_are_not_compared_in_the_page(opened, people, monkeypatch):
    monkeypatch.setattr(comparing, "_MOST_ROWS", 17)
    assert "more than 17 rows: llmeval compare" in opened([people, people]).run(TEXT)


def test_a_run_in_memory_has_a_page_without_texts(opened):
    page = opened(evaluate([{"output": "{"}], [JsonValidity()]))
    assert page.run(CARDS) == 1
    assert "not in this report" in page.run(TEXT)


def test_it_is_reached_by_the_keyboard(opened, people):
    page = opened(people)
    page.press("Tab", 9)
    assert page.run("document.activeElement.className") == "skip"
    reached = set()
    for _ in range(80):
        page.press("Tab", 9)
        reached.add(page.run("document.activeElement.id || document.activeElement.tagName"))
    assert {"by-evaluator", "by-label", "by-text", "SUMMARY", "A"} <= reached
    page.run("document.querySelectorAll('#list > details > summary')[1].focus()")
    page.press("Enter", 13)
    assert page.run("document.querySelectorAll('#list > details')[1].open") is True


def test_a_screen_reader_is_told_what_everything_is(opened, people):
    page = opened(people)
    nodes = page.do("Accessibility.getFullAXTree")["nodes"]
    nameless = [
        node["role"]["value"]
        for node in nodes
        if not node.get("ignored")
        and node["role"]["value"] in {"searchbox", "combobox", "button", "link", "image", "region"}
        and not node.get("name", {}).get("value")
    ]  # fmt: skip
    assert nameless == []
    roles = {node["role"]["value"] for node in nodes}
    assert {"main", "banner", "status", "heading", "columnheader"} <= roles


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_readable_in_light_and_dark(opened, people, scheme):
    page = opened(people)
    page.do("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])  # fmt: skip
    ratios = page.run(
        """(() => {
        const light = css => { const [r, g, b] = css.match(/[\\d.]+/g).map(Number).map(c => c / 255)
            .map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
            return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
        const back = getComputedStyle(document.body).backgroundColor;
        return ['.lead', '.alarm', '#count', 'h1', 'a[data-evaluator]'].map(each => {
            const pair = [light(getComputedStyle(document.querySelector(each)).color), light(back)].sort();
            return (pair[1] + 0.05) / (pair[0] + 0.05); });
        })()"""
    )
    page.do("Emulation.setEmulatedMedia", features=[])
    assert min(ratios) > 4.5  # WCAG 2.2, 1.4.3


def test_a_narrow_page_does_not_scroll_sideways(opened, people):
    page = opened(people)
    page.do("Emulation.setDeviceMetricsOverride", width=360, height=800, deviceScaleFactor=1, mobile=True)  # fmt: skip
    overflow = page.run(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    page.do("Emulation.clearDeviceMetricsOverride")
    assert overflow <= 0


def test_an_empty_page_is_small(tmp_path):
    out = io.BytesIO()
    html.write([evaluate([{"output": "{}"}], [JsonValidity()])], out)
    assert len(out.getvalue()) < 60_000


@pytest.mark.once
def test_a_hundred_thousand_failing_rows_open_quickly(page, tmp_path):
    samples = ({"id": f"row-{n}", "output": f'{{"a": {n}' if n % 3 else f"{{'a': {n}}}"} for n in range(100_000))  # fmt: skip
    run = evaluate(samples, [JsonValidity()], out=tmp_path / "many")
    address = written(run, tmp_path / "report.html")
    with at_most(3, time.perf_counter):
        page.open(address)
        assert page.run(COUNT) == "100,000 of 100,000 listed samples, worst first"
        assert page.run(CARDS) == 50
    with at_most(1, time.perf_counter):
        choose(page, "text", "row-99999")
        assert page.run(IDS) == ["row-99999"]
    page.run("document.getElementById('by-text').value = ''")
    choose(page, "label", "single_quotes")
    page.run("[...document.querySelectorAll('#pages button')][1].click()")
    assert page.run("document.querySelector('#pages span').textContent") == "Page 2 of 667"


@pytest.mark.parametrize("in_a_directory", [True, False])
def test_the_worst_comes_first_by_distance_too_even_where_none_passes(tmp_path, in_a_directory):
    rows = [{"id": text, "output": text, "reference": "x"} for text in ("xab", "xabcdef", "xa")]
    distance = StringDistance("levenshtein", normalize_score=False)
    if not in_a_directory:  # there it is not known, unless a row passes
        rows.append({"id": "right", "output": "x", "reference": "x"})
    run = evaluate(rows, [distance], out=tmp_path / "run" if in_a_directory else None)
    written(run, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    data = json.loads(page.partition('type="application/json" id="data">')[2].split("<", 1)[0])
    assert [sample[1] for sample in data["samples"]] == ["xabcdef", "xab", "xa"]
    assert data["lower"] == [1]
    assert "lower is better" in page
