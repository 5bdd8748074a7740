"""What CPU time our hooks take of a step, beside a tracker that is started and stopped by hand: both in turn, in one process,
with the interpreter warm. Writes the seconds to the file that TIMES names."""

import copy
import os
from time import process_time, sleep

from metaflow import FlowSpec, step, track_resources

ROUNDS = 10
STEP_SECONDS = 0.25


class HookTime(FlowSpec):
    @track_resources(create_card=False)
    @step
    def start(self):
        from resource_tracker import ResourceTracker

        for _ in range(ROUNDS):
            begin = process_time()
            tracker = ResourceTracker()
            begun = process_time()
            sleep(STEP_SECONDS)
            end = process_time()
            tracker.stop()
            note("bare", begun - begin + process_time() - end)

            decorator = copy.copy(tracking)
            del decorator.task_pre_step  # what remembers; the class has the hook
            begin = process_time()
            decorator.task_pre_step(*given["task_pre_step"])
            begun = process_time()
            sleep(STEP_SECONDS)
            end = process_time()
            decorator.task_post_step("start", self, None, 0, 0)
            decorator.task_finished("start", self, None, True, 0, 0)
            note("hooks", begun - begin + process_time() - end)
        self.next(self.end)

    @step
    def end(self):
        pass


def note(what, seconds):
    with open(os.environ["TIMES"], "a", encoding="ascii") as out:
        out.write(f"{what} {seconds:.6f}\n")


def remember_what_is_given(hook):
    def run(*arguments):
        given["task_pre_step"] = arguments
        hook(*arguments)
    return run


given = {}
tracking = next(decorator for decorator in HookTime.start.decorators if decorator.name == "track_resources")
tracking.task_pre_step = remember_what_is_given(tracking.task_pre_step)

if __name__ == "__main__":
    HookTime()
