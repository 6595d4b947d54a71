"""A run, and two compared, in a notebook."""

import re

from llmeval_integrations import JsonFields, JsonValidity, compare, evaluate


def test_a_notebook_shows_figures_and_findings():
    run = evaluate([{"output": "{}"}, {"output": "{"}], [JsonValidity()])
    html = run._repr_html_()
    assert "<td>json_validity</td><td>50.0 %</td><td>9.5 to 90.5 %</td>" in html
    assert "<td>truncated</td><td>1</td>" in html


def test_text_of_a_model_stays_text():
    run = evaluate([{"output": "{"}], {"<script>alert(1)</script>": JsonValidity()})
    assert "<script>" not in run._repr_html_()


def totals(*totals, ids="s{}"):
    return [
        {"id": ids.format(n), "output": f'{{"total": {total}}}', "reference": '{"total": 1}'}
        for n, total in enumerate(totals)
    ]


def test_a_notebook_shows_differences_fields_doubts_and_changes():
    found = compare(
        evaluate(totals(*[1] * 20, 1), [JsonFields()]),
        evaluate(totals(*[1] * 8, *[2] * 12), [JsonFields()]),
    )
    html = found._repr_html_()
    assert html.startswith("<div><p>A: A, 21 samples; B: B, 20 samples; 20 joined</p><table>")
    assert "<td>json_fields pass rate</td><td>20</td><td>1</td><td>0.4</td><td>-0.600</td>" in html
    assert "<td>/total</td>" in html
    assert "<td>worse</td></tr>" in html
    assert "<li>1 sample is in A alone, so not compared</li>" in html
    assert "<td>s10</td><td>worse</td><td>passed 1: Every field matches</td>" in html


def test_what_is_compared_stays_text():
    name, ids = "<script>alert(1)</script>", "<img src=x onerror=alert(1)>{}"
    a = evaluate(totals(*[1] * 9, ids=ids), {name: JsonFields()})
    b = evaluate(totals(*['"<b>x</b>"'] * 9, ids=ids), {name: JsonFields()})
    html = compare(a, b)._repr_html_()
    assert not {"script", "img", "b"} & set(re.findall("<([a-z]+)", html))
    for text in ("&lt;script&gt;", "&lt;img src=x", "&lt;b&gt;"):
        assert text in html
