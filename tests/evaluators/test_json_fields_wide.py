"""Objects of many members end as the same members do in objects of few."""

import random

import pytest

from llmeval_integrations import JsonFields

SCALARS = [1, 1.0, True, 0, False, None, "", "1", 10**30]
VALUES = [*SCALARS, float("nan"), [], {}, [1], {"a": 1}]
EQUAL = {1: 1.0, 0: False}  # and True, which is 1 to Python
SETTINGS = [{}, {"/name 3": {"ignore": True}}, {"/*": {"tolerance": 1}}, {"": {"coerce": True}}]


def wide(choose, names, values=VALUES):
    return {name: choose.choice(values) for name in names}


def changed(choose, reference):
    """Change, leave out, add and reorder members, each in some of the cases."""
    output = dict(reference)
    if choose.random() < 0.3:
        name = choose.choice(list(output))
        if isinstance(output[name], (int, float)):
            output[name] = EQUAL.get(output[name], output[name])
        return output
    for name in choose.sample(sorted(output), choose.choice([0, 0, 1, 5])):
        output[name] = choose.choice(VALUES)
    for name in choose.sample(sorted(output), choose.choice([0, 0, 3])):
        del output[name]
    output.update(wide(choose, [f"extra {n}" for n in range(choose.choice([0, 0, 2]))]))
    members = list(output.items())
    if choose.random() < 0.3:
        choose.shuffle(members)
    return dict(members)


def found(evaluator, output, reference):
    metadata = evaluator(output, reference).metadata
    outcomes = sorted(repr(sorted(outcome.items())) for outcome in metadata["outcomes"])
    return outcomes, metadata["fields"], metadata.get("values", {})


@pytest.mark.parametrize("fields", SETTINGS)
def test_the_same_as_in_parts(fields):
    choose = random.Random(1)
    together, apart = [JsonFields(fields=fields, parsing="lenient") for _ in range(2)]
    for _ in range(200):
        names = [f"name {n}" for n in range(choose.randrange(101, 140))]
        reference = wide(choose, names, choose.choice([SCALARS, VALUES]))
        output = changed(choose, reference)
        outcomes, counts, values = [], {}, {}
        every = list(dict.fromkeys([*names, *output]))
        for start in range(0, len(every), 10):
            some = every[start : start + 10]
            parts = [
                {name: side[name] for name in some if name in side} for side in (output, reference)
            ]
            if any(parts):
                of_part = found(apart, *parts)
                outcomes += of_part[0]
                counts.update(of_part[1])
                values.update(of_part[2])
        assert found(together, output, reference) == (sorted(outcomes), counts, values)


def test_nan_is_no_value_that_matches_in_many_members_or_few():
    nan = float("nan")
    for names in (3, 130):
        document = {f"name {n}": nan for n in range(names)}
        assert JsonFields(parsing="lenient")(document, document).score == 0


def test_names_of_one_document_are_not_those_of_the_next():
    evaluator = JsonFields()
    for start in (0, 5, 0):
        document = {f"name {n}": n for n in range(start, start + 130)}
        assert list(evaluator(document, document).metadata["fields"]) == [
            f"/name {n}" for n in range(start, start + 130)
        ]
