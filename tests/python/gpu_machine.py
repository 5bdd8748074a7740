"""A machine with GPUs that are made up: a mount namespace whose /dev has NVIDIA's control device, and the library of
tests/gpu/fake_nvml.c that answers what a script says."""

import os
import shutil
import subprocess
import sys
import textwrap

from conftest import ROOT, skip_or_fail

LIBRARY = os.path.join(ROOT, os.environ.get("TRK_BUILD", "build"), "tests", "gpu", "full")

# Devices that programs need are bound into the new /dev one by one.
SETUP = """
set -e
mount -t tmpfs none "$1"
for name in null zero full random urandom tty; do
    touch "$1/$name"
    mount --bind "/dev/$name" "$1/$name"
done
ln -s /proc/self/fd "$1/fd"
mkdir "$1/shm"
touch "$1/nvidiactl"
mount --bind "$1" /dev
shift
exec "$@"
"""


def run_with_gpus(tmp_path, script, code, **environment):
    """Runs Python code there. `script` may name the interpreter's process as PID."""
    if not shutil.which("unshare") or not os.path.isdir(LIBRARY):
        skip_or_fail("unshare or the made-up GPU library is not here")
    devices = tmp_path / "dev"
    devices.mkdir(exist_ok=True)
    path = tmp_path / "gpus"
    namespace = ["unshare", "-m"] if os.getuid() == 0 else ["unshare", "-Urm"]
    begin = f"""
import os
with open({str(path)!r} + ".new", "w") as file:
    file.write({script!r}.replace("PID", str(os.getpid())))
os.rename({str(path)!r} + ".new", {str(path)!r})
"""
    done = subprocess.run([*namespace, "sh", "-c", SETUP, "sh", str(devices), sys.executable, "-c",
                           begin + textwrap.dedent(code)], capture_output=True, text=True, timeout=60, check=False,
                          env={**os.environ, "FAKE_NVML": str(path), "LD_LIBRARY_PATH": LIBRARY, **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout
