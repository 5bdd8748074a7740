"""A flow whose tracked step fails."""

from metaflow import FlowSpec, step, track_resources
from waiting import wait_for_samples


class Fails(FlowSpec):
    @track_resources(interval=0.1)
    @step
    def start(self):
        data = bytearray(64 * 1024 * 1024)
        wait_for_samples(2)
        raise RuntimeError(f"no use for {len(data)} bytes")
        self.next(self.end)

    @step
    def end(self):
        pass


if __name__ == "__main__":
    Fails()
