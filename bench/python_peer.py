"""Runs the Python resource tracker on a process, inside an environment that has it.

    python_peer.py PID START_TIME PROCESS_FILE SYSTEM_FILE     both trackers, until SIGTERM
    python_peer.py wrap COMMAND ARGS...                        track one command from start to end

The first form starts what the package's ResourceTracker starts: one process for the process rows and
one for the system rows, each writing its own file once a second from START_TIME on. (ResourceTracker
itself aligns to whole seconds, which would put several trackers of one benchmark on the same instant.)
"""

import subprocess
import sys
from multiprocessing import get_context
from signal import SIG_BLOCK, SIGTERM, pthread_sigmask, sigwait


def track(pid, start_time, process_file, system_file):
    from resource_tracker import ProcessTracker, SystemTracker

    fork = get_context("fork")
    common = {"start_time": start_time, "interval": 1}
    workers = [
        fork.Process(target=ProcessTracker, daemon=True,
                     kwargs={"pid": pid, "output_file": process_file, **common}),
        fork.Process(target=SystemTracker, daemon=True,
                     kwargs={"output_file": system_file, **common}),
    ]
    for worker in workers:
        worker.start()
    sigwait({SIGTERM})
    for worker in workers:
        worker.kill()


def wrap(command):
    from resource_tracker import ResourceTracker

    tracker = ResourceTracker(discover_server=False, discover_cloud=False, autostart=False)
    tracker.start()
    code = subprocess.run(command, check=False).returncode
    tracker.stop()
    return code


def main():
    if sys.argv[1] == "wrap":
        sys.exit(wrap(sys.argv[2:]))
    pthread_sigmask(SIG_BLOCK, {SIGTERM})
    track(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3], sys.argv[4])


main()
