"""Jobs that Slurm starts, limits and ends: the tracker changes no result, and every run is kept."""

import json
import signal

import helpers
import pytest
import slurm as slurm_cluster

MIB = 1 << 20
TRACK = ("resource-tracker", "-q", "-i", "0.2")


@pytest.fixture(scope="module", autouse=True)
def overdue(slurm):
    """A job that reaches its time limit while other tests run: Slurm's shortest limit is a minute."""
    user = slurm_cluster.User(slurm, "overdue")
    return user.submit("exec resource-tracker -q -i 1 -- sleep 300\n", "--time=1", "--nodelist=node4", "--mem=100")


def only_run(user):
    runs = user.runs()
    assert len(runs) == 1, runs
    return runs[0]


# ---- exit codes ----------------------------------------------------------------------------------


@pytest.mark.parametrize("script, code, number", [
    ("exit 0", 0, None), ("exit 7", 7, None), ("kill -KILL $$", None, signal.SIGKILL),
    ("kill -TERM $$", None, signal.SIGTERM), ("kill -SEGV $$", None, signal.SIGSEGV)])
def test_srun_ends_as_without_the_tracker(user, script, code, number):
    plain = user.srun("sh", "-c", script)
    tracked = user.srun(*TRACK, "--", "sh", "-c", script)
    assert tracked.returncode == plain.returncode == (code if number is None else 128 + number)
    run = only_run(user)
    assert (run["exit_code"], run["signal"]) == (code, number), run


@pytest.mark.parametrize("script, exit_code, state", [
    ("exit 0", "0:0", "COMPLETED"), ("exit 7", "7:0", "FAILED"), ("kill -KILL $$", "0:9", "FAILED")])
def test_sbatch_ends_as_without_the_tracker(user, script, exit_code, state):
    (user.home / "job.sh").write_text(script + "\n", encoding="ascii")
    jobs = [user.submit("exec sh job.sh\n"), user.submit(f"exec {' '.join(TRACK)} -- sh job.sh\n")]
    assert [job.wait() for job in jobs] == [state, state]
    assert [job.scontrol()["ExitCode"] for job in jobs] == [exit_code, exit_code]
    run = only_run(user)
    assert f"{run['exit_code'] or 0}:{run['signal'] or 0}" == exit_code, run


def test_standard_streams_are_the_jobs(user):
    """srun labels what each task writes; the tracker adds nothing."""
    words = ("sh", "-c", "echo to stdout; echo to stderr >&2; cat")
    plain = user.srun("--label", "--ntasks=2", *words)
    tracked = user.srun("--label", "--ntasks=2", *TRACK, "--", *words)
    assert sorted(tracked.stdout.splitlines()) == sorted(plain.stdout.splitlines()) == ["0: to stdout", "1: to stdout"]
    assert sorted(tracked.stderr.splitlines()) == sorted(plain.stderr.splitlines()) == ["0: to stderr", "1: to stderr"]


# ---- what Slurm limits ---------------------------------------------------------------------------


def test_limits_of_a_step_are_reported(user):
    done = user.srun("--mem=300", "--cpus-per-task=1", "resource-tracker", "info", "--json")
    facts = json.loads(done.stdout)["server_info"]
    assert facts["memory_limit_mb"] == 300, facts
    assert facts["vcpus_allowed"] == 1, facts
    if slurm_cluster.CPUS > 1:
        done = user.srun("--mem=300", "--cpus-per-task=2", "resource-tracker", "info", "--json")
        assert json.loads(done.stdout)["server_info"]["vcpus_allowed"] == 2


def test_step_beyond_its_memory(user):
    """The kernel kills the job; the tracker, in the same cgroup, keeps the run and the reason."""
    plain = user.srun("--mem=100", "known_use", "1", "200")
    tracked = user.srun("--mem=100", *TRACK, "-s", "summary.json", "--", "known_use", "1", "200")
    assert tracked.returncode == plain.returncode != 0, (tracked, plain)
    summary = json.loads((user.home / "summary.json").read_text())
    assert summary["signal"] == signal.SIGKILL
    assert summary["totals"]["oom_kills"]["value"] >= 1, summary["totals"]
    assert summary["oom"]["limit_bytes"] == 100 * MIB, summary["oom"]
    assert 60 * MIB < summary["totals"]["peak_memory_bytes"]["value"] <= 100 * MIB, summary["totals"]
    assert only_run(user)["signal"] == signal.SIGKILL


# ---- figures -------------------------------------------------------------------------------------


def test_totals_beside_those_of_sacct(user):
    """The job knows what it used. Slurm's figures of the step include the shell and the tracker."""
    job = user.submit(f"srun --quiet {' '.join(TRACK)} -s summary.json -- known_use 1.5 150 1 3\n", "--mem=300")
    assert job.wait() == "COMPLETED"
    known = helpers.numbers_of((user.home / f"out-{job.number}").read_text())
    totals = json.loads((user.home / "summary.json").read_text())["totals"]
    assert totals["cpu_seconds"]["value"] == pytest.approx(known["cpu_seconds"], rel=0.02, abs=0.02)
    peak = totals["peak_memory_bytes"]["value"]
    assert known["memory_bytes"] <= peak <= known["memory_bytes"] + 4 * MIB
    steps = job.sacct("TotalCPU", "MaxRSS")
    total, largest = steps["0"]
    overhead_seconds = slurm_cluster.cpu_seconds(total) - totals["cpu_seconds"]["value"]
    assert -0.02 <= overhead_seconds <= 0.3, (steps, totals)
    assert slurm_cluster.memory_bytes(largest) == pytest.approx(peak, rel=0.05, abs=4 * MIB), (steps, totals)


def test_a_running_step_beside_sstat(user):
    """sstat and `runs` on the login host, both while the job runs on a node."""
    job = user.submit(f"srun --quiet {' '.join(TRACK)} -- known_use 0.5 150 1 60\n", "--mem=300")
    job.wait_state("RUNNING")

    def seen():
        done = user.run("sstat", "--noheader", "--parsable2", "--format=MaxRSS", f"--jobs={job.number}.0")
        return done.stdout.strip() and slurm_cluster.memory_bytes(done.stdout.strip()) > 140 * MIB
    helpers.wait_until(seen, "the memory of the step in sstat", 60)
    runs = helpers.wait_until(user.runs, "the run in the list")
    assert [run["state"] for run in runs] == ["running"], runs
    assert job.state() == "RUNNING"
    assert user.run("scancel", job.number).returncode == 0
    job.wait()


# ---- how Slurm ends jobs -------------------------------------------------------------------------


def readable(user, run):
    """Its figures and as many rows as the list says, on the login host."""
    shown = user.run("resource-tracker", "show", run["id"])
    assert shown.returncode == 0, shown.stderr
    converted = user.run("resource-tracker", "export", run["id"], "-o", "rows.csv")
    assert converted.returncode == 0, converted.stderr
    rows = helpers.read_csv(user.home / "rows.csv")
    assert len(rows) == run["samples"] > 0, (rows, run)
    return True


@pytest.mark.parametrize("kind", ["step", "batch"])
def test_cancelled_job(user, kind):
    srun = "srun --quiet " if kind == "step" else "exec "
    job = user.submit(f"{srun}{' '.join(TRACK)} -- known_use 0.3 50 1 300\n")
    helpers.wait_until(user.runs, "the run in the list", 60)
    assert user.run("scancel", job.number).returncode == 0
    assert job.wait() == "CANCELLED"
    run = ended_run(user)
    assert run["signal"] == signal.SIGTERM, run
    assert readable(user, run)


def test_cancelled_job_that_ignores_signals(user):
    """SIGKILL reaches the tracker as well. What it had written is kept. All hosts here are of one boot, so each sees by the lock
    that the tracker has exited."""
    (user.home / "job.sh").write_text("trap '' TERM INT HUP CONT\nknown_use 0.5 50 1 300\n", encoding="ascii")
    job = user.submit(f"exec {' '.join(TRACK)} -- sh job.sh\n", "--nodelist=node2")
    path = helpers.wait_until(lambda: run_file(user), "the run file", 60)
    size = path.stat().st_size
    helpers.wait_until(lambda: path.stat().st_size > size, "a row more", 60)
    assert only_run(user)["state"] == "running"
    assert user.run("scancel", job.number).returncode == 0
    assert job.wait() == "CANCELLED"
    run = ended_run(user)
    assert run["state"] == "interrupted", run
    listed = user.srun("--nodelist=node2", "resource-tracker", "runs", "--json")
    assert [run["state"] for run in json.loads(listed.stdout)["runs"]] == ["interrupted"], listed
    assert readable(user, run)


def run_file(user):
    return next(user.home.glob(".local/state/resource-tracker/runs/*.run"), None)


def ended_run(user):
    """The last processes of a cancelled job may still be ending when Slurm says that it is cancelled."""
    return helpers.wait_until(lambda: (run := only_run(user))["state"] != "running" and run, "the end of the run")


def test_time_limit(overdue):
    """The last test: most of the minute has passed."""
    user = overdue.user
    assert overdue.wait(180) == "TIMEOUT"
    run = ended_run(user)
    assert run["signal"] == signal.SIGTERM, run
    assert 55 < run["wall_seconds"] < 125, run
    assert readable(user, run)
