"""A step that kills its tracker, as the kernel does for want of memory."""

import os
import signal

from metaflow import FlowSpec, step, track_resources
from waiting import tracker_pid, wait_for_samples


class Killed(FlowSpec):
    @track_resources(interval=0.2)
    @step
    def start(self):
        wait_for_samples(2)
        os.kill(tracker_pid(), signal.SIGKILL)
        self.next(self.end)

    @step
    def end(self):
        pass


if __name__ == "__main__":
    Killed()
