"""One look at a process or at the machine: counters since its birth or since boot.

Everything is read by the native library; the differences between two looks are the caller's.
"""

from __future__ import annotations

import os

from . import _native
from ._lazy import loads
from .helpers import get_zfs_pools_space, is_partition

TYPE_CHECKING = False  # typing takes long to import, and only who checks types needs it
if TYPE_CHECKING:
    from typing import Any, Dict, List, Set, Union

__all__ = ["get_process_children", "get_process_proc_io", "get_process_proc_times", "get_process_pss_rollup",
           "get_process_rss", "get_process_stats", "get_sector_sizes", "get_system_stats", "get_zfs_pools_space",
           "is_partition"]

_GONE = {"timestamp": 0.0, "children": 0, "pids": [], "utime": 0.0, "stime": 0.0, "utime_ticks": 0, "stime_ticks": 0,
         "memory": 0, "rss": 0, "rchar": 0, "wchar": 0, "syscr": 0, "syscw": 0, "read_bytes": 0, "write_bytes": 0,
         "gpu_usage": 0, "gpu_vram": 0, "gpu_utilized": 0}


def _look(pid: int, children: bool) -> Dict[str, Any]:
    """All figures of a process; zeros for one that is gone."""
    try:
        look: Dict[str, Any] = loads(_native.read_process(int(pid), children))
    except ProcessLookupError:
        from time import time

        return {**_GONE, "timestamp": time(), "pid": pid}
    return look


def get_sector_sizes() -> Dict[str, int]:
    """The hardware's sector size of each whole disk in bytes. The kernel counts in sectors of 512 whatever it says."""
    sizes = {}
    for disk in os.listdir("/sys/block") if os.path.isdir("/sys/block") else []:
        try:
            with open(f"/sys/block/{disk}/queue/hw_sector_size", encoding="ascii") as file:
                sizes[disk] = int(file.read())
        except (OSError, ValueError):
            sizes[disk] = 512
    return sizes


def get_process_children(pid: int) -> Set[int]:
    """The pids of all descendants.

    Args:
        pid: Of this process.
    """
    return set(_look(pid, False)["pids"])


def get_process_rss(pid: int) -> int:
    """Resident memory in kB; 0 for a process that is gone.

    Args:
        pid: Of this process alone.
    """
    return int(_look(pid, False)["rss"])


def get_process_pss_rollup(pid: int) -> int:
    """Proportional memory (PSS) in kB; 0 for a process that is gone.

    Args:
        pid: Of this process alone.
    """
    return int(_look(pid, False)["memory"])


def get_process_proc_times(pid: int, children: bool = True) -> Dict[str, int]:
    """CPU time in clock ticks.

    Args:
        pid: Of this process alone.
        children: Whether to add that of children that it has waited for.

    Returns:
        utime and stime; zeros for a process that is gone.
    """
    from contextlib import suppress

    with suppress(OSError, ValueError, IndexError), open(f"/proc/{int(pid)}/stat", encoding="utf-8",
                                                         errors="replace") as file:
        # The name may hold blanks and brackets: the rest begins behind the last one.
        fields = file.read().rpartition(")")[2].split()
        user, system, waited_user, waited_system = (int(field) for field in fields[11:15])
        return {"utime": user + waited_user * bool(children), "stime": system + waited_system * bool(children)}
    return {"utime": 0, "stime": 0}


def get_process_proc_io(pid: int) -> Dict[str, int]:
    """What a process has read and written.

    Args:
        pid: Of this process alone, and of children that it has waited for.

    Returns:
        read_bytes and write_bytes to disks, rchar, wchar, syscr and syscw; zeros where the kernel does not tell.
    """
    look = _look(pid, False)
    return {name: look[name] for name in ("rchar", "wchar", "syscr", "syscw", "read_bytes", "write_bytes")}


def get_process_stats(pid: int, children: bool = True) -> Dict[str, Union[int, float, Set[int], None]]:
    """What a process has used so far.

    Args:
        pid: The process.
        children: Whether its descendants count too.

    Returns:
        timestamp, pid, children (how many descendants; None where they do not count), utime and stime in seconds,
        memory (PSS) in kB, read_bytes, write_bytes, gpu_usage (0 to the number of GPUs), gpu_vram in MiB,
        gpu_utilized (how many GPUs). A process that is gone gives zeros.
    """
    look = _look(pid, children)
    return {
        "timestamp": look["timestamp"],
        "pid": pid,
        "children": look["children"] if children else None,
        **{name: look[name] for name in ("utime", "stime", "memory", "read_bytes", "write_bytes", "gpu_usage",
                                         "gpu_vram", "gpu_utilized")},
    }


_SYSTEM_KEYS = ("timestamp", "processes", "utime", "stime", "memory_free", "memory_used", "memory_buffers",
                "memory_cached", "memory_active", "memory_inactive", "disk_stats", "disk_spaces", "net_recv_bytes",
                "net_sent_bytes", "gpu_usage", "gpu_vram", "gpu_utilized")


def get_system_stats() -> Dict[str, Union[int, float, Dict[str, Any]]]:
    """What the machine has used since boot.

    Returns:
        timestamp, processes (how many), utime and stime in seconds, memory_free, memory_used, memory_buffers,
        memory_cached, memory_active and memory_inactive in kB, disk_stats (by disk: read_bytes, write_bytes),
        disk_spaces (by mount point: total, used, free in bytes), net_recv_bytes, net_sent_bytes, gpu_usage,
        gpu_vram in MiB, gpu_utilized.
    """
    look = loads(_native.read_system())
    stats = {name: look[name] for name in _SYSTEM_KEYS}
    points = _zfs_points()
    if points:
        pools = get_zfs_pools_space()
        if pools:
            for point in points:
                stats["disk_spaces"].pop(point, None)
            stats["disk_spaces"].update(pools)
    return stats


def _zfs_points() -> List[str]:
    """Mount points of ZFS: its pools are counted whole instead."""
    try:
        with open("/proc/self/mounts", encoding="utf-8", errors="replace") as mounts:
            return [fields[1] for fields in map(str.split, mounts) if len(fields) > 2 and fields[2] == "zfs"]
    except OSError:
        return []
