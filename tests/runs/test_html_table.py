"""A run in a notebook."""

from llmeval_integrations import JsonValidity, evaluate


def test_a_notebook_shows_figures_and_findings():
    run = evaluate([{"output": "{}"}, {"output": "{"}], [JsonValidity()])
    html = run._repr_html_()
    assert "<td>json_validity</td><td>50.0 %</td><td>9.5 to 90.5 %</td>" in html
    assert "<td>truncated</td><td>1</td>" in html


def test_text_of_a_model_stays_text():
    run = evaluate([{"output": "{"}], {"<script>alert(1)</script>": JsonValidity()})
    assert "<script>" not in run._repr_html_()
