"""What pytest gets: a fixture, a marker, options, and a section at the end of the session.

What these are made of is imported once a test needs it: the plugin is loaded in every session.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import TYPE_CHECKING, Any, Final

import pytest

from llmeval_integrations.core.errors import EvalError, InvalidOptionError
from llmeval_integrations.pytest_plugin.found import FOUND, MISSED, EvaluationFailure, properties
from llmeval_integrations.pytest_plugin.judges import Judges

if TYPE_CHECKING:
    from llmeval_integrations.pytest_plugin.evaluating import Evaluate
    from llmeval_integrations.pytest_plugin.marker import Marked
    from llmeval_integrations.pytest_plugin.tallying import Tallies

MARKER: Final = "llmeval"
_SAMPLE: Final = "sample"
_EVALUATE: Final = "evaluate"
_JUDGES: Final = pytest.StashKey[Judges]()
_MARKED: Final = pytest.StashKey["Marked"]()
_SETUPS: Final = pytest.StashKey[Any]()
_TALLIES: Final = pytest.StashKey["Tallies"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add where judges' replies are kept, and what becomes of tests that are unscored."""
    group = parser.getgroup("llmeval", "evaluations of what language models write")
    group.addoption(
        "--llmeval-cache", metavar="FILE", help="keep the replies of judges in this file"
    )
    group.addoption(
        "--llmeval-frozen", action="store_true", help="ask judges nothing that the cache lacks"
    )
    group.addoption(
        "--llmeval-unscored",
        choices=("fail", "skip"),
        default="fail",
        help="what becomes of a test whose evaluator could not tell (fail)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known, and open the cache."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}(data, evaluators=(), min_pass_rate=1.0, columns=None): run the test for every "
        "row of a file, whose path is relative to that of the test, as its argument `sample`; "
        "with a pass rate below 1 single rows may fail",
    )
    cache, frozen = config.getoption("--llmeval-cache"), config.getoption("--llmeval-frozen")
    if frozen and cache is None:
        raise pytest.UsageError("--llmeval-frozen takes replies from a cache: --llmeval-cache FILE")
    config.stash[_JUDGES] = Judges(cache, frozen=frozen)
    config.pluginmanager.register(_Counting(config))


def pytest_unconfigure(config: pytest.Config) -> None:
    """Close the cache."""
    if _JUDGES in config.stash:
        config.stash[_JUDGES].close()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a marked test once for every row of its data."""
    marked = _marked(metafunc.definition)
    if marked is None:
        return
    if _SAMPLE not in metafunc.fixturenames:
        raise pytest.Collector.CollectError(
            f"{metafunc.definition.nodeid}: a test that is marked with {MARKER} takes `sample`, "
            "the row that it is run for"
        )
    try:
        samples = marked.samples(metafunc.definition.path.parent)
    except EvalError as error:
        raise pytest.Collector.CollectError(f"{metafunc.definition.nodeid}: {error}") from error
    metafunc.parametrize(_SAMPLE, samples, ids=[str(sample.id) for sample in samples])


@pytest.fixture
def evaluate(request: pytest.FixtureRequest) -> Evaluate:
    """Evaluate an output, and fail the test where it does not pass.

    `evaluate(output, JsonSchema(schema), reference=...)` takes any number of evaluators and the
    fields of a sample; in a test that is marked with `llmeval`, what is left out is that of the
    row, and the evaluators are the marker's. Its `data="outputs.jsonl"` is relative to the file of
    the test. Gives the result, of several evaluators their list.
    """
    return _evaluate(request.node)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Forget what was found when the test was run before, and refuse one that has no row.

    Pytest makes tests of rows of functions only: what is marked and of another kind, as a
    unittest.TestCase, would pass with nothing evaluated.
    """
    if FOUND in item.stash:
        item.stash[FOUND] = []
    if item.get_closest_marker(MARKER) is None:
        return
    if _SAMPLE not in _parameters(item):
        pytest.fail(
            f"marked with {MARKER}, and run for no row: only a function that takes `sample`, or "
            "such a method of a plain class, is run for rows; a unittest.TestCase is not",
            pytrace=False,
        )
    if marked := _marked(item):
        item.stash[_MARKED] = marked


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, Any, Any]:
    """Evaluate the output of the row where a marked test does not ask for it by itself.

    A row that nothing was evaluated for must not count as one that passes.
    """
    done = yield
    if _MARKED not in pyfuncitem.stash:
        return done
    if _EVALUATE not in pyfuncitem.fixturenames:
        __tracebackhide__ = True
        _evaluate(pyfuncitem)()
    elif not pyfuncitem.stash.get(FOUND, None):
        pytest.fail(
            "nothing was evaluated: the test takes `evaluate` and does not call it; "
            "write evaluate(sample.output)",
            pytrace=False,
        )
    return done


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Send along what was found, and let single rows fail where a pass rate is asked for."""
    report = yield
    marked = item.stash.get(_MARKED, None)
    if FOUND in item.stash:
        _send_along(report, item, marked)
    if not marked or report.when != "call" or call.excinfo is None:
        return report
    failure = call.excinfo.value
    if not isinstance(failure, EvaluationFailure):
        return report
    if _EVALUATE not in getattr(item, "fixturenames", ()):  # then no line of the test led here
        report.longrepr = call.excinfo.getrepr(style="value", tbfilter=False)
    if marked.min_pass_rate < 1 and not failure.undecided:
        report.outcome = "skipped"
        vars(report)["wasxfail"] = (
            f"allowed by min_pass_rate={marked.min_pass_rate:g}: {failure.short}"
        )
    return report


def _always(xfail: pytest.Mark) -> bool:
    """Whether a marker holds in any case."""
    condition = xfail.args[0] if xfail.args else xfail.kwargs.get("condition", True)
    return condition is True


def _send_along(report: pytest.TestReport, item: pytest.Item, marked: Marked | None) -> None:
    """Let a report, also one of xdist's workers, say all that was found for the test so far."""
    found = item.stash[FOUND]
    rate = None if marked is None else marked.min_pass_rate
    if rate is not None and rate < 1 and any(map(_always, item.iter_markers("xfail"))):
        rate = 0.0  # it is known to be missed
    group = getattr(_parameters(item).get(_SAMPLE), "group", None)
    sent = _test(item), [each[:4] for each in found], rate, None if not group else str(group)
    vars(report)["llmeval"] = sent
    report.user_properties += properties(found)


class _Counting:
    """Counts what tests found, wherever they ran."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a test in."""
        if sent := getattr(report, "llmeval", None):
            _tallies(self._config).note(report.nodeid, *sent)


def _tallies(config: pytest.Config) -> Tallies:
    from llmeval_integrations.pytest_plugin.tallying import Tallies

    return config.stash.setdefault(_TALLIES, Tallies())


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Report tests that missed their pass rate as failed, so that JUnit's file has them as well."""
    tallies = session.config.stash.get(_TALLIES, None)
    if not tallies or hasattr(session.config, "workerinput"):  # xdist's workers have a part only
        return
    manager = session.config.pluginmanager
    # They look for failed tests in the next session, where these are none that could be run.
    others = [manager.get_plugin(name) for name in ("lfplugin", "stepwiseplugin")]
    tell = manager.subset_hook_caller("pytest_runtest_logreport", others)
    for test, lines in tallies.missed().items():
        report = _missed(test, lines)
        tell(report=report)
        vars(report)[MISSED] = "FAILED"
        if exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _missed(test: str, lines: list[str]) -> pytest.TestReport:
    path, _, name = test.partition("::")
    place = (path, None, name.replace("::", "."))
    report = pytest.TestReport(test, place, {}, "failed", "\n".join(lines), "call")
    vars(report)[MISSED] = ""  # at first: all tests have had their letter or line, and are 100 %
    return report


def pytest_report_teststatus(report: Any) -> tuple[str, str, str] | None:
    """Count a missed pass rate as a failure."""
    word = getattr(report, MISSED, None)
    return None if word is None else ("failed", "", word)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Show what the evaluators found."""
    tallies = config.stash.get(_TALLIES, None)
    if tallies:
        terminalreporter.write_sep("=", "evaluations")
        for line in tallies.lines():
            terminalreporter.write_line(line)
        for test, lines in tallies.missed().items():
            for line in lines:
                terminalreporter.write_line(f"{test}: {line}", red=True)


def _marked(item: Any) -> Marked | None:
    markers = list(item.iter_markers_with_node(MARKER))
    if not markers:
        return None
    from llmeval_integrations.pytest_plugin.marker import Marked

    node, marker = markers[0]  # a method's counts before its class's
    try:
        if sum(each is node for each, _ in markers) > 1:
            raise InvalidOptionError(f"marked with {MARKER} twice; a test has one file of rows")
        return Marked.of(marker)
    except EvalError as error:
        raise pytest.Collector.CollectError(f"{item.nodeid}: {error}") from error


def _parameters(item: Any) -> Mapping[str, Any]:
    return item.callspec.params if hasattr(item, "callspec") else {}


def _test(item: Any) -> str:
    """Return the id that all rows of a test share; brackets may stand in folder names too."""
    name = getattr(item, "originalname", item.name)
    return f"{item.parent.nodeid}::{name}"


def _evaluate(item: Any) -> Evaluate:
    from llmeval_integrations.pytest_plugin.evaluating import Evaluate
    from llmeval_integrations.pytest_plugin.setups import Setups

    stash = item.config.stash
    setups = stash.setdefault(_SETUPS, Setups())
    sample = _parameters(item).get(_SAMPLE)
    return Evaluate(item, stash[_JUDGES], setups, item.stash.get(_MARKED, None), sample)
