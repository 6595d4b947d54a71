"""Prices are those of the package; what it does not know has none."""

import pytest

from llmeval_integrations.llm.budget import find_price
from llmeval_integrations.llm.client import Client
from llmeval_integrations.llm.reply import Usage

MILLION = 1_000_000
MINI = {"platform": "openai", "name": "gpt-4o-mini"}
SONNET = {"platform": "anthropic", "name": "claude-sonnet-4-5"}


class Sold(Client):
    complete = identity = None

    def __init__(self, identity):
        self.identity = lambda: identity


@pytest.mark.parametrize(
    ("identity", "usage", "dollars"),
    [
        (MINI, Usage(MILLION, 0), 0.15),
        (MINI, Usage(0, MILLION), 0.60),
        (MINI, Usage(MILLION, 0, MILLION), 0.075),
        (SONNET, Usage(100_000, 0, 0, 0, 100_000), 0.375),
        (MINI, Usage(10, 0, 20), 10 * 0.075 / MILLION),
        ({"platform": "litellm", "name": "openai/gpt-4o-mini"}, Usage(MILLION, 0), 0.15),
        ({"base_url": "https://api.openai.com/v1", "name": "gpt-4o-mini"}, Usage(MILLION, 0), 0.15),
        ({}, None, None),
        ({"name": "gpt-4o-mini"}, None, None),  # anybody may serve a model of that name
        ({"platform": "openai", "name": "my-own-model"}, None, None),
        ({**MINI, "base_url": "http://127.0.0.1:8000"}, None, None),
        ({**MINI, "base_url": "https://llm.example.com/v1"}, None, None),
    ],
)
def test_a_call_costs_what_the_vendors_list_says(identity, usage, dollars):
    pytest.importorskip("genai_prices")
    price = find_price(Sold(identity))
    if dollars is None:
        assert price.startswith("no price is known for the model ")
    else:
        assert price(usage) == pytest.approx(dollars)


def test_a_price_of_ones_own_comes_first():
    sold = Sold(MINI)
    sold.price = (3.0, 4.0)
    assert find_price(sold)(Usage(MILLION, 2 * MILLION)) == 11
