"""What holds for all tests."""

import contextlib
import signal

import pytest

# Whoever runs us in the background may have interrupts ignored, and the processes that tests
# interrupt would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

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
