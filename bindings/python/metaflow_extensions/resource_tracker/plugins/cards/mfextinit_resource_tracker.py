"""The card types that Metaflow finds."""

from typing import Any, Dict, Optional

from metaflow.plugins.cards.card_modules.card import MetaflowCard

from ..card_page import CARD_TYPE, error_page, page_of


class TrackedResourcesCard(MetaflowCard):
    """`@card(type="tracked_resources")`, and what `card create` makes anew from a task's artifact."""

    type = CARD_TYPE

    def __init__(self, options: Optional[Dict[str, Any]] = None, components: Any = (), graph: Any = None,
                 flow: Any = None) -> None:
        self._artifact_name = (options or {}).get("artifact_name", "resource_tracker_data")

    def render(self, task: Any) -> str:
        if self._artifact_name not in task:
            return error_page("This step was not tracked", f"the task has no artifact {self._artifact_name}")
        return page_of(task[self._artifact_name].data)


CARDS = [TrackedResourcesCard]
