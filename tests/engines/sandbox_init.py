"""PID 1 of a sandbox, started by sandbox.py in new mount, PID, network, UTS, IPC and cgroup namespaces:

    sandbox_init.py MARK FOLDER HOST...

Gives the namespaces file systems of their own, prints "ready" and reaps until its standard input is closed. The kernel
then kills every process of the PID namespace, and the mounts go with the last of them. So nothing is left whatever
happens to the test: the kernel closes the pipe also when the test is killed.

Every mount has MARK as its source, so that one that escaped is recognised outside.
"""

import os
import select
import shutil
import signal
import subprocess
import sys
from pathlib import Path

# Folders that daemons write to, each an empty one in memory: path, mode.
EMPTY = (("/run", "755"), ("/tmp", "1777"), ("/var/tmp", "1777"), ("/dev/shm", "1777"), ("/var/log", "755"),
         ("/var/spool", "755"), ("/var/lib", "755"), ("/var/cache", "755"))
USER = "tester:x:4242:4242:an ordinary user:/home/tester:/bin/sh\n"


def mount(*words):
    subprocess.run(["mount", *words], check=True)


def make_folders(mark, folder):
    mount("--bind", folder, "/home")  # before /tmp is covered: the folder may be there
    for path, mode in EMPTY:
        if os.path.isdir(path):
            mount("-t", "tmpfs", "-o", f"mode={mode},size=1g", mark, path)
    # dpkg's and other packages' files below /var/lib are not needed to run a program, the copy of /etc is.
    shutil.copytree("/etc", "/run/etc", symlinks=True, copy_function=copy_with_owner)
    for path, _, _ in os.walk("/etc"):
        copy_owner(path, "/run/etc" + path.removeprefix("/etc"))
    mount("--bind", "/run/etc", "/etc")


def copy_owner(source, target):
    status = os.lstat(source)
    os.lchown(target, status.st_uid, status.st_gid)


def copy_with_owner(source, target):
    shutil.copy2(source, target, follow_symlinks=False)
    copy_owner(source, target)


def make_sys(mark):
    """The hierarchies of the machine, each with the sandbox's own cgroup as its root."""
    hierarchies = []
    for line in Path("/proc/self/cgroup").read_text(encoding="ascii").splitlines():
        number, controllers, _ = line.split(":", 2)
        hierarchies.append((number, controllers))
    mount("-t", "sysfs", mark, "/sys")  # that of the network namespace
    mount("-t", "tmpfs", "-o", "mode=755", mark, "/sys/fs/cgroup")
    for number, controllers in hierarchies:
        if number == "0":
            is_only = len(hierarchies) == 1
            place = Path("/sys/fs/cgroup") / ("" if is_only else "unified")
            place.mkdir(exist_ok=True)
            mount("-t", "cgroup2", mark, str(place))
        else:
            place = Path("/sys/fs/cgroup") / controllers.removeprefix("name=")
            place.mkdir()
            mount("-t", "cgroup", "-o", controllers, mark, str(place))


def make_network(hosts):
    """An address for each host, all on the loopback device. They are from the range for documentation: getaddrinfo()
    with AI_ADDRCONFIG, as Slurm calls it, finds nothing where there are addresses 127.* alone."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    lines = ["127.0.0.1 localhost"]
    for number, host in enumerate(hosts, 1):
        subprocess.run(["ip", "address", "add", f"192.0.2.{number}/32", "dev", "lo"], check=True)
        lines.append(f"192.0.2.{number} {host}")
    Path("/etc/hosts").write_text("\n".join(lines) + "\n", encoding="ascii")


def make_names(hosts):
    """The name of this host and of the ordinary user."""
    Path("/etc/hostname").write_text(hosts[0] + "\n", encoding="ascii")
    subprocess.run(["hostname", hosts[0]], check=True)
    with open("/etc/passwd", "a", encoding="utf-8") as users:
        users.write(USER)
    with open("/etc/group", "a", encoding="utf-8") as groups:
        groups.write("tester:x:4242:\n")
    home = Path("/home/tester")
    home.mkdir(exist_ok=True)
    os.chown(home, 4242, 4242)


def reap_until_closed():
    """SIGCHLD wakes select through a pipe."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    os.set_blocking(reader, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    while True:
        ready = select.select([0, reader], [], [])[0]
        if 0 in ready and not os.read(0, 4096):
            return
        if reader in ready:
            os.read(reader, 4096)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass


def main():
    mark, folder, *hosts = sys.argv[1:]
    make_folders(mark, folder)
    make_sys(mark)
    make_network(hosts)
    make_names(hosts)
    print("ready", flush=True)
    reap_until_closed()


main()
