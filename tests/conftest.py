"""What holds for every suite: signals as a login shell leaves them, no requests to cloud metadata services, busy
neighbours on demand.

Started with `&` in a script, under nohup or from cron a test would inherit ignored signals, and so would every job
that it starts: a shell cannot even trap a signal that was ignored when it started."""

import os
import signal
import subprocess
import sys

# Python ignores SIGPIPE and SIGXFSZ for itself, and subprocess restores them for what it starts.
KEPT = {signal.SIGKILL, signal.SIGSTOP, signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ}

for number in signal.valid_signals() - KEPT:
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.pthread_sigmask(signal.SIG_SETMASK, ())

# The tests of tests/cloud ask clouds of their own; no other test asks which cloud this machine is in.
os.environ.setdefault("TRACKER_CLOUD", "off")

BUSY = "import ctypes; ctypes.CDLL(None).prctl(1, 9)\nwhile True: pass"  # ends with the process that started it


def pytest_addoption(parser):
    parser.addoption("--neighbours", type=int, default=0, metavar="N", help="run beside N processes that use a CPU each")


def pytest_sessionstart(session):
    is_worker = hasattr(session.config, "workerinput")
    session.config.neighbours = [subprocess.Popen([sys.executable, "-c", BUSY])
                                 for _ in range(0 if is_worker else session.config.getoption("neighbours"))]


def pytest_sessionfinish(session):
    for neighbour in session.config.neighbours:
        neighbour.kill()
        neighbour.wait()
