"""Checks while an application runs: streams that end as soon as they are lost, repairs."""

from llmeval_integrations.guards.repair import Edit, Repair, repair
from llmeval_integrations.guards.streams import Stopped, stop_early
from llmeval_integrations.guards.watch import CallsWatcher, Doomed, Watcher, watch

__all__ = [
    "CallsWatcher",
    "Doomed",
    "Edit",
    "Repair",
    "Stopped",
    "Watcher",
    "repair",
    "stop_early",
    "watch",
]
