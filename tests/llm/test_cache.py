"""A file of replies: several processes, kills, damage, other people's files."""

import multiprocessing
import os
import sqlite3
from contextlib import closing, suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmeval_integrations import InputError
from llmeval_integrations.llm.cache import Cache
from llmeval_integrations.llm.reply import Reply, Usage

REPLY = Reply("Pass", "stop", Usage(10, 5, 3, 1), "gpt-5", "json_schema")
SPAWN = multiprocessing.get_context("spawn")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folder" / "replies.sqlite"


@settings(deadline=None, max_examples=50)
@given(
    st.text(st.characters(exclude_categories=())),  # halves of surrogate pairs among them
    st.sampled_from(["stop", "length", "refused", "other"]),
    st.integers(0, 2**53),
)
def test_every_reply_is_kept_as_it_is(tmp_path_factory, text, finish, tokens):
    reply = Reply(text, finish, Usage(tokens, tokens), fence=text)
    with Cache(tmp_path_factory.getbasetemp() / "all.sqlite") as cache:
        key = repr(reply).encode("utf-8", "surrogatepass")
        cache.put(key, reply)
        assert cache.get(key) == reply


def test_a_closed_cache_is_one_file_of_its_owner_and_opens_again(path):
    cache = Cache(path)
    assert cache.get(b"key") is None
    for _ in range(2):
        cache.put(b"key", REPLY)
        assert cache.get(b"key") == REPLY
        cache.close()
        assert [file.name for file in path.parent.iterdir()] == ["replies.sqlite"]
    if os.name != "nt":  # which has other rights
        assert [each.stat().st_mode & 0o777 for each in (path, path.parent)] == [0o600, 0o700]


def write(path, name, start, told):
    start.wait()
    cache, number = Cache(path), 0
    while True:
        cache.put(f"{name}-{number}".encode(), REPLY)
        cache.put(b"%d" % number, REPLY)
        told.send(number)
        number += 1
        if number % 50 == 0:  # others come and go
            cache.close()


def test_processes_share_a_file_from_its_first_moment_and_a_kill_loses_nothing(path):
    start, processes, ends = SPAWN.Event(), [], []
    for name in range(3):
        heard, told = SPAWN.Pipe(duplex=False)
        processes.append(SPAWN.Process(target=write, args=(path, name, start, told)))
        processes[-1].start()
        told.close()
        ends.append(heard)
    start.set()
    assert [next(n for n in iter(heard.recv, None) if n >= 100) for heard in ends] == [100] * 3
    keys = []
    for name, (process, heard) in enumerate(zip(processes, ends)):
        process.kill()
        process.join()
        with suppress(EOFError):
            while True:
                keys.append(f"{name}-{heard.recv()}".encode())
    for frozen in (False, True):
        with Cache(path, frozen=frozen) as cache:
            assert all(cache.get(key) == REPLY for key in [b"100", *keys])


def foreign(path):
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE invoices (id)")


@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: path.write_bytes(b"\x89PNG" * 1000), "file is not a database"),
        (lambda path: path.mkdir(), "is a folder, expected a file"),
        (foreign, "is a database of another program or version, not a cache of replies"),
    ],
)
def test_a_file_that_is_no_cache_is_named_and_left_as_it_is(path, make, message, frozen):
    path.parent.mkdir()
    make(path)
    before = path.read_bytes() if path.is_file() else None
    cache = Cache(path, frozen=frozen)
    for _ in range(2):  # the second time before anything is done
        with pytest.raises(InputError, match=message) as caught:
            cache.get(b"7")
        assert str(path) in str(caught.value)
    with pytest.raises(InputError, match=message):
        cache.put(b"8", REPLY)
    cache.close()
    assert before is None or path.read_bytes() == before


def test_a_frozen_cache_is_not_made_and_not_changed(path):
    with pytest.raises(InputError, match=f"there is no cache .*{path.name}"):
        Cache(path, frozen=True).open()
    assert not path.parent.exists()
    with Cache(path) as cache:
        cache.put(b"key", REPLY)
    before = path.read_bytes()
    with Cache(path, frozen=True) as cache, pytest.raises(InputError, match="readonly"):
        cache.put(b"other", REPLY)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]
