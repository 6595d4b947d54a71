"""Prices are those of the package; what it does not know has none."""

import sys

import pytest
from msgspec.structs import replace

from llmeval_integrations import MissingDependencyError
from llmeval_integrations.llm.client import Client
from llmeval_integrations.llm.prices import price_of
from llmeval_integrations.llm.reply import Usage

MILLION = 1_000_000


class Sold(Client):
    def __init__(self, identity):
        self.identity = lambda: identity

    identity = None

    async def complete(self, request):
        raise NotImplementedError


@pytest.mark.parametrize(
    ("identity", "usage", "dollars"),
    [
        ({"platform": "openai", "name": "gpt-4o-mini"}, Usage(MILLION, 0), 0.15),
        ({"platform": "openai", "name": "gpt-4o-mini"}, Usage(0, MILLION), 0.60),
        ({"platform": "openai", "name": "gpt-4o-mini"}, Usage(MILLION, 0, MILLION), 0.075),
        ({"platform": "openai", "name": "gpt-4o-mini"}, Usage(0, MILLION, 0, MILLION), 0.60),
        ({"platform": "openai", "name": "gpt-4o-mini-2024-07-18"}, Usage(MILLION, 0), 0.15),
        ({"platform": "litellm", "name": "openai/gpt-4o-mini"}, Usage(MILLION, 0), 0.15),
        ({"base_url": "https://api.openai.com/v1", "name": "gpt-4o-mini"}, Usage(MILLION, 0), 0.15),
        ({"platform": "anthropic", "name": "claude-3-5-haiku-20241022"}, Usage(MILLION, 0), 0.80),
        ({"platform": "openai", "name": "gpt-4o-mini"}, Usage(), 0.0),
        ({"platform": "openai", "name": "gpt-4o-mini"}, Usage(10, 0, 20), 10 * 0.075 / MILLION),
    ],
)
def test_a_call_costs_what_the_vendors_list_says(identity, usage, dollars):
    pytest.importorskip("genai_prices")
    assert price_of(Sold(identity))(usage) == pytest.approx(dollars)


@pytest.mark.parametrize(
    "identity",
    [
        {},
        {"client": "of somebody's own"},
        {"name": "gpt-4o-mini"},  # anybody may serve a model of that name
        {"platform": "openai", "name": "my-own-model"},
        {"platform": "ollama", "name": "mistral-nemo"},
        {"platform": "openai", "name": "gpt-4o-mini", "base_url": "http://localhost:8000/v1"},
        {"platform": "openai", "name": "gpt-4o-mini", "base_url": "http://127.0.0.1:8000"},
        {"platform": "openai", "name": "gpt-4o-mini", "base_url": "https://llm.example.com/v1"},
        {"platform": "openai", "name": None},
    ],
)
def test_what_is_not_in_a_list_has_no_price(identity):
    pytest.importorskip("genai_prices")
    assert price_of(Sold(identity)) is None


def test_a_price_of_ones_own_comes_first():
    sold = Sold({"platform": "openai", "name": "gpt-4o-mini"})
    sold.price = (3.0, 4.0)
    assert price_of(sold)(Usage(MILLION, 2 * MILLION)) == 11


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "genai_prices.data_snapshot", None)
    with pytest.raises(MissingDependencyError, match=r"genai-prices is not installed.*\[prices\]"):
        price_of(Sold({"platform": "openai", "name": "gpt-4o-mini"}))


@pytest.mark.parametrize(
    "usage",
    [Usage(1_000, 50), Usage(1_000, 50, 300, 0, 600), Usage(1_000, 50, 0, 0, 1_000)],
    ids=str,
)
def test_what_is_put_into_a_cache_costs_what_the_package_says(usage):
    genai_prices = pytest.importorskip("genai_prices")
    name, seller = "claude-sonnet-4-5", "anthropic"
    tokens = genai_prices.Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cached_tokens,
        cache_write_tokens=usage.written_tokens,
    )
    known = genai_prices.calc_price(tokens, name, provider_id=seller).total_price
    price = price_of(Sold({"platform": seller, "name": name}))
    assert price(usage) == pytest.approx(float(known))
    unwritten = replace(usage, written_tokens=0)
    assert (price(usage) > price(unwritten)) == (usage.written_tokens > 0)
