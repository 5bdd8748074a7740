"""Kernels of Debian's in qemu, with an initramfs that a test fills: a static busybox and the static tracker.

    results = boot(folder, MACHINES["6.12-aarch64-16k"], script)

The script runs as root under PID 1, after PID 1 has mounted /proc, /sys, /dev and cgroup version 2. What it writes to
/results comes back as {name: text}. Without KVM, because machines that run tests are often virtual themselves.

Kernels and busybox come from Debian's archive by the name of their package, through a configuration of apt in the test's
folder: the machine's own is not changed, and a package of another release or architecture is unpacked, not installed.
"""

import base64
import functools
import gzip
import io
import os
import re
import shutil
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path

import helpers
from sandbox import Sandbox, known_use, need_program

BOOT_SECONDS = 900  # some 15 on an idle machine, 25 on another architecture
MEMORY_MIB = 512
PROGRAMS = ("apt-get", "apt-cache", "dpkg-deb", "busybox")
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


@dataclass(frozen=True)
class Machine:
    """A kernel, and the emulated machine that it runs on."""

    suite: str  # of Debian
    architecture: str  # Debian's name
    package: str  # depends on the newest kernel of the suite
    cpu: str  # the kernel's name
    page_kib: int = 4

    @property
    def emulator(self):
        """On x86 not `-cpu max`: with it the kernel 6.12 crashes in qemu 7.2 when it patches its own code. On arm the kernel's
        pointers are authenticated by a cheap function: the usual one is slow where it is emulated."""
        kinds = {"x86_64": ["-M", "q35", "-cpu", "Nehalem"], "aarch64": ["-M", "virt", "-cpu", "max,pauth-impdef=on"]}
        return [f"qemu-system-{self.cpu}", *kinds[self.cpu]]

    @property
    def console(self):
        return "ttyS0" if self.cpu == "x86_64" else "ttyAMA0"


MACHINES = {
    "5.10-x86_64": Machine("bullseye", "amd64", "linux-image-cloud-amd64", "x86_64"),
    "6.1-x86_64": Machine("bookworm", "amd64", "linux-image-cloud-amd64", "x86_64"),
    "6.12-x86_64": Machine("trixie", "amd64", "linux-image-cloud-amd64", "x86_64"),
    "6.1-aarch64": Machine("bookworm", "arm64", "linux-image-cloud-arm64", "aarch64"),
    "6.12-aarch64": Machine("trixie", "arm64", "linux-image-cloud-arm64", "aarch64"),
    "6.12-aarch64-16k": Machine("trixie", "arm64", "linux-image-arm64-16k", "aarch64", 16),
}

# The results are one line of text on the console, which the kernel then no longer writes to.
INIT = """#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /etc /tmp /root /results /home/tester
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mount -t cgroup2 cgroup2 /sys/fs/cgroup
chown 4242:4242 /home/tester
chmod 1777 /tmp
export PATH=/bin HOME=/root LC_ALL=C TRACKER_CLOUD=off
cd /tmp
sh /script > /results/log 2>&1 < /dev/null
echo $? > /results/status
dmesg -n 1
echo
echo "results $(tar -c -z -C /results . | base64 | tr -d '\\n') end"
poweroff -f
"""


def need_machine(machine):
    for program in (*PROGRAMS, machine.emulator[0]):
        need_program(program)
    linked = subprocess.run(["ldd", shutil.which("busybox")], capture_output=True, timeout=60, check=False)
    helpers.need(linked.returncode != 0, "busybox is linked dynamically: install busybox-static")
    helpers.need(os.path.exists(KEYRING), f"{KEYRING} is missing: install debian-archive-keyring")
    helpers.need(static_program(machine).exists(), f"{static_program(machine)} is missing: packaging/build programs")


def static_program(machine):
    given = os.environ.get("TRK_STATIC_FOLDER", helpers.REPOSITORY / "build-packages")
    return Path(given) / f"installed-{machine.cpu}-linux-musl" / "usr" / "bin" / "resource-tracker"


@functools.lru_cache(maxsize=None)
def mirror():
    """The archive that this machine uses."""
    shown = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages", "Origin: Debian"],
                           capture_output=True, text=True, timeout=600, check=False)
    helpers.need(shown.stdout.split(), "apt knows no archive of Debian's")
    return shown.stdout.split()[0]


class Archive:
    """Packages of one release and architecture."""

    def __init__(self, folder, machine):
        self.folder = Path(folder) / "apt"
        for name in ("lists/partial", "cache/archives/partial"):
            (self.folder / name).mkdir(parents=True)
        (self.folder / "status").touch()
        (self.folder / "sources.list").write_text(f"deb [signed-by={KEYRING}] {mirror()} {machine.suite} main\n",
                                                  encoding="ascii")
        settings = {"Dir::Etc::sourcelist": self.folder / "sources.list", "Dir::Etc::sourceparts": "-",
                    "Dir::State::lists": self.folder / "lists", "Dir::State::status": self.folder / "status",
                    "Dir::Cache": self.folder / "cache", "APT::Architecture": machine.architecture,
                    "APT::Architectures": machine.architecture, "Acquire::Languages": "none",
                    "APT::Sandbox::User": "root", "Acquire::Check-Valid-Until": "false"}
        self.options = [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]
        self.run("apt-get", "update", "-q")

    def run(self, program, *words):
        done = subprocess.run([program, *self.options, *words], cwd=self.folder, capture_output=True, text=True, timeout=600,
                              check=False)
        helpers.need(done.returncode == 0, f"{program} {' '.join(words)}: {done.stderr.strip()}")
        return done.stdout

    def newest(self, package):
        """What a package that only depends on another one depends on."""
        found = re.search(r"Depends: (linux-image-\S+)", self.run("apt-cache", "depends", package))
        helpers.need(found, f"the archive has no package {package}")
        return found[1]

    def file(self, package, pattern):
        """The bytes of the one file of a package whose path matches."""
        self.run("apt-get", "download", "-q", package)
        archive = next(self.folder.glob("*.deb"))
        with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", archive], stdout=subprocess.PIPE) as unpacked:
            with tarfile.open(fileobj=unpacked.stdout, mode="r|") as files:
                found = [files.extractfile(member).read() for member in files
                         if member.isreg() and re.fullmatch(pattern, member.name)]
        archive.unlink()
        assert len(found) == 1, f"{package} has {len(found)} files {pattern}"
        return found[0]


def workload(folder, machine):
    """The workload of these tests, which knows what it used, for the machine's architecture."""
    if machine.cpu == os.uname().machine:
        shutil.copy(known_use(), folder)
        return
    compiler = f"{machine.cpu}-linux-gnu-gcc"
    need_program(compiler)
    subprocess.run([compiler, "-std=gnu17", "-D_GNU_SOURCE", "-O1", "-pthread", "-static", "-o", folder / "known_use",
                    Path(__file__).with_name("workloads") / "known_use.c"], check=True, timeout=helpers.BUILD_PATIENCE)


def make_initramfs(folder, archive, machine, script):
    root = Path(folder) / "root"
    (root / "bin").mkdir(parents=True)
    if machine.cpu == os.uname().machine:
        shutil.copy(shutil.which("busybox"), root / "bin" / "busybox")
    else:
        (root / "bin" / "busybox").write_bytes(archive.file("busybox-static", r"\./(usr/)?bin/busybox"))
    shutil.copy(static_program(machine), root / "bin")
    workload(root / "bin", machine)
    (root / "init").write_text(INIT, encoding="ascii")
    for path in (root / "init", root / "bin" / "busybox"):
        path.chmod(0o755)
    (root / "script").write_text(script, encoding="ascii")
    names = "\n".join(str(path.relative_to(root)) for path in sorted(root.rglob("*")))
    packed = subprocess.run(["busybox", "cpio", "-o", "-H", "newc"], cwd=root, input=names.encode(),
                            capture_output=True, timeout=60, check=True).stdout
    (Path(folder) / "initramfs.gz").write_bytes(gzip.compress(packed, 1))
    shutil.rmtree(root)


def boot(folder, machine, script):
    """Boots, runs the script, and returns its results."""
    folder = Path(folder)
    archive = Archive(folder, machine)
    (folder / "vmlinuz").write_bytes(archive.file(archive.newest(machine.package), r"\./boot/vmlinuz-.*"))
    make_initramfs(folder, archive, machine, script)
    words = [*machine.emulator, "-accel", "tcg", "-smp", "2", "-m", str(MEMORY_MIB), "-nodefaults", "-display", "none",
             "-no-reboot", "-nic", "none", "-kernel", "/home/vmlinuz", "-initrd", "/home/initramfs.gz",
             "-append", f"console={machine.console} quiet panic=-1", "-serial", "file:/home/console"]
    with Sandbox(folder, ["machine"]) as sandbox:
        done = sandbox.run(*words, timeout=BOOT_SECONDS, check=False)
    console = (folder / "console").read_text(encoding="utf-8", errors="replace")
    sent = re.search(r"(?s)\nresults (.*?) end", console)
    assert done.returncode == 0 and sent, f"the machine sent nothing: {done.stderr}\n{console[-5000:]}"
    with tarfile.open(fileobj=io.BytesIO(base64.b64decode(re.sub(r"\s", "", sent[1]))), mode="r:gz") as files:
        return {os.path.basename(member.name): files.extractfile(member).read().decode()
                for member in files.getmembers() if member.isfile()}
