"""Does the output match the reference, path by path?

The rules of equality apply, unless `list_order` or `extra_keys` change them.
"""

from __future__ import annotations

from typing import Final

from llmeval_integrations.conformance.case import Case
from llmeval_integrations.conformance.claims import json_equality

_PATH: Final = "two paths have the same spelling"

CASES: Final = (
    *json_equality.CASES,
    Case("a key with a point", "no", '{"a.b": 1}', '{"a": {"b": 1}}', _PATH),
    Case("a key with a slash", "no", '{"a/b": 1}', '{"a": {"b": 1}}', _PATH),
    Case("a key that is an index", "no", '{"a": {"0": 1}}', '{"a": [1]}', _PATH),
    Case("an empty key", "no", '{"": 1}', "1", _PATH),
)
GROWTHS: Final = json_equality.GROWTHS
