"""compare() and the pytest plugin, over the installed package."""

import json
import subprocess
import sys

import pytest

from resource_tracker import ResourceTracker, compare
from resource_tracker._native import gate_check

PLUGIN_TEST = '''
import pytest

@pytest.mark.peak_memory("4GiB")
def test_small():
    pass

@pytest.mark.peak_memory("64MiB")
def test_large():
    x = bytearray(b"x") * (200 << 20)
    assert len(x)

@pytest.mark.fail_if("cpu_seconds > 1h", "wall_seconds > 0s")
def test_gates():
    pass

@pytest.mark.peak_memory("64MiB")
def test_own_failure():
    x = bytearray(b"x") * (200 << 20)
    assert False, "its own reason"

@pytest.mark.peak_memory("64")
def test_wrong_limit():
    pass

@pytest.mark.fail_if("gpu_seconds > 1h")
def test_unknown():
    pass

@pytest.mark.peak_memory
def test_no_limit():
    pass

@pytest.mark.fail_if("cpu_seconds > base + 10%")
def test_needs_base():
    pass

@pytest.mark.fail_if("wall_seconds > 0s")
class TestClass:
    @pytest.mark.fail_if("wall_seconds > 1h")
    @pytest.mark.fail_if("cpu_seconds > 1h")
    def test_own_mark(self):
        pass

    def test_mark_of_class(self):
        pass
'''


def burn(seconds):
    with ResourceTracker(interval=0.05, discover_server=False, discover_cloud=False) as tracker:
        import time

        end = time.process_time() + seconds
        while time.process_time() < end:
            pass
    return tracker


def test_trackers_are_compared():
    short, long = [burn(0.05) for _ in range(4)], [burn(0.4) for _ in range(4)]
    comparison = compare(short, long, gates=["cpu_seconds > base + 50%", "peak_memory > 1TiB"])
    cpu = comparison.figures["cpu_seconds"]
    assert cpu["verdict"] == "different" and cpu["ratio"]["value"] > 2
    assert [gate["outcome"] for gate in comparison.gates] == ["failed", "passed"]
    assert comparison.failed[0].startswith("gate 'cpu_seconds > base + 50%' failed: cpu_seconds is ")
    assert "| CPU time |" in comparison.markdown()
    assert "CPU time: " in str(comparison)
    page = comparison.report()
    assert page.startswith("<!doctype html>") and '"comparison":{' in page


def test_files_and_one_side(tmp_path):
    path = str(tmp_path / "run.json.gz")
    burn(0.05).dump(path)
    comparison = compare(path, [path, tmp_path / "run.json.gz"])
    assert comparison.figures["wall_seconds"]["verdict"] == "one_run"
    assert compare(None, path).data["base"] is None


def test_errors(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such run, file, folder, baseline or key"):
        compare("nothing", "nothing")
    with pytest.raises(ValueError, match="expected a unit"):
        compare(None, burn(0.01), gates=["peak_memory > 2"])
    with pytest.raises(ValueError, match="expected wall_seconds, cpu_seconds"):
        gate_check("memory > 2GiB")
    assert gate_check("cpu_seconds > base") is True


def test_one_gate_can_be_a_string():
    assert [held["outcome"] for held in compare(None, burn(0.01), gates="wall_seconds > 1h").gates] == ["passed"]


def run_plugin(folder, *options):
    (folder / "test_marks.py").write_text(PLUGIN_TEST)
    done = subprocess.run([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "-rA", "--strict-markers", *options,
                           "test_marks.py"], cwd=folder, capture_output=True, text=True, check=False, timeout=100)
    return done.returncode, done.stdout


def test_the_plugin_fails_tests(tmp_path):
    code, out = run_plugin(tmp_path)
    assert code == 1, out
    assert "PASSED test_marks.py::test_small" in out
    assert "gate 'peak_memory > 64MiB' failed: peak_memory is 2" in out
    assert "gate 'wall_seconds > 0s' failed: wall_seconds is " in out
    assert "its own reason" in out
    assert "gate 'peak_memory > 64': expected a unit" in out
    assert "PASSED test_marks.py::test_unknown" in out
    assert "cannot be checked: gpu_seconds was not measured" in out
    assert "peak_memory takes one limit" in out
    assert "gate 'cpu_seconds > base + 10%' needs a base" in out
    assert "PASSED test_marks.py::TestClass::test_own_mark" in out
    assert "FAILED test_marks.py::TestClass::test_mark_of_class" in out
    assert "7 failed, 3 passed, 1 warning" in out


def test_the_plugin_uses_no_hook_that_old_releases_lack():
    """Debian 12 has pluggy 1.0, which stops at hookimpl(wrapper=True): every run of pytest would."""
    import pytest_resource_tracker

    assert not pytest_resource_tracker.pytest_runtest_call.pytest_impl.get("wrapper")


def test_the_plugin_can_be_strict(tmp_path):
    _, out = run_plugin(tmp_path, "--resource-strict", "-k", "unknown")
    assert "1 failed" in out


def test_json_is_the_documented_form():
    data = compare(None, burn(0.05)).data
    assert json.loads(json.dumps(data)) == data
    assert data["schema_version"] == 1
