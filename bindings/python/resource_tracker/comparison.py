"""Two sides of runs: medians, effects with their intervals, gates."""

from __future__ import annotations

from os import PathLike, fspath

from . import _native
from ._lazy import loads as json_loads
from .report import Report
from .tracker import ResourceTracker

TYPE_CHECKING = False  # typing takes long to import, and only who checks types needs it
if TYPE_CHECKING:
    from typing import Any, Dict, Iterable, List, Optional, Union

    Run = Union[str, PathLike[str], ResourceTracker]
    Side = Union[Run, Iterable[Run]]


class Comparison:
    """What two sides have in common and where they differ.

    Attributes:
        data: Everything as the `--json` option of `resource-tracker compare` prints it.
    """

    def __init__(self, base: Optional[List[Union[str, bytes]]], new: List[Union[str, bytes]], gates: List[str]) -> None:
        self._sides = base, new, gates
        text, self._markdown, _ = _native.compare(base, new, gates, False)
        self.data: Dict[str, Any] = json_loads(text)

    @property
    def figures(self) -> Dict[str, Dict[str, Any]]:
        """Those of whole runs by name: wall_seconds, cpu_seconds, peak_memory, ..."""
        return {row["figure"]: row for row in self.data["figures"] if row["phase"] is None}

    @property
    def gates(self) -> List[Dict[str, Any]]:
        """Each with its outcome: passed, failed, uncertain or unknown."""
        gates: List[Dict[str, Any]] = self.data["gates"]
        return gates

    @property
    def failed(self) -> List[str]:
        """A line for each gate that failed."""
        return [gate["words"] for gate in self.gates if gate["outcome"] == "failed"]

    def markdown(self) -> str:
        """The table, for the summary of a CI job."""
        return self._markdown

    def report(self) -> Report:
        """A page with the charts of both sides on one time axis."""
        page = _native.compare(*self._sides, True)[2]
        assert page is not None
        return Report(page)

    def __str__(self) -> str:
        return "\n".join(f"{row['title'] if row['phase'] is None else row['phase'] + ': ' + row['title']}: {row['words']}"
                         for row in self.data["figures"])


def _runs(side: Side) -> List[Union[str, bytes]]:
    runs = [side] if isinstance(side, (str, PathLike, ResourceTracker)) else list(side)
    return [run.dumps().encode() if isinstance(run, ResourceTracker) else fspath(run) for run in runs]


def compare(base: Optional[Side], new: Side, gates: Union[str, Iterable[str]] = ()) -> Comparison:
    """Compare two sides of runs.

    Args:
        base: A run or several: stopped trackers, files, ids, folders, keys or baselines. None: there is no base.
        new: The runs that are compared with it.
        gates: A limit or several, such as "peak_memory > 2GiB" and "cpu_seconds > base + 10%".

    Example:
        >>> from resource_tracker import ResourceTracker, compare
        >>> with ResourceTracker(interval=0.1) as short:
        ...     squares = sum(n * n for n in range(400_000))
        >>> with ResourceTracker(interval=0.1) as long:
        ...     squares = sum(n * n for n in range(8_000_000))
        >>> compare(short, long, gates=["cpu_seconds > base + 50%"]).gates[0]["outcome"]
        'failed'
    """
    return Comparison(None if base is None else _runs(base), _runs(new), [gates] if isinstance(gates, str) else list(gates))
