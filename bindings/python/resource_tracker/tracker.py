"""Trackers.

[resource_tracker.ResourceTracker][] measures from a process of its own while the program goes on, and holds what was
measured. [resource_tracker.ProcessTracker][] and [resource_tracker.SystemTracker][] write CSV and do not return before
they are done: for a thread or process of the caller's.
"""

from __future__ import annotations

import os
from functools import wraps
from sys import modules
from time import sleep, time
from weakref import finalize

from . import _native
from ._lazy import LazyLogger
from ._lazy import dumps as json_dumps
from ._lazy import loads as json_loads
from ._program import find_program
from ._rows import PROCESS_ROWS, SYSTEM_ROWS, RowTracker, cpu_usage, grown
from .cloud_info import get_cloud_info
from .helpers import (
    aggregate_stats,
    cleanup_files,
    cleanup_processes,
    get_tracker_implementation,
    is_partition,
    is_psutil_available,
    render_csv_row,
)
from .keeper import _find_servers, get_instance_price, get_recommended_cloud_servers
from .report import Report, round_memory
from .server_info import get_server_info
from .tiny_data_frame import StatSpec, TinyDataFrame
from .tracker_procfs import (
    _look,
    get_process_children,
    get_process_proc_io,
    get_process_proc_times,
    get_process_pss_rollup,
    get_process_rss,
)

TYPE_CHECKING = False  # typing takes long to import, and only who checks types needs it
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Literal, Optional, Sequence, Set, Tuple, Type, Union

# Also by this module's name, as before: from resource_tracker.tracker import round_memory.
_OTHERS = (cleanup_files, cleanup_processes, get_cloud_info, get_instance_price, get_recommended_cloud_servers,
           get_server_info, is_partition, is_psutil_available, render_csv_row, round_memory)

logger = LazyLogger(__name__)

_BOTH_ROWS = PROCESS_ROWS | SYSTEM_ROWS

# ---- functions of the first releases, in their units -------------------------------------------

get_pid_children = get_process_children
get_pid_rss = get_process_rss
get_pid_pss_rollup = get_process_pss_rollup
get_pid_proc_times = get_process_proc_times
get_pid_proc_io = get_process_proc_io


def get_pid_stats(pid: int, children: bool = True) -> Dict[str, Union[int, float, Set[int], None]]:
    """What a process has used so far, with CPU time in clock ticks.

    Args:
        pid: The process.
        children: Whether its descendants count too.

    Returns:
        timestamp, pid, children, utime and stime in clock ticks, pss in kB, read_bytes, write_bytes, gpu_usage,
        gpu_vram in MiB, gpu_utilized. A process that is gone gives zeros.
    """
    look = _look(pid, children)
    return {
        "timestamp": look["timestamp"],
        "pid": pid,
        "children": look["children"] if children else None,
        "utime": look["utime_ticks"],
        "stime": look["stime_ticks"],
        "pss": look["memory"],
        **{name: look[name] for name in ("read_bytes", "write_bytes", "gpu_usage", "gpu_vram", "gpu_utilized")},
    }


def get_system_stats() -> Dict[str, Union[int, float, Dict[str, Any]]]:
    """What the machine has used since boot, with CPU time in clock ticks and disks in sectors of 512 bytes.

    Returns:
        timestamp, processes (forks since boot), utime and stime in clock ticks, memory_free, memory_used,
        memory_buffers, memory_cached, memory_active_anon and memory_inactive_anon in kB, disk_stats (by disk:
        read_sectors, write_sectors), disk_spaces (by mount point: total, used, free in bytes), net_recv_bytes,
        net_sent_bytes, gpu_usage, gpu_vram in MiB, gpu_utilized.
    """
    look = json_loads(_native.read_system())
    names = {"processes": "forks", "utime": "utime_ticks", "stime": "stime_ticks",
             "memory_used": "memory_used_with_slab", "memory_cached": "memory_page_cache"}
    wanted = ("timestamp", "processes", "utime", "stime", "memory_free", "memory_used", "memory_buffers",
              "memory_cached", "memory_active_anon", "memory_inactive_anon", "disk_stats", "disk_spaces",
              "net_recv_bytes", "net_sent_bytes", "gpu_usage", "gpu_vram", "gpu_utilized")
    stats = {name: look[names.get(name, name)] for name in wanted}
    stats["disk_stats"] = {disk: {"read_sectors": figures["read_bytes"] // 512,
                                  "write_sectors": figures["write_bytes"] // 512}
                           for disk, figures in look["disk_stats"].items()}
    return stats


# ---- trackers that write CSV -------------------------------------------------------------------


class ProcessTracker(RowTracker):
    """Follow a process, and its descendants if wanted, until it ends; one line of CSV each interval.

    Columns: timestamp (seconds since the epoch), pid, children (how many descendants; empty where they are not
    followed), utime and stime (CPU seconds in the interval), cpu_usage (cores), memory (PSS in kB), read_bytes and
    write_bytes (in the interval), gpu_usage (0 to the number of GPUs), gpu_vram (MiB), gpu_utilized (how many GPUs).

    Args:
        pid: The process. Defaults to None: this one.
        start_time: When to begin, in seconds since the epoch. Defaults to None: now.
        interval: Seconds between lines.
        children: Whether its descendants count too.
        autostart: Whether to begin at once, which does not return before the process has ended.
        output_file: Where to write. Defaults to None: standard output.
        csv_file_path: Another name of output_file.
        schema: `v2`, or `v1` and `v3` for the columns of earlier and later releases.

    Attributes:
        status: `running`, or `exited` when the process has ended.
        cycle: How many readings there were.
        stats: The last reading.
    """

    _rows = PROCESS_ROWS

    def __init__(
        self,
        pid: Optional[int] = None,
        start_time: Optional[float] = None,
        interval: float = 1,
        children: bool = True,
        autostart: bool = True,
        output_file: Optional[str] = None,
        *,
        csv_file_path: Optional[str] = None,
        schema: str = "v2",
    ) -> None:
        self.get_process_stats = get_tracker_implementation()[0]
        self.pid = os.getpid() if pid is None else pid
        self.children = children
        self._begin(start_time, interval, autostart, output_file, csv_file_path, schema)

    def _read(self) -> Dict[str, Any]:
        stats: Dict[str, Any] = self.get_process_stats(self.pid, self.children)
        return stats

    def _row(self, before: Dict[str, Any], now: Dict[str, Any]) -> Dict[str, Any]:
        return {
            "timestamp": round(now["timestamp"], 3),
            "pid": self.pid,
            "children": now["children"],
            "utime": grown(before, now, "utime", 6),
            "stime": grown(before, now, "stime", 6),
            "cpu_usage": cpu_usage(before, now),
            "memory": now["memory"],
            "read_bytes": grown(before, now, "read_bytes"),
            "write_bytes": grown(before, now, "write_bytes"),
            **{name: now[name] for name in ("gpu_usage", "gpu_vram", "gpu_utilized")},
        }


class PidTracker(ProcessTracker):
    """The first name of [resource_tracker.ProcessTracker][], which is to be used instead."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        from warnings import warn

        warn("PidTracker is deprecated and will be removed in a future release. "
             "Please use ProcessTracker instead.", DeprecationWarning, stacklevel=2)
        super().__init__(*args, **kwargs)


class SystemTracker(RowTracker):
    """Follow the machine; one line of CSV each interval, until it is interrupted.

    Columns: timestamp (seconds since the epoch), processes (how many), utime and stime (CPU seconds in the interval),
    cpu_usage (cores), memory_free, memory_used, memory_buffers, memory_cached, memory_active and memory_inactive (kB),
    disk_read_bytes and disk_write_bytes (in the interval), disk_space_total_gb, disk_space_used_gb and
    disk_space_free_gb (GiB), net_recv_bytes and net_sent_bytes (in the interval), gpu_usage (0 to the number of GPUs),
    gpu_vram (MiB), gpu_utilized (how many GPUs).

    Args:
        start_time: When to begin, in seconds since the epoch. Defaults to None: now.
        interval: Seconds between lines.
        autostart: Whether to begin at once, which does not return.
        output_file: Where to write. Defaults to None: standard output.
        csv_file_path: Another name of output_file.
        schema: `v2`, or `v1` and `v3` for the columns of earlier and later releases.
    """

    _rows = SYSTEM_ROWS

    def __init__(
        self,
        start_time: Optional[float] = None,
        interval: float = 1,
        autostart: bool = True,
        output_file: Optional[str] = None,
        *,
        csv_file_path: Optional[str] = None,
        schema: str = "v2",
    ) -> None:
        self.get_system_stats = get_tracker_implementation()[1]
        self._begin(start_time, interval, autostart, output_file, csv_file_path, schema)

    def _read(self) -> Dict[str, Any]:
        stats: Dict[str, Any] = self.get_system_stats()
        return stats

    def _row(self, before: Dict[str, Any], now: Dict[str, Any]) -> Dict[str, Any]:
        disks = {name: sum(grown(before["disk_stats"][disk], figures, name)
                           for disk, figures in now["disk_stats"].items() if disk in before["disk_stats"])
                 for name in ("read_bytes", "write_bytes")}
        space = {part: round(sum(figures[part] for figures in now["disk_spaces"].values()) / 1024**3, 2)
                 for part in ("total", "used", "free")}
        return {
            "timestamp": round(now["timestamp"], 3),
            "processes": now["processes"],
            "utime": grown(before, now, "utime", 6),
            "stime": grown(before, now, "stime", 6),
            "cpu_usage": cpu_usage(before, now),
            **{name: now[name] for name in ("memory_free", "memory_used", "memory_buffers", "memory_cached",
                                            "memory_active", "memory_inactive")},
            "disk_read_bytes": disks["read_bytes"],
            "disk_write_bytes": disks["write_bytes"],
            "disk_space_total_gb": space["total"],
            "disk_space_used_gb": space["used"],
            "disk_space_free_gb": space["free"],
            "net_recv_bytes": grown(before, now, "net_recv_bytes"),
            "net_sent_bytes": grown(before, now, "net_sent_bytes"),
            **{name: now[name] for name in ("gpu_usage", "gpu_vram", "gpu_utilized")},
        }


# ---- the tracker in the background -------------------------------------------------------------


class _Rows:
    """Rows of a tracker, as many as there were when it was made; read when they are asked for."""

    def __init__(self, files: _Files, options: Tuple[int, bool, bool, Optional[str], Optional[str]], first: int,
                 rows: int) -> None:
        self._files = files
        self._options = options
        self._first = first
        self.rows = rows

    def names(self) -> List[str]:
        return self.table(0, min(1, self.rows)).names() if self.rows else []

    def table(self, first: int, count: int) -> _native.Table:
        if not count:  # in the library 0 means all
            return _native.Table.from_columns([], [], 0)
        return self._files.native.frame(*self._options, self._first + first, count)

    def part(self, first: int, count: int) -> _Rows:
        return _Rows(self._files, self._options, self._first + first, count)


class _Files:
    """What a tracker has on disk: it stays for tables that are read later than the tracker lives."""

    def __init__(self, native: _native.Tracker) -> None:
        self.native = native
        # Also at the interpreter's exit, where objects may never be collected.
        self.remove = finalize(self, native.close)
        # Processes of multiprocessing end without that, and have an exit of their own.
        process = modules.get("multiprocessing.process")
        if process and process.parent_process() is not None:
            from multiprocessing.util import Finalize

            Finalize(self, self.remove, exitpriority=0)


def _stop_quietly(native: _native.Tracker) -> None:
    try:
        native.stop()
    except Exception:  # it was stopped, or belongs to the process that this one was born from
        pass


def mean(values: Sequence[float]) -> float:
    """The average."""
    return sum(values) / len(values)


_DEFAULT_STATS = [
    *(StatSpec(column=f"process_{name}", agg=agg, round=2)
      for name in ("cpu_usage", "memory", "gpu_usage", "gpu_vram", "gpu_utilized") for agg in (mean, max)),
    StatSpec(column="system_disk_space_used_gb", agg=max, round=2),
    StatSpec(column="system_net_recv_bytes", agg=sum),
    StatSpec(column="system_net_sent_bytes", agg=sum),
    StatSpec(column="timestamp", agg=lambda values: max(values) - min(values), agg_name="duration"),
]


class ResourceTracker:
    """Measure a process, its descendants and the machine from a process of its own, while the program goes on.

    It starts when it is made. It ends with `stop()`, at the end of a `with` block, when nobody holds it any more or
    when the interpreter exits, and leaves no process and no file behind.

    Args:
        pid: The process. Defaults to None: this one.
        children: Whether its descendants count too.
        interval: Seconds between samples.
        method: How the tracker's process is started; kept for those who pass it ("fork", "spawn", "forkserver"): it is
            always a program of its own.
        autostart: Whether to begin at once.
        track_processes: Whether to measure the process.
        track_system: Whether to measure the machine.
        discover_server: Whether to find out about the server.
        discover_cloud: Whether to find out about the cloud.

    Attributes:
        start_time: When samples begin: the next multiple of the interval that is at least 50 ms away.
        stop_time: When it was stopped; None while it runs.

    Example:
        >>> from resource_tracker.dummy_workloads import cpu_single
        >>> tracker = ResourceTracker(interval=0.1)
        >>> cpu_single(0.5)
        >>> tracker.wait_for_samples()
        >>> tracker.stop()
        >>> tracker.recommend_resources()["cpu"]
        1
        >>> tracker.latest["process_pid"] == tracker.pid
        True
    """

    def __init__(
        self,
        pid: Optional[int] = None,
        children: bool = True,
        interval: float = 1,
        method: Optional[str] = None,
        autostart: bool = True,
        track_processes: bool = True,
        track_system: bool = True,
        discover_server: bool = True,
        discover_cloud: bool = True,
    ) -> None:
        if method is not None:
            from multiprocessing import get_context

            get_context(method)  # ValueError for one that there is not
        if pid == 0:
            raise ValueError("0 is no process's number; leave pid out to measure this process")
        self.pid = os.getpid() if pid is None else pid
        self.children = children
        self.interval = interval
        self.method = method
        self.autostart = autostart
        self.trackers = ["process_tracker"] * bool(track_processes) + ["system_tracker"] * bool(track_system)
        self.discover_server = discover_server
        self.discover_cloud = discover_cloud
        self._hold(_native.Tracker(self.pid, children, interval, autostart, track_processes, track_system,
                                   discover_server, discover_cloud, find_program("resource-tracker")))
        if autostart:
            self._note_times()

    def _hold(self, native: _native.Tracker) -> None:
        self._native = native
        self._files = _Files(native)
        finalize(self, _stop_quietly, native)

    def _note_times(self) -> None:
        settings = self._native.settings()
        self.start_time = settings["start_time"]
        self.stop_time = settings["stop_time"]

    # ---- from start to stop ----

    def start(self) -> None:
        """Start measuring.

        Raises:
            RuntimeError: It runs, or was stopped before.
        """
        self._native.start()
        self._note_times()

    def stop(self) -> None:
        """Stop measuring, and wait until the totals are there. One that was stopped stays so.

        Raises:
            RuntimeError: It was never started.
        """
        if not hasattr(self, "stop_time"):
            raise RuntimeError("Resource tracker has not been started, cannot stop it.")
        if not self.running:
            return
        try:
            self._native.stop()
        except RuntimeError as e:
            logger.warning(f"Resource tracker subprocess failed!\nError message: {e}")
        self._note_times()
        logger.debug(
            "Resource tracker stopped after %s seconds, logging %d process-level and %d system-wide records",
            self.stop_time - self.start_time, len(self.process_metrics), len(self.system_metrics))

    def __enter__(self) -> ResourceTracker:
        if not hasattr(self, "stop_time"):
            self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def running(self) -> bool:
        """Whether it was started and not stopped."""
        return hasattr(self, "stop_time") and self.start_time is not None and self.stop_time is None

    def wait_for_samples(self, n: int = 1, timeout: float = 5) -> None:
        """Wait until there are samples.

        Args:
            n: So many.
            timeout: So many seconds after start_time at most.

        Raises:
            RuntimeError: There are fewer by then, it does not run, or the process is gone.
        """
        if not self.running and self.n_samples < n:
            raise RuntimeError(
                f"Resource tracker has been already stopped with {self.n_samples} sample(s), "
                f"cannot wait to collect the requested {n} sample(s).")
        while self.n_samples < n:
            try:
                self._native.check()
            except RuntimeError:
                if self.n_samples >= n:  # the last ones came since
                    return
                raise
            sleep(min(self.interval / 10, 0.1))
            if time() - self.start_time > timeout and self.n_samples < n:
                raise RuntimeError(f"Timed out waiting for resource tracker to collect {n} samples")

    def mark(self, name: str) -> None:
        """Note an event with its time in the record.

        Args:
            name: What happened.
        """
        self._native.mark(0, name)

    # ---- samples ----

    @property
    def n_samples(self) -> int:
        """How many samples there are. It costs the same however many."""
        return self._native.n_samples()

    def _frame(self, rows: int, is_tracked: bool, bytes: bool = False, human: bool = False,
               system_prefix: Optional[str] = None, process_prefix: Optional[str] = None) -> TinyDataFrame:
        count = self.n_samples if is_tracked else 0
        return TinyDataFrame._of_source(
            _Rows(self._files, (rows, bytes, human, system_prefix, process_prefix), 0, count))

    @property
    def process_metrics(self) -> TinyDataFrame:
        """Samples of the process, as [resource_tracker.ProcessTracker][] writes them; empty where it is not measured."""
        return self._frame(PROCESS_ROWS, "process_tracker" in self.trackers)

    @property
    def system_metrics(self) -> TinyDataFrame:
        """Samples of the machine, as [resource_tracker.SystemTracker][] writes them; empty where it is not measured."""
        return self._frame(SYSTEM_ROWS, "system_tracker" in self.trackers)

    def get_combined_metrics(
        self,
        bytes: bool = False,
        human_names: bool = False,
        system_prefix: Optional[str] = None,
        process_prefix: Optional[str] = None,
    ) -> TinyDataFrame:
        """Both in one table: the machine's columns, then the process's.

        Args:
            bytes: Whether memory and disk space are in bytes. Defaults to False: in kB, MiB and GiB.
            human_names: Whether columns have names for people.
            system_prefix: Before the machine's columns. Defaults to None: `system_`, or `System ` for people.
            process_prefix: Before the process's columns. Defaults to None: `process_`, or `Process ` for people.
        """
        return self._frame(_BOTH_ROWS, True, bytes, human_names, system_prefix, process_prefix)

    @property
    def latest(self) -> Optional[Dict[str, Any]]:
        """The last sample of both tables; None before the first. It costs the same however many there are."""
        combined = self.get_combined_metrics()
        return combined._row(-1) if len(combined) else None

    def stats(self, specs: List[StatSpec] = _DEFAULT_STATS) -> Dict[str, Any]:
        """Statistics of the combined table.

        Args:
            specs: What to compute. Defaults to means and maxima of the process, the largest disk space, the sums of
                network bytes, and the duration.

        Returns:
            By column, then by the statistic's name. One without a value is None.

        Raises:
            RuntimeError: There are no samples (yet).
        """
        if self.n_samples == 0:
            raise RuntimeError("No metrics collected (yet)")
        if specs is _DEFAULT_STATS:
            stats = json_loads(self._native.text("stats"))
            return {column: {name: None if value is None else float(value) for name, value in values.items()}
                    for column, values in stats.items()}
        stats = self.get_combined_metrics().stats(specs)
        if stats.get("timestamp", {}).get("duration") is not None:
            stats["timestamp"]["duration"] += self.interval
        return stats

    @property
    def totals(self) -> Optional[Dict[str, Any]]:
        """Exact totals of a tracker that was stopped: CPU seconds, peak memory, bytes, processes, each with its source.

        They count what happened between samples as well. None while it runs.
        """
        totals: Optional[Dict[str, Any]] = json_loads(self._native.text("totals"))
        return totals

    @property
    def processes(self) -> Optional[List[Dict[str, Any]]]:
        """Every process of the job over its whole life, the one with most CPU time first. None while it runs.

        One that outlived the tracker has no end_time; the exit_code of one that a signal killed is negative.
        """
        processes: Optional[List[Dict[str, Any]]] = json_loads(self._native.text("processes"))
        return processes

    # ---- server and cloud ----

    @property
    def server_info(self) -> Optional[Dict[str, Any]]:
        """What the server is, and as `allocation` whether the job has it for itself; None where it is not known (yet)."""
        server_info: Optional[Dict[str, Any]] = json_loads(self._native.text("server_info"))
        return server_info

    @property
    def cloud_info(self) -> Optional[Dict[str, Any]]:
        """What cloud it is in; None where it is not known (yet)."""
        cloud_info: Optional[Dict[str, Any]] = json_loads(self._native.text("cloud_info"))
        return cloud_info

    # ---- records ----

    def snapshot(self) -> Dict[str, Any]:
        """Everything that is known as one dictionary: metadata, server_info, cloud_info, process_metrics,
        system_metrics, totals, processes, events."""
        snapshot: Dict[str, Any] = json_loads(self._native.text("snapshot"))
        snapshot["metadata"].update(method=self.method, autostart=self.autostart)
        return snapshot

    def dumps(self) -> str:
        """The snapshot as JSON."""
        return json_dumps(self.snapshot())

    def dump(self, file: str) -> None:
        """The snapshot as JSON in a file, packed by gzip.

        Args:
            file: Its path.
        """
        self._native.save(file)

    @classmethod
    def from_snapshot(cls, snapshot: Dict[str, Any]) -> ResourceTracker:
        """A stopped tracker from a snapshot, of this package or of the Python-only one before it.

        Args:
            snapshot: What [resource_tracker.ResourceTracker.snapshot][] gave.
        """
        return cls._of_native(_native.Tracker.loads(json_dumps(snapshot).encode()), snapshot.get("metadata", {}))

    @classmethod
    def loads(cls, s: str) -> ResourceTracker:
        """A stopped tracker from JSON.

        Args:
            s: What [resource_tracker.ResourceTracker.dumps][] gave.
        """
        return cls.from_snapshot(json_loads(s))

    @classmethod
    def load(cls, file: str) -> ResourceTracker:
        """A stopped tracker from a file.

        Args:
            file: What [resource_tracker.ResourceTracker.dump][] has written; plain JSON does as well.
        """
        native = _native.Tracker.load(file)
        return cls._of_native(native, {})

    @classmethod
    def _of_native(cls, native: _native.Tracker, metadata: Dict[str, Any]) -> ResourceTracker:
        tracker = cls.__new__(cls)
        settings = native.settings()
        tracker.pid = settings["pid"]
        tracker.children = settings["children"]
        tracker.interval = settings["interval"]
        tracker.method = metadata.get("method")
        tracker.autostart = metadata.get("autostart", False)
        tracker.trackers = (["process_tracker"] * settings["track_processes"]
                            + ["system_tracker"] * settings["track_system"])
        tracker.discover_server = settings["discover_server"]
        tracker.discover_cloud = settings["discover_cloud"]
        tracker._hold(native)
        tracker._note_times()
        return tracker

    def __reduce__(self) -> Tuple[Any, ...]:
        """Another process gets what was measured so far, and not the measuring."""
        return (_unpickle, (type(self), self.dumps()))

    # ---- what to ask for next time ----

    def recommend_resources(self, historical_stats: List[Dict[str, Any]] = []) -> Dict[str, Any]:
        """What to ask for next time, by the classic rule: the mean of the cores in use, and the largest memory, GPUs
        and VRAM, memory and VRAM with a fifth more.

        Args:
            historical_stats: What [resource_tracker.ResourceTracker.stats][] gave for earlier runs, which count too.

        Returns:
            cpu, memory in MiB, gpu, vram in MiB.
        """
        self.wait_for_samples(n=1, timeout=self.interval * 5)
        stats = self.stats()
        if historical_stats:
            stats = aggregate_stats([stats, *historical_stats])
        return _classic(stats)

    def recommend_server(self, **kwargs: Any) -> Dict[str, Any]:
        """The cheapest cloud server that has what [resource_tracker.ResourceTracker.recommend_resources][] names.

        Prices come from the table that is built in; with online=True, or TRACKER_ONLINE=1 in the environment, from
        Spare Cores Keeper.

        Args:
            **kwargs: historical_stats as there; online; any other is a filter, such as vendor_id="aws".

        Returns:
            The server with Keeper's keys, and what the run would cost on it.

        Raises:
            IndexError: No server fits.
        """
        historical_stats = kwargs.pop("historical_stats", [])
        needs = self.recommend_resources(historical_stats=historical_stats)
        seconds = 0 if self.start_time is None else (self.stop_time or time()) - self.start_time + self.interval
        servers = _find_servers({**needs, "n": 1}, kwargs, seconds, self.cloud_info)
        if not servers:
            raise IndexError(f"no server has {needs}: ask for less, or loosen the filters {kwargs}")
        return servers[0]

    def cleanup(self) -> None:
        """Stop, and remove what is on disk; nothing of the tracker is left to be asked. It need not be called."""
        self._files.remove()
        if self.running:
            self.stop_time = time()

    # ---- the report ----

    def report(
        self,
        integration: Literal["standalone", "metaflow"] = "standalone",
        historical_stats: List[Dict[str, Any]] = [],
        status_failed: bool = False,
        integration_version: Optional[str] = None,
    ) -> Report:
        """A page that tells the run, complete in itself: no network is needed to make it or to look at it.

        Args:
            integration: What it is shown in.
            historical_stats: What [resource_tracker.ResourceTracker.stats][] gave for earlier runs.
            status_failed: Whether the job failed.
            integration_version: Of what it is shown in; kept for those who pass it.

        Returns:
            The HTML text, which can `save(path)` and `browse()` itself.
        """
        if integration not in ("standalone", "metaflow"):
            raise ValueError(f"integration must be standalone or metaflow, not {integration!r}")
        self.wait_for_samples(n=1, timeout=self.interval * 5)
        history = json_dumps(historical_stats) if historical_stats else None
        return Report(_native.report(self.dumps(), integration, status_failed, history))

    def _repr_html_(self) -> str:
        """For notebooks: the report with its charts, or a line before the first sample."""
        if self.n_samples == 0:
            return "<p>Resource tracker without samples (yet)</p>"
        return self.report()._repr_html_()

    def __repr__(self) -> str:
        state = "running" if self.running else "stopped" if hasattr(self, "stop_time") else "not started"
        held = f"{self.n_samples} samples" if self._files.remove.alive else "cleaned up"
        return f"<ResourceTracker of process {self.pid}: {state}, {held}>"


def _classic(stats: Dict[str, Any]) -> Dict[str, Any]:
    wanted = (("process_cpu_usage", "mean"), ("process_memory", "max"), ("process_gpu_usage", "mean"),
              ("process_gpu_usage", "max"), ("process_gpu_vram", "max"))
    values = [stats.get(column, {}).get(kind) for column, kind in wanted]
    needs = _native.recommend_classic(*(float("nan") if value is None else value for value in values))
    return {name: None if need is None else int(need) for name, need in zip(("cpu", "memory", "gpu", "vram"), needs)}


def _unpickle(cls: Type[ResourceTracker], text: str) -> ResourceTracker:
    return cls.loads(text)


def track(function: Optional[Callable[..., Any]] = None, **options: Any) -> Callable[..., Any]:
    """Measure every call of a function.

    Args:
        function: The function; given by `@track` alone.
        options: Of [resource_tracker.ResourceTracker][]: `@track(interval=0.1)`.

    Returns:
        The function; its attribute `tracker` is the stopped tracker of the call that ended last.

    Example:
        >>> @track(interval=0.1)
        ... def work():
        ...     return sum(range(1_000_000))
        >>> work()
        499999500000
        >>> work.tracker.totals["peak_memory_bytes"]["value"] > 0
        True
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def tracked(*args: Any, **kwargs: Any) -> Any:
            tracker = ResourceTracker(**{**options, "autostart": True})
            try:
                return function(*args, **kwargs)
            finally:
                tracker.stop()
                tracked.tracker = tracker  # type: ignore[attr-defined]

        tracked.tracker = None  # type: ignore[attr-defined]
        return tracked

    return decorate if function is None else decorate(function)
