"""Find a stretch of a text that contains several things."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Final, TypeAlias

Span: TypeAlias = tuple[int, int]
"""The positions of the first word of a stretch, and after its last word."""

_MOST_ANCHORS: Final = 200
"""How many places are tried."""


def find_stretch(
    needed: Sequence[Sequence[Span]],
    wanted: Sequence[Sequence[Span]] = (),
    lack: int = 0,
    width: int | None = None,
) -> Span | None:
    """Return a stretch that contains all that is needed, and all but `lack` of what is wanted.

    Each thing is given by its places, in order. All are within `width` words of the rarest thing.
    The default width is the number of things and eight more. If anything is needed, it is three
    times the number and fifteen more.
    """
    present = sorted(filter(None, wanted), key=len)
    lack -= len(wanted) - len(present)
    if lack < 0:
        return None
    if width is None:
        count = len(needed) + len(wanted)
        width = 3 * count + 15 if needed else count + 8
    # If some may be missing, at least one of the rarest is there.
    rarest = [min(needed, key=len)] if needed else present[: min(lack + 1, _MOST_ANCHORS)]
    each = _MOST_ANCHORS // max(len(rarest), 1)
    for anchor in sorted({span for spans in rarest for span in spans[:each]}):
        parts, left = [anchor], lack
        for number, spans in enumerate((*needed, *present)):
            near = _nearest(spans, anchor)
            if abs(near[0] - anchor[0]) <= width:
                parts.append(near)
            elif number >= len(needed) and left:
                left -= 1
            else:
                break
        else:
            return min(parts)[0], max(end for _, end in parts)
    return None


def _nearest(spans: Sequence[Span], place: Span) -> Span:
    behind = bisect_left(spans, place)
    return min(spans[max(behind - 1, 0) : behind + 1], key=lambda span: abs(span[0] - place[0]))
