"""Records the kept observation logs: build-python/tools/bin/python tests/truth/record_logs.py

Runs every workload of the suite that knows what it used, as root and as a user, and keeps the log of each with what was
known beside the tracker (tests/data/observations). test_kept_logs.py replays them. To be run again when the form of the
log changes, on a machine that is not busy."""

import gzip
import json
import os
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "real")]

from known import MIB, Run  # noqa: E402
from test_cpu_truth import JOBS, run_and_truth  # noqa: E402
from test_memory_truth import PEAKS  # noqa: E402

KEPT = HERE.parent / "data" / "observations"


def record(half, name, folder):
    """What is known of the job: CPU seconds, or the bytes of its peak."""
    log = folder / "observations.log"
    options = ["--observation-log", str(log)]
    if name in JOBS:
        run, cpu_seconds = run_and_truth(half, folder, name, options=options)
        return log, run, {"cpu_seconds": cpu_seconds}
    words, peak_mib, _ = PEAKS[name]
    return log, Run(half, folder, *words, options=options), {"peak_bytes": peak_mib * MIB}


def main():
    KEPT.mkdir(exist_ok=True)
    index = {}
    for half in ("root", "user"):
        for name in [*JOBS, *PEAKS]:
            with tempfile.TemporaryDirectory() as folder:
                os.chmod(folder, 0o777)
                log, run, known = record(half, name, Path(folder))
                kept = f"{name.replace(' ', '_')}-{half}.log.gz".replace("'", "")
                (KEPT / kept).write_bytes(gzip.compress(log.read_bytes(), mtime=0))
                index[kept] = {"workload": name, "half": half, "source": run.cpu["source"], **known}
    (KEPT / "known.json").write_text(json.dumps(index, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
