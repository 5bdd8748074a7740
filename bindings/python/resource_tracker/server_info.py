"""What the server has."""


def get_total_memory_mb() -> float:
    """The machine's memory in MiB."""
    return get_server_info()["memory_mb"]


def get_gpu_info() -> dict:
    """The machine's GPUs: count, memory_mb (of all of them) and gpu_names."""
    info = get_server_info()
    return {"count": info["gpu_count"], "memory_mb": info["gpu_memory_mb"], "gpu_names": info["gpu_names"]}


def get_server_info() -> dict:
    """What the server has.

    Returns:
        os, vcpus, memory_mb (MiB), gpu_count, gpu_names, gpu_name (the most common one, "" without), gpu_memory_mb
        (MiB of all GPUs), and what of it this process is allowed.
    """
    from json import loads

    from ._native import server_info

    info = loads(server_info())
    info["gpu_memory_mb"] = float(info["gpu_memory_mb"])
    return info
