"""The text of an output that is none: bytes, JSON values, anything else."""

import datetime as dt

import pytest

from llmeval_integrations import ExactMatch, LengthPenalty


class Name(str):
    __slots__ = ()

    def __str__(self):
        return "something else"


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("x", "x"), (Name("x"), "x"), (b"\xc3\xa9", "é"), (b"\xff", "\ufffd"), (bytearray(b"x"), "x"), ({"b": 1, "a": [1.0, None]}, '{"a":[1,null],"b":1}'),
        ((1, 2), "[1,2]"), (True, "true"), (None, ""), (1e16, "10000000000000000"), ("", ""), ({"é": "\u0000"}, '{"é":"\\u0000"}'),
        (10**20, "100000000000000000000"), (dt.date(2024, 2, 29), "datetime.date(2024, 2, 29)"),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_values_have_one_text(output, text):
    assert ExactMatch()(output, text).passed, ExactMatch()(output, text).reason
    if text:
        assert LengthPenalty()(output).metadata["length"] == len(text)


def test_the_text_of_a_model_is_its_json():
    pydantic = pytest.importorskip("pydantic")
    model = pydantic.create_model("Model", b=(int, 1), a=(str, "x"))()
    assert ExactMatch()(model, '{"a":"x","b":1}').passed
