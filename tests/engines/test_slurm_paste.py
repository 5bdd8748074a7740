"""What `recommend --paste slurm` prints is what Slurm accepts and grants."""

import re

import pytest
import slurm as slurm_cluster

SHOW = """
echo cpus_per_task $SLURM_CPUS_PER_TASK
echo memory_mib $SLURM_MEM_PER_NODE
echo processors $(nproc)
exec known_use 0.2 100
"""


@pytest.fixture(scope="module")
def advised(slurm):
    """A user with a run of 30 seconds, the shortest that advice is given for, on 100 MiB."""
    user = slurm_cluster.User(slurm, "advised")
    done = user.srun(f"--cpus-per-task={slurm_cluster.CPUS}", "--mem=300", "resource-tracker", "-q", "-i", "0.5", "--",
                     "known_use", "2", "100", slurm_cluster.CPUS, "31")
    assert done.returncode == 0, done.stderr
    return user


@pytest.mark.parametrize("level", ["lean", "balanced", "safe"])
def test_paste_is_accepted_and_granted(advised, level):
    advice = advised.run("resource-tracker", "recommend", "--paste", "slurm", "--level", level)
    assert advice.returncode == 0, advice.stderr
    asked = dict(re.findall(r"(?m)^#SBATCH --([\w-]+)=(\d+)M?$", advice.stdout))
    assert asked.keys() == {"cpus-per-task", "mem"}, advice.stdout
    assert 100 <= int(asked["mem"]) <= slurm_cluster.NODE_MIB, advice.stdout

    (advised.home / "test_only.sh").write_text("#!/bin/sh\n" + advice.stdout + SHOW, encoding="ascii")
    tried = advised.run("sbatch", "--test-only", "test_only.sh")
    assert tried.returncode == 0, tried.stderr
    assert f"using {asked['cpus-per-task']} processors" in tried.stderr, tried.stderr

    job = advised.submit(advice.stdout + SHOW)
    assert job.wait() == "COMPLETED"
    granted = job.scontrol()
    assert granted["CPUs/Task"] == asked["cpus-per-task"], granted
    assert slurm_cluster.memory_bytes(granted["MinMemoryNode"]) == int(asked["mem"]) << 20, granted
    said = dict(re.findall(r"(?m)^(\w+) (\d+)$", (advised.home / f"out-{job.number}").read_text()))
    assert said["cpus_per_task"] == asked["cpus-per-task"]
    assert said["memory_mib"] == asked["mem"]
    assert said["processors"] == asked["cpus-per-task"]


def test_words_that_slurm_does_not_know_are_refused(advised):
    """sbatch reads the pasted lines: one that is wrong is not ignored."""
    (advised.home / "wrong.sh").write_text("#!/bin/sh\n#SBATCH --memory=100M\ntrue\n", encoding="ascii")
    assert advised.run("sbatch", "--test-only", "wrong.sh").returncode != 0
