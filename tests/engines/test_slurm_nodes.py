"""Many trackers on many nodes at once, with one home: every run is kept once."""

import json
from collections import Counter

import helpers
import pytest
import slurm as slurm_cluster

TASKS = 2 * len(slurm_cluster.NODES) if slurm_cluster.CPUS > 1 else len(slurm_cluster.NODES)
TRACK = ("resource-tracker", "-q", "-i", "0.2")


def check_kept(runs, names):
    """One run for each name, each with an id of its own."""
    assert sorted(run["job_name"] for run in runs) == sorted(names)
    assert len({run["id"] for run in runs}) == len(runs)
    assert all(run["state"] == "finished" for run in runs), runs


def test_a_task_on_each_processor_of_all_nodes(user):
    """Each task names itself and writes its own summary beside the run that is kept."""
    (user.home / "task.sh").write_text(
        f"exec {' '.join(TRACK)} -n task$SLURM_PROCID -s $SLURM_PROCID.json -- known_use 0.3 $((20 + 10 * SLURM_PROCID))"
        " 1 1\n", encoding="ascii")
    done = user.srun("--nodes=4", f"--ntasks={TASKS}", "--mem-per-cpu=200", "--label", "sh", "task.sh")
    assert done.returncode == 0, done.stderr
    check_kept(user.runs(), [f"task{number}" for number in range(TASKS)])
    known = {number: {} for number in range(TASKS)}
    for line in done.stdout.splitlines():
        number, _, text = line.partition(": ")
        known[int(number)].update(helpers.numbers_of(text))
    for number in range(TASKS):
        totals = json.loads((user.home / f"{number}.json").read_text())["totals"]
        assert totals["cpu_seconds"]["value"] == pytest.approx(known[number]["cpu_seconds"], rel=0.05, abs=0.02)
        held = known[number]["memory_bytes"]
        assert held <= totals["peak_memory_bytes"]["value"] <= held + (4 << 20)


def test_short_tasks(user):
    """Runs of milliseconds share a file, which trackers on all nodes write to at the same time."""
    (user.home / "task.sh").write_text(
        f"for i in 1 2 3 4 5 6 7 8 9 10; do {' '.join(TRACK)} -n $SLURM_PROCID.$i -- true || exit; done\n",
        encoding="ascii")
    done = user.srun("--nodes=4", f"--ntasks={TASKS}", "sh", "task.sh")
    assert done.returncode == 0, done.stderr
    check_kept(user.runs(), [f"{task}.{i}" for task in range(TASKS) for i in range(1, 11)])


def test_an_array(user):
    """Elements begin and end at different times, and the list is read meanwhile."""
    job = user.submit(f"exec {' '.join(TRACK)} -n element$SLURM_ARRAY_TASK_ID -- known_use 0.2 10 1 0.5\n",
                      "--array=1-12", "--mem=50")
    seen = []

    def finished():
        seen.append([run["id"] for run in user.runs()])
        return not user.run("squeue", "--noheader", f"--jobs={job.number}").stdout.strip()
    helpers.wait_until(finished, "the end of the array", 120)
    runs = user.runs()
    check_kept(runs, [f"element{number}" for number in range(1, 13)])
    assert all(Counter(ids).most_common(1)[0][1] == 1 for ids in seen if ids), "a run was listed twice"
    vanished = {run for ids in seen for run in ids} - {run["id"] for run in runs}
    assert not vanished, "runs were listed that are not kept"


def test_nodes_have_equal_pids(user):
    """What the tests above rely on: a PID is not enough to tell one node's tracker from another's."""
    done = user.srun("--nodes=4", "--ntasks=4", "sh", "-c", "readlink /proc/self/ns/pid; hostname")
    assert done.returncode == 0, done.stderr
    assert len(set(done.stdout.split())) == 8, done.stdout
