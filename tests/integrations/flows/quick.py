"""One tracked step. With WATCHED in the environment it lasts until the file appears that WATCHED names."""

import os

from metaflow import FlowSpec, step, track_resources
from waiting import wait_for_file


class Quick(FlowSpec):
    @track_resources(interval=0.2)
    @step
    def start(self):
        self.held = bytearray(128 * 1024 * 1024)
        if "WATCHED" in os.environ:
            wait_for_file(os.environ["WATCHED"])
        self.held = None
        self.next(self.end)

    @step
    def end(self):
        pass


if __name__ == "__main__":
    Quick()
