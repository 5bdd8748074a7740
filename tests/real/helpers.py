"""What the real-process tests share: the binary, the workloads, running them, reading rows."""

import contextlib
import csv
import fcntl
import functools
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
CORES = os.cpu_count()
CLOCK_TICK = 1 / os.sysconf("SC_CLK_TCK")
NOBODY = 65534
PATIENCE = 100  # seconds that anything may take on a loaded machine before it counts as hung
BUILD_PATIENCE = 150  # the same for a compiler


# ---- what the machine allows -------------------------------------------------------------------


def need(condition, reason):
    """Skips with a reason; where everything must work (TRK_MUST_WORK=1) that is a failure."""
    if condition:
        return
    if os.environ.get("TRK_MUST_WORK") == "1":
        pytest.fail(f"must work here, but: {reason}")
    pytest.skip(reason)


def need_root():
    """An ordinary user can't do it anywhere, so this skip is never a failure."""
    if os.geteuid() != 0:
        pytest.skip("needs root")


def need_command(name):
    need(shutil.which(name), f"{name} is not installed")


def need_namespace(*flags):
    need_root()
    need_command("unshare")
    tried = run(["unshare", *flags, "true"], capture_output=True)
    need(tried.returncode == 0, f"unshare {' '.join(flags)} is refused here")


# ---- the binary and the workloads --------------------------------------------------------------


@functools.lru_cache(maxsize=None)
def shared_folder():
    """Readable by every user, unlike pytest's own folders; removed by conftest at the end."""
    folder = Path(tempfile.mkdtemp(prefix="tracker-real-"))
    folder.chmod(0o755)
    return folder


def new_open_folder():
    folder = Path(tempfile.mkdtemp(dir=shared_folder()))
    folder.chmod(0o777)
    return folder


@functools.lru_cache(maxsize=None)
def binary():
    """A copy, so that tests as another user reach it wherever the build lies."""
    built = Path(os.environ.get("TRK_BIN", REPOSITORY / "build" / "resource-tracker"))
    if not built.exists():
        pytest.exit(f"{built} does not exist: build it, or set TRK_BIN", returncode=2)
    copy = shared_folder() / "resource-tracker"
    shutil.copy(built, copy)
    copy.chmod(0o755)
    return str(copy)


@functools.lru_cache(maxsize=None)
def workload(name):
    """The path of a workload, compiled when first asked for."""
    target = shared_folder() / name
    flags = ["-std=gnu17", "-D_GNU_SOURCE", "-O1", "-Wall", "-Wextra", "-pthread"]
    source = HERE / "workloads" / f"{name}.c"
    run([os.environ.get("CC", "cc"), *flags, "-o", target, source], check=True, timeout=BUILD_PATIENCE)
    return str(target)


@functools.lru_cache(maxsize=None)
def is_sanitized():
    return b"__asan_init" in Path(binary()).read_bytes()


def without_leak_check():
    """An environment for a program that is traced, has no /proc or may start no thread: where it was built with a leak
    checker, that needs all three. Other reports are made all the same."""
    variables = ("ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS")
    return {**os.environ, **{name: os.environ.get(name, "") + ":detect_leaks=0" for name in variables}}


def as_nobody(*command):
    """The command under another user's rights; an ordinary user already has such rights."""
    if os.geteuid() != 0:
        return list(command)
    return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *command]


# ---- running -----------------------------------------------------------------------------------
# Every wait of these suites has a limit: processes are started by run() and popen() alone, and test_limits.py checks
# that.


class Stream:
    """The end of a pipe that a process writes to. Each call ends within PATIENCE seconds or fails."""

    def __init__(self, file):
        self.file = file
        self.encoding, self.errors = getattr(file, "encoding", None), getattr(file, "errors", None)
        self.held = b""  # read and not yet returned

    def fileno(self):
        return self.file.fileno()

    @property
    def closed(self):
        return self.file.closed

    def close(self):
        self.file.close()

    def text(self, data):
        return data.decode(self.encoding, self.errors).replace("\r\n", "\n") if self.encoding else data

    def fill(self, end, what):
        """Reads once more; False at the end of the stream."""
        if not select.select([self.file], [], [], max(0, end - time.monotonic()))[0]:
            raise AssertionError(f"waited {PATIENCE} s for {what}; read so far: {self.held[-500:]!r}")
        data = os.read(self.fileno(), 65536)
        self.held += data
        return bool(data)

    def readline(self):
        end = time.monotonic() + PATIENCE
        while b"\n" not in self.held and self.fill(end, "a line"):
            pass
        line, newline, self.held = self.held.partition(b"\n")
        return self.text(line + newline)

    def read(self):
        end = time.monotonic() + PATIENCE
        while self.fill(end, "the end of the output"):
            pass
        data, self.held = self.held, b""
        return self.text(data)


class Process(subprocess.Popen):
    """A started process. `wait` has a limit, and so has reading what it writes."""

    def __init__(self, command, **options):
        super().__init__(command, **options)
        self.stdout, self.stderr = (stream and Stream(stream) for stream in (self.stdout, self.stderr))

    def wait(self, timeout=PATIENCE):
        return super().wait(timeout)

    def communicate(self, input=None, timeout=PATIENCE):
        return super().communicate(input, timeout)

    def __exit__(self, *_):
        end_process(self)


STARTED = []  # by the test that runs now; conftest.py ends what is left of them


def popen(command, **options):
    STARTED.append(Process([str(word) for word in command], **options))
    return STARTED[-1]


def end_all():
    while STARTED:
        end_process(STARTED.pop())


def run(command, timeout=PATIENCE, check=False, capture_output=False, input=None, **options):
    """As subprocess.run, with a limit; what was started ends with the limit, its descendants too."""
    if capture_output:
        options.update(stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if input is not None:
        options["stdin"] = subprocess.PIPE
    with subprocess.Popen([str(word) for word in command], **options) as process:
        try:
            out, err = process.communicate(input, timeout)
        except BaseException:
            kill_family(process)
            raise
    done = subprocess.CompletedProcess(process.args, process.returncode, out, err)
    if check and done.returncode:
        raise AssertionError(f"{process.args} ended with {done.returncode}: {err}")
    return done


def tracker(*arguments, prefix=(), **options):
    """Runs the tracker to its end; standard output and error as text unless told otherwise."""
    options.setdefault("text", True)
    if "input" not in options:
        options.setdefault("stdin", subprocess.DEVNULL)
    if "stdout" not in options and "stderr" not in options:
        options["capture_output"] = True
    return run([*prefix, binary(), *arguments], **options)


def start(*arguments, prefix=(), **options):
    """Starts the tracker; the fixture `started` sees to its end."""
    options.setdefault("stdin", subprocess.DEVNULL)
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    options.setdefault("text", True)
    return popen([*prefix, binary(), *arguments], **options)


class Track:
    """One finished `run` with its rows, its summary and the numbers that the job printed."""

    def __init__(self, folder, *command, interval=0.1, rows="both", schema="v2", options=(),
                 **process_options):
        self.csv = Path(folder) / "rows.csv"
        self.json = Path(folder) / "summary.json"
        self.done = tracker("-q", "--force", "-i", interval, "--rows", rows, "--schema", schema,
                            "-o", self.csv, "-s", self.json, *options, "--", *command,
                            **process_options)
        self.returncode = self.done.returncode
        self.interval = interval

    def check(self, returncode=0):
        assert self.returncode == returncode, (self.returncode, self.done.stderr)
        return self

    @functools.cached_property
    def rows(self):
        return read_csv(self.csv)

    @functools.cached_property
    def summary(self):
        return json.loads(self.json.read_text())

    @functools.cached_property
    def said(self):
        return numbers_of(self.done.stdout)

    def column(self, name):
        return [row[name] for row in self.rows if row[name] is not None]

    def row_cpu_seconds(self, prefix="process_"):
        return sum(self.column(f"{prefix}utime")) + sum(self.column(f"{prefix}stime"))


def numbers_of(text):
    """Lines of the form `name number` that workloads print."""
    return {name: float(value) for name, value in re.findall(r"(?m)^(\w+) ([\d.]+)$", text)}


def wait_until(condition, what, patience=PATIENCE, pause=0.01):
    """Polls; returns the first true value."""
    end = time.monotonic() + patience
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, f"waited {patience} s for: {what}"
        time.sleep(pause)


def finish(process, text="\n"):
    """Gives a started tracker's job its input and waits for the end; returns what it still printed.

    Not communicate(): that would lose lines that readline() has already buffered."""
    if process.stdin:
        finish_input(process, text)
    rest = process.stdout.read()
    process.wait()
    return rest


def finish_input(process, text="\n"):
    process.stdin.write(text)
    process.stdin.close()


def kill_family(process):
    for pid in descendants(process.pid):
        kill_quietly(pid)
    process.kill()


def end_process(process):
    """Ends one that a failed test left behind; job and tracker both."""
    if process.poll() is None:
        kill_family(process)
        process.wait(PATIENCE)
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream:
            stream.close()


def kill_quietly(pid, number=signal.SIGKILL):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


# ---- /proc -------------------------------------------------------------------------------------


def stat_fields(pid):
    """/proc/PID/stat after the name: [0] state, [1] ppid ...; None when it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None


def state_of(pid):
    """As a letter; a traced process that is stopped shows "t" and counts as stopped."""
    fields = stat_fields(pid)
    return fields[0].replace("t", "T") if fields else None


def has_pending(pid, number):
    """Whether a signal waits for the process, which blocks it."""
    status = Path(f"/proc/{pid}/status").read_text()
    masks = re.findall(r"^(?:SigPnd|ShdPnd):\t(\w+)$", status, re.MULTILINE)
    return any(int(mask, 16) >> (number - 1) & 1 for mask in masks)


def name_of(pid):
    """Its command, as the kernel cuts it; None when it is gone."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().rstrip("\n")
    except (FileNotFoundError, ProcessLookupError):
        return None


def is_running(pid):
    return state_of(pid) not in (None, "Z", "X")


def children_of(pid):
    """Of all its threads."""
    found = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found.extend(map(int, path.read_text().split()))
        except (FileNotFoundError, ProcessLookupError):
            pass
    return found


def descendants(pid):
    found = children_of(pid)
    for child in found:
        found.extend(children_of(child))
    return found


def only_child(pid):
    return wait_until(lambda: children_of(pid), f"a child of {pid}")[0]


# ---- reading rows ------------------------------------------------------------------------------


def csv_header(schema, rows):
    """The header line of the golden file, which the unit tests of the writers keep equal to the catalogue."""
    with (REPOSITORY / "tests" / "golden" / f"{schema}-{rows}.csv").open() as file:
        return file.readline().rstrip("\n")


def parse_csv(text):
    """Rows as dictionaries of float or None; every line must be complete."""
    assert text.endswith("\n"), f"the last line is torn: {text[-80:]!r}"
    lines = list(csv.reader(text.splitlines()))
    names = lines[0]
    for line in lines[1:]:
        assert len(line) == len(names), line
    numbers = ([float(cell) if cell else None for cell in line] for line in lines[1:])
    return [dict(zip(names, line)) for line in numbers]


def row_count(path):
    """Rows so far, of a file that is being written."""
    return Path(path).read_text().count("\n") - 1 if os.path.exists(path) else 0


def until_lines(path, lines, then="exit 0"):
    """A job that ends when the file has so many lines, however long a loaded machine takes for them."""
    script = f'while [ "$(cat "$0" 2>/dev/null | wc -l)" -lt {lines} ]; do sleep 0.02; done; {then}'
    return ["sh", "-c", script, str(path)]


def read_csv(path):
    return parse_csv(Path(path).read_text())


@contextlib.contextmanager
def opens_blocked(path):
    """Another process that opens or executes the file waits inside the system call until the block ends, by a write lease
    of this one. Gives a function that says whether a process waits. See "Leases" in fcntl(2)."""
    fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.fcntl(fd, fcntl.F_SETSIG, signal.SIGURG)  # an open is reported by a signal; this one is ignored
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
    except OSError as error:
        os.close(fd)
        need(False, f"this file system has no leases: {error}")
    try:
        yield lambda: fcntl.fcntl(fd, fcntl.F_GETLEASE) != fcntl.F_WRLCK
    finally:
        os.close(fd)


# ---- a terminal --------------------------------------------------------------------------------


class Terminal:
    """A command on a new pseudo terminal, as session leader; `text` is what it printed."""

    def __init__(self, *command, **variables):
        self.text = ""
        self.status = None
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(variables)
            try:
                os.execvp(command[0], command)
            finally:
                os._exit(99)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.status is None:
            for pid in descendants(self.pid):
                kill_quietly(pid)
            kill_quietly(self.pid)
            self.wait()
        self.hang_up()

    def hang_up(self):
        """Closes the terminal, as a window or a connection that goes away does."""
        if self.fd >= 0:
            os.close(self.fd)
        self.fd = -1

    def send(self, text):
        os.write(self.fd, text.encode())

    def read(self):
        """Takes what there is now."""
        while self.fd >= 0 and select.select([self.fd], [], [], 0)[0]:
            try:
                data = os.read(self.fd, 65536)
            except OSError:  # the other side is closed
                return
            self.text += data.decode(errors="replace")

    def expect(self, pattern, after=0):
        """Waits for a match behind position `after`; returns it."""
        def look():
            self.read()
            return re.compile(pattern).search(self.text, after)
        try:
            return wait_until(look, pattern)
        except AssertionError:
            raise AssertionError(f"no {pattern!r} in {self.text[after:]!r}") from None

    def wait(self):
        """Reads on to the end of the command; its status as subprocess gives it."""
        def ended():
            self.read()
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            return (status,) if pid else None
        self.status = os.waitstatus_to_exitcode(wait_until(ended, "the end of the command")[0])
        self.read()
        return self.status


def python(*code_and_arguments):
    """The interpreter that runs these tests, with no site packages: a quick start."""
    return [sys.executable, "-I", "-S", "-c", *code_and_arguments]
