"""Beside py-openjudge's JsonMatchGrader."""

import asyncio
import itertools
import json
import random

import pytest
from json_strategies import shuffled

from llmeval_integrations import JsonMatch


def test_equal_to_openjudge_where_both_read_the_json():
    peer = pytest.importorskip("openjudge.graders.format.json.json_match")
    choose = random.Random(5)

    def value(depth=0):
        kind = choose.random()
        if depth > 2 or kind < 0.4:
            return choose.choice([0, 1, 2.5, "", "a", "b", 1.0, 10**20])
        if kind < 0.7:
            return [value(depth + 1) for _ in range(choose.randint(0, 3))]
        return {choose.choice("abc"): value(depth + 1) for _ in range(choose.randint(0, 3))}

    async def compare():
        for strict, extra in itertools.product([True, False], repeat=2):
            grader = peer.JsonMatchGrader(strict_order=strict, ignore_extra_keys=extra)
            evaluator = JsonMatch(strict_order=strict, ignore_extra_keys=extra)
            for _ in range(400):
                one = value()
                other = choose.choice([value(), one, shuffled(one, choose)])
                texts = json.dumps(one), json.dumps(other)
                theirs = await grader.aevaluate(reference_response=texts[1], response=texts[0])
                assert evaluator(*texts).score == theirs.score, texts

    asyncio.run(compare())
