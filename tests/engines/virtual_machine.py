"""A kernel of Debian's in qemu, with an initramfs that a test fills: a static busybox, the tracker and its libraries.

    results = boot(folder, kernel(folder), script)

The script runs as root under PID 1, after PID 1 has mounted /proc, /sys, /dev and cgroup version 2. What it writes to
/results comes back as {name: text}. Without KVM, because machines that run tests are often virtual themselves.
"""

import base64
import gzip
import io
import os
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

import helpers
from sandbox import Sandbox, known_use, need_program

BOOT_SECONDS = 400  # some 15 on an idle machine
MEMORY_MIB = 512
PACKAGE = "linux-image-cloud-amd64"
PROGRAMS = ("qemu-system-x86_64", "busybox", "apt-get", "apt-cache", "dpkg-deb", "ldd")

# The results are sent as one line of text over the second serial port: the kernel writes to the first.
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
stty -F /dev/ttyS1 raw
tar -c -z -C /results . | base64 | tr -d '\\n' > /dev/ttyS1
poweroff -f
"""


def need_machine():
    for program in PROGRAMS:
        need_program(program)
    linked = subprocess.run(["ldd", shutil.which("busybox")], capture_output=True, timeout=60, check=False)
    helpers.need(linked.returncode != 0, "busybox is linked dynamically: install busybox-static")


def kernel(folder):
    """The path of Debian's kernel for virtual machines; its package is fetched and unpacked, not installed."""
    depends = subprocess.run(["apt-cache", "depends", PACKAGE], capture_output=True, text=True, timeout=60, check=False)
    package = re.search(r"Depends: (linux-image-\S+)", depends.stdout)
    helpers.need(package, f"apt knows no package {PACKAGE}")
    fetched = subprocess.run(["apt-get", "download", "-q", package[1]], cwd=folder, capture_output=True, text=True,
                             timeout=300, check=False)
    helpers.need(fetched.returncode == 0, f"apt-get download {package[1]}: {fetched.stderr.strip()}")
    archive = next(Path(folder).glob("*.deb"))
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", archive], stdout=subprocess.PIPE) as unpacked:
        with tarfile.open(fileobj=unpacked.stdout, mode="r|") as files:
            for member in files:
                if member.name.startswith("./boot/vmlinuz-"):
                    target = Path(folder) / "vmlinuz"
                    target.write_bytes(files.extractfile(member).read())
    archive.unlink()
    return target


def libraries(program):
    """Of a program that is linked dynamically, with the loader."""
    found = subprocess.run(["ldd", program], capture_output=True, text=True, timeout=60, check=True).stdout
    return re.findall(r"(/\S+) \(0x", found)


def make_initramfs(folder, script):
    root = Path(folder) / "root"
    (root / "bin").mkdir(parents=True)
    for program in (shutil.which("busybox"), helpers.binary(), known_use()):
        shutil.copy(program, root / "bin")
    for library in libraries(helpers.binary()):
        target = root / library.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, target)
    (root / "init").write_text(INIT, encoding="ascii")
    (root / "init").chmod(0o755)
    (root / "script").write_text(script, encoding="ascii")
    names = "\n".join(str(path.relative_to(root)) for path in sorted(root.rglob("*")))
    packed = subprocess.run(["busybox", "cpio", "-o", "-H", "newc"], cwd=root, input=names.encode(),
                            capture_output=True, timeout=60, check=True).stdout
    target = Path(folder) / "initramfs.gz"
    target.write_bytes(gzip.compress(packed, 1))
    shutil.rmtree(root)
    return target


def boot(folder, kernel_path, script):
    """Boots, runs the script, and returns its results."""
    folder = Path(folder)
    make_initramfs(folder, script)
    if kernel_path.parent != folder:
        shutil.copy(kernel_path, folder)
    words = ["qemu-system-x86_64", "-M", "q35", "-accel", "tcg", "-cpu", "max", "-smp", "2", "-m", str(MEMORY_MIB),
             "-nodefaults", "-display", "none", "-no-reboot", "-nic", "none",
             "-kernel", f"/home/{kernel_path.name}", "-initrd", "/home/initramfs.gz",
             "-append", "console=ttyS0 quiet panic=-1",
             "-serial", "file:/home/console", "-serial", "file:/home/results"]
    with Sandbox(folder, ["machine"]) as sandbox:
        done = sandbox.run(*words, timeout=BOOT_SECONDS, check=False)
    console = (folder / "console").read_text(encoding="utf-8", errors="replace")
    sent = (folder / "results").read_bytes()
    assert done.returncode == 0 and sent, f"the machine sent nothing: {done.stderr}\n{console}"
    with tarfile.open(fileobj=io.BytesIO(base64.b64decode(sent)), mode="r:gz") as files:
        return {os.path.basename(member.name): files.extractfile(member).read().decode()
                for member in files.getmembers() if member.isfile()}
