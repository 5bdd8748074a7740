"""Small things that the other modules share."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import lru_cache

TYPE_CHECKING = False  # typing takes long to import, and only who checks types needs it
if TYPE_CHECKING:
    from multiprocessing import Process
    from typing import Any, Callable, Dict, Iterable, List, Literal, Tuple, Union

_QUOTE_NONNUMERIC: Literal[2] = 2  # as the module csv has it, which is not worth importing for that


@lru_cache(maxsize=None)
def is_partition(disk_name: str) -> bool:
    """Tell a part of a disk from a whole one.

    Args:
        disk_name: The device's name, such as `sda1` or `nvme0n1`.

    Returns:
        Whether it is part of a disk of this machine. A name that the machine does not have is no part of one.
    """
    with suppress(OSError):
        for disk in os.listdir("/sys/block"):
            rest = disk_name[len(disk):]
            if disk_name.startswith(disk) and rest.lstrip("p").isdigit():
                return True
    return False


@lru_cache(maxsize=None)
def is_psutil_available() -> bool:
    """Whether psutil could be imported. It is not needed."""
    from importlib.util import find_spec

    with suppress(ImportError, ValueError):
        return find_spec("psutil") is not None
    return False


@lru_cache(maxsize=None)
def is_procfs_available() -> bool:
    """Whether the kernel's process files can be read."""
    return os.access("/proc/self/stat", os.R_OK)


@lru_cache(maxsize=None)
def get_tracker_implementation() -> Tuple[Callable[..., Any], Callable[..., Any]]:
    """The functions that measure.

    Returns:
        get_process_stats and get_system_stats, both native.

    Raises:
        ImportError: /proc can't be read.
    """
    if not is_procfs_available():
        raise ImportError("No tracker implementation available - /proc can't be read; mount it: "
                          "mount -t proc proc /proc")
    from .tracker_procfs import get_process_stats, get_system_stats

    return get_process_stats, get_system_stats


def get_zfs_pools_space() -> Dict[str, Dict[str, int]]:
    """Space of the ZFS pools.

    Returns:
        By `zfs:NAME`: total, used and free bytes. Empty where there is no `zpool` or it does not answer.
    """
    from subprocess import DEVNULL, SubprocessError, run

    try:
        listed = run(["zpool", "list", "-Hp", "-o", "name,size,allocated,free"], stdin=DEVNULL, capture_output=True,
                     text=True, timeout=0.25, check=True)
    except (OSError, SubprocessError):
        return {}
    pools = {}
    for line in listed.stdout.splitlines():
        with suppress(ValueError):
            name, total, used, free = line.split("\t")[:4]
            pools[f"zfs:{name}"] = {"total": int(total), "used": int(used), "free": int(free)}
    return pools


def cleanup_files(files: List[str]) -> None:
    """Remove files; one that is gone already is no fault.

    Args:
        files: Their paths.
    """
    for path in files:
        with suppress(Exception):
            os.unlink(path)


def cleanup_processes(processes: List[Process]) -> None:
    """End processes: asked first, killed after a second each.

    Args:
        processes: `multiprocessing.Process` objects, running or not.
    """
    for process in processes:
        for end in ("terminate", "kill"):
            with suppress(Exception):
                if process.is_alive():
                    getattr(process, end)()
                    process.join(timeout=1.0)
        with suppress(Exception):
            process.close()


_AVERAGED = ("mean", "duration")
_LARGEST = ("max", "sum")


def aggregate_stats(stats: List[Dict[str, Dict[str, Any]]]) -> Dict[str, Dict[str, Any]]:
    """Statistics of several runs as one: means and durations are averaged, of maxima and sums the largest counts.

    Args:
        stats: What [resource_tracker.ResourceTracker.stats][] gave for each run.

    Returns:
        The same form. A value that no run has is None.

    Raises:
        ValueError: A statistic of another kind.

    Example:
        >>> aggregate_stats([{"process_memory": {"mean": 100, "max": 150}}, {"process_memory": {"mean": 200, "max": 250}}])
        {'process_memory': {'mean': 150.0, 'max': 250}}
    """
    gathered: Dict[str, Dict[str, List[Any]]] = {}
    for run in stats:
        for column, values in run.items():
            for kind, value in values.items():
                if kind not in _AVERAGED + _LARGEST:
                    raise ValueError(f"Unsupported aggregation type: {kind}")
                gathered.setdefault(column, {}).setdefault(kind, []).append(value)
    return {column: {kind: _aggregate(kind, values) for kind, values in kinds.items()}
            for column, kinds in gathered.items()}


def _aggregate(kind: str, values: List[Any]) -> Any:
    there = [value for value in values if value is not None]
    if not there:
        return None
    return sum(there) / len(there) if kind in _AVERAGED else max(there)


def render_csv_row(row: Iterable[Union[str, float, int, None]], quoting: Literal[0, 1, 2, 3] = _QUOTE_NONNUMERIC) -> bytes:
    """One line of CSV.

    Args:
        row: Its values.
        quoting: As [csv.writer][] takes it.

    Returns:
        The line in UTF-8, ended by a newline.
    """
    from csv import writer
    from io import StringIO

    line = StringIO(newline="")
    writer(line, quoting=quoting, lineterminator="\n").writerow(row)
    return line.getvalue().encode("utf-8")
