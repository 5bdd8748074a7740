"""Statistics of earlier runs of a step, looked for beside the step so that it does not wait."""

from __future__ import annotations

import threading
from itertools import islice
from typing import Any, Dict, Iterator, List, Optional

RUNS_WANTED = 5
RUNS_LOOKED_AT = 50
TASKS_OF_A_STEP = 20  # of a foreach with more, the first stand for all
PATIENCE_SECONDS = 2.0  # after the step's end
HEAD_START_SECONDS = 0.1  # for the step: the interpreter runs one thread at a time


class History(threading.Thread):
    def __init__(self, pathspec: str, artifact_name: str) -> None:
        super().__init__(name="track_resources-history", daemon=True)
        self._flow, self._run_id, self._step, _ = pathspec.split("/")
        self._artifact_name = artifact_name
        self._found: List[Dict[str, Any]] = []
        self._fault: Optional[Exception] = None
        self._wanted = threading.Event()

    def run(self) -> None:
        self._wanted.wait(HEAD_START_SECONDS)
        try:
            for stats in islice(self._stats_of_runs(), RUNS_WANTED):
                self._found.append(stats)
        except Exception as fault:
            self._fault = fault

    def so_far(self) -> List[Dict[str, Any]]:
        return list(self._found)

    def result(self) -> List[Dict[str, Any]]:
        """What was found; what takes too long is left out."""
        self._wanted.set()
        self.join(PATIENCE_SECONDS)
        if self._fault:
            raise self._fault
        return self.so_far()

    def _stats_of_runs(self) -> Iterator[Dict[str, Any]]:
        """Newest first. The first run of a flow has no earlier ones."""
        from metaflow.client import Flow

        for run in islice(Flow(self._flow, _namespace_check=False), RUNS_LOOKED_AT):
            stats = self._stats_of_run(run) if run.id != self._run_id else None
            if stats:
                yield stats

    def _stats_of_run(self, run: Any) -> Optional[Dict[str, Any]]:
        """Of all tasks of the step together; None where one of them did not succeed or was not tracked."""
        from resource_tracker import ResourceTracker
        from resource_tracker.helpers import aggregate_stats

        stats = []
        try:
            for task in islice(run[self._step].tasks(), TASKS_OF_A_STEP):
                kept = task[self._artifact_name].data if task.successful else {}
                if not kept.get("tracker") or kept.get("step_failed") or not self._is_of(kept, task):
                    return None
                stats.append(ResourceTracker.from_snapshot(kept["tracker"]).stats())
        except Exception:  # a run without the step, or whose data is gone, or too short for statistics
            return None
        return aggregate_stats(stats) if len(stats) > 1 else stats[0] if stats else None

    def _is_of(self, kept: Dict[str, Any], task: Any) -> bool:
        """An artifact goes on to later steps: it counts where it was made."""
        return bool(kept.get("pathspec", task.pathspec) == task.pathspec)
