"""R's own check of the source package. It takes a minute of one core, so it begins before the first test and runs
beside those that wait for flows."""

import os
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
QUIET = {"MAKEFLAGS": "-j2", "_R_CHECK_CRAN_INCOMING_": "false", "TRACKER_CLOUD": "off"}
BESIDE = ["nice", "-n", "5"]  # flows are waited for, this is not

_folder = tempfile.TemporaryDirectory(prefix="r-check-")
_started = {}


def run(*command, env=None, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                          env={**os.environ, **QUIET, **(env or {})}, **options)
    assert done.returncode == 0, done.stdout[-8000:]
    return done.stdout


def make_package():
    return os.path.join(ROOT, run(*BESIDE, "tools/r_package", cwd=ROOT).strip())


def check(package):
    return run(*BESIDE, "R", "CMD", "check", "--no-manual", package.result(), cwd=_folder.name)


def begin():
    pool = ThreadPoolExecutor(2)
    package = _started["package"] = pool.submit(make_package)
    _started["check"] = pool.submit(check, package)
    pool.shutdown(wait=False)


def source_package():
    """Its path."""
    return _started["package"].result()


def outcome():
    """What the check printed, and the library that it has installed the package in."""
    return _started["check"].result(), os.path.join(_folder.name, "resource.tracker.Rcheck")
