"""`uniqueItems` over integers beyond 64 bits, which the validator compares pair by pair."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from llmeval_integrations.json_values.equality import bag, canonical

_LONG: Final = re.compile(rb"[0-9]{19}")
_MANY: Final = 100
"""So many integers are compared pair by pair in 30 ms, and ten times as many in 3 s."""


def has_many_long_integers(value: Any) -> bool:
    """Whether a value may hold so many of them that comparing all pairs takes long."""
    return len(_LONG.findall(msgspec.json.encode(value))) > _MANY


class UniqueItems:
    """The keyword as the validator calls it; items are compared by their texts."""

    def __init__(self, schema: Any, value: Any, path: Any) -> None:  # noqa: ARG002
        self._is_asserted = value is True

    def validate(self, instance: Any) -> None:
        """Raise ValueError, from which the validator makes its error."""
        if not self._is_asserted or not isinstance(instance, list):
            return
        if len(bag(instance)) < len(instance):
            raise ValueError(f"{canonical(instance)} has non-unique elements")
