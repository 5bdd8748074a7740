"""Names for people, factors to bytes, and the columns that charts and checks look at."""

from __future__ import annotations

from typing import Any

from ._native import catalogue as _catalogue

_KIB = 1024
_V2 = 1  # the schema whose columns these are, among v1, v2 and v3


def _columns() -> list[tuple[str, dict[str, Any]]]:
    """(column, metric) of the machine's table, then of the process's."""
    metrics = [metric for metric in _catalogue() if metric["columns"][_V2] is not None]
    order = ("row", "system", "process")
    return [(metric["columns"][_V2], metric) for metric in sorted(metrics, key=lambda m: order.index(m["scope"]))]


#: Column of either table: its name in tables for people.
HUMAN_NAMES_MAPPING = {column: metric["human_name"] or column for column, metric in _columns()}

#: Column: what makes bytes of it. A column that is in bytes needs nothing.
BYTE_MAPPING = {column: int(metric["bytes_factors"][_V2]) for column, metric in _columns()
                if metric["bytes_factors"][_V2] > 1}

#: The machine is shared where it does more than the job by a factor or by an amount.
SERVER_ALLOCATION_CHECKS = [
    {"process_column": process, "system_column": system, "percent": factor, "absolute": amount}
    for process, system, factor, amount in (
        ("cpu_usage", "cpu_usage", 1.25, 0.25),
        ("memory", "memory_used", 1.5, 512 * _KIB),
        ("gpu_usage", "gpu_usage", 1.25, 0.2),
        ("gpu_vram", "gpu_vram", 1.25, 512),
    )
]


def _both(*names: str) -> list[str]:
    return ["Timestamp"] + [f"{scope} {name}" for name in names for scope in ("Process", "System")]


#: Chart: the columns that it shows, of the combined table with names for people.
REPORT_CSV_MAPPING = {
    "cpu": _both("CPU usage"),
    "mem": ["Timestamp", "Process memory usage", "System used memory"],
    "disk": _both("disk read", "disk write"),
    "disk_space": ["Timestamp", "System disk space used"],
    "net": ["Timestamp", "System inbound network traffic", "System outbound network traffic"],
    "gpu_usage": _both("GPU usage"),
    "gpu_utilized": _both("GPUs in use"),
    "gpu_vram": _both("VRAM used"),
}
