"""The wheel and the source package: what is in them, where they run, what they need."""

import glob
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest
from conftest import BASE, ROOT, run_python, skip_or_fail


@pytest.fixture(scope="module")
def wheel():
    found = glob.glob(os.path.join(BASE, "dist", "*.whl"))
    assert len(found) == 1
    return found[0]


@pytest.fixture(scope="module")
def unpacked(wheel, tmp_path_factory):
    """As pip install --target leaves it."""
    folder = tmp_path_factory.mktemp("target")
    subprocess.run([os.path.join(BASE, "pip", "bin", "pip"), "install", "-q", "--no-deps", "--no-compile",
                    "--target", folder, wheel], check=True)
    return folder


def tool(name):
    path = os.path.join(BASE, "tools", "bin", name)
    if not os.path.exists(path):
        skip_or_fail(f"{name} is not installed")
    return path


def test_what_is_in_it(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert "cp39-abi3" in wheel
    assert "resource_tracker/_native.abi3.so" in names and "gpu_tracker/__init__.py" in names
    scripts = {name.rpartition("/")[2] for name in names if ".data/scripts/" in name}
    assert {"resource-tracker", "gpu-tracker"} <= scripts
    assert not [name for name in names if re.search(r"\.(h|pc|a|1)$|libresource", name)]
    metadata = zipfile.ZipFile(wheel).read(next(name for name in names if name.endswith("METADATA"))).decode()
    assert "Provides-Extra: psutil" in metadata and "Requires-Dist" not in metadata
    assert "Requires-Python: >=3.9" in metadata


def test_the_limited_api_and_nothing_but_libc(wheel):
    done = subprocess.run([tool("abi3audit"), "--strict", wheel], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    done = subprocess.run([tool("auditwheel"), "show", wheel], capture_output=True, text=True, check=False)
    assert re.search(r'"manylinux_2_\d+_\w+"', done.stdout), done.stdout + done.stderr
    extension = os.path.join(os.path.dirname(__import__("resource_tracker").__file__), "_native.abi3.so")
    needed = re.findall(r"Shared library: \[(.*?)\]", subprocess.run(
        ["readelf", "-d", extension], capture_output=True, text=True, check=True).stdout)
    assert set(needed) <= {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "ld-linux-x86-64.so.2"}


def pythons():
    """Every CPython from 3.9 on that is found."""
    folders = [*os.environ.get("PATH", "").split(":"), "/usr/bin", "/usr/local/bin"]
    root = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
    folders += glob.glob(os.path.join(root, "versions", "*", "bin"))
    found = {}
    for folder in folders:
        for path in glob.glob(os.path.join(folder, "python3.[0-9]*")):
            version = re.fullmatch(r"python3\.(\d+)", os.path.basename(path))
            if version and int(version.group(1)) >= 9 and "shims" not in path:
                found.setdefault(int(version.group(1)), path)
    return [found[minor] for minor in sorted(found)]


@pytest.mark.parametrize("python", pythons(), ids=os.path.basename)
def test_every_python_that_is_found(python, unpacked, tmp_path):
    done = run_python("""
        import sys
        import gpu_tracker, resource_tracker
        from resource_tracker import ProcessTracker, ResourceTracker, track
        with ResourceTracker(interval=0.05) as tracker:
            tracker.wait_for_samples(2, timeout=60)
        assert tracker.totals["cpu_seconds"]["value"] >= 0 and tracker.stats() and tracker.report()
        assert len(ResourceTracker.loads(tracker.dumps()).process_metrics.to_dict()) == tracker.n_samples
        assert ProcessTracker(autostart=False).diff_stats()["memory"] > 0
        with gpu_tracker.Tracker(sleep_time=0.05) as measured:
            pass
        assert "Descendents" in str(measured) and measured.max_ram.descendants is not None
        with gpu_tracker.SubTracker("x", sub_tracking_file=sys.argv[1]):
            pass
        gpu_tracker.SubTrackingAnalyzer(None, sys.argv[1]).load_code_block_names()
        print("%d.%d" % sys.version_info[:2])
        """, tmp_path / "log.csv", python=python, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(unpacked)})
    assert os.path.basename(python) == "python" + done.stdout.strip()


def test_an_environment_with_nothing_else(wheel, tmp_path):
    """As a user installs it: by the system's own Python, with pip, and no other package."""
    python = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
    subprocess.run([python, "-m", "venv", "--without-pip", tmp_path / "env"], check=True)
    inside = str(tmp_path / "env" / "bin" / "python")
    subprocess.run([os.path.join(BASE, "pip", "bin", "pip"), "--python", inside, "install", "-q", "--no-index",
                    wheel + "[psutil]"], check=True)
    done = subprocess.run([inside, "-c", "import resource_tracker, gpu_tracker; print(resource_tracker.__version__)"],
                          capture_output=True, text=True, check=True)
    version = subprocess.run([tmp_path / "env" / "bin" / "resource-tracker", "--version"], capture_output=True,
                             text=True, check=True)
    assert done.stdout.strip() in version.stdout
    module = subprocess.run([inside, "-m", "resource_tracker", "-q", "true"], check=False)
    assert module.returncode == 0


WITHOUT_NATIVE_PART = """
    import sys
    sys.modules["resource_tracker._native"] = None  # as where no extension of this platform is installed
    """


def test_the_packages_import_without_a_native_part():
    done = run_python(WITHOUT_NATIVE_PART + """
    import gpu_tracker, resource_tracker
    from resource_tracker import BackEndMissing, ProcessTracker, ResourceTracker
    from resource_tracker.tracker_procfs import get_process_stats
    assert resource_tracker.__version__ == gpu_tracker.__version__ != "0"
    for start in (ResourceTracker, gpu_tracker.Tracker, lambda: resource_tracker.get_server_info()):
        try:
            start()
        except BackEndMissing as fault:
            print(fault)
    """)
    assert done.stdout.count("nothing can be tracked here") == 3 and "pip install" in done.stdout


@pytest.mark.parametrize("original", ["resource_tracker-0.5.0", "gpu_tracker-5.0.1"])
def test_an_original_beside_it_is_refused(unpacked, tmp_path, original):
    """Files of both have the same names: which one runs would be a matter of chance."""
    site = tmp_path / "site"
    shutil.copytree(unpacked, site)
    code = "import resource_tracker"
    environment = {**os.environ, "PYTHONPATH": str(site)}
    run_python(code, env=environment)
    (site / f"{original}.dist-info").mkdir()
    done = run_python(code, env=environment, check=False)
    name = original.partition("-")[0].replace("_", "-")
    assert "ImportError" in done.stderr and f"pip uninstall -y {name} resource-tracker-native" in done.stderr


def test_importing_loads_little():
    loaded = run_python("import sys, resource_tracker; print(*sys.modules)").stdout.split()
    assert not {"multiprocessing", "logging", "statistics", "urllib.request", "csv", "gzip", "pandas", "numpy"} & set(loaded)


def test_the_source_package_carries_the_page():
    if not os.path.isdir(os.path.join(ROOT, "web", "node_modules")) or not os.path.exists(os.path.join(ROOT, ".git")):
        skip_or_fail("a source package is made of a git tree with the page's packages (tools/bootstrap page)")
    subprocess.run([os.path.join(ROOT, "tools", "python_env"), "sdist"], check=True, stdout=subprocess.DEVNULL)
    names = tarfile.open(glob.glob(os.path.join(BASE, "sdist", "*.tar.gz"))[0]).getnames()
    assert any(name.endswith("/web/report_page.html") for name in names)
    assert not any("node_modules" in name for name in names)
