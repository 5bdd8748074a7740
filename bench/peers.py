"""What is measured: the kernel floor, this tracker, and the trackers it succeeds.

A subject knows how to start itself on a process. Peers are installed by name from their package
registries into the build folder; one that can't be is left out with the reason.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
RUST_CRATE = "resource-tracker"
RUST_VERSION = "0.1.18"
CARGO_NEEDED = (1, 85)
SETTLE_SECONDS = 0.75  # windows begin and end between two ticks, and after the start's extra looks
PYTHON_START_SECONDS = 0.6
PYTHON_SETTLE_SECONDS = 0.6
RUST_SETTLE_SECONDS = 1.5  # a tick later: its probes for a cloud run at start


class Running:
    """A started tracker: its process, when its window may begin, the file of its rows."""

    def __init__(self, process, window_begin, rows_path):
        self.process = process
        self.window_begin = window_begin
        self.rows_path = rows_path

    def pids(self):
        found = [self.process.pid]
        for pid in found:
            found.extend(children_of(pid))
        return found

    def rows(self):
        if self.rows_path is None:
            return None
        try:
            with open(self.rows_path, "rb") as rows:
                return rows.read().count(b"\n")
        except FileNotFoundError:
            return 0

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def children_of(pid):
    children = []
    try:
        for tid in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{tid}/children", encoding="ascii") as listing:
                children += [int(child) for child in listing.read().split()]
    except OSError:
        pass
    return children


def spawn(command):
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)


def fresh(path):
    """A path for rows where nothing is yet."""
    if os.path.exists(path):
        os.remove(path)
    return path


class Floor:
    key, name = "floor", "kernel floor"

    def __init__(self, program, scratch):
        self.program, self.scratch = program, scratch

    def start(self, pid, interval=1.0, system=True, recorder=False):
        command = [self.program, "-i", str(interval)] + ([] if system else ["-p"])
        rows = None
        if recorder:
            rows = fresh(os.path.join(self.scratch, f"floor-{pid}.csv"))
            command += ["-w", rows]
        begin = time.monotonic() + SETTLE_SECONDS
        return Running(spawn([*command, str(pid)]), begin, rows)


class Ours:
    key, name = "ours", "resource-tracker (this)"

    def __init__(self, program, scratch, options=()):
        self.program, self.scratch, self.options = program, scratch, options

    def start(self, pid, interval=1.0, system=True, summary=None):
        rows = fresh(os.path.join(self.scratch, f"{self.key}-{pid}.csv"))
        command = [self.program, "attach", *self.options, "-i", str(interval), "--rows",
                   "both" if system else "process", "-o", rows,
                   *(["--force", "-s", summary] if summary else []), str(pid)]
        begin = time.monotonic() + SETTLE_SECONDS
        return Running(spawn(command), begin, rows)


class Engine(Ours):
    """This tracker without the sources that make totals exact."""
    key, name = "engine", "resource-tracker --sources wait4"

    def __init__(self, program, scratch):
        super().__init__(program, scratch, ("--sources", "wait4"))


class PythonPeer:
    def __init__(self, key, name, python, scratch):
        self.key, self.name, self.python, self.scratch = key, name, python, scratch

    def start(self, pid):
        rows = fresh(os.path.join(self.scratch, f"{self.key}-{pid}.csv"))
        start_time = time.time() + PYTHON_START_SECONDS
        command = [self.python, os.path.join(HERE, "python_peer.py"), str(pid), str(start_time),
                   rows, rows + ".system"]
        begin = time.monotonic() + PYTHON_START_SECONDS + PYTHON_SETTLE_SECONDS
        return Running(spawn(command), begin, rows)


class RustPeer:
    key, name = "rust", f"Rust {RUST_VERSION}"

    def __init__(self, program, scratch):
        self.program, self.scratch = program, scratch

    def start(self, pid):
        rows = fresh(os.path.join(self.scratch, f"rust-{pid}.csv"))
        command = [self.program, "-p", str(pid), "-i", "1", "-f", "csv", "-o", rows]
        begin = time.monotonic() + RUST_SETTLE_SECONDS
        return Running(spawn(command), begin, rows)


# ---- installing ---------------------------------------------------------------------------


class NotMeasured(Exception):
    pass


def run_quietly(command, what):
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        lines = (result.stderr or result.stdout).strip().splitlines()
        raise NotMeasured(f"{what} failed: {lines[-1] if lines else 'no message'}")
    return result.stdout


def python_peer(key, name, packages, build, scratch):
    folder = os.path.join(build, "bench-venv", key)
    python = os.path.join(folder, "bin", "python")
    stamp = os.path.join(folder, "installed")
    if not os.path.exists(stamp):
        run_quietly([sys.executable, "-m", "venv", "--clear", folder], "python3 -m venv")
        run_quietly([python, "-m", "pip", "install", "-q", *packages], "pip install")
        with open(stamp, "w", encoding="ascii") as done:
            done.write("\n")
    return PythonPeer(key, name, python, scratch)


def cargo_version():
    if not shutil.which("cargo"):
        raise NotMeasured("cargo is not installed")
    found = re.search(r"cargo (\d+)\.(\d+)", run_quietly(["cargo", "--version"], "cargo"))
    version = (int(found[1]), int(found[2])) if found else (0, 0)
    if version < CARGO_NEEDED:
        raise NotMeasured(f"needs cargo {CARGO_NEEDED[0]}.{CARGO_NEEDED[1]} or newer")


def rust_peer(build, scratch):
    folder = os.path.join(build, "bench-cargo")
    program = os.path.join(folder, "bin", "resource-tracker")
    if not os.path.exists(program):
        cargo_version()
        run_quietly(["cargo", "install", "-q", "--locked", "--root", folder,
                     f"{RUST_CRATE}@{RUST_VERSION}"], "cargo install")
    return RustPeer(program, scratch)


def install_peers(build, scratch):
    """The peers that can be had, and {name: reason} of the others."""
    wanted = [
        ("Python 0.4.2", lambda: python_peer(
            "python", "Python 0.4.2", ["resource-tracker==0.4.2"], build, scratch)),
        ("Python 0.4.2 with psutil", lambda: python_peer(
            "psutil", "Python 0.4.2 with psutil", ["resource-tracker==0.4.2", "psutil"], build,
            scratch)),
        ("Python 0.5.0", lambda: python_peer(
            "python050", "Python 0.5.0", ["resource-tracker==0.5.0"], build, scratch)),
        (RustPeer.name, lambda: rust_peer(build, scratch)),
    ]
    peers, missing = [], {}
    for name, install in wanted:
        try:
            peers.append(install())
        except (NotMeasured, OSError) as reason:
            missing[name] = str(reason)
    return peers, missing
