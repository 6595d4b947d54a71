"""How much is too much: every limit, with its reason."""

from __future__ import annotations

from typing import Final

MAX_CHARACTERS: Final = 10_000_000
"""Of a text that is read as JSON; a longer one is no answer of a model, and would fill memory."""

MAX_NODES: Final = 1_000_000
"""Values in one value, counted with repetition: 846 bytes of YAML aliases can stand for many."""

MAX_DEPTH: Final = 200
"""Levels of arrays and objects; Python's stack holds as many, so plain recursion is safe."""

MAX_DIGITS: Final = 308
"""Digits of an exact integer; whatever has more may be beyond the largest float."""

MAX_PAIRS: Final = 100_000
"""Pairs of items that one document may compare: 316 items against 316, a second at most."""

MAX_EDIT_CELLS: Final = 100_000_000
"""Pairs of characters that one edit distance may compare: 0.1 s, 10,000 characters each."""

MAX_SCHEMA_ERRORS: Final = 100
"""Of one value; nobody reads more, and a recursive schema can give hundreds of thousands."""

REGEX_TIMEOUT: Final = 1.0
"""Seconds for one pattern on one text; a pattern from outside may backtrack for ever."""

MAX_REGEX_CHARACTERS: Final = 1_000
"""Of a pattern that a reference brings; compiling takes no time limit."""

MAX_REGEX_COPIES: Final = 250_000
"""Parts of a pattern whose repeats are written out: 100 MB while it is compiled."""
