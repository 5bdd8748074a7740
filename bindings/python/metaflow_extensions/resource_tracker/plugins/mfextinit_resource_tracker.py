"""What Metaflow finds of this extension: `from metaflow import track_resources`."""

STEP_DECORATORS_DESC = [("track_resources", ".track_resources.TrackResourcesDecorator")]
