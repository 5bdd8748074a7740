"""Each package, installed and run in a root that has nothing of this machine: Debian's releases, and one with musl.

The packages are those of build-packages/dist (packaging/build all); the roots are kept in build-packages/roots."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import helpers
import pytest
from sandbox import need_program, need_sandbox

DIST = helpers.REPOSITORY / "build-packages" / "dist"
ROOTS = helpers.REPOSITORY / "build-packages" / "roots"
VERSION = (helpers.REPOSITORY / "VERSION").read_text(encoding="ascii").strip()
CPU = os.uname().machine
SUITES = ("bookworm", "trixie")
# What a new user does: a job, its rows, its report, the list of runs, advice.
DEMO = """set -e
export HOME=/tmp/home TRACKER_CLOUD=off
mkdir -p $HOME
cd $HOME
resource-tracker -i 0.1 -o rows.csv --report run.html -- sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done; exit 3' ||
    echo "exit $?"
resource-tracker -q -s summary.json -- true
test "$(head -c 15 run.html)" = '<!doctype html>'
test "$(wc -l < rows.csv)" -ge 2
resource-tracker report -o again.html
resource-tracker recommend > advice
resource-tracker runs
gpu-tracker -e 'true' --tu=seconds > gpu
resource-tracker info --json
"""
SEPARATE = ("unshare", "--fork", "--pid", "--mount", "--uts", "--ipc", "--kill-child")


def package(pattern):
    found = sorted(DIST.glob(pattern))
    helpers.need(found, f"{DIST}/{pattern} is missing: packaging/build all")
    return found[-1]


class Root:
    """A folder with a system in it. With `below`, it holds what differs from that system, as an overlay. Commands run in
    namespaces of their own, which have the mounts."""

    def __init__(self, folder, below=None):
        self.folder = Path(folder)
        self.script = 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"'
        self.place = self.folder
        if below:
            self.place = self.folder.with_name("merged")
            layers = f"lowerdir={below},upperdir={self.folder},workdir={self.folder.with_name('work')}"
            self.script = f'mount -t overlay -o "{layers}" overlay "$0" && ' + self.script
            for folder in ("merged", "work"):
                self.folder.with_name(folder).mkdir()
        for name in ("tmp", "opt", "usr/local/bin"):
            (self.folder / name).mkdir(parents=True)

    def run(self, *command, check=True, **options):
        done = helpers.run([*SEPARATE, "sh", "-c", self.script, self.place, "env", "-i",
                            "PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", *command],
                           capture_output=True, text=True, **options)
        assert not check or done.returncode == 0, (command, done.returncode, done.stdout[-3000:], done.stderr[-3000:])
        return done

    def demo(self):
        done = self.run("/bin/sh", "-c", DEMO, timeout=400)
        assert "exit 3" in done.stdout and "failed, exit 3" in done.stderr, (done.stdout, done.stderr)
        facts = json.loads(done.stdout[done.stdout.index('{"version"'):])
        assert facts["version"] == VERSION and facts["sources"]["wait4"]


@pytest.fixture(scope="module", params=SUITES)
def pristine(request):
    """Debian's release with Python, made once."""
    need_sandbox()
    need_program("debootstrap")
    folder = ROOTS / request.param
    if not (folder / "complete").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        helpers.run(["debootstrap", "--variant=minbase", "--include=python3", request.param, folder], check=True, timeout=900,
                    capture_output=True, text=True)
        (folder / "complete").touch()
    return folder


@pytest.fixture
def root(pristine, tmp_path):
    return Root(tmp_path / "root", below=pristine)


def unpack(archive, folder):
    """Without the archive's outermost folder."""
    helpers.run(["tar", "-xzf", archive, "--strip-components=1", "-C", folder], check=True)


def test_deb(root):
    for name in (f"resource-tracker_{VERSION}-1_*.deb", f"resource-tracker-net_{VERSION}-1_*.deb"):
        shutil.copy(package(name), root.folder / "tmp")
    root.run("/bin/sh", "-c", "dpkg -i /tmp/resource-tracker_*.deb")
    root.demo()
    listed = root.run("dpkg", "-L", "resource-tracker").stdout
    assert "/usr/share/man/man1/resource-tracker.1" in listed and "sbom.spdx.json" in listed and "NOTICE" in listed
    root.run("dpkg", "--purge", "resource-tracker")
    assert not (root.folder / "usr" / "bin" / "resource-tracker").exists()


@pytest.mark.parametrize("libc", ["musl", "glibc"])
def test_archive(root, libc):
    unpack(package(f"resource-tracker-{VERSION}-{CPU}-linux-{libc}.tar.gz"), root.folder / "usr" / "local")
    root.demo()
    assert (root.folder / "usr/local/share/doc/resource-tracker/sbom.spdx.json").exists()


def test_install_script(root):
    """In the root itself, from a folder; then with an archive whose checksum is another."""
    place = root.folder / "release"
    place.mkdir()
    for name in (f"resource-tracker-{VERSION}-{CPU}-linux-musl.tar.gz", "SHA256SUMS"):
        shutil.copy(package(name), place)
    shutil.copy(helpers.REPOSITORY / "packaging" / "install.sh", place)
    done = root.run("/bin/sh", "/release/install.sh", "--from", "/release")
    assert f"installed: resource-tracker {VERSION}" in done.stdout
    root.demo()
    archive = place / f"resource-tracker-{VERSION}-{CPU}-linux-musl.tar.gz"
    archive.write_bytes(archive.read_bytes()[:-1] + b"x")
    done = root.run("/bin/sh", "/release/install.sh", "--from", "/release", "--prefix", "/opt/other", check=False)
    assert done.returncode == 1 and "checksum" in done.stderr and not (root.folder / "opt/other").exists()


def test_rpm(root):
    """Unpacked: Debian's roots have no rpm."""
    need_program("rpm2cpio")
    with subprocess.Popen(["rpm2cpio", package(f"resource-tracker-{VERSION}-1.{CPU}.rpm")], stdout=subprocess.PIPE) as archive:
        subprocess.run(["busybox", "cpio", "-i", "-d", "-m", "-u"], stdin=archive.stdout, cwd=root.folder, check=True,
                       timeout=helpers.PATIENCE, capture_output=True)
    root.demo()


def test_conda(root):
    """A .conda is a zip of two archives; installing it is unpacking one of them into a prefix."""
    need_program("zstd")
    platform = "linux-64" if CPU == "x86_64" else "linux-aarch64"
    path = package(f"resource-tracker-{VERSION}-*-{platform}.conda")
    shutil.unpack_archive(path, root.folder / "tmp" / "conda", "zip")
    inside = next((root.folder / "tmp" / "conda").glob("pkg-*.tar.zst"))
    helpers.run(["tar", "--zstd", "-xf", inside, "-C", root.folder / "usr/local"], check=True)
    root.demo()


def test_wheel(root):
    site = root.folder / "opt" / "site"
    wheel = package(f"resource_tracker_native-{VERSION}-cp39-abi3-manylinux_2_28_{CPU}.whl")
    shutil.unpack_archive(wheel, site, "zip")
    programs = site / f"resource_tracker_native-{VERSION}.data" / "scripts"
    for path in programs.iterdir():
        path.chmod(0o755)
        shutil.copy(path, root.folder / "usr" / "local" / "bin")
    shutil.copy(helpers.REPOSITORY / "packaging" / "check_wheel.py", root.folder / "tmp")
    done = root.run("env", "PYTHONPATH=/opt/site", "HOME=/tmp", "TRACKER_CLOUD=off", "python3", "/tmp/check_wheel.py")
    assert f"resource-tracker-native {VERSION}" in done.stdout


def test_wheel_without_a_native_part(root):
    site = root.folder / "opt" / "site"
    shutil.unpack_archive(package(f"resource_tracker_native-{VERSION}-py3-none-any.whl"), site, "zip")
    code = """if True:
        import resource_tracker, gpu_tracker
        print(resource_tracker.__version__)
        try:
            resource_tracker.ResourceTracker()
        except resource_tracker.BackEndMissing as fault:
            print(fault)
        """
    done = root.run("env", "PYTHONPATH=/opt/site", "python3", "-c", code)
    assert done.stdout.startswith(VERSION) and "nothing can be tracked here" in done.stdout


def test_apk_in_a_root_with_musl(tmp_path):
    """musl's C library, a busybox, and the package: an .apk is archives after one another, of which tar reads all."""
    need_sandbox()
    need_program("busybox")
    root = Root(tmp_path / "root")
    for name in ("bin", "proc", "usr/bin", "etc"):
        (root.folder / name).mkdir(parents=True)
    shutil.copy(shutil.which("busybox"), root.folder / "bin" / "busybox")
    for name in ("sh", "head", "wc", "env", "mkdir", "test", "true", "cat"):
        (root.folder / "bin" / name).symlink_to("busybox")
    helpers.run(["tar", "-xzf", package(f"resource-tracker-{VERSION}-1.{CPU}.apk"), "--ignore-zeros", "-C", root.folder],
                check=True, capture_output=True, text=True)
    (root.folder / "usr" / "bin" / "env").symlink_to("/bin/busybox")
    root.demo()
