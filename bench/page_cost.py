"""What the report costs: beside loading the same snapshot, and in a browser."""

import json
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LOAD_TIME = os.path.join(ROOT, "web", "tests", "load_time.mjs")
RECORDS = ("hour", "million")


def made(program, path, rounds, environment):
    result = subprocess.run([program, path, str(rounds)], check=True, capture_output=True, text=True, env=environment)
    return json.loads(result.stdout)


def run(build, tracker, scratch, rounds, say):
    """Times in ms of each record: load and report in turns, and until its page is drawn; sizes in bytes."""
    program = os.path.join(build, "bench", "report_time")
    subprocess.run(["ninja", "-C", build, "bench/report_time"], check=True, stdout=subprocess.DEVNULL)
    # No earlier runs: they would be loaded for the advice as well.
    environment = {**os.environ, "XDG_STATE_HOME": scratch, "TRACKER_CLOUD": "off"}
    try:
        subprocess.run(["node", LOAD_TIME, "--records", scratch], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        return {}, [f"the report: {error}"]
    result, pages = {}, {}
    for name in RECORDS:
        say(f"report of {name}")
        path = os.path.join(scratch, f"{name}.json.gz")
        pages[name] = os.path.join(scratch, f"{name}.html")
        subprocess.run([tracker, "report", path, "-o", pages[name], "--force"], check=True, env=environment)
        result[name] = {**made(program, path, rounds, environment), "bytes": os.path.getsize(pages[name])}
    say("pages in the browser")
    try:
        drawn = json.loads(subprocess.run(["node", LOAD_TIME, str(rounds), *pages.values()], check=True,
                                          capture_output=True, text=True).stdout)
    except (OSError, subprocess.CalledProcessError) as error:
        return result, [f"pages in the browser: {error}"]
    for name, page in pages.items():
        result[name]["drawn"] = drawn[page]
    return result, []
