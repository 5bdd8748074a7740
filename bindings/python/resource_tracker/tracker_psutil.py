"""The functions of [resource_tracker.tracker_procfs][] by their other name: psutil is not needed."""

from .tracker_procfs import get_process_stats, get_system_stats

__all__ = ["get_process_stats", "get_system_stats"]
