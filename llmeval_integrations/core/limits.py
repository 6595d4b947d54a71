"""All limits, with their reasons."""

from __future__ import annotations

from typing import Final

MAX_CHARACTERS: Final = 10_000_000
"""Characters of a text that is parsed as JSON. No model writes a longer answer."""

MAX_NODES: Final = 1_000_000
"""Values inside one value, counted with repetition: YAML aliases make many of a few bytes."""

MAX_DEPTH: Final = 200
"""Levels of arrays and objects. Python's stack is large enough to recurse through them."""

MAX_DIGITS: Final = 308
"""Digits of an integer. A longer one may exceed the largest float."""

MAX_PAIRS: Final = 100_000
"""Pairs of items that are compared in a document, such as 316 with 316: a second at most."""

MAX_EDIT_CELLS: Final = 100_000_000
"""Pairs of characters that an edit distance compares: two texts of 10,000 take 0.1 s."""

MAX_NAMES: Final = 1_000
"""Fields, tools, labels or reasons that are kept or counted by name. Models invent any number."""

MAX_SCHEMA_ERRORS: Final = 100
"""Errors that are listed for a value. A recursive schema can give hundreds of thousands."""

REGEX_TIMEOUT: Final = 1.0
"""Seconds to match a pattern with a text. Some patterns would backtrack forever."""

MAX_REGEX_CHARACTERS: Final = 1_000
"""Characters of a pattern in a reference. Compiling it has no time limit."""

MAX_REGEX_COPIES: Final = 250_000
"""Parts of a pattern with its repeats written out: it takes 100 MB to compile."""
