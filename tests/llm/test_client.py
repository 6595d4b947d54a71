"""Which model is asked: clients by name, their settings and their keys."""

import subprocess
import sys
import traceback

import pytest

from llmeval_integrations.core.errors import (
    InvalidOptionError,
    MissingDependencyError,
    UnknownNameError,
)
from llmeval_integrations.llm.answers import ask
from llmeval_integrations.llm.client import Client, ClientConfig, load_client

pytest.importorskip("openai")

KEY = "sk-0123456789"
NEMO = "mistral-nemo:12b-instruct-2407-q8_0"


class Echo(Client):
    """Answers without a model."""

    async def complete(self, request):
        raise NotImplementedError

    def identity(self):
        return {}


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
        ("opnai:gpt-4o", {}, UnknownNameError, "'opnai'; did you mean 'openai'\\? there are .*"),
        (None, {}, InvalidOptionError, "model=None is not .* or a Client of your own$"),
        (object(), {}, InvalidOptionError, "model=<object object"),
        (Echo(), {"api_key": "sk-1"}, InvalidOptionError, "^api_key: <.*Echo.* is set up already"),
        *(
            ({"name": "m"}, options, InvalidOptionError, message)
            for options, message in (
                ({"colour": 1}, "no field 'colour'; there are name, base_url"),
                ({"temprature": 0}, "no field 'temprature'; did you mean 'temperature'"),
                ({"name": ""}, "^model: name='': .*length >= 1"),
                ({"temperature": -0.1}, r"^model: temperature=-0\.1: .*>= 0"),
                ({"timeout": float("inf")}, "^model: timeout=.*86400"),
                ({"output": "yaml"}, "^model: output='yaml': "),
                ({"base_url": "http://me:pw@host/v1"}, "base_url: an address with a login or a"),
                (
                    {"base_url": "http://host/v1?a=b"},
                    "base_url: an address with a login or a query",
                ),
            )
        ),
    ],
)
def test_what_is_no_model_is_a_bad_call(model, options, error, message):
    with pytest.raises(error, match=message):
        load_client(model, **options)


@pytest.mark.parametrize(("text", "key"), [(KEY, KEY), ("${MY_KEY}", KEY), ("-", None), ("", None)])
def test_a_key_is_given_or_referred_to_and_never_shown(text, key, monkeypatch):
    monkeypatch.setenv("MY_KEY", f"{KEY}\n")  # as a secret's file ends
    config = ClientConfig(name="m", api_key=text, options={"extra_headers": {"X-Key": KEY}})
    assert config.key() == key
    for shown in (repr(config), str(config), str(config.__rich_repr__())):
        assert KEY not in shown


@pytest.mark.parametrize("broken", ["sk-\n0123", "sk-é0123", "${NO_SUCH_0123}"])
def test_a_key_that_cannot_be_sent_is_a_bad_call(broken):
    with pytest.raises(InvalidOptionError) as caught:
        ClientConfig(name="m", api_key=broken).key()
    assert ("0123" in str(caught.value)) == broken.startswith("$")


@pytest.mark.parametrize(
    "fields", [{"api_key": [KEY]}, {"apikey": KEY}, {"options": [{"api_key": KEY}]}]
)
def test_a_key_in_the_wrong_place_is_not_shown_either(fields):
    with pytest.raises(InvalidOptionError) as caught:
        load_client({"name": "m"}, **fields)
    assert KEY not in "".join(traceback.format_exception(caught.value))


def test_looking_for_a_client_loads_no_sdk():
    code = (
        "import sys\n"
        "from llmeval_integrations.llm.client import load_client\n"
        "try: load_client('nobody:m')\n"
        "except LookupError: pass\n"
        "print({'openai', 'anthropic', 'google.genai', 'litellm', 'langchain_core', 'llama_index'}"
        " & {*sys.modules})\n"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "set()"


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
        ask(Echo(), "Where?", temprature=1)
