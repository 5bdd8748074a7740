"""Compute time, and the most memory, GPU memory, cores and GPUs that a piece of code used.

    >>> import gpu_tracker as gput
    >>> with gput.Tracker(ram_unit="megabytes", time_unit="seconds") as tracker:
    ...     block = bytearray(20_000_000)
    >>> tracker.max_ram.unit, tracker.max_ram.main.total_rss > 20
    ('megabytes', True)

Figures have the form of the first releases (`descendents`; memory and time). With GPU_TRACKER_COMPAT=5 in the
environment they have that of release 5.
"""

from resource_tracker import __version__

from .sub_tracker import SubTracker, SubTrackingAnalyzer, TrackingComparison, sub_track
from .tracker import Tracker

__all__ = ["Tracker", "SubTracker", "sub_track", "SubTrackingAnalyzer", "TrackingComparison"]
