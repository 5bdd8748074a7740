"""R's own check of the source package, and an installation from the repository. Both take a minute or less of one core,
so they begin together before the first test that needs them, where one process runs all tests before the first of all."""

import os
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
QUIET = {"MAKEFLAGS": "-j2", "_R_CHECK_CRAN_INCOMING_": "false", "TRACKER_CLOUD": "off"}
BESIDE = ["nice", "-n", "5"]  # flows are waited for, this is not
SECONDS_MAX = 540

_folder = tempfile.TemporaryDirectory(prefix="r-check-")
_started = {}


def run(*command, env=None, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                          env={**os.environ, **QUIET, **(env or {})}, timeout=SECONDS_MAX, **options)
    assert done.returncode == 0, done.stdout[-8000:]
    return done.stdout


def quickly():
    """The environment of a compilation whose speed does not matter: what is checked is built as R builds it."""
    makevars = os.path.join(_folder.name, "Makevars")
    with open(makevars, "w", encoding="ascii") as file:
        file.write("CFLAGS = -O0\n")
    return {"R_MAKEVARS_USER": makevars}


def make_package():
    """R compiles the package for its vignettes, and packs the sources alone."""
    return os.path.join(ROOT, run(*BESIDE, "tools/r_package", cwd=ROOT, env=quickly()).strip())


def check(package):
    return run(*BESIDE, "R", "CMD", "check", "--no-manual", package.result(), cwd=_folder.name)


def install(package):
    """From the repository, into a library of its own: the path. After the package was made: both put the core's sources
    into the same folder."""
    package.result()
    library = os.path.join(_folder.name, "library")
    os.mkdir(library)
    run(*BESIDE, "R", "CMD", "INSTALL", "--clean", "--library=" + library, "bindings/r", cwd=ROOT, env=quickly())
    return library


def begin():
    if _started:
        return
    pool = ThreadPoolExecutor(3)
    package = _started["package"] = pool.submit(make_package)
    _started["check"] = pool.submit(check, package)
    _started["library"] = pool.submit(install, package)
    pool.shutdown(wait=False)


def source_package():
    """Its path."""
    begin()
    return _started["package"].result(SECONDS_MAX)


def outcome():
    """What the check printed, and the library that it has installed the package in."""
    begin()
    return _started["check"].result(SECONDS_MAX), os.path.join(_folder.name, "resource.tracker.Rcheck")


def installed():
    """The library that has the package as it is installed from the repository."""
    begin()
    return _started["library"].result(SECONDS_MAX)
