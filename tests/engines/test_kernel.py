"""The static tracker on kernels of their own with cgroup version 2 and all privileges, booted in qemu.

TRK_KERNELS names the kernels, or `all`, as in `make test-nightly`; docs/platforms.md has the results."""

import json
import os
import re
import signal

import helpers
import pytest
import sandbox
import virtual_machine

MIB = 1 << 20
# Writing a page takes some 0.2 ms where the kernel is emulated, so the jobs are small.
SCRIPT = """
echo 'root:x:0:0::/root:/bin/sh
tester:x:4242:4242::/home/tester:/bin/sh' > /etc/passwd
cd /results
chmod 777 .
cat /proc/sys/kernel/osrelease > release
awk '/KernelPageSize/ { print $2; exit }' /proc/self/smaps > page
resource-tracker info --json > info
track="resource-tracker -q -i 0.2"

# A job in a cgroup in which the kernel counts its CPU time, and what the shell had used when it entered.
mkdir /sys/fs/cgroup/counted
echo 'read before rest < /proc/$$/schedstat
echo $$ > /sys/fs/cgroup/counted/cgroup.procs
read after rest < /proc/$$/schedstat
echo before $before > root.shell
echo after $after >> root.shell
known_use 0.5 24 2 > root.known
exit 7' > counted.sh
$track -s root.json -- sh counted.sh
echo $? > root.code
cp /sys/fs/cgroup/counted/cpu.stat root.stat
$track -s killed.json -- sh -c 'kill -KILL $$'
echo $? > killed.code

# A cgroup without limits below one with limits.
echo '+cpu +memory' > /sys/fs/cgroup/cgroup.subtree_control
mkdir /sys/fs/cgroup/outer /sys/fs/cgroup/outer/inner
echo 60M > /sys/fs/cgroup/outer/memory.max
echo '50000 100000' > /sys/fs/cgroup/outer/cpu.max
echo 'echo $$ > /sys/fs/cgroup/outer/inner/cgroup.procs
resource-tracker info --json > limited.info
resource-tracker -q -i 0.2 -s oom.json -- known_use 0.5 200
echo $? > oom.code' > limited.sh
sh limited.sh

su tester -c "resource-tracker info --json > user.info; $track -s user.json -- known_use 0.5 24 2 > user.known"
resource-tracker runs --json > runs
"""


SELECTION = "6.1-x86_64 6.12-aarch64-16k"  # the oldest kernel of a current release, and the most different one


def kernels():
    named = os.environ.get("TRK_KERNELS", SELECTION)
    return list(virtual_machine.MACHINES) if named == "all" else named.split()


@pytest.fixture(scope="module", params=kernels())
def results(request, tmp_path_factory):
    """One boot of a kernel for all tests of this file."""
    machine = virtual_machine.MACHINES[request.param]
    sandbox.need_sandbox()
    virtual_machine.need_machine(machine)
    found = virtual_machine.boot(tmp_path_factory.mktemp("machine"), machine, SCRIPT)
    print(found["release"], found["log"])  # shown beside a failure
    assert found["page"] == f"{machine.page_kib}\n"
    return found


def known(results, name):
    return helpers.numbers_of(results[name])


def test_all_sources_are_available_to_root(results):
    sources = json.loads(results["info"])["sources"]
    assert all(sources.values()), (results["release"], sources)


def test_sources_of_an_ordinary_user(results):
    sources = json.loads(results["user.info"])["sources"]
    assert sources["wait4"] and sources["hwm"] and sources["ptrace"], sources
    assert not sources["taskstats"], sources


def test_cpu_time_beside_the_kernels(results):
    """Beside the cgroup's figure and what the shell had used when it entered: between `before` and `after`, because an
    emulated CPU may stop for long between two instructions. The shell's part begins at the fork, the job's at the exec."""
    usage = int(re.search(r"(?m)^usage_usec (\d+)$", results["root.stat"])[1]) / 1e6
    shell = known(results, "root.shell")
    found = json.loads(results["root.json"])["totals"]["cpu_seconds"]
    low, high = (usage + shell[name] / 1e9 for name in ("before", "after"))
    assert 0.98 * low <= found["value"] <= 1.02 * high, (found, low, high)
    assert found["value"] > known(results, "root.known")["cpu_seconds"]


@pytest.mark.parametrize("name", ["root", "user"])
def test_peak_memory(results, name):
    peak = json.loads(results[f"{name}.json"])["totals"]["peak_memory_bytes"]
    held = known(results, f"{name}.known")["memory_bytes"]
    assert peak["low"] <= peak["value"] <= peak["high"], peak
    assert held <= peak["value"] <= held + 4 * MIB, peak


def test_cpu_time_of_an_ordinary_users_job(results):
    """What the job could not see of itself is its start and its end."""
    found = json.loads(results["user.json"])["totals"]["cpu_seconds"]["value"]
    seen = known(results, "user.known")["cpu_seconds"]
    assert seen <= found <= 1.1 * seen + 0.1, (found, seen)


def test_exit_codes(results):
    assert results["root.code"] == "7\n"
    assert json.loads(results["root.json"])["exit_code"] == 7
    assert results["killed.code"] == f"{128 + signal.SIGKILL}\n"
    assert json.loads(results["killed.json"])["signal"] == signal.SIGKILL


def test_limits_of_an_ancestor_cgroup(results):
    """The tightest limit is on the parent of the cgroup that the job is in."""
    facts = json.loads(results["limited.info"])["server_info"]
    assert facts["memory_limit_mb"] == 60, facts
    assert facts["cpu_quota_cores"] == 0.5, facts
    assert json.loads(results["info"])["server_info"]["memory_limit_mb"] is None


def test_out_of_memory(results):
    summary = json.loads(results["oom.json"])
    assert results["oom.code"] == f"{128 + signal.SIGKILL}\n"
    assert summary["signal"] == signal.SIGKILL
    assert summary["totals"]["oom_kills"]["value"] == 1, summary["totals"]
    assert summary["oom"]["limit_bytes"] == 60 * MIB, summary["oom"]


def test_runs_are_kept(results):
    """Those of root; the ordinary user has its own."""
    runs = json.loads(results["runs"])["runs"]
    assert sorted((run["exit_code"] or 0, run["signal"] or 0) for run in runs) == [
        (0, signal.SIGKILL), (0, signal.SIGKILL), (7, 0)]
