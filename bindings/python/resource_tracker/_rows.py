"""Trackers of this process's own thread: they measure at intervals, write CSV and return when they are done."""

from __future__ import annotations

import os
import sys
from time import time

from . import _native

TYPE_CHECKING = False  # typing takes long to import, and only who checks types needs it
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, Optional, Union

    PathText = Union[str, "os.PathLike[str]"]

PROCESS_ROWS, SYSTEM_ROWS = 1, 2
_SCHEMAS = {"v1": 1, "v2": 2, "v3": 3}


class RowTracker:
    """What [resource_tracker.ProcessTracker][] and [resource_tracker.SystemTracker][] share."""

    _rows: int
    pid = 0
    children = True

    def _begin(self, start_time: Optional[float], interval: float, autostart: bool, output_file: Optional[PathText],
               csv_file_path: Optional[PathText], schema: str) -> None:
        if schema not in _SCHEMAS:
            raise ValueError(f"schema must be one of {', '.join(_SCHEMAS)}, not {schema!r}")
        if output_file is not None and csv_file_path is not None:
            raise TypeError("csv_file_path is another name of output_file: give one of them")
        self.status = "running"
        self.interval = interval
        self.cycle = 0
        self.start_time = time() if start_time is None else start_time
        self._schema = schema
        self._read_at_cycle: Optional[int] = None
        self.stats = self._read()
        if autostart:
            self.start_tracking(output_file if output_file is not None else csv_file_path)

    def __call__(self) -> None:
        """Does nothing: it makes the tracker callable."""

    @property
    def stats(self) -> Dict[str, Any]:
        """What was used so far, as of the last row or of the last call of diff_stats."""
        if self._read_at_cycle != self.cycle:
            self.stats = self._read()
        return self._stats

    @stats.setter
    def stats(self, stats: Dict[str, Any]) -> None:
        self._stats = stats
        self._read_at_cycle = self.cycle

    def _read(self) -> Dict[str, Any]:
        raise NotImplementedError

    def _row(self, before: Dict[str, Any], now: Dict[str, Any]) -> Dict[str, Any]:
        raise NotImplementedError

    def diff_stats(self) -> Dict[str, Any]:
        """What was used since the last call, as a row."""
        before, now = self.stats, self._read()
        self.cycle += 1
        self.stats = now
        return self._row(before, now)

    def start_tracking(self, output_file: Optional[PathText] = None, print_header: bool = True) -> None:
        """Measure until the process ends, or for ever: Ctrl-C or an exception ends it.

        Every `interval` seconds one line of CSV is written, and is on disk then.

        Args:
            output_file: Where to; a file that is there is replaced. Defaults to None: standard output.
            print_header: Whether the first line has the columns' names.
        """
        output_file = None if output_file is None else os.fspath(output_file)
        if output_file is not None and print_header:
            self._follow(output_file, None)
        elif output_file is not None:
            with open(output_file, "wb") as file:
                def write(text: bytes) -> None:
                    file.write(text)
                    file.flush()

                self._follow_through_pipe(write, print_header)
        else:
            self._follow_through_pipe(_to_stdout, print_header)

    def _follow_through_pipe(self, write: Callable[[bytes], object], print_header: bool) -> None:
        """Where lines go to an object of Python and not to a file: a pipe brings them."""
        reading, writing = os.pipe()
        is_first = not print_header

        def drain() -> None:
            nonlocal is_first
            text = os.read(reading, 1 << 16)
            if is_first:
                text = text.partition(b"\n")[2]
                is_first = False
            write(text)

        try:
            self._follow(f"/dev/fd/{writing}", drain)
        finally:
            os.close(reading)
            os.close(writing)

    def _follow(self, output: str, after_row: Optional[Callable[[], None]]) -> None:
        wait_until = self.start_time if self.start_time > time() else 0.0
        try:
            session = _native.Session(self.pid, self.interval, self.children, self._rows, _SCHEMAS[self._schema],
                                      output, wait_until)
        except ProcessLookupError:
            self.status = "exited"
            return
        self.cycle += 1
        try:
            while session.next():
                self.cycle += 1
                if after_row:
                    after_row()
            self.status = "exited"
            if after_row:
                after_row()
        finally:
            session.close()


def _to_stdout(text: bytes) -> None:
    """sys.stdout as it is now: a notebook's or a test's may have no bytes beneath."""
    stream = getattr(sys.stdout, "buffer", None)
    if stream is not None:
        stream.write(text)
        stream.flush()
    else:
        sys.stdout.write(text.decode())
        sys.stdout.flush()


def cpu_usage(before: Dict[str, Any], now: Dict[str, Any]) -> float:
    """Cores in use between two readings."""
    seconds = now["timestamp"] - before["timestamp"]
    used = now["utime"] + now["stime"] - before["utime"] - before["stime"]
    return round(max(0, used / seconds), 4) if seconds > 0 else 0


def grown(before: Dict[str, Any], now: Dict[str, Any], name: str, decimals: Optional[int] = None) -> Any:
    """How much a counter has grown, never less than 0."""
    growth = now[name] - before[name]
    return max(0, growth if decimals is None else round(growth, decimals))
