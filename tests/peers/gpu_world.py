"""A machine with NVIDIA GPUs that are made up: a root folder whose proc is the real one, and a script for the
library of tests/gpu/fake_nvml.c."""

import os

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, os.environ.get("TRK_BUILD", "build"))
TRACKER = os.path.join(BUILD, "resource-tracker")


def library_folder(kind="full"):
    return os.path.join(BUILD, "tests", "gpu", kind)


class World:
    """proc None: the machine's own; else it is made in the folder."""

    def __init__(self, folder, script, real_proc=True):
        self.root = os.path.join(folder, "root")
        self.script = os.path.join(folder, "script")
        os.makedirs(os.path.join(self.root, "dev"))
        os.makedirs(os.path.join(self.root, "sys"))
        with open(os.path.join(self.root, "dev", "nvidiactl"), "w", encoding="ascii"):
            pass
        if real_proc:
            os.symlink("/proc", os.path.join(self.root, "proc"))
        else:
            os.makedirs(os.path.join(self.root, "proc"))
        self.write(script)

    def write(self, script):
        """In one step, so that the library never reads half of it."""
        with open(self.script + ".new", "w", encoding="ascii") as file:
            file.write(script)
        os.rename(self.script + ".new", self.script)

    def environment(self, kind="full"):
        return {**os.environ, "FAKE_NVML": self.script, "LD_LIBRARY_PATH": library_folder(kind)}

    def add_process(self, pid, ppid):
        folder = os.path.join(self.root, "proc", str(pid))
        os.makedirs(folder)
        with open(os.path.join(folder, "stat"), "w", encoding="ascii") as file:
            file.write(f"{pid} (job) S {ppid} 1 1 0 -1 4194304 1 0 0 0 1 1 0 0 20 0 1 0 {pid} 100000 10 "
                       "18446744073709551615 1 1 1 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0\n")
        with open(os.path.join(folder, "statm"), "w", encoding="ascii") as file:
            file.write("20 10 5 1 0 1 0\n")
