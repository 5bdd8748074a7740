"""Names for people, factors to bytes, and the columns that charts and checks look at."""

_KIB = 1024
_MIB = 1024**2
_GIB = 1024**3

#: Column of either table: its name in tables for people.
HUMAN_NAMES_MAPPING = {
    "timestamp": "Timestamp",
    "processes": "processes",
    "utime": "CPU time (user)",
    "stime": "CPU time (system)",
    "cpu_usage": "CPU usage",
    "memory_free": "free memory",
    "memory_used": "used memory",
    "memory_buffers": "memory buffers",
    "memory_cached": "memory page/file cached",
    "memory_active": "active memory",
    "memory_inactive": "inactive memory",
    "disk_read_bytes": "disk read",
    "disk_write_bytes": "disk write",
    "disk_space_total_gb": "disk space total",
    "disk_space_used_gb": "disk space used",
    "disk_space_free_gb": "disk space free",
    "net_recv_bytes": "inbound network traffic",
    "net_sent_bytes": "outbound network traffic",
    "gpu_usage": "GPU usage",
    "gpu_vram": "VRAM used",
    "gpu_utilized": "GPUs in use",
    "pid": "PID",
    "children": "children",
    "memory": "memory usage",
    "read_bytes": "disk read",
    "write_bytes": "disk write",
}

#: Column: what makes bytes of it.
BYTE_MAPPING = {
    **{name: _KIB for name in ("memory", "memory_free", "memory_used", "memory_buffers", "memory_cached",
                               "memory_active", "memory_inactive")},
    "gpu_vram": _MIB,
    **{f"disk_space_{part}_gb": _GIB for part in ("total", "used", "free")},
}

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


def _both(*names):
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
