"""Where judges are asked on a cluster, and how many ask."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import ray

from llmeval_integrations.runs.judging import JudgingOptions

_AT_A_TIME: Final = 128
"""Samples that one actor judges at a time: what the SDKs cost fills its processor beyond that."""


def shared(options: JudgingOptions) -> tuple[int, JudgingOptions]:
    """Share what holds for all judges among actors; gives their number and each one's part."""
    is_bounded = options.max_cost is not None or options.max_tokens is not None
    actors = 1 if is_bounded else -(-options.concurrency // _AT_A_TIME)
    cache = None if options.cache is None else Path(options.cache).absolute()
    return actors, replace(options, concurrency=options.concurrency // actors, cache=cache)


def place(options: JudgingOptions) -> dict[str, Any]:
    """Return what has Ray put actors where their cache is; they wait more than they compute."""
    if options.cache is None:
        return {}
    here = ray.get_runtime_context().get_node_id()
    return {"num_cpus": 0, "label_selector": {"ray.io/node-id": here}}
