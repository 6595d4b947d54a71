"""Checks while an application runs: retries with a reason, early stops of streams, repairs."""

from llmeval_integrations.guards.reader import Doomed
from llmeval_integrations.guards.repair import Edit, Repair, repair
from llmeval_integrations.guards.retry import GuardResult, guard
from llmeval_integrations.guards.watch import StreamGuard, Watcher, stop_early, watch

__all__ = [
    "Doomed",
    "Edit",
    "GuardResult",
    "Repair",
    "StreamGuard",
    "Watcher",
    "guard",
    "repair",
    "stop_early",
    "watch",
]
