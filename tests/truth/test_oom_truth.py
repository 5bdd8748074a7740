"""A job that the kernel kills for want of memory says so: who, at which limit, what to ask for."""

import json
import os
import re
from pathlib import Path

import helpers
import pytest
from known import MIB, job, remove_group, rights

LIMIT = 200 * MIB


@pytest.fixture
def limited_group():
    """A memory cgroup with a limit, of either version."""
    helpers.need_root()
    v1 = Path("/sys/fs/cgroup/memory")
    is_v1 = (v1 / "memory.limit_in_bytes").exists() or (v1 / "cgroup.procs").exists()
    group = (v1 if is_v1 else Path("/sys/fs/cgroup")) / f"tracker-oom-{os.getpid()}"
    try:
        group.mkdir()
        (group / ("memory.limit_in_bytes" if is_v1 else "memory.max")).write_text(str(LIMIT))
    except OSError as reason:
        helpers.need(False, f"no memory cgroup can be made: {reason}")
    yield group
    helpers.wait_until(lambda: remove_group(group), "the end of all in the cgroup")


def run_limited(group, folder, *words, half="root", interval=0.1):
    """The summary for a person, and the one as JSON."""
    summary = folder / "summary.json"
    command = rights(half, helpers.binary(), "--no-save", "-i", str(interval), "-s", str(summary), "--", *words)
    done = helpers.run(["sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', group, *command],
                          capture_output=True, text=True, cwd=folder)
    return done, json.loads(summary.read_text())


@pytest.mark.parametrize("below", [False, True], ids=["the-job-itself", "a-child"])
def test_oom_kill_is_told(limited_group, folder, below):
    hungry = [job(), "spike", "400", "50", "1"]
    words = ["sh", "-c", '"$@"; exit 3', "sh", *hungry] if below else hungry
    done, summary = run_limited(limited_group, folder, *words)
    assert done.returncode == (3 if below else -9)
    assert summary["totals"]["oom_kills"] == {"value": 1, "source": "cgroup"}
    check_told(limited_group, summary["oom"], done.stderr)


def check_told(group, oom, text):
    """Who, at whose limit, what to ask for."""
    assert oom["command"] == "known_truth"
    assert oom["limit_bytes"] == LIMIT
    assert oom["cgroup"] == f"/{group.name}"
    assert not oom["whole_machine"]
    assert 0.9 * LIMIT < oom["held_bytes"] < 1.05 * LIMIT
    assert oom["advised_bytes"] >= LIMIT * 1.5
    assert oom["last_moments"] and oom["last_moments"][0]["memory_bytes"] > 0
    words = " ".join(text.split())
    assert "the kernel killed 1 process for want of memory" in words
    assert re.search(rf"known_truth\[{oom['pid']}\] held \S+ MiB, the limit of its cgroup is 200 MiB; "
                     r"ask for at least \S+ GiB next time", words)
    assert f"cgroup /{group.name}" in words


@pytest.mark.parametrize("below", [False, True], ids=["the-job-itself", "a-child"])
def test_what_was_held_is_not_told_from_long_before_the_kill(limited_group, folder, below):
    """A user may not read the kernel's log, and the last look may be older than the memory."""
    hungry = [job(), "spike", "400", "50", "1"]
    words = ["sh", "-c", '"$@"; exit 3', "sh", *hungry] if below else hungry
    done, summary = run_limited(limited_group, folder, *words, half="user", interval=60)
    oom = summary["oom"]
    assert summary["totals"]["oom_kills"]["value"] == 1
    assert (oom["command"], oom["limit_bytes"]) == ("known_truth", LIMIT)
    assert (below and oom["held_bytes"] is None) or LIMIT / 2 <= oom["held_bytes"] < 1.05 * LIMIT
    assert re.search(r"the limit\b.*\bis 200 MiB; ask for at least \S+ GiB next time", " ".join(done.stderr.split()))


@pytest.mark.parametrize("sources", ["wait4,events,hwm", "wait4"])
def test_a_kill_in_a_cgroup_that_we_do_not_watch(limited_group, folder, sources):
    """A job that enters a cgroup of its own, as a container does: our own counts nothing, the kernel's log tells."""
    helpers.need(os.access("/dev/kmsg", os.R_OK), "the kernel's log may not be read")
    summary = folder / "summary.json"
    script = f'echo $$ > {limited_group}/cgroup.procs; "$@"'
    done = helpers.tracker("--no-save", "-i", "0.1", "--sources", sources, "-s", summary, "sh", "-c", script, "sh",
                           job(), "spike", "400", "50", "1", cwd=folder)
    told = json.loads(summary.read_text())
    assert done.returncode == 137
    assert told["totals"]["oom_kills"] == {"value": 1, "source": "kmsg"}
    check_told(limited_group, told["oom"], done.stderr)


def test_a_kill_by_hand_is_no_oom(limited_group, folder):
    done, summary = run_limited(limited_group, folder, "sh", "-c", "sleep 0.3; kill -9 $$")
    assert done.returncode == -9
    assert summary["totals"]["oom_kills"]["value"] == 0
    assert "oom" not in summary
