"""What a process, its descendants and the machine use, measured by a native tracker.

    >>> from resource_tracker import ResourceTracker
    >>> with ResourceTracker(interval=0.1) as tracker:
    ...     squares = sum(n * n for n in range(4_000_000))
    >>> tracker.totals["cpu_seconds"]["value"] > 0
    True
"""

from ._backend import BackEndMissing as BackEndMissing
from ._backend import load, refuse_originals

refuse_originals()
load(__name__)

from . import _native
from .cloud_info import get_cloud_info
from .comparison import compare
from .server_info import get_server_info
from .tracker import PidTracker, ProcessTracker, ResourceTracker, SystemTracker, track

__version__ = _native.version

__all__ = [
    "ProcessTracker",
    "SystemTracker",
    "ResourceTracker",
    "get_cloud_info",
    "get_server_info",
    "PidTracker",
    "track",
    "compare",
]
