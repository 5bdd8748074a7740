"""What the server has."""

from __future__ import annotations

TYPE_CHECKING = False  # typing takes long to import, and only who checks types needs it
if TYPE_CHECKING:
    from typing import Any, Dict


def get_total_memory_mb() -> float:
    """The machine's memory in MiB."""
    return float(get_server_info()["memory_mb"])


def get_gpu_info() -> Dict[str, Any]:
    """The machine's GPUs: count, memory_mb (of all of them) and gpu_names."""
    info = get_server_info()
    return {"count": info["gpu_count"], "memory_mb": info["gpu_memory_mb"], "gpu_names": info["gpu_names"]}


def get_server_info() -> Dict[str, Any]:
    """What the server has.

    Returns:
        os, vcpus, memory_mb (MiB), gpu_count, gpu_names, gpu_name (the most common one, "" without), gpu_memory_mb
        (MiB of all GPUs), and what of it this process is allowed.
    """
    from json import loads

    from ._native import server_info

    info: Dict[str, Any] = loads(server_info())
    info["gpu_memory_mb"] = float(info["gpu_memory_mb"])
    return info
