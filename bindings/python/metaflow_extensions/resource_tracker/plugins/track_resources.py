"""The step decorator: tracks a step from before it to after it, and never fails it."""

from __future__ import annotations

import logging
import os
import threading
from contextlib import contextmanager
from traceback import format_exc
from typing import Any, Dict, Iterator, List, Optional

from metaflow.decorators import StepDecorator

from .history import History
from .live_card import LiveCard
from .remote import core_files, why_not_here


class TrackResourcesDecorator(StepDecorator):
    """
    Tracks what the step uses of CPU, memory, disk, network and GPUs, keeps it as an artifact, and shows it in a card
    that follows the step while it runs, with the `@resources` and the cheapest server for the next run.

    A failure of the tracking itself is a warning: the step goes on.

    Parameters
    ----------
    interval : float, default 1.0
        Seconds between two samples.
    artifact_name : str, default 'resource_tracker_data'
        The artifact's name. It is a dictionary with `tracker` (a snapshot, for `ResourceTracker.from_snapshot`),
        `step_failed`, `historical_stats` (of the last five successful runs of the step), and `error` where
        the tracking failed.
    create_card : bool, default True
        Whether to create the card `tracked_resources`.
    """

    name = "track_resources"
    defaults = {"interval": 1.0, "artifact_name": "resource_tracker_data", "create_card": True}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._forget()

    def _forget(self) -> None:
        self._tracker: Any = None
        self._history: Optional[History] = None
        self._card: Optional[LiveCard] = None
        self._error: Optional[str] = None
        self._artifact: Optional[Dict[str, Any]] = None
        self._lock = threading.Lock()  # a tracker belongs to one thread at a time

    # ---- Metaflow's hooks ------------------------------------------------------------------

    def step_init(self, flow: Any, graph: Any, step_name: str, decorators: Any, environment: Any, flow_datastore: Any,
                  logger: Any) -> None:
        self._logger, self._flow_datastore = logger, flow_datastore
        leave_out_of_merges(type(flow), self.attributes["artifact_name"])

    def add_to_package(self) -> List[Any]:
        """The core goes with the code, so that remote tasks need nothing installed."""
        with self._guarded("packing the tracker for remote tasks"):
            return list(core_files())
        return []

    def task_pre_step(self, step_name: str, task_datastore: Any, metadata: Any, run_id: str, task_id: str, flow: Any,
                      graph: Any, retry_count: int, max_user_code_retries: int, ubf_context: Any, inputs: Any) -> None:
        self._forget()
        self._pathspec = f"{flow.name}/{run_id}/{step_name}/{task_id}"
        with self._guarded("starting the tracker"):
            self._tracker = start_tracker(float(self.attributes["interval"]))
        with self._guarded("looking for earlier runs"):
            self._history = History(self._pathspec, self.attributes["artifact_name"])
            self._history.start()
        if as_flag(self.attributes["create_card"]):
            with self._guarded("preparing the card"):
                self._card = LiveCard(self._flow_datastore, metadata, self._pathspec, retry_count,
                                      {"artifact_name": self.attributes["artifact_name"]})
                self._card.follow(self._tracker, self._lock, self._history)

    def task_post_step(self, step_name: str, flow: Any, graph: Any, retry_count: int, max_user_code_retries: int) -> None:
        self._end(flow, failed=False)

    def task_exception(self, exception: Exception, step_name: str, flow: Any, graph: Any, retry_count: int,
                       max_user_code_retries: int) -> None:
        self._end(flow, failed=True)

    def task_finished(self, step_name: str, flow: Any, graph: Any, is_task_ok: bool, retry_count: int,
                      max_user_code_retries: int) -> None:
        if self._artifact is None:  # a step that was left by neither way: sys.exit(), an interrupt
            self._end(None, failed=not is_task_ok)
        if self._card and self._artifact is not None:
            with self._guarded("creating the card"):
                # What @catch has handled is a success for Metaflow, yet the step has failed.
                self._card.finish(self._artifact)

    # ---- the parts -------------------------------------------------------------------------

    def _end(self, flow: Any, failed: bool) -> None:
        snapshot = None
        if self._card:
            with self._guarded("ending the card's updates"):
                self._card.stop()
        if self._tracker:
            with self._guarded("tracking"), self._lock:
                faults = stop_tracker(self._tracker)
                snapshot = self._tracker.snapshot()
                if faults:  # what was measured before is kept
                    raise RuntimeError(faults[0])
        history: List[Dict[str, Any]] = []
        with self._guarded("looking for earlier runs"):
            history = self._history.result() if self._history else []
        self._artifact = {"tracker": snapshot, "step_failed": failed, "historical_stats": history,
                          "pathspec": self._pathspec}
        if self._error:
            self._artifact["error"] = self._error
        if flow is not None:
            with self._guarded("keeping the artifact"):
                setattr(flow, self.attributes["artifact_name"], self._artifact)

    @contextmanager
    def _guarded(self, doing: str) -> Iterator[None]:
        """Whatever fails here is told, and the step goes on."""
        try:
            yield
        except Exception as fault:
            reason = str(fault) or type(fault).__name__
            self._error = self._error or f"{doing} failed: {reason}"
            with_trace = "\n" + format_exc() if os.environ.get("METAFLOW_DEBUG_EXT") else ""
            self._logger(f"[@track_resources] {doing} failed, the step goes on without it: {reason}{with_trace}",
                         timestamp=False, bad=True)


def start_tracker(interval: float) -> Any:
    try:
        from resource_tracker import BackEndMissing, ResourceTracker
    except ImportError as fault:  # no package at all, or the original beside ours
        raise RuntimeError(why_not_here(fault)) from fault
    try:
        return ResourceTracker(interval=interval)
    except BackEndMissing as fault:
        raise RuntimeError(why_not_here(fault)) from fault


class Listener(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.heard: List[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.heard.append(record.getMessage())


def stop_tracker(tracker: Any) -> List[str]:
    """Stopping never raises: what went wrong is logged. Returns that."""
    listener, logger = Listener(), logging.getLogger("resource_tracker")
    logger.addHandler(listener)
    try:
        tracker.stop()
    finally:
        logger.removeHandler(listener)
    return listener.heard


def as_flag(value: object) -> bool:
    """--with track_resources:create_card=False gives a string."""
    return value if isinstance(value, bool) else str(value).strip().lower() not in ("false", "0", "no", "none", "")


def leave_out_of_merges(flow_class: Any, artifact_name: str) -> None:
    """Branches that were tracked differ in the artifact, which would be a conflict for merge_artifacts() in every
    join. A join has no use for it: what a branch used is the branch's."""
    merge = flow_class.merge_artifacts
    if hasattr(merge, "left_out"):
        merge.left_out.add(artifact_name)
        return

    def merge_artifacts(self: Any, inputs: Any, exclude: Any = None, include: Any = None) -> Any:
        if not include:
            exclude = sorted({*(exclude or ()), *left_out})
        return merge(self, inputs, exclude=exclude, include=include)

    left_out = {artifact_name}
    merge_artifacts.left_out = left_out  # type: ignore[attr-defined]  # not the class's attribute: that would be an artifact
    merge_artifacts.__doc__ = merge.__doc__
    flow_class.merge_artifacts = merge_artifacts
