"""A Metaflow step that tracks itself:  python track_step.py run, then  python track_step.py card view hold_data"""

from time import sleep

from metaflow import FlowSpec, step, track_resources


class TrackStep(FlowSpec):
    @step
    def start(self):
        self.next(self.hold_data)

    @track_resources
    @step
    def hold_data(self):
        data = bytearray(500 * 1024 * 1024)
        sleep(3)
        self.size = len(data)
        self.next(self.end)

    @step
    def end(self):
        print(f"{self.size} bytes were held")


if __name__ == "__main__":
    TrackStep()
