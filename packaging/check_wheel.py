"""What an installed wheel must do: track, report, and run both programs. For tests of wheels in other containers."""

import subprocess
import sys
from importlib.metadata import distribution

import gpu_tracker
import resource_tracker

with resource_tracker.ResourceTracker(interval=0.05) as tracker:
    tracker.wait_for_samples(2, timeout=60)
assert tracker.totals["cpu_seconds"]["value"] >= 0 and tracker.stats()
page = tracker.report()
assert page[:15].lower() == "<!doctype html>" and page.rstrip().endswith("</html>")
with gpu_tracker.Tracker(sleep_time=0.05) as measured:
    pass
assert measured.max_ram.main.total_rss > 0
assert [point.value for point in distribution("resource-tracker-native").entry_points] == ["pytest_resource_tracker"]
for name in ("resource_tracker", "gpu_tracker"):
    subprocess.run([sys.executable, "-m", name, "--version"], check=True, stdout=subprocess.DEVNULL)
print(f"resource-tracker-native {resource_tracker.__version__}, Python {sys.version.split()[0]}: works")
