"""Which items of two arrays belong together where their order does not count."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from llmeval_integrations.json_values.equality import CONTAINERS, equal
from llmeval_integrations.matching.assignment import best_pairs
from llmeval_integrations.matching.gains import COMMON, WHOLE
from llmeval_integrations.matching.trials import Arrays, Pairs, Table


def pair_in_any_order(arrays: Arrays, here: Sequence[int], there: Sequence[int]) -> Pairs:
    """Pair items for the greatest sum of what they gain, those that match in full first."""
    its, output, reference = arrays.its, arrays.output, arrays.reference
    both = {n for n in {*here} & {*there} if equal(output[n], reference[n])}
    same = [(n, n) for n in sorted(both)]
    spare, wanted = [n for n in here if n not in both], [n for n in there if n not in both]
    if len(spare) + len(wanted) > 2:
        texts, others = arrays.write(output, spare), arrays.write(reference, wanted)
        more, spare, wanted = pair_texts(texts, others)
        same += more
    if not (spare and wanted):
        return same
    may_split = bool(same) and (its.fuzzy or arrays.least > 0)
    are_leaves = not (_have_containers(output, spare) and _have_containers(reference, wanted))
    is_alone = its.pairs_all and len(spare) == len(wanted) == 1
    if (its.exact and are_leaves) or (is_alone and not may_split):
        return same + arrays.pair_leaves(spare, wanted)
    table = arrays.table(spare, wanted)
    if table is None:
        found = arrays.pair_likely(spare, wanted)
    else:
        found = [(spare[row], wanted[column]) for row, column in best_pairs(table)]
        if may_split and _may_gain(arrays, same, spare, wanted, table):
            table = arrays.table(here, there)
            if table is None:
                arrays.is_limited = True
            else:
                rows, columns = ({n: row for row, n in enumerate(side)} for side in (here, there))
                for one, other in same:
                    table[rows[one]][columns[other]] += WHOLE
                found = [(here[row], there[column]) for row, column in best_pairs(table)]
                same, spare, wanted = [], [*here], [*there]
    used, met = {one for one, _ in found}, {other for _, other in found}
    spare, wanted = [n for n in spare if n not in used], [n for n in wanted if n not in met]
    return same + found + arrays.pair_leaves(spare, wanted)


def _may_gain(
    arrays: Arrays, same: Pairs, spare: list[int], wanted: list[int], table: Table
) -> bool:
    """Return whether two pairs may gain more than a pair of equal items and what is left over.

    They may not where each item of the shorter rest has the best that there is for it.
    """
    if len(spare) <= len(wanted):
        best = [max(row) for row in table]
        rivals = arrays.table(spare, [there for _, there in same])
    else:
        best = [max(column) for column in zip(*table)]
        turned = arrays.table([here for here, _ in same], wanted)
        rivals = turned and [[*column] for column in zip(*turned)]
    if rivals is None:
        return True
    if sum(best) > sum(table[row][column] for row, column in best_pairs(table)) + WHOLE:
        best = [0.0] * len(best)
    return any(max(row) > most for row, most in zip(rivals, best))


def _have_containers(items: list[object], positions: Sequence[int]) -> bool:
    return any(type(items[n]) in CONTAINERS for n in positions)


def pair_texts(
    output: dict[int, str], reference: dict[int, str]
) -> tuple[Pairs, list[int], list[int]]:
    """Pair positions with equal texts; return the pairs and both rests, earlier positions first."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for position in reversed(output):
        places[output[position]].append(position)
    pairs, wanted = [], []
    for position, text in reference.items():
        if found := places.get(text):
            pairs.append((found.pop(), position))
        else:
            wanted.append(position)
    return pairs, sorted(n for left in places.values() for n in left), wanted


def pair_by_key(arrays: Arrays) -> Pairs:
    """Pair items whose keys are equal, then items whose keys match by their rule.

    Among items with the same key the best are paired. A pair that is less similar than
    `min_similarity` is dropped in the end: its items are not paired with others.
    """
    least, arrays.least = arrays.least, 0.0
    here, there = _group_by_key(arrays, arrays.output), _group_by_key(arrays, arrays.reference)
    pairs: Pairs = []
    for key, wanted in there.items():
        spare = here.get(key, [])
        if len(spare) == len(wanted) == 1:
            pairs.append((spare[0], wanted[0]))
        elif spare:
            pairs += pair_in_any_order(arrays, spare, wanted)
    if not all(arrays.its.member(name).exact for name in arrays.node.key):
        pairs += _pair_near(arrays, pairs)
    arrays.least = least
    return [pair for pair in pairs if arrays.gain(*pair)] if least else pairs


def _group_by_key(arrays: Arrays, items: list[object]) -> dict[str, list[int]]:
    """Return the positions of items by the text of their key; "" is for items without one."""
    write, member = arrays.trials.texts.write, arrays.its.member
    found: defaultdict[str, list[int]] = defaultdict(list)
    for position, item in enumerate(items):
        texts = [
            f"{name!r}:{write(member(name), item[name])}"
            for name in arrays.node.key
            if type(item) is dict and name in item
        ]
        found[",".join(texts)].append(position)
    return found


def _pair_near(arrays: Arrays, pairs: Pairs) -> Pairs:
    """Pair the items that are left and whose keys match, as by a tolerance, for the best sum.

    Where trying them all takes too long, the score of the keys alone decides.
    """
    has_key, used, met = arrays.node.has_key, {n for n, _ in pairs}, {n for _, n in pairs}
    spare = [n for n, item in enumerate(arrays.output) if n not in used and has_key(item)]
    wanted = [n for n, item in enumerate(arrays.reference) if n not in met and has_key(item)]
    if not (spare and wanted):
        return []
    if len(spare) * len(wanted) > arrays.trials.budget:
        likely = arrays.pair_likely(spare, wanted)
        return [pair for pair in likely if _rate_keys(arrays, *pair)]
    scores = [[_rate_keys(arrays, one, other) for other in wanted] for one in spare]
    gains = arrays.table(spare, wanted) if any(map(any, scores)) else scores
    if gains is None:
        arrays.is_limited = True
        gains = scores
    table = [
        [COMMON + gain if score else 0.0 for score, gain in zip(row, gained)]
        for row, gained in zip(scores, gains)
    ]
    return [(spare[row], wanted[column]) for row, column in best_pairs(table)]


def _rate_keys(arrays: Arrays, here: int, there: int) -> float:
    """Return how well the keys of two items match; 0 where they do not."""
    output, reference = arrays.output[here], arrays.reference[there]
    least = 1.0
    for name in arrays.node.key:
        if (name in output) != (name in reference):
            return 0.0
        if name in output:
            kind, score, _ = arrays.its.member(name).leaf(output[name], reference[name])
            least = min(least, max(score, COMMON) if kind == "match" else 0.0)
    return least
