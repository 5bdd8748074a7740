"""Records of runs: kept, listed, recovered after the worst."""

import gzip
import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import helpers
import pytest


def folder():
    return Path(os.environ["HOME"]) / ".local" / "state" / "resource-tracker" / "runs"


def tracker(*words, **options):
    return helpers.run([helpers.binary(), *words], capture_output=True, text=True, **options)


def runs(*words):
    done = tracker("runs", "--json", *words)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["runs"]


def record_of(run):
    done = tracker("export", run["id"], "--format", "snapshot")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_run_is_kept():
    job = helpers.until_lines("rows.csv", 4)
    assert tracker("-q", "-n", "nap", "-i", "0.1", "-o", "rows.csv", *job).returncode == 0
    run, = runs()
    assert run["command"].startswith("sh -c ") and run["job_name"] == "nap" and run["exit_code"] == 0
    record = record_of(run)
    assert record["metadata"]["command"] == job
    assert len(record["process_metrics"]) == run["samples"] == helpers.row_count("rows.csv") >= 4
    assert record["totals"]["cpu_seconds"]["source"]
    assert record["server_info"]["vcpus"] >= 1 and "cloud_info" in record
    assert [path.name for path in folder().iterdir()] == [f"{run['id']}.run"]


def test_a_short_run_is_one_file_and_one_row():
    assert tracker("-q", "-i", "3600", "true").returncode == 0
    run, = runs()
    assert run["samples"] == 1
    assert len(record_of(run)["process_metrics"]) == 1
    assert [path.name for path in folder().iterdir()] == [f"{run['id']}.run"]


def test_no_save():
    assert tracker("-q", "--no-save", "sleep", "0.1").returncode == 0
    assert not folder().exists()
    assert runs() == []


def test_how_it_ended_is_kept():
    tracker("-q", "sh", "-c", "exit 3")
    tracker("-q", "sh", "-c", "kill -TERM $$")
    killed, failed = runs()
    assert failed["exit_code"] == 3 and failed["signal"] is None
    assert killed["exit_code"] is None and killed["signal"] == signal.SIGTERM


def test_a_home_that_cannot_be_written_harms_no_job(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", "/proc/no-such-place")
    done = tracker("sh", "-c", "echo out; exit 4")
    assert done.returncode == 4 and done.stdout == "out\n"
    assert "not kept" in done.stderr


def test_a_time_limit_is_no_signal():
    assert tracker("-q", "--timeout", "0.2", "sleep", "9").returncode == 124
    run, = runs()
    assert run["time_limit_seconds"] == 0.2 and run["signal"] == signal.SIGTERM
    assert " time limit " in tracker("runs").stdout
    assert "outcome   time limit" in tracker("show").stdout
    metadata = record_of(run)["metadata"]
    assert metadata["time_limit"] == 0.2
    assert metadata["duration"] == round(metadata["stop_time"] - metadata["start_time"] + metadata["interval"], 2)


def started_sleeper():
    """After its exec: its name is then its own."""
    sleeper = helpers.popen(["sleep", "60"])
    helpers.wait_until(lambda: helpers.name_of(sleeper.pid) == "sleep", "the exec")
    return sleeper


def watch(*words, **options):
    """A tracker that has written the header and three rows."""
    watching = helpers.popen([helpers.binary(), *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **options)
    assert all(watching.stdout.readline() for _ in range(4))
    return watching


def attach_and_interrupt(*words):
    """Watches a sleeper that outlives the watching; how the tracker ended."""
    watching = watch("attach", "-i", "0.1", *words, started_sleeper().pid)
    watching.send_signal(signal.SIGINT)
    return watching.wait()


def test_what_is_attached_to_is_kept():
    assert attach_and_interrupt() == 0
    run, = runs()
    assert run["kind"] == "attached" and run["command"] == "sleep 60" and run["key"] == "sleep"
    assert run["exit_code"] is None and not run["interrupted"]
    record = record_of(run)
    assert len(record["process_metrics"]) == run["samples"] >= 3 and record["system_metrics"] == []
    assert record["metadata"]["ended"] is False
    assert " watched " in tracker("runs").stdout and "process   sleep 60" in tracker("show").stdout


def test_a_process_that_ends_while_it_is_watched_is_kept():
    sleeper = started_sleeper()
    watching = watch("attach", "-i", "0.1", sleeper.pid)
    sleeper.kill()
    sleeper.wait()
    assert watching.wait() == 0
    assert runs()[0]["command"] == "sleep 60" and " ended " in tracker("runs").stdout


def test_a_script_that_is_attached_to_has_the_key_of_its_run(tmp_path):
    Path("nap.sh").write_text("echo ready\nread line\n:\n")
    assert tracker("-q", "-i", "0.1", "sh", "nap.sh", input="\n").returncode == 0
    job = helpers.popen(["sh", "nap.sh"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert job.stdout.readline() == "ready\n"
    watching = watch("attach", "-i", "0.1", job.pid, cwd="/")
    helpers.finish(job)
    assert watching.wait() == 0
    attached, run = runs()
    assert attached["key"] == run["key"] == f"sh {Path.cwd()}/nap.sh"


def test_the_machine_is_kept_and_is_nobodys_need():
    assert tracker("-q", "sleep", "0.1").returncode == 0
    watching = watch("system", "-i", "0.1")
    watching.terminate()
    assert watching.wait() == 0
    run, job = runs()
    assert run["kind"] == "system" and run["command"] == "" and run["cpu_seconds"] is None
    record = record_of(run)
    assert record["process_metrics"] == [] and len(record["system_metrics"]) == run["samples"] >= 3
    assert "(the machine)" in tracker("runs").stdout
    assert tracker("recommend", "--json").stdout == tracker("recommend", "--json", job["id"]).stdout


def test_watching_can_go_unkept():
    assert attach_and_interrupt("--no-save") == 0
    assert runs() == []


def test_a_killed_watcher_leaves_its_rows():
    watching = watch("attach", "-i", "0.05", started_sleeper().pid)
    watching.kill()
    watching.wait()
    run, = runs()
    assert run["interrupted"] and run["kind"] == "attached" and run["samples"] >= 3


def test_a_key_of_ones_own_joins_runs(monkeypatch):
    tracker("-q", "--key", "nightly", "sleep", "0.1")
    monkeypatch.setenv("TRACKER_KEY", "nightly")
    tracker("-q", "sh", "-c", "sleep 0.1")
    monkeypatch.delenv("TRACKER_KEY")
    Path("config.toml").write_text('key = "nightly"\n')
    tracker("-q", "--config", "config.toml", "true")
    tracker("-q", "sleep", "0.1")
    other, *same = runs()
    assert other["key"] == "sleep" and [run["key"] for run in same] == ["nightly"] * 3
    count = json.loads(tracker("recommend", "--json", "--key", "nightly").stdout)["runs"]
    assert count == 3
    assert json.loads(tracker("recommend", "--json").stdout)["runs"] == 1
    assert len(runs("--match", "night")) == 3
    refused = tracker("recommend", "--key", "daily")
    assert refused.returncode == 1 and "no run with the key 'daily'" in refused.stderr


def test_show_match_remove_and_prune():
    for seconds in ("0.01", "0.02", "0.03"):
        tracker("-q", "sleep", seconds)
    assert len(runs()) == 3
    found, = runs("--match", "sleep 0.02")
    shown = tracker("show", found["id"][:-2])
    assert "sleep 0.02" in shown.stdout and shown.returncode == 0
    assert tracker("runs", "remove", found["id"]).returncode == 0
    assert tracker("show", found["id"]).returncode == 1
    assert tracker("runs", "--match", "no such command").returncode == 1
    assert tracker("runs", "prune", "--older-than", "30").returncode == 2  # half a minute to one, a month to another
    assert len(runs()) == 2
    assert tracker("runs", "prune", "--older-than", "1h").stdout == "0 runs removed\n"
    assert tracker("runs", "prune", "--max-size", "1").stdout == "2 runs removed\n"
    assert runs() == []


def test_marks_of_a_run():
    done = tracker("-q", "-i", "0.1", "sh", "-c",
                   f"{helpers.binary()} mark ready; {helpers.binary()} mark work -- sh -c 'exit 5'")
    assert done.returncode == 5
    run, = runs()
    events = [(event["name"], event["kind"]) for event in record_of(run)["events"]]
    assert events == [("ready", "point"), ("work", "start"), ("work", "stop")]


BUSY = "/usr/bin/python3 -c 'import time; held = bytearray(40 << 20)\nwhile time.process_time() < 0.4: pass'"


def test_phases_in_the_summary_and_in_the_record(tmp_path):
    mark = f"{helpers.binary()} mark"
    Path("job.sh").write_text(f"{mark} ready\n{mark} busy -- {BUSY}\n"
                              f"for i in 1 2; do {mark} idle -- sleep 0.3; done\n{mark} blink -- true\n")
    done = tracker("-i", "0.05", "sh", "job.sh")
    assert done.returncode == 0
    shown = tracker("show").stdout
    for text in (done.stderr, shown):
        lines = [line.split() for line in text[text.index("phases "):].splitlines()]
        assert lines[0][:3] == ["phases", "ready", "at"]
        assert lines[1][0] == "busy" and "CPU," in lines[1] and lines[1][-1] == "peak"
        assert lines[2][:3] == ["idle", "x", "2"]
        assert lines[3][0] == "blink"
    run = json.loads(tracker("show", "--json").stdout)
    ready, busy, idle, blink = run["phases"]
    assert ready["kind"] == "point" and ready["seconds"] is None
    assert 0.35 <= busy["cpu_seconds"] <= 0.6 and busy["seconds"] >= 0.4
    assert busy["peak_memory_bytes"] > 40 << 20 > idle["peak_memory_bytes"]
    assert idle["count"] == 2 and 0.6 <= idle["seconds"] < 3 and idle["cpu_seconds"] < 0.2
    assert blink["seconds"] < 0.3


def test_phases_of_a_run_that_goes_on_and_of_a_killed_one():
    process = helpers.popen([helpers.binary(), "-q", "-i", "0.05", "sh", "-c",
                             f"{helpers.binary()} mark nap -- sleep 30"], start_new_session=True)
    listed = helpers.wait_until(lambda: [run for run in runs() if run["samples"] >= 4], "four samples")
    helpers.wait_until(lambda: "sleep" in map(helpers.name_of, helpers.descendants(process.pid)), "the phase")
    running = json.loads(tracker("show", listed[0]["id"], "--json").stdout)
    assert running["running"] and running["phases"][0]["name"] == "nap" and not running["phases"][0]["ended"]
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    killed = json.loads(tracker("show", "--json").stdout)
    assert killed["interrupted"] and killed["phases"][0]["name"] == "nap"
    assert killed["phases"][0]["seconds"] > 0 and not killed["phases"][0]["ended"]


def test_a_mark_outside_of_a_run():
    done = tracker("mark", "nowhere")
    assert done.returncode == 0 and "not called from a run" in done.stderr  # a script under set -e goes on
    assert tracker("mark", "nowhere", "--", "sh", "-c", "exit 6").returncode == 6


def test_many_at_once_need_no_lock():
    started = [helpers.popen([helpers.binary(), "-q", "-i", "0.05", "sleep", "0.2"]) for _ in range(30)]
    lists = [runs() for _ in range(3)]
    assert all(process.wait() == 0 for process in started)
    assert all(run["running"] or run["exit_code"] == 0 for listed in lists for run in listed)
    assert sum(run["exit_code"] == 0 for run in runs()) == 30


def list_held_at(call, meanwhile):
    """Lists the runs, held before its call-th system call on files while something happens; None where it makes
    fewer."""
    listing = helpers.popen([helpers.workload("held_at"), call, helpers.binary(), "runs", "--json"],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env=helpers.without_leak_check())
    if listing.stderr.readline() != "held\n":
        return None
    meanwhile()
    helpers.finish_input(listing)
    text = listing.stdout.read()
    assert listing.wait() == 0, listing.stderr.read()
    return json.loads(text)["runs"]


@pytest.mark.parametrize("first_call", range(1, 5))
def test_a_run_that_ends_while_runs_are_listed_is_listed_once(first_call):
    """At whichever step of the list it ends: as one that goes on or as one that ended well. Every fourth step each."""
    for call in range(first_call, 1000, 4):
        job = helpers.start("-q", "-i", "0.005", "sh", "-c", "read line", stdin=subprocess.PIPE)
        growing, = helpers.wait_until(lambda: list(folder().glob("*.run")), "the rows of the run")
        helpers.wait_until(lambda growing=growing: growing.stat().st_size > 1024, "the head of the file")
        listed = list_held_at(call, lambda job=job: helpers.finish(job))
        if listed is None:
            assert call > 20, "the list was not held at all"
            return
        assert job.returncode == 0
        found = [run for run in listed if run["id"] == growing.stem]
        assert len(found) == 1, (call, found)
        assert found[0]["running"] or found[0]["exit_code"] == 0, (call, found)
        assert not found[0]["interrupted"] and not found[0].get("damage"), (call, found)
        for path in folder().iterdir():  # so that each list is as long as the first
            path.unlink()


def test_many_short_runs_at_once_are_all_kept():
    """Lists are taken while they go on."""
    count, started, listed = 120, [], []
    for number in range(count):
        started.append(helpers.popen([helpers.binary(), "-q", "true"]))
        if number % 8 == 7:
            listed.append(helpers.popen([helpers.binary(), "runs"], stdout=subprocess.DEVNULL))
    assert all(process.wait() == 0 for process in started + listed)
    kept = runs()
    assert len(kept) == count and all(run["exit_code"] == 0 for run in kept)
    assert len(list(folder().iterdir())) == count


def children_of(process):
    try:
        return [int(pid) for pid in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]
    except OSError:
        return []


def wait_for_job(process):
    """Until the tracker has started its job, or is over."""
    helpers.wait_until(lambda: children_of(process) or process.poll() is not None, "the job", pause=0.001)


KILLS = int(os.environ.get("TRK_KILLS", "40" if helpers.is_sanitized() else "200"))


def is_in_list(identity):
    return helpers.wait_until(lambda: [run for run in runs() if run["id"] == identity], "the run in the list")


def kill_at_random(chance, whom):
    """Kills at a random moment; how many rows were surely on disk at that moment, and the run that is left."""
    known = {run["id"] for run in runs()}
    process = helpers.popen([helpers.binary(), "-q", "-i", "0.005", "sleep", "60"], env=helpers.without_leak_check())
    wait_for_job(process)
    time.sleep(0.02 + chance.random() * 0.05)
    children = children_of(process)
    # On a busy machine it may not be there yet, nor have its head.
    growing, = helpers.wait_until(lambda: [path for path in folder().glob("*.run") if path.stem not in known], "rows")
    assert is_in_list(growing.stem)
    reported = next(run for run in runs() if run["id"] == growing.stem)["samples"]
    if whom != "job":
        process.kill()
    if whom != "tracker":
        os.kill(children[0], signal.SIGKILL)
    process.wait()
    if whom == "tracker":
        os.kill(children[0], signal.SIGKILL)
    return reported, growing.stem


def test_no_sample_is_lost_to_a_kill():
    folder().mkdir(parents=True)
    chance = random.Random(5)
    for number in range(KILLS):
        whom = ("tracker", "job", "both")[number % 3]
        reported, identity = kill_at_random(chance, whom)
        run = next(run for run in runs() if run["id"] == identity)
        assert run["samples"] >= reported, (number, whom)
        assert run["interrupted"] == (whom != "job"), (number, whom)
        if number % 20 == 0:
            rows = record_of(run)["process_metrics"]
            assert len(rows) == run["samples"]
            assert all(a["timestamp"] <= b["timestamp"] for a, b in zip(rows, rows[1:]))


def rows_on_disk():
    """How many rows each run has, by its file alone."""
    return {run["id"]: run["samples"] for run in runs() if not run.get("damage")}


def kill_short_run(chance, whom):
    """A run, killed at a random moment from before its first row to, where it is one of 30 ms, after its end: what was on
    disk of it just before, and whether it had ended by itself."""
    seconds = chance.choice(("0.03", "30"))
    process = helpers.popen([helpers.binary(), "-q", "-i", "0.005", "sleep", seconds], env=helpers.without_leak_check())
    if chance.random() < 0.9:
        wait_for_job(process)
    time.sleep(chance.random() * 0.05)
    reported = rows_on_disk()
    children = children_of(process)
    if whom != "job":
        process.kill()
    for child in children:
        try:
            os.kill(child, signal.SIGKILL)
        except ProcessLookupError:
            pass
    status = process.wait()
    return reported, status


def drop_headless():
    """Killed between making its file and writing the head: nothing of the run was ever known, and for a minute the file is
    taken for one that is just being made."""
    for path in folder().glob("*.run"):
        if path.stat().st_size == 0:
            path.unlink()


def test_no_sample_of_a_short_run_is_lost_to_a_kill():
    folder().mkdir(parents=True)
    chance = random.Random(7)
    seen = {"interrupted": 0, "ended": 0, "too early": 0}
    for number in range(KILLS // 2):
        known = {run["id"] for run in runs()}
        whom = ("tracker", "job", "both")[number % 3]
        reported, status = kill_short_run(chance, whom)
        reported = {identity: rows for identity, rows in reported.items() if identity not in known}
        assert len(reported) <= 1
        left = [run for run in runs() if run["id"] not in known]
        drop_headless()
        assert len(left) <= 1 and not list(folder().glob("*.events"))
        for identity, rows in reported.items():
            assert left and left[0]["id"] == identity and left[0]["samples"] >= rows, (number, whom, reported, left)
        if whom == "job" or status == 0:
            assert left and not left[0]["interrupted"], (number, whom, status)
            seen["ended"] += 1
        elif left:
            # It may have made its record in the very moment of its death.
            seen["interrupted" if left[0]["interrupted"] else "ended"] += 1
        else:
            seen["too early"] += 1
            assert not reported
    assert seen["interrupted"] > 0 and seen["ended"] > 0


def test_conversion_there_and_back(tmp_path):
    assert tracker("-q", "-i", "0.1", "-o", "a.csv", "sleep", "0.35").returncode == 0
    original = Path("a.csv").read_text()
    run, = runs()
    chain = [str(folder() / f"{run['id']}.run"), "b.jsonl", "c.sqlite", "d.json.gz", "e.csv"]
    for source, target in zip(chain, chain[1:]):
        done = tracker("convert", source, target)
        assert (done.returncode, done.stderr) == (0, "")
    assert Path("e.csv").read_text() == original
    refused = tracker("convert", "b.jsonl", "e.csv")
    assert refused.returncode == 1 and "--force" in refused.stderr
    lossy = tracker("convert", "--schema", "v3", "a.csv", "f.csv")
    assert lossy.returncode == 0 and "1 column of a.csv has no place" in lossy.stderr
    assert "1 column of f.csv is empty" in lossy.stderr and "system_memory_used_mib" in lossy.stderr


def test_fewer_rows_are_told(tmp_path):
    tracker("-q", "-i", "0.01", "sleep", "0.2")
    run, = runs()
    assert tracker("convert", "--max-rows", "5", str(folder() / f"{run['id']}.run"), "few.json.gz").returncode == 0
    with gzip.open("few.json.gz", "rt") as file:
        few = json.load(file)
    whole = record_of(run)
    assert len(few["process_metrics"]) <= 5
    assert few["downsampled"]["process_rows"] == len(whole["process_metrics"])
    for column, how in (("utime", sum), ("write_bytes", sum)):
        values = [[row[column] for row in record["process_metrics"]] for record in (few, whole)]
        assert abs(how(values[0]) - how(values[1])) < 1e-5
    peaks = [max(row["memory"] or 0 for row in record["process_metrics"]) for record in (few, whole)]
    assert peaks[0] == peaks[1]
