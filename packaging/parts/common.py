"""What all parts share: folders, the version, running commands, archives that do not depend on the machine."""

import functools
import gzip
import hashlib
import io
import os
import shlex
import shutil
import subprocess
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
WORK = ROOT / "build-packages"
NAME = "resource-tracker"
DESCRIPTION = "What a job uses: CPU, memory, disk, network, GPUs"
HOMEPAGE = "https://github.com/resource-tracker/resource-tracker"


class Failure(Exception):
    """What failed and what to do; printed without a traceback."""


def version():
    return (ROOT / "VERSION").read_text(encoding="ascii").strip()


def run(*command, env=None, **options):
    """Runs to the end; the output is shown only where the command fails."""
    done = subprocess.run([str(word) for word in command], env={**environment(), **(env or {})}, text=True, check=False,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    if done.returncode:
        text = "\n".join(done.stdout.splitlines()[-60:])
        raise Failure(f"{shlex.join(str(word) for word in command)} exited with {done.returncode}:\n{text}")
    return done.stdout


def need(program, package):
    path = shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin")
    if not path:
        raise Failure(f"{program} is missing: install {package} (tools/bootstrap packages)")
    return path


@functools.lru_cache(maxsize=None)
def commit_time():
    """Seconds; SOURCE_DATE_EPOCH, or the time of the last commit."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given:
        return int(given)
    shown = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=False)
    if shown.returncode:
        raise Failure("the tree is not a git checkout: set SOURCE_DATE_EPOCH to the time of the release")
    return int(shown.stdout)


def environment():
    return {**os.environ, "SOURCE_DATE_EPOCH": str(commit_time()), "LC_ALL": "C.UTF-8", "TZ": "UTC",
            "PYTHONHASHSEED": "0"}


def checksum(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def write_checksums(folder):
    names = sorted(path.name for path in folder.iterdir() if path.is_file() and path.name != "SHA256SUMS")
    lines = [f"{checksum(folder / name)}  {name}\n" for name in names]
    (folder / "SHA256SUMS").write_text("".join(lines), encoding="ascii")


def write_tar(target, folder, prefix):
    """A .tar.gz of a folder: sorted, owned by root, with the time of the commit."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(folder.rglob("*")):
            member = archive.gettarinfo(path, f"{prefix}/{path.relative_to(folder)}")
            member.uid = member.gid = 0
            member.uname = member.gname = "root"
            member.mtime = commit_time()
            member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            if member.isreg():
                with path.open("rb") as data:
                    archive.addfile(member, data)
            else:
                archive.addfile(member)
    target.write_bytes(gzip.compress(packed.getvalue(), 9, mtime=0))
    return target


def fresh_folder(path):
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    return path


def tools_python():
    """The interpreter of build-python/tools, which has the pinned Meson, build and wheel tools."""
    run("tools/python_env", "tools", cwd=ROOT)
    return ROOT / "build-python" / "tools" / "bin" / "python"


def page():
    """The report's page, bundled once for all builds."""
    run("tools/bootstrap", "page", cwd=ROOT)
    target = WORK / "report_page.html"
    target.parent.mkdir(exist_ok=True)
    run(need("node", "nodejs"), ROOT / "web" / "bundle.mjs", target)
    return target


def run_all(commands, env=None):
    """Runs commands, as many at a time as there are CPUs."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        list(pool.map(lambda command: run(*command, env=env), commands))
