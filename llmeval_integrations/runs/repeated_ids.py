"""Whether ids look like those of tasks that were tried several times."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from llmeval_integrations.runs.rows import Key, key_of

_REPEAT: Final = re.compile(r".+[.:#/_\s-][a-z]{0,8}[-_]?(\d{1,3})", re.IGNORECASE)
"""A task's id and, behind a mark, the number of a try, as `t1.0` or `t1-run2`."""

_MOST_TRIES: Final = 100


def repeated_ids(ids: Iterable[Any]) -> str | None:
    """Say of ids that look like repeats which they are, in a sentence; None of others.

    They do where an id comes twice, or where most are a task's and the number of a try, as `t1.0`
    and `t1.1`, and the same few numbers come again with every task.
    """
    places: dict[str, list[str]] = {}
    tries: set[str] = set()
    seen: set[Key] = set()
    count = 0
    for own in map(key_of, ids):
        count += 1
        seen.add(own)
        if isinstance(own, str) and (found := _REPEAT.fullmatch(own)):
            places.setdefault(own[: found.start(1)], []).append(own)
            tries.add(found[1])
    doubled = count - len(seen)
    if doubled:
        return f"{doubled:,} of {count:,} rows have the id of another"
    repeated = [each for each in places.values() if len(each) > 1]
    rows = sum(map(len, repeated))
    is_few = len(tries) <= min(rows // 2, _MOST_TRIES)
    if len(repeated) > 1 and 10 * rows >= 9 * count and is_few:
        first, second = repeated[0][:2]
        return f"ids such as {first!r} and {second!r} look like repeats of one task"
    return None
