"""Which model is asked: clients by name, their settings and their keys."""

import sys
import traceback

import pytest
from remote_model import Remote

from llmeval_integrations.core.errors import (
    InvalidOptionError,
    MissingDependencyError,
    UnknownNameError,
)
from llmeval_integrations.judges import ask
from llmeval_integrations.llm.client import ClientConfig, load_client

pytest.importorskip("openai")

KEY = "sk-0123456789"
NEMO = "mistral-nemo:12b-instruct-2407-q8_0"


@pytest.mark.parametrize(
    "model",
    [f"ollama:{NEMO}", {"name": NEMO}, {"name": f"ollama:{NEMO}"}, ClientConfig(name=NEMO)],
)
def test_a_model_by_name(model):
    client = load_client(model, retries=100, temperature=0.01)
    assert (client.config.platform, client.server()) == ("ollama", "http://localhost:11434/v1")
    assert (client.config.retries, client.config.temperature) == (100, 0.01)
    assert repr(client) == f"OpenAIClient('{NEMO}')"
    assert load_client(client) is client


@pytest.mark.parametrize(
    ("model", "options", "error", "message"),
    [
        ("gpt-4o", {}, InvalidOptionError, "'gpt-4o' is not 'platform:model'; platforms: .*ollama"),
        (
            None,
            {},
            InvalidOptionError,
            "model=<NoneType object> is not .* or a Client of your own$",
        ),
        (object(), {}, InvalidOptionError, "model=<object object"),
        ({"platform": "openai"}, {}, InvalidOptionError, "^model: Object missing .* `name`"),
        (
            Remote(),
            {"api_key": "sk-1"},
            InvalidOptionError,
            "^api_key: <.*Remote.* is set up already",
        ),
        *(
            ({"name": "m"}, options, InvalidOptionError, message)
            for options, message in (
                ({"colour": 1}, "no field 'colour'; there are name, base_url"),
                ({"name": ""}, r"^model: .*length >= 1 - at `\$.name`"),
                ({"temperature": -0.1}, r"^model: .*>= 0.0 - at `\$.temperature`"),
                ({"timeout": float("inf")}, r"^model: .*86400.* - at `\$.timeout`"),
                ({"output": "yaml"}, r"^model: .* - at `\$.output`"),
                ({"options": {"stream": True}}, "^options: stream has to be left out"),
                ({"price": (1, -2)}, r"^model: .*>= 0.0 - at `\$.price\[1\]`"),
                ({"base_url": "http://me:pw@host/v1"}, "base_url: an address with a login"),
                ({"base_url": "http://host/v1?a=b"}, "base_url: an address with a .* query"),
                ({"api_key": [KEY]}, r"^model: .* - at `\$.api_key`"),
                ({"apikey": KEY}, "no field 'apikey'; did you mean 'api_key'"),
                ({"options": [{"api_key": KEY}]}, r"^model: .* - at `\$.options`"),
            )
        ),
    ],
)
def test_what_is_no_model_is_a_bad_call_that_shows_no_key(model, options, error, message):
    with pytest.raises(error, match=message) as caught:
        load_client(model, **options)
    assert KEY not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("broken", ["sk-\n0123", "sk-é0123", "${NO_SUCH_0123}"])
def test_a_key_that_cannot_be_sent_is_a_bad_call(broken):
    with pytest.raises(InvalidOptionError) as caught:
        ClientConfig(name="m", api_key=broken).key()
    assert ("0123" in str(caught.value)) == broken.startswith("$")


def test_a_slip_a_missing_package_and_a_missing_key_are_told_in_this_order(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(InvalidOptionError, match="no key is set for openai; set OPENAI_API_KEY"):
        ask("openai:m", "Where?")
    monkeypatch.setitem(sys.modules, "openai", None)
    package = r"pip install 'llmeval-integrations\[openai\]'"
    with pytest.raises(MissingDependencyError, match=package):
        ask("openai:m", "Where?")
    with pytest.raises(UnknownNameError, match="did you mean 'openai'"):
        ask("opnai:m", "Where?")
    with pytest.raises(InvalidOptionError, match="no field 'temprature'; did you mean 'temp"):
        ask(Remote(), "Where?", temprature=1)
    with pytest.raises(InvalidOptionError, match=r"prompt=\[\] has no message"):
        ask(Remote(), [])
