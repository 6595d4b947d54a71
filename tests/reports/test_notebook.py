"""A run and a comparison in a notebook."""

import re

import pytest

from llmeval_integrations import JsonFields, JsonValidity, compare, evaluate

EVIL = "<script>alert(1)</script>"


def totals(*totals, ids="s{}"):
    return [
        {"id": ids.format(n), "output": f'{{"total": {total}}}', "reference": '{"total": 1}'}
        for n, total in enumerate(totals)
    ]


def words(html):
    bare = re.sub("<style>.*?</style>", "", html, flags=re.DOTALL).replace("<wbr>", "")
    return " ".join(re.sub("<[^>]*>", " ", bare).split())


def test_a_notebook_shows_figures_causes_fields_differences_and_doubts():
    html = evaluate(totals(1, 2, 2), [JsonValidity(), JsonFields()])._repr_html_()
    assert 'class="figure' in html  # figures stand on the right
    for said in (
        "json_validity 100.0 % 43.9 to 100.0 % 1.000 3",
        "mismatch 2 json_fields",
        "/total 2 3 66.7 %",
        "2 for 1 (2 times)",
    ):
        assert said in words(html)
    runs = [evaluate(totals(*each), [JsonFields()]) for each in ([1] * 21, [1] * 8 + [2] * 12)]
    text = words(compare(*runs)._repr_html_())
    assert text.startswith("A: A, 21 samples; B: B, 20 samples; 20 joined B is worse: ")
    assert "json_fields pass rate worse 100.0 % 40.0 % -60.0 points" in text
    assert "1 sample is in A alone, so not compared" in text


@pytest.mark.parametrize("compared", [True, False])
def test_text_of_a_model_stays_text(compared):
    a = evaluate(totals(*[1] * 9, ids="<img src=x>{}"), {EVIL: JsonFields()})
    b = evaluate(totals(*['"<b>x</b>"'] * 9, ids="<img src=x>{}"), {EVIL: JsonFields()})
    html = (compare(a, b) if compared else b)._repr_html_()
    assert not {"script", "img"} & set(re.findall("<([a-z]+)", html))
    assert "&lt;script&gt;" in html
    assert "<b>x" not in html
