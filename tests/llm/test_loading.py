"""Clients by name, or of an object that reaches a model."""

import subprocess
import sys

import pytest

from llmeval_integrations.core.errors import (
    InvalidOptionError,
    MissingDependencyError,
    UnknownNameError,
)
from llmeval_integrations.llm.answers import ask
from llmeval_integrations.llm.client import Client
from llmeval_integrations.llm.loading import load_client

pytest.importorskip("pydantic")
pytest.importorskip("openai")

from llmeval_integrations.llm.config import ClientConfig

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
        ("openai:m", {"colour": 1}, InvalidOptionError, "colour: .*there are name, base_url"),
        (None, {}, InvalidOptionError, "model=None is not .* or a Client of your own$"),
        (object(), {}, InvalidOptionError, "model=<object object"),
        (Echo(), {"api_key": "sk-1"}, InvalidOptionError, "^api_key: <.*Echo.* is set up already"),
    ],
)
def test_what_is_no_model_is_a_bad_call(model, options, error, message):
    with pytest.raises(error, match=message):
        load_client(model, **options)


def test_looking_for_a_client_loads_no_sdk():
    code = (
        "import sys\n"
        "from llmeval_integrations.llm.loading import load_client\n"
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
