"""Every shape of a step in one flow: a foreach of four, a join that merges, a retry, a caught failure, a parallel
step, one that is over before its first sample, with settings of their own."""

from metaflow import FlowSpec, catch, current, parallel, retry, step, track_resources
from waiting import wait_for_samples


class Shapes(FlowSpec):
    @track_resources(interval=0.1, create_card=False)
    @step
    def start(self):
        self.kept = "from the start"
        self.sizes = [16, 32, 48, 64]
        self.next(self.hold, foreach="sizes")

    @track_resources(interval=0.1)
    @step
    def hold(self):
        self.held = bytearray(self.input * 1024 * 1024)
        wait_for_samples(2)
        self.held = self.input
        self.next(self.together)

    @track_resources(interval=0.1, artifact_name="use_of_the_join")
    @step
    def together(self, inputs):
        self.held = [branch.held for branch in inputs]
        self.merge_artifacts(inputs)
        self.next(self.unsteady)

    @retry(times=1, minutes_between_retries=0)
    @track_resources(interval=0.1)
    @step
    def unsteady(self):
        if current.retry_count == 0:
            raise RuntimeError("the first attempt fails")
        self.next(self.caught)

    @catch(var="fault")
    @track_resources(interval=0.1)
    @step
    def caught(self):
        if self.kept:
            raise RuntimeError("caught")
        self.next(self.split)

    @step
    def split(self):
        self.next(self.side_by_side, num_parallel=2)

    @parallel
    @track_resources(interval=0.1)
    @step
    def side_by_side(self):
        wait_for_samples(1)
        self.next(self.plain_join)

    @step
    def plain_join(self, inputs):
        self.merge_artifacts(inputs, exclude=["held"])
        self.next(self.end)

    @track_resources
    @step
    def end(self):
        print(self.kept)


if __name__ == "__main__":
    Shapes()
