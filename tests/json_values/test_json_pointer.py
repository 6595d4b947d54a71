"""JSON Pointers, as RFC 6901 has them."""

import jsonpointer
import pytest
from hypothesis import given
from hypothesis import strategies as st
from json_strategies import law

from llmeval_integrations.json_values.pointer import pointer


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((), ""),
        (("",), "/"),
        (("foo", 0), "/foo/0"),
        (("a/b",), "/a~1b"),
        (("m~n",), "/m~0n"),
        (("~1",), "/~01"),
        ((" ", '"', "\\"), '/ /"/\\'),
    ],
)
def test_a_path_is_written_as_the_standard_has_it(path, text):
    assert pointer(path) == text


@law
@given(st.lists(st.text(max_size=5) | st.integers(0, 99)))
def test_a_pointer_can_be_read_back(path):
    assert jsonpointer.JsonPointer(pointer(path)).parts == [str(step) for step in path]
