"""Two runs compared: is the second better, and in what?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from os import PathLike

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.quoting import hint
from llmeval_integrations.runs.comparing import direction
from llmeval_integrations.runs.comparing.changing import changed, described
from llmeval_integrations.runs.comparing.comparable import doubts
from llmeval_integrations.runs.comparing.comparison import Compared, Comparison
from llmeval_integrations.runs.comparing.difference import Difference, differences_of, measured
from llmeval_integrations.runs.comparing.joining import Joined, Pairs, join
from llmeval_integrations.runs.run import Run
from llmeval_integrations.runs.stored import read_run


def compare(
    a: Run | str | PathLike[str],
    b: Run | str | PathLike[str],
    *,
    evaluators: Collection[str] | None = None,
    by_field: bool = True,
    lower_is_better: Collection[str] = (),
    changes: int = 100,
) -> Comparison:
    """Compare two runs over the same samples, each a Run or a run's directory.

    evaluators: those that are compared; all that both runs have by default.
    by_field: whether single fields are compared, too. Each takes its part in the correction for
        many differences, so without them smaller differences of the evaluators are shown.
    lower_is_better: evaluators with a score that is better where it is lower, beside those that
        say so of themselves by their own `lower_is_better`. Where neither run knows its evaluators,
        as directories without a manifest do not, they are those of which all rows that passed have
        lower scores than all that failed. Where these tell nothing, either, a score is called
        neither better nor worse, and a warning says so.
    changes: how many samples are listed for each evaluator and direction.

    Samples are joined by id, rows of the same id by occurrence. Samples of one `group` are not
    independent, so tests turn them as a whole, and intervals count them for what they are worth.
    Where no group is named, samples with the same id are one. What is unscored or an error in
    either run is left out and counted, never taken for 0. A field that only one of the two outputs
    has, where it should not, counts as right in the other.

    The chance that any difference is called better or worse where nothing has changed is 5 % at
    most, for all together. Raises InputError where there is no run, no such evaluator, or no
    sample that both runs have.
    """
    if changes < 0:
        raise InputError(f"changes={changes} is not a whole number from 0 on")
    runs = [each if isinstance(each, Run) else read_run(each) for each in (a, b)]
    names = _names(runs[0], runs[1], evaluators)
    joined = join(runs[0], runs[1], names, by_field=by_field)
    if not any(joined.pairs.values()):
        raise InputError(f"no sample is in both runs: {_ids(joined)}")
    said = _known(lower_is_better, _names(runs[0], runs[1], None))
    lower = direction.lower_is_better(runs[0], runs[1], joined, said)
    figures = [
        each for name in names for each in measured(name, joined.pairs[name], lower=lower[name])
    ]
    differences = differences_of(figures)
    compared = _compared(runs, joined, lower, changes)
    return Comparison(
        str(runs[0].out or "A"),
        str(runs[1].out or "B"),
        runs[0].summary["samples"],
        runs[1].summary["samples"],
        joined.only_a,
        joined.only_b,
        differences,
        compared,
        [
            *doubts(runs[0], runs[1], joined),
            *_left_out(compared),
            *direction.contradicted(joined, lower),
            *_without_direction(differences),
        ],
    )


def _names(a: Run, b: Run, wanted: Collection[str] | None) -> list[str]:
    """Return the evaluators to compare, in the order of the first run."""
    shared = [name for name in a.summary["evaluators"] if name in b.summary["evaluators"]]
    if not shared:
        had = " and ".join(", ".join(run.summary["evaluators"]) or "none" for run in (a, b))
        raise InputError(f"the runs have no evaluator in common: {had}")
    if wanted is None:
        return shared
    wanted = _known([wanted] if isinstance(wanted, str) else wanted, shared)
    if not wanted:
        raise InputError("evaluators names none; name one, or leave it out to compare all")
    return [name for name in shared if name in wanted]


def _known(names: Collection[str], shared: list[str]) -> set[str]:
    for name in names:
        if name not in shared:
            raise InputError(f"no evaluator of both runs is called {name!r}; {hint(name, shared)}")
    return set(names)


def _ids(joined: Joined) -> str:
    shown = ((ids, letter) for ids, letter in ((joined.only_a, "A"), (joined.only_b, "B")))
    return ", ".join(
        f"{letter} has {', '.join(map(repr, ids[:3])) or 'none'}" for ids, letter in shown
    )


def _compared(
    runs: list[Run], joined: Joined, lower: Mapping[str, bool | None], most: int
) -> dict[str, Compared]:
    """Count for each evaluator what is left out and what changed, and list the latter."""
    found = {
        name: changed(pairs, most, lower_is_better=lower[name])
        for name, pairs in joined.pairs.items()
    }
    changes = described(runs[0], runs[1], {name: each.most for name, each in found.items()})
    return {
        name: Compared(
            len(pairs),
            *_counts_left_out(pairs),
            found[name].better,
            found[name].worse,
            changes[name],
        )
        for name, pairs in joined.pairs.items()
    }


def _counts_left_out(pairs: Pairs) -> tuple[int, int, int]:
    """Count the pairs without a score in either run, in the first, and in the second."""
    lacking = Counter((pair.a.is_nothing, pair.b.is_nothing) for pair in pairs)
    both, first, second = (lacking[each] for each in ((True, True), (True, False), (False, True)))
    return both + first + second, both + first, both + second


def _left_out(compared: dict[str, Compared]) -> Iterator[str]:
    """Word what was left out."""
    for name, each in compared.items():
        if each.left_out:
            yield (
                f"{name}: {each.left_out} of {each.joined} samples are left out, as they have no "
                f"score: {each.left_out_a} in A, {each.left_out_b} in B"
            )


def _without_direction(differences: list[Difference]) -> Iterator[str]:
    """Word of which scores nobody knows which way they get better."""
    for each in differences:
        if each.lower_is_better is None:
            yield (
                f"{each.evaluator}: it is not known whether higher or lower scores are better: "
                "neither run has a manifest, and what passed and failed does not tell; so they are "
                "called neither, unless lower_is_better names this evaluator"
            )
