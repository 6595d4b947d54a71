"""Hooks and settings of all tests."""

import contextlib
import os
import signal
from typing import Final

import pytest
from _pytest.runner import runtestprotocol
from browser import CHROMIUM, browser

# Whoever runs us in the background may have interrupts ignored, and the processes that tests
# interrupt would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# MLflow imports LiteLLM where it is installed, which would ask the network for prices.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

# A deadline for each example would fail where the machine has something else to do.
with contextlib.suppress(ImportError):  # one of the environments does without
    import hypothesis

    hypothesis.settings.register_profile("without deadlines", deadline=None)
    hypothesis.settings.load_profile("without deadlines")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark what tries many examples or looks at a page: no package that is absent changes that."""
    for item in items:
        tries_many = hasattr(getattr(item, "obj", None), "hypothesis")
        if tries_many or "chromium" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.once)


_PASSING: Final = ("TooSlowError", "TimeoutExpired", "timed out during startup")
"""What a machine that stands still for a moment brings about; the last one is Ray's for a node."""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    """Run a test once more, three times at most, where it failed for the machine's sake.

    The plugin for it asks a server about each test when several processes run them: with two, all
    tests together took three times as long.
    """
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for left in reversed(range(4)):
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        failed = "".join(report.longreprtext for report in reports if report.failed)
        if not (left and any(name in failed for name in _PASSING)):
            break
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


@pytest.fixture(scope="session")
def chromium(tmp_path_factory):
    """A browser, which alone shows what a page does, and which not every machine has."""
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    with browser(tmp_path_factory.mktemp("profile")) as page:
        yield page


@pytest.fixture
def page(chromium):
    """A page without a past."""
    chromium.open("about:blank")
    chromium.requests.clear()
    chromium.complaints.clear()
    return chromium
