"""A flow whose tracked step fails."""

from time import sleep

from metaflow import FlowSpec, step, track_resources


class Fails(FlowSpec):
    @track_resources(interval=0.1)
    @step
    def start(self):
        data = bytearray(64 * 1024 * 1024)
        sleep(0.5)
        raise RuntimeError(f"no use for {len(data)} bytes")
        self.next(self.end)

    @step
    def end(self):
        pass


if __name__ == "__main__":
    Fails()
