"""Times of repeated runs beside hyperfine's: the same command, in turns."""

import json
import os
import shutil
import statistics
import subprocess

RUNS = 20


def ours(tracker, scratch, environment):
    path = os.path.join(scratch, "repeat.json")
    subprocess.run([tracker, "--repeat", str(RUNS), "--warmup", "3", "--no-save", "-q", "-s", path, "--force", "true"],
                   check=True, env=environment)
    with open(path, encoding="utf-8") as file:
        figures = json.load(file)["figures"]
    return next(row["new"]["values"] for row in figures if row["figure"] == "wall_seconds")


def hyperfines(program, scratch):
    path = os.path.join(scratch, "hyperfine.json")
    subprocess.run([program, "-N", "-r", str(RUNS), "--warmup", "3", "--export-json", path, "true"], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(path, encoding="utf-8") as file:
        return json.load(file)["results"][0]["times"]


def run(tracker, scratch, rounds, say):
    """Medians and quartiles of the wall time in ms, of all rounds together."""
    program = shutil.which("hyperfine")
    environment = {**os.environ, "XDG_STATE_HOME": scratch, "TRACKER_CLOUD": "off"}
    times = {"resource-tracker --repeat 20 true": [], "hyperfine -N -r 20 true": []}
    for _ in range(rounds):
        times["resource-tracker --repeat 20 true"] += ours(tracker, scratch, environment)
        if program:
            times["hyperfine -N -r 20 true"] += hyperfines(program, scratch)
    say("repeated runs")
    result = {name: dict(zip(("first", "median", "third"), (1000 * value for value in statistics.quantiles(values, n=4))))
              for name, values in times.items() if values}
    return result, [] if program else ["hyperfine is not installed: tools/bootstrap bench"]
