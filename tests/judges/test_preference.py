"""Which of two outputs is better, asked in both orders."""

import pytest
from scripted import Scripted

from llmeval_integrations import MissingFieldError, evaluate
from llmeval_integrations.judges import Preference

GOOD = "Rome is the capital."


def prefer(choose):
    """A model that is given both texts, and says which place it prefers."""

    def reply(request):
        first, second = (
            request.text.split(f"<{place} {request.fence}>\n")[1].split("\n</")[0]
            for place in ("first", "second")
        )
        return {"explanation": "so", "label": choose(first, second), "mark": request.fence}

    return Scripted(reply)


def best(first, second):
    return "first" if first == GOOD else "second" if second == GOOD else "tie"


@pytest.mark.parametrize(
    ("choose", "output", "output_b", "expected"),
    [
        (best, GOOD, "Milan.", (1.0, "A", {"A first": "A", "B first": "A"}, None)),
        (best, "Milan.", GOOD, (0.0, "B", {"A first": "B", "B first": "B"}, None)),
        (best, "Milan.", "Turin.", (0.5, "tie", {"A first": "tie", "B first": "tie"}, None)),
        (lambda *_: "first", GOOD, "x", (0.5, "tie", {"A first": "A", "B first": "B"}, "first")),
        (lambda *_: "second", GOOD, "x", (0.5, "tie", {"A first": "B", "B first": "A"}, "second")),
    ],
)
def test_both_orders_are_asked_and_have_to_agree(choose, output, output_b, expected):
    model = prefer(choose)
    result = Preference(model)(output, input="Capital of Italy?", output_b=output_b)
    found = (result.score, result.label, result.metadata["answers"])
    assert (*found, result.metadata.get("position")) == expected
    assert len(model.requests) == result.metadata["judge"]["calls"] == 2
    strict = Preference(model, on_disagreement="unscored")(output, output_b=output_b)
    agreed = (None, "disagreement") if expected[3] else expected[:2]
    assert (strict.score, strict.label) == agreed


def test_a_run_takes_output_b_from_its_column():
    rows = [{"output": GOOD, "output_b": "Milan."}, {"output": "Milan.", "output_b": GOOD}]
    run = evaluate(rows, Preference(prefer(best)))
    assert [row.label for row in run.rows] == ["A", "B"]
    with pytest.raises(MissingFieldError, match="output_b"):
        Preference(prefer(best))("a")
