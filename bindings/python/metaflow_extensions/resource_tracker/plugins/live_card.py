"""Writes the card while the step runs, and in the end.

Metaflow would start a process for each update of a card, below the step's own: it would be measured as part of the
step. So the pages are written from here, where Metaflow's own commands look for them.
"""

from __future__ import annotations

import threading
import time
import uuid
from typing import TYPE_CHECKING, Any, Dict, Optional

from .card_page import CARD_TYPE, page_of

if TYPE_CHECKING:
    from resource_tracker import ResourceTracker

    from .history import History

REFRESH_INTERVALS = 5
REFRESH_SECONDS = 1.0, 30.0  # at least and at most
WORK_SHARE = 0.02  # of one core at most, however long the page of a long step takes
FINAL = "final"

# The viewer asks for the data now and then, and loads the page again when its token is another.
TOKEN_SCRIPT = """<script>
var METAFLOW_RELOAD_TOKEN = "%s";
window.metaflow_card_update = function () { return true; };
</script>
"""


def pause_of(interval: float) -> float:
    least, most = REFRESH_SECONDS
    return max(interval, min(most, max(least, REFRESH_INTERVALS * interval)))


class LiveCard:
    def __init__(self, flow_datastore: Any, metadata: Any, pathspec: str, attempt: int, options: Dict[str, Any]) -> None:
        self._store = CardStore(flow_datastore, metadata, pathspec, attempt, options)
        self._pathspec = pathspec
        self._over = threading.Event()
        self._thread: Optional[threading.Thread] = None

    def follow(self, tracker: Optional[ResourceTracker], lock: threading.Lock, history: History) -> None:
        """Without a tracker there is nothing to follow: the final page says why."""
        if not tracker:
            return
        self._thread = threading.Thread(target=self._update, args=(tracker, lock, history),
                                        name="track_resources-card", daemon=True)
        self._thread.start()

    def _update(self, tracker: ResourceTracker, lock: threading.Lock, history: History) -> None:
        pause, seen = tracker.interval, 0
        while not self._over.wait(pause):
            started = time.thread_time()  # a busy machine or a slow store makes it wait, not work
            with lock:
                samples = 0 if self._over.is_set() else tracker.n_samples
                snapshot = tracker.snapshot() if samples > seen else None
            if snapshot:
                try:
                    page = page_of({"tracker": snapshot, "historical_stats": history.so_far(),
                                    "pathspec": self._pathspec, "is_running": True})
                    self._store.save(page, f"samples-{samples}", samples)
                except Exception:  # the last page is the one that has to succeed
                    return
                seen = samples
            pause = max(pause_of(tracker.interval) if seen else tracker.interval,
                        (time.thread_time() - started) / WORK_SHARE)

    def stop(self) -> None:
        self._over.set()
        if self._thread:
            self._thread.join()

    def finish(self, artifact: Dict[str, Any]) -> None:
        self._store.save(page_of(artifact), FINAL, FINAL)


class CardStore:
    """One card of one attempt, in the place that belongs to cards."""

    def __init__(self, flow_datastore: Any, metadata: Any, pathspec: str, attempt: int, options: Dict[str, Any]) -> None:
        from metaflow.datastore import FlowDataStore
        from metaflow.plugins.cards.card_datastore import CardDatastore

        storage = type(flow_datastore._storage_impl)
        cards = FlowDataStore(flow_datastore.flow_name, None, storage_impl=storage,
                              ds_root=CardDatastore.get_storage_root(storage.TYPE) or flow_datastore.datastore_root)
        self._cards = CardDatastore(cards, pathspec=pathspec)
        self._uuid = uuid.uuid4().hex
        self._metadata, self._pathspec, self._attempt, self._options = metadata, pathspec, attempt, options
        self._is_known = False

    def save(self, page: str, token: str, data: Any) -> None:
        script = TOKEN_SCRIPT % token
        place = page.find("</head>")
        page = page[:place] + script + page[place:] if place >= 0 else script + page
        self._cards.save_card(self._uuid, CARD_TYPE, page, overwrite=True)
        self._cards.save_data(self._uuid, CARD_TYPE,
                              {"reload_token": token, "data": {"samples": data}, "created_on": time.time()})
        if not self._is_known:
            self._make_known()
            self._is_known = True

    def _make_known(self) -> None:
        """Metaflow's user interface lists cards by the task's metadata."""
        from metaflow.plugins.cards.metadata import _save_metadata

        _, run_id, step, task_id = self._pathspec.split("/")
        _save_metadata(self._metadata, run_id, step, task_id, self._attempt, self._uuid,
                       {"card_uuid": self._uuid, "type": CARD_TYPE, "id": None, "rank": None,
                        "options": self._options, "is_editable": False, "is_runtime_card": True,
                        "refresh_interval": REFRESH_SECONDS[0], "customize": False})
