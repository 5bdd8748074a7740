"""One tracked step of some seconds, to be watched while it runs."""

from time import sleep

from metaflow import FlowSpec, step, track_resources


class Quick(FlowSpec):
    @track_resources(interval=0.2)
    @step
    def start(self):
        self.held = bytearray(128 * 1024 * 1024)
        sleep(3)
        self.held = None
        self.next(self.end)

    @step
    def end(self):
        pass


if __name__ == "__main__":
    Quick()
