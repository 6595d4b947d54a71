"""Checks while an application runs: streams that end as soon as they are lost."""

from llmeval_integrations.guards.streams import Stopped, stop_early
from llmeval_integrations.guards.watch import CallsWatcher, Doomed, Watcher, watch

__all__ = ["CallsWatcher", "Doomed", "Stopped", "Watcher", "stop_early", "watch"]
