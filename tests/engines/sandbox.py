"""A sandbox: namespaces in which a test starts daemons as root, and of which nothing is left afterwards.

    with Sandbox(folder, ["control", "node1"]) as sandbox:
        sandbox.run("sinfo")

Inside, /etc is a copy, /run, /tmp and the folders that daemons write to are empty and in memory, /home is `folder`, the
network is a loopback device, and the cgroup hierarchies begin at a cgroup of the sandbox's own. Outside, there is the
folder and, while the sandbox exists, that cgroup. See sandbox_init.py.
"""

import functools
import itertools
import os
import select
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import helpers

NAMESPACES = ("mount", "pid", "net", "uts", "ipc", "cgroup")
# nsenter enters the namespace of cgroups, not the cgroups.
JOIN_CGROUPS = """for place in /sys/fs/cgroup /sys/fs/cgroup/*; do
    [ ! -f $place/cgroup.procs ] || echo 0 > $place/cgroup.procs || exit 125
done; exec "$@" """
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


NUMBERS = itertools.count(1)  # sandboxes of this session


def mark_of_session():
    """Is in the environment of every process of a sandbox, in its mounts' sources and in its cgroups' names."""
    return f"tracker-engines-{os.getpid()}"


def environment():
    return {"PATH": PATH, "LC_ALL": "C", "HOME": "/home", "TRACKER_CLOUD": "off", "TRK_ENGINES": mark_of_session()}


def own_cgroups():
    """The cgroup of this process in each hierarchy, as a folder."""
    mounts = {}
    for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines():
        before, _, after = line.partition(" - ")
        words, (kind, _, options) = before.split(), after.split()[:3]
        if kind == "cgroup2":
            mounts[""] = Path(words[4])
        elif kind == "cgroup":
            for option in options.split(","):
                mounts[option] = Path(words[4])
    found = []
    for line in Path("/proc/self/cgroup").read_text(encoding="ascii").splitlines():
        _, controllers, path = line.split(":", 2)
        place = mounts.get(controllers.split(",")[0])
        if place:
            inside = place / path.lstrip("/")
            found.append(inside if inside.is_dir() else place)
    return found


@functools.lru_cache(maxsize=None)
def known_use():
    """The path of the workload of these tests, which knows what it used; compiled when first asked for."""
    target = helpers.shared_folder() / "known_use"
    flags = ["-std=gnu17", "-D_GNU_SOURCE", "-O1", "-Wall", "-Wextra", "-pthread", "-static"]
    source = Path(__file__).with_name("workloads") / "known_use.c"
    subprocess.run([os.environ.get("CC", "cc"), *flags, "-o", target, source], check=True, timeout=helpers.PATIENCE)
    return str(target)


def need_program(name):
    """One that is started in a sandbox; daemons are not in the PATH of every user."""
    helpers.need(shutil.which(name, path=PATH), f"{name} is not installed")


def need_sandbox():
    """Skips where no sandbox can be made; a failure where everything must work."""
    helpers.need(os.geteuid() == 0, "needs root: the sandbox mounts file systems and starts daemons")
    for program in ("unshare", "nsenter", "setpriv", "mount", "ip", "hostname"):
        need_program(program)
    flags = [f"--{name}" for name in NAMESPACES]
    tried = subprocess.run(["unshare", "--fork", *flags, "true"], capture_output=True, timeout=helpers.PATIENCE)
    helpers.need(tried.returncode == 0, f"unshare {' '.join(flags)} is refused here")


class Sandbox:
    def __init__(self, folder, hosts):
        self.folder = Path(folder)
        self.folder.chmod(0o755)  # the ordinary user's way to its home
        self.name = f"{mark_of_session()}.{next(NUMBERS)}"
        self.cgroups = []
        self.started = []
        self.log = open(self.folder / "sandbox.log", "w+", encoding="utf-8")
        try:
            self.make_cgroups()
            self.start_init(hosts)
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def make_cgroups(self):
        for parent in own_cgroups():
            group = parent / self.name
            group.mkdir()
            self.cgroups.append(group)
            for name in ("cpuset.cpus", "cpuset.mems"):  # version 1 begins with none, and takes no process then
                if (parent / "cpuset.sched_load_balance").exists():
                    (group / name).write_text((parent / name).read_text(encoding="ascii"), encoding="ascii")

    def start_init(self, hosts):
        """The shell outside removes the cgroups, so that they do not stay when the test is killed."""
        flags = " ".join(f"--{name}" for name in NAMESPACES)
        init = ["env", "--default-signal", "--", sys.executable, str(Path(__file__).with_name("sandbox_init.py")),
                self.name, str(self.folder), *hosts]
        script = f"""
            for group in "$@"; do echo 0 > "$group/cgroup.procs" || exit 125; done
            unshare --fork --kill-child --mount-proc {flags} -- {shlex.join(init)}
            for group in "$@"; do
                echo 0 > "$group/../cgroup.procs"
                tries=0
                until find "$group" -depth -type d -exec rmdir {{}} + 2>/dev/null || [ $tries -ge 100 ]; do
                    tries=$((tries + 1)); sleep 0.1
                done
            done"""
        self.outer = subprocess.Popen(["sh", "-c", script, "sh", *self.cgroups], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, stderr=self.log, env=environment(),
                                      start_new_session=True)
        line = read_line(self.outer.stdout)
        assert line == b"ready\n", f"no sandbox: {self.log_text()}"
        self.init = helpers.only_child(helpers.only_child(self.outer.pid))

    def log_text(self):
        return Path(self.log.name).read_text(encoding="utf-8", errors="replace")

    def words(self, *command, user=None, cwd="/home"):
        """The command as it is started from outside. Signals that the tests ignore, as under nohup, it does not."""
        enter = ["nsenter", f"--target={self.init}", *(f"--{name}" for name in NAMESPACES)]
        rights = ["setpriv", "--reuid=tester", "--regid=tester", "--clear-groups"] if user else []
        return [*enter, "sh", "-c", JOIN_CGROUPS, "sh", *rights, "env", f"--chdir={cwd}", "--default-signal", "--",
                *map(str, command)]

    def run(self, *command, user=None, cwd="/home", check=True, timeout=60, env=None, **options):
        """Runs it to its end and returns the completed process; `user`: as the ordinary user."""
        if user:
            env = {"HOME": "/home/tester", "USER": "tester", **(env or {})}
        done = subprocess.run(self.words(*command, user=user, cwd=cwd), stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=timeout, env={**environment(), **(env or {})}, **options)
        assert not check or done.returncode == 0, (command, done.returncode, done.stdout, done.stderr)
        return done

    def start(self, *command, log, **options):
        """Starts a daemon in the foreground; it ends with the sandbox."""
        with open(self.folder / log, "a", encoding="utf-8") as output:
            process = subprocess.Popen(self.words(*command), stdin=subprocess.DEVNULL, stdout=output,
                                       stderr=subprocess.STDOUT, env=environment(), start_new_session=True, **options)
        self.started.append(process)
        return process

    def close(self):
        """PID 1 exits, and with it all that runs inside."""
        outer = getattr(self, "outer", None)
        if outer:
            outer.stdin.close()
            try:
                outer.wait(helpers.PATIENCE)
            except subprocess.TimeoutExpired:
                helpers.end_process(outer)
                raise
            outer.stdout.close()
        for process in self.started:  # their nsenter, outside
            process.wait(helpers.PATIENCE)
        self.log.close()
        left = [str(group) for group in self.cgroups if group.exists()]
        assert not left, f"cgroups were not removed: {left}: {self.log_text()}"


def read_line(stream):
    """One line, or what there is at the end of the stream."""
    line = b""
    while not line.endswith(b"\n"):
        assert select.select([stream], [], [], helpers.PATIENCE)[0], "the sandbox does not answer"
        byte = os.read(stream.fileno(), 1)
        if not byte:
            return line
        line += byte
    return line
