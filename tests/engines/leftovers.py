"""What a session of these tests must not leave on the machine: processes, mounts, cgroups, files.

Only what can be attributed to the session counts, because other programs start, mount and log meanwhile: processes with
its mark in their environment, or new ones that are called as the daemons are; mounts and cgroups with its mark; files
in the daemons' folders; and changed files of those that a sandbox has copies of.
"""

import os
from pathlib import Path

DAEMONS = ("munged", "mariadbd", "slurmdbd", "slurmctld", "slurmd", "slurmstepd", "qemu-system")
# Everything below these; the daemons' packages made them.
FOLDERS = ("/etc/slurm", "/etc/munge", "/run/slurm", "/run/munge", "/run/mysqld", "/var/log/slurm", "/var/log/munge",
           "/var/log/mysql", "/var/spool/slurm", "/var/lib/slurm", "/var/lib/munge", "/var/lib/mysql")
# In these, new files with a daemon's name or the mark.
PARENTS = ("/etc", "/run", "/tmp", "/var/tmp", "/dev/shm", "/var/log", "/var/spool", "/var/lib", "/var/cache", "/home")
FILES = ("/etc/hosts", "/etc/hostname", "/etc/passwd", "/etc/group", "/proc/sys/kernel/hostname")
WORDS = ("munge", "slurm", "mysql", "mariadb", "qemu", "tracker-engines")


def process(pid):
    """(PID, start time), name and environment; None when it has exited or is a kernel thread."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        environ = Path(f"/proc/{pid}/environ").read_bytes()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return None
    name = stat[stat.index("(") + 1:stat.rindex(")")]
    return (int(pid), stat.rpartition(")")[2].split()[19]), name, environ


def processes():
    found = (process(pid) for pid in os.listdir("/proc") if pid.isdigit())
    return {identity: (name, environ) for identity, name, environ in filter(None, found)}


def describe(path):
    """What changes when a file does; None without one."""
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_mode, status.st_uid


def files():
    found = {}
    for folder in FOLDERS:
        for path, _, names in os.walk(folder):
            for name in ("", *names):
                found[os.path.join(path, name)] = describe(os.path.join(path, name))
    for folder in PARENTS:
        for name in os.listdir(folder) if os.path.isdir(folder) else ():
            if any(word in name for word in WORDS):
                found.setdefault(os.path.join(folder, name), "exists")
    for path in FILES:
        found[path] = Path(path).read_bytes() if os.path.exists(path) else None
    return found


def marked_mounts(text, mark):
    return [f"mount: {line}" for line in text.splitlines() if mark in line]


def marked_cgroups(mark):
    """Empty cgroups too: the process that makes one removes it."""
    return [f"cgroup: {os.path.join(path, name)}" for path, names, _ in os.walk("/sys/fs/cgroup") for name in names
            if name.startswith(mark + ".")]


class Before:
    """The state at the start of a session."""

    def __init__(self, mark):
        self.mark = mark
        self.processes = set(processes())
        self.files = files()

    def left(self):
        """What has been left since, each with a description."""
        found = []
        for identity, (name, environ) in processes().items():
            is_ours = f"TRK_ENGINES={self.mark}".encode() in environ.split(b"\0")
            is_of_others = b"TRK_ENGINES=" in environ and not is_ours
            is_daemon = identity not in self.processes and name.startswith(DAEMONS)
            if is_ours or (is_daemon and not is_of_others):
                found.append(f"process: {identity[0]} {name}")
        now = files()
        for path in sorted(now.keys() | self.files.keys()):
            if now.get(path) != self.files.get(path):
                found.append(f"file: {path}")
        mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8")
        return found + marked_mounts(mounts, self.mark) + marked_cgroups(self.mark)
