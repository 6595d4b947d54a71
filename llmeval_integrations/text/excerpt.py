"""Shorten two texts to the place where they differ."""

from __future__ import annotations

from llmeval_integrations.core.quote import shorten
from llmeval_integrations.text.edit_distance import common_beginning


def cut_around_difference(output: str, reference: str, longest: int) -> tuple[str, str]:
    """Shorten two different texts to at most `longest` characters each.

    Their common beginning is left out, except for a few words.
    """
    if max(len(output), len(reference)) <= longest:
        return output, reference
    common = common_beginning(output, reference)
    if common > longest * 2 // 3:
        start = common - longest // 3
        output, reference = f"...{output[start:]}", f"...{reference[start:]}"
    return shorten(output, longest), shorten(reference, longest)
