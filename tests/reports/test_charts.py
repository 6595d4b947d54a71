"""The charts of the page: shapes in proportion, words that say the same, and nothing that acts."""

from itertools import pairwise
from xml.etree import ElementTree

import pytest

from llmeval_integrations.reports.parts.charts import histogram, rate_chart
from llmeval_integrations.reports.parts.scores import Scores
from llmeval_integrations.runs import Row

SVG = "{http://www.w3.org/2000/svg}"


def shapes(chart, of):
    root = ElementTree.fromstring(chart)
    assert root.get("role") == "img"
    kinds = {part.tag.removeprefix(SVG) for part in root.iter()}
    assert kinds <= {"svg", "g", "rect", "path"}  # no script, style or link
    found = root.iterfind(f".//*[@class='{of}']/")
    return root.get("aria-label"), list(found)


def scores_of(*figures):
    scores = Scores()
    for score in figures:
        scores.add(Row(1, "e", score, None, None, None, {}, False, None))
    scores.counts = [20, 0, 0, 10, 40, 1]
    return scores


@pytest.mark.parametrize("rate", [0.0, 0.31, 0.82, 1.0])
def test_a_rate_is_a_bar_with_its_interval(rate):
    low, high = rate * 0.9, rate * 0.9 + 0.1
    label, [bar] = shapes(rate_chart(rate, (low, high)), "bar")
    assert label == f"{rate * 100:.1f} %, 95 % interval {low * 100:.1f} % to {high * 100:.1f} %"
    _, [line] = shapes(rate_chart(rate, (low, high)), "ci")
    ends = [float(x) for x in line.get("d").replace("M", "").replace("L", "").split()[::2]]
    of_all = (max(ends) - min(ends)) / 0.1  # the width of a share of 1
    start = float(bar.get("x"))
    assert float(bar.get("width", 0)) == pytest.approx(rate * of_all, abs=0.01)
    assert min(ends) == pytest.approx(start + low * of_all, abs=0.01)
    assert 140 < of_all <= 160


def test_bars_are_as_high_as_scores_are_many():
    label, bars = shapes(histogram(scores_of(0, 1, 0.5)), "histbar")
    heights = [float(bar.get("height", 0)) for bar in bars]
    shares = [height / max(heights) for height in heights]
    assert shares == pytest.approx([1 / 2, 0, 0, 1 / 4, 1, 1 / 14])
    places = [float(bar.get("x")) for bar in bars]
    steps = [there - here for here, there in pairwise(places)]
    assert steps == pytest.approx([steps[0]] * 5)
    assert label.startswith("3 scores from 0 to 1; most, 40, from ")
