"""Keys in options, headers and addresses: sent, and in no identity, file or error."""

import json
import traceback

import pytest
from remote_model import question
from server import answer, chat
from vendors import BY_NAME, VERDICT, ask_client

from llmeval_integrations import evaluate
from llmeval_integrations.core.errors import ClientError
from llmeval_integrations.judges.pass_fail import PassFail

pytest.importorskip("openai")
pytest.importorskip("pydantic")

KEY = "sk-proj-SECRETsecretSECRETsecret0123456789"
OTHER = "sk-proj-OTHERotherOTHERother0123456789"


in_each_place = pytest.mark.parametrize(
    "place",
    [
        lambda key: {"extra_headers": {"X-Api-Key": key}},
        lambda key: {"extra_headers": {"Helicone-Auth": f"Bearer {key}"}},
        lambda key: {"extra_query": {"subscription-key": key}},
        lambda key: {"extra_body": {"vendor": {"apiToken": key}}},
    ],
    ids=["header", "bearer", "query", "body"],
)


@pytest.fixture
def client_of(server):
    return lambda options: BY_NAME["openai"].load(server.url, options=options)


@in_each_place
def test_a_run_writes_no_key_down_and_goes_on_with_another(place, client_of, server, tmp_path):
    server.plays(chat(VERDICT))
    out, cache = tmp_path / "run", tmp_path / "replies.sqlite"
    for key, resume in ((KEY, False), (OTHER, True)):
        judge = PassFail(client_of(place(key)), "Is it right?")
        run = evaluate([{"output": "a"}], [judge], cache=cache, out=out, resume=resume)
        assert [row.label for row in run.rows] == ["Pass"]
    again = evaluate([{"output": "a"}], [judge], cache=cache)
    assert again.rows[0].metadata["judge"]["cached"] == 1  # a key is no part of a reply
    assert len(server.requests) == 1
    for file in (*out.iterdir(), cache):
        assert KEY.encode() not in file.read_bytes(), file


@in_each_place
def test_a_key_is_neither_quoted_nor_printed(place, client_of, server):
    client = client_of(place(KEY))
    assert "SECRET" not in f"{client.config!r} {client.config}"
    for play in (
        answer({"error": {"message": f"{KEY} is wrong"}}, 401),
        answer({"choices": f"{'x' * 480}{KEY}"}),  # the message is cut in the key
    ):
        server.plays(play)
        with pytest.raises(ClientError) as caught:
            ask_client(client, question())
        assert "SECRET" not in "".join(traceback.format_exception(caught.value))


def test_an_option_that_may_lead_elsewhere_tells_clients_apart(client_of):
    for option in ({"extra_headers": {"X-Route": "a"}}, {"extra_body": {"think_end_token": "a"}}):
        other = json.loads(json.dumps(option).replace('"a"', '"b"'))
        one, two, three = (client_of(each).identity() for each in (option, other, other))
        assert one != two == three
