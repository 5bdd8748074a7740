"""Which cloud the machine is in."""

from __future__ import annotations

from functools import lru_cache

TYPE_CHECKING = False  # typing takes long to import, and only who checks types needs it
if TYPE_CHECKING:
    from typing import Any, Dict


@lru_cache(maxsize=None)
def get_cloud_info() -> Dict[str, Any]:
    """Which cloud the machine is in. It is asked once a process, and takes a second at most.

    Returns:
        vendor, instance_type, region and zone, each "unknown" where it is, and discovery_time in seconds. No packet is
        sent where the firmware names no cloud, or with TRACKER_CLOUD=off in the environment.
    """
    from json import loads

    from ._native import cloud_info

    info: Dict[str, Any] = loads(cloud_info())
    info["discovery_time"] = float(info["discovery_time"])
    return info
