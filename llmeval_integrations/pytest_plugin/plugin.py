"""The hooks of the plugin: a fixture, a marker, options, and a summary of the session.

Pytest loads this module in every session, so other modules are imported once a test needs them.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import pytest

from llmeval_integrations.core.errors import EvalError

if TYPE_CHECKING:
    from llmeval_integrations.core.sample import Sample
    from llmeval_integrations.pytest_plugin.fixture import Evaluate, Marker

_NAME: Final = "llmeval"
"""The name of the marker."""

Evaluation: TypeAlias = tuple[str, "float | None", "bool | None"]
"""An evaluator's name, score and verdict."""

Sent: TypeAlias = tuple[str, list[Evaluation], "float | None", "str | None", "str | None"]
"""A test, its evaluations, the pass rate that a marked test requires, the group of its row and the
row's id: plain values, which xdist sends between processes."""

EVALUATIONS: Final = pytest.StashKey[list[Evaluation]]()
"""The key under which a test stores its evaluations."""

_CACHE: Final = pytest.StashKey[Any]()
_MARKER: Final = pytest.StashKey["Marker"]()
_TALLIES: Final = pytest.StashKey[Any]()


class EvaluationFailure(AssertionError):  # noqa: N818 - pytest's term for the end of a test
    """An output did not pass."""

    __module__ = "builtins"  # else the module's name fills pytest's short summary

    def __init__(self, message: str, line: str, *, undecided: bool) -> None:
        super().__init__(message)
        self.line = line
        """The message in one line."""
        self.undecided = undecided
        """Whether an evaluator gave no score or no verdict; no pass rate allows for this."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options for the cache of judges' replies."""
    add = parser.getgroup("llmeval", "evaluations of what language models write").addoption
    add("--llmeval-cache", metavar="FILE", help="keep the replies of judges in this file")
    frozen = "use only replies of judges from the cache"
    add("--llmeval-frozen", action="store_true", help=frozen)


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and refuse options that do not fit."""
    config.addinivalue_line(
        "markers",
        f"{_NAME}(data, evaluators=(), min_pass_rate=1.0, columns=None): run the test for every "
        "row of a file, with the row as its argument `sample`; the path is relative to the test's "
        "folder; with a pass rate below 1 single rows may fail",
    )
    if config.getoption("--llmeval-frozen") and config.getoption("--llmeval-cache") is None:
        raise pytest.UsageError("--llmeval-frozen needs a cache: add --llmeval-cache FILE")
    config.pluginmanager.register(_Counter(config))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Generate a test for every row of a marked test's data."""
    definition = metafunc.definition
    marker = _marker_of(definition)
    if marker is None:
        return
    if not {"sample", "evaluate"} <= {*metafunc.fixturenames}:
        raise pytest.Collector.CollectError(
            f"{definition.nodeid}: a test that is marked with {_NAME} needs the arguments "
            "`sample`, which is its row, and `evaluate`"
        )
    try:
        samples = marker.read_samples(definition.path.parent)
    except EvalError as error:
        raise pytest.Collector.CollectError(f"{definition.nodeid}: {error}") from error
    metafunc.parametrize("sample", samples, ids=[str(sample.id) for sample in samples])


@pytest.fixture
def evaluate(request: pytest.FixtureRequest) -> Evaluate:
    """Evaluate an output, and fail the test if it does not pass.

    `evaluate(output, JsonSchema(schema), reference=...)` accepts any number of evaluators and the
    fields of a sample. In a test marked with `llmeval`, missing fields are taken from the row, and
    missing evaluators from the marker. The marker's `data="outputs.jsonl"` is relative to the
    folder of the test. Returns the result, or the list of results of several evaluators.
    """
    from llmeval_integrations.pytest_plugin.fixture import Evaluate

    item, config = request.node, request.config
    path = config.getoption("--llmeval-cache")
    if path is not None and _CACHE not in config.stash:
        from llmeval_integrations.llm.cache import Cache

        cache = config.stash[_CACHE] = Cache(path, frozen=config.getoption("--llmeval-frozen"))
        config.add_cleanup(cache.close)
    return Evaluate(item, config.stash.get(_CACHE, None), item.stash.get(_MARKER, None), _row(item))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Read the marker of a test, and forget the evaluations of an earlier run of it."""
    if EVALUATIONS in item.stash:
        item.stash[EVALUATIONS] = []
    if marker := _marker_of(item):
        item.stash[_MARKER] = marker


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Attach the evaluations to the report, and allow single failures under a pass rate.

    A marked test that evaluates nothing fails, because its row must not count as passed. A
    unittest.TestCase gets no row from pytest.
    """
    report = yield
    marker = item.stash.get(_MARKER, None)
    if EVALUATIONS in item.stash:
        _attach(report, item, marker)
    if marker is None or report.when != "call":
        return report
    error = call.excinfo and call.excinfo.value
    if report.passed and not item.stash.get(EVALUATIONS, None):
        report.outcome = "failed"
        report.longrepr = (
            "nothing was evaluated; write evaluate(sample.output), and no unittest.TestCase"
        )
    elif marker.min_pass_rate < 1 and isinstance(error, EvaluationFailure) and not error.undecided:
        report.outcome = "skipped"
        allowed = f"allowed by min_pass_rate={marker.min_pass_rate:g}: {error.line}"
        vars(report)["wasxfail"] = allowed
    return report


def _attach(report: pytest.TestReport, item: pytest.Item, marker: Marker | None) -> None:
    """Attach all evaluations of the test so far to a report, also in a worker of xdist."""
    from llmeval_integrations.core.sample import MISSING

    rate = None if marker is None else marker.min_pass_rate
    row = _row(item)
    given = None if row is None else row.group
    group = None if given is None or given is MISSING else str(given)
    # The id of a row is in brackets, but folder names may contain brackets, too.
    test = f"{item.parent and item.parent.nodeid}::{getattr(item, 'originalname', item.name)}"
    sent: Sent = test, item.stash[EVALUATIONS], rate, group, None if row is None else str(row.id)
    vars(report)["llmeval"] = sent


class _Counter:
    """Counts the evaluations of all tests, also of xdist's workers."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count the evaluations of a test."""
        if sent := getattr(report, "llmeval", None):
            from llmeval_integrations.pytest_plugin.tally import Tallies

            self._config.stash.setdefault(_TALLIES, Tallies()).note(report.nodeid, sent)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Fail the session if a test missed its pass rate; a worker of xdist has only a part."""
    tallies = session.config.stash.get(_TALLIES, None)
    if not tallies or hasattr(session.config, "workerinput"):
        return
    is_green = exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    if is_green and any(tallies.misses()):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print the figures of the evaluators."""
    if tallies := config.stash.get(_TALLIES, None):
        terminalreporter.write_sep("=", "evaluations")
        for line in tallies.lines():
            terminalreporter.write_line(line)
        for line in tallies.misses():
            terminalreporter.write_line(f"FAILED {line}", red=True)


def _marker_of(item: Any) -> Marker | None:
    mark = item.get_closest_marker(_NAME)
    if mark is None:
        return None
    from llmeval_integrations.core.catalog import check_options
    from llmeval_integrations.pytest_plugin.fixture import Marker

    try:
        check_options("the marker", mark.kwargs, Marker.__annotations__)
        return Marker(*mark.args, **mark.kwargs)
    except (EvalError, TypeError) as error:
        raise pytest.Collector.CollectError(f"{item.nodeid}: {error}") from error


def _row(item: Any) -> Sample | None:
    """Return the row of a marked test; a marker that a hook or a parameter added gave none."""
    is_row = _MARKER in item.stash and hasattr(item, "callspec")
    row: Sample | None = item.callspec.params.get("sample") if is_row else None
    return row
