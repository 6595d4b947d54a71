"""What holds for all tests."""

import signal

# Whoever runs us in the background may have interrupts ignored, and the processes that tests
# interrupt would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
