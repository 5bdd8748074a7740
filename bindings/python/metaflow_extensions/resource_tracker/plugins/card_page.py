"""What the card shows: our report, or why there is none."""

from __future__ import annotations

import json
from html import escape
from typing import Any, Dict, Optional

CARD_TYPE = "tracked_resources"

ERROR_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Tracked resources</title><style>
body {{ font: 16px/1.5 system-ui, sans-serif; margin: 3em auto; max-width: 45em; padding: 0 1em; color: #222; }}
pre {{ white-space: pre-wrap; background: #f5f5f5; padding: 1em; border-radius: 4px; }}
</style></head><body><h1>{title}</h1><p>{text}</p><pre>{reason}</pre></body></html>
"""

NOTICE = """<p role="alert" style="margin: 0; padding: .75em 1.5em; background: #fbe9e7; color: #7a1f12; \
font: 15px/1.5 system-ui, sans-serif">The figures end early, the step itself is not affected: {error}</p>"""


def page_of(artifact: Dict[str, Any]) -> str:
    """The final page of a step."""
    tracker = artifact.get("tracker")
    if tracker and (tracker["process_metrics"] or not artifact.get("error")):
        try:
            return with_notice(report_page(artifact), artifact.get("error"))
        except Exception as fault:
            return error_page("The report could not be made", fault)
    return error_page("This step was not tracked", artifact.get("error", "no reason is known"))


def report_page(artifact: Dict[str, Any]) -> str:
    """Straight from the snapshot: ResourceTracker.report() would wait for a sample, which a short step has none of."""
    from resource_tracker import _native

    history, snapshot = artifact.get("historical_stats"), dict(artifact["tracker"])
    snapshot["metadata"] = {"job_name": artifact.get("pathspec"), **snapshot["metadata"]}
    if artifact.get("is_running"):  # a snapshot has the time that it was taken at
        snapshot["metadata"]["stop_time"] = None
    return _native.report(json.dumps(snapshot), "metaflow", bool(artifact.get("step_failed")),
                          json.dumps(history) if history else None)


def with_notice(page: str, error: Optional[str]) -> str:
    """What was measured before the tracking failed is shown, and that it failed stands above it."""
    if not error:
        return page
    begin = page.index(">", page.index("<body")) + 1
    return page[:begin] + NOTICE.format(error=escape(str(error))) + page[begin:]


def error_page(title: str, reason: object) -> str:
    return ERROR_PAGE.format(title=escape(title), reason=escape(str(reason)),
                             text="The step itself is not affected. What went wrong in the tracking:")
