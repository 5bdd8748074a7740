"""What the card shows: our report, or why there is none."""

from html import escape

CARD_TYPE = "tracked_resources"

ERROR_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Tracked resources</title><style>
body {{ font: 16px/1.5 system-ui, sans-serif; margin: 3em auto; max-width: 45em; padding: 0 1em; color: #222; }}
pre {{ white-space: pre-wrap; background: #f5f5f5; padding: 1em; border-radius: 4px; }}
</style></head><body><h1>{title}</h1><p>{text}</p><pre>{reason}</pre></body></html>
"""


def page_of(artifact):
    """The final page of a step."""
    tracker = artifact.get("tracker")
    if tracker and (tracker["process_metrics"] or not artifact.get("error")):
        try:
            return report_page(artifact)
        except Exception as fault:
            return error_page("The report could not be made", fault)
    return error_page("This step was not tracked", artifact.get("error", "no reason is known"))


def report_page(artifact):
    from resource_tracker import ResourceTracker

    tracker = ResourceTracker.from_snapshot(artifact["tracker"])
    return str(tracker.report(integration="metaflow", historical_stats=artifact.get("historical_stats") or [],
                              status_failed=bool(artifact.get("step_failed"))))


def error_page(title, reason):
    return ERROR_PAGE.format(title=escape(title), reason=escape(str(reason)),
                             text="The step itself is not affected. What went wrong in the tracking:")
