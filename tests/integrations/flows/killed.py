"""A step that kills its tracker, as the kernel does for want of memory."""

import os
import signal
from time import sleep

from metaflow import FlowSpec, step, track_resources


def is_tracker(pid):
    with open(f"/proc/{pid}/comm", encoding="utf-8") as name:
        return name.read().startswith("resource-tracke")


class Killed(FlowSpec):
    @track_resources(interval=0.2)
    @step
    def start(self):
        sleep(1)
        with open("/proc/thread-self/children", encoding="utf-8") as children:
            for pid in map(int, children.read().split()):
                if is_tracker(pid):
                    os.kill(pid, signal.SIGKILL)
        self.next(self.end)

    @step
    def end(self):
        pass


if __name__ == "__main__":
    Killed()
