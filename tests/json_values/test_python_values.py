"""Values that are parsed already: models, enums and the like."""

import datetime
import json
from typing import Any

import pytest

from llmeval_integrations import JsonFields, JsonSchema
from llmeval_integrations.json_values.parse import parse


def test_an_object_of_a_model_is_dumped_by_its_aliases():
    pydantic = pytest.importorskip("pydantic")
    due = (datetime.datetime, pydantic.Field(alias="dueDate"))
    inner = pydantic.create_model("Inner", due=due)
    model = pydantic.create_model("Model", due=due, inner=(inner, pydantic.Field(alias="in")))
    moment = "2024-01-05T10:00:00Z"
    written = {"dueDate": moment, "in": {"dueDate": moment}}
    one = model.model_validate(written)
    assert parse(one) == written
    assert parse({"all": ({"one": one}, None)}) == {"all": [{"one": written}, None]}
    assert parse([one, {"a": {1}}]).name == "not_json"
    assert JsonFields(model)(json.dumps(written), reference=one).passed
    config = pydantic.ConfigDict(alias_generator=str.upper)
    generated = pydantic.create_model("Generated", __config__=config, due=(str, ...))
    assert parse(generated(DUE="x")) == {"DUE": "x"}


def test_a_computed_field_is_in_no_schema_and_so_left_out():
    pydantic = pytest.importorskip("pydantic")

    class Line(pydantic.BaseModel):
        quantity: int
        price: float

        @pydantic.computed_field
        @property
        def total(self) -> float:
            return self.quantity * self.price

    line = Line(quantity=2, price=1.5)
    assert parse(line) == {"quantity": 2, "price": 1.5}
    assert JsonFields(Line)('{"quantity": 2, "price": 1.5}', reference=line).passed
    assert JsonSchema({**Line.model_json_schema(), "additionalProperties": False})(line).passed


def test_a_class_and_an_object_that_fails_to_dump_itself_are_no_json():
    pydantic = pytest.importorskip("pydantic")
    model = pydantic.create_model("Model", value=(Any, None))
    assert parse(model).name == "not_json"
    assert parse(model(value=object())).name == "not_json"

    class Plain:
        def model_dump(self, mode):  # which knows no aliases
            return {"n": 1 / self.n}

    like = Plain()
    like.n = 1
    assert parse(like) == {"n": 1}
    like.n = 0
    assert "Plain is not a JSON value" in parse([like]).reason
