"""The estimated memory of jobs that run, against true reads at the same time.

Phases are steady, so that a loaded machine changes nothing: a workload says when it is in place, the tracker
has some ticks, then its newest row is compared with the PSS of all members, read here."""

import functools
import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from helpers import (
    BUILD_PATIENCE,
    PATIENCE,
    as_nobody,
    binary,
    descendants,
    end_process,
    finish,
    is_sanitized,
    need,
    need_command,
    need_root,
    popen,
    read_csv,
    row_count,
    run,
    shared_folder,
    wait_until,
    workload,
)

KIB, MIB = 1024, 1 << 20
INTERVAL = 0.1
COMPILE_INTERVAL = 0.05
TICKS_TO_SETTLE = 4
SLACK = 1 * MIB  # of any figure: libraries come and go with the rest of the machine

# How far a row may be off, as a share of the true value: for root, who may sample pages, and for a user, for whom
# large processes stay unread.
TOLERANCE = {
    "copies": (0.15, 0.15),  # a parent that writes after its forks is the model's weakest point
    "shared": (0.10, 0.15),
    "file": (0.10, 0.15),
    "growth": (0.02, 0.02),
    "shrink": (0.02, 0.02),
    "leaving": (0.10, 0.10),
    "exec": (0.02, 0.02),
    "node": (0.05, 0.10),
    "java": (0.05, 0.10),
    "compile": (0.10, 0.10),
}
INTERPRETERS = ("node", "java")
PHASES = {"copies": 2, "shrink": 2, "growth": 3, "leaving": 3, "exec": 3}

NODE = """const held = [];
for (let i = 0; i < 40; i++) held.push(Buffer.alloc(1 << 20, 1));
console.log('ready');
process.stdin.on('data', () => process.exit(held.length ? 0 : 1));"""

JAVA = """public class Hold {
    public static void main(String[] arguments) throws Exception {
        byte[][] held = new byte[40][1 << 20];
        for (byte[] part : held) java.util.Arrays.fill(part, (byte) 1);
        System.out.println("ready");
        System.in.read();
        System.exit(held.length > 0 ? 0 : 1);
    }
}
"""


@functools.lru_cache(maxsize=None)
def java_classes():
    source = shared_folder() / "Hold.java"
    source.write_text(JAVA)
    run(["javac", "-d", shared_folder(), source], check=True, timeout=BUILD_PATIENCE)
    return str(shared_folder())


@functools.lru_cache(maxsize=None)
def large_file():
    path = shared_folder() / "large"
    path.write_bytes(os.urandom(MIB) * 64)
    return str(path)


# A row and the true read fall at two times: pages of a program that others start or end in between change hands. So each
# interpreter is a copy whose pages no other process maps.


@functools.lru_cache(maxsize=None)
def own_node():
    return shutil.copy(os.path.realpath(shutil.which("node")), shared_folder() / "node")


@functools.lru_cache(maxsize=None)
def own_java():
    home = Path(os.path.realpath(shutil.which("java"))).parent.parent
    copy = shared_folder() / "java"
    for part in ("bin", "conf", "lib"):
        shutil.copytree(home / part, copy / part, ignore=shutil.ignore_patterns("src.zip", "ct.sym"),
                        ignore_dangling_symlinks=True)
    return copy / "bin" / "java"


def command_of(shape):
    if shape == "node":
        need_command("node")
        return [own_node(), "-e", NODE]
    if shape == "java":
        need_command("javac")
        return [own_java(), "-XX:+UseSerialGC", "-cp", java_classes(), "Hold"]
    return [workload("memory_shapes"), shape] + ([large_file()] if shape == "file" else [])


def prefix_of(user):
    if user == "root":
        if os.geteuid() != 0:
            pytest.skip("needs root")
        return []
    return as_nobody()


def true_bytes(pids):
    """The PSS of them all; what ends meanwhile has none."""
    total = 0
    for pid in pids:
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except (FileNotFoundError, ProcessLookupError):
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total * KIB


def complete_rows(path):
    """Of a file that is being written: a torn last line is left out."""
    text = path.read_text() if path.exists() else ""
    lines = text[:text.rfind("\n") + 1].splitlines()
    return [dict(zip(lines[0].replace('"', "").split(","), line.split(","))) for line in lines[1:]]


def row_after(path, moment):
    """The memory of the newest row when so many were made after this moment: a loaded machine may skip some."""
    def look():
        rows = [row for row in complete_rows(path) if float(row["timestamp"]) > moment]
        return rows[-1] if len(rows) > TICKS_TO_SETTLE else None
    return float(wait_until(look, "rows")["memory"]) * KIB


def summary_peak(path):
    return json.loads(path.read_text())["totals"]["peak_memory_bytes"]


@pytest.mark.parametrize("user", ["root", "nobody"])
@pytest.mark.parametrize("shape", [shape for shape in TOLERANCE if shape != "compile"])
def test_rows_are_near_the_truth(open_folder, started, shape, user):
    rows, summary = open_folder / "rows.csv", open_folder / "summary.json"
    tolerance = TOLERANCE[shape][user == "nobody"]
    process = started("-q", "-i", INTERVAL, "--rows", "process", "-o", rows, "-s", summary, "--",
                      *command_of(shape), prefix=prefix_of(user), stdin=subprocess.PIPE)
    truths = []
    for phase in range(PHASES.get(shape, 1)):
        assert process.stdout.readline() == "ready\n", process.stderr.read()
        before, moment = true_bytes(descendants(process.pid)), time.time()

        def compare(before=before, moment=moment):
            """The newest row, the truth, and whether they agree; an interpreter compiles on a while after it is ready."""
            said, truth = row_after(rows, moment), true_bytes(descendants(process.pid))
            least, most = (min(before, truth), max(before, truth)) if shape in INTERPRETERS else (truth, truth)
            return least * (1 - tolerance) - SLACK <= said <= most * (1 + tolerance) + SLACK, said, truth
        if is_sanitized():  # each read takes several times as long, so fewer are in the budget
            wait_until(lambda: compare()[0], "a row near the truth")
        is_near, said, truth = compare()
        assert is_near, (phase, said, before, truth)
        truths.append(truth)
        process.stdin.write("\n")
        process.stdin.flush()
    finish(process, "")
    assert process.returncode == 0
    peak = summary_peak(summary)
    # An interpreter may have held more before it was in place: its rows tell.
    most = max(truths + [row["memory"] * KIB for row in read_csv(rows) if shape in INTERPRETERS and row["memory"]])
    assert peak["sampled_low"] - SLACK <= most and max(truths) <= peak["sampled_high"] + SLACK, (truths, most, peak)


# ---- a compile: not steady, so two trackers look at it at the same ticks ------------------------


@functools.lru_cache(maxsize=None)
def large_source():
    """Takes a compiler a second or two and some 50 MB."""
    path = shared_folder() / "large.c"
    path.write_text("".join(
        f"int f{i}(int a, int b) {{ int s = 0; for (int j = a; j < b; j++) s += j * {i} ^ (s >> (j & 7));"
        f" return s > {i} ? s : f{max(i - 1, 0)}(a, s); }}\n" for i in range(250)))
    return str(path)


@functools.lru_cache(maxsize=None)
def own_compiler():
    """A copy of the compiler proper: its pages are then not shared with what else compiles on the machine, which no
    estimate can know of."""
    folder = shared_folder() / "compiler"
    folder.mkdir()
    proper = run(["cc", "-print-prog-name=cc1"], capture_output=True, text=True).stdout.strip()
    if os.path.isabs(proper):
        shutil.copy(proper, folder / "cc1")
    return f"cc -B {folder}/"


@pytest.fixture
def ended():
    """Processes of a test that must not outlive it."""
    processes = []
    yield processes
    for process in processes:
        end_process(process)


def attach_both(folder, pid, prefix, ended):
    """A tracker that estimates and one that reads everything at every tick; both have their first row."""
    paths = {}
    for mode in ("auto", "pss"):
        paths[mode] = folder / f"{mode}.csv"
        ended.append(popen(
            [*prefix, binary(), "attach", "-q", "-i", str(COMPILE_INTERVAL), "--rows", "process", "--memory", mode,
             "-o", paths[mode], str(pid)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True))
    for path in paths.values():
        wait_until(lambda path=path: row_count(path) > 0, "the first row")
    return paths


def agrees(row, others, tolerance):
    """Within what the other tracker saw around that time: a compiler's memory moves between two looks."""
    near = [other["memory"] * KIB for other in others
            if abs(other["timestamp"] - row["timestamp"]) <= 2 * COMPILE_INTERVAL]
    said = row["memory"] * KIB
    return bool(near) and min(near) * (1 - tolerance) - SLACK <= said <= max(near) * (1 + tolerance) + SLACK


@pytest.mark.parametrize("user", ["root", "nobody"])
def test_a_compile_as_two_trackers_see_it(open_folder, ended, user):
    need_command("cc")
    prefix, tolerance = prefix_of(user), TOLERANCE["compile"][user == "nobody"]
    compile_twice = f"{own_compiler()} -O2 -c -o {open_folder}/large.o {large_source()};"
    job = popen([*prefix, "sh", "-c", f"read line; {compile_twice} {compile_twice} sleep 0.2"],
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    ended.append(job)
    paths = attach_both(open_folder, job.pid, prefix, ended)
    job.stdin.write("\n")
    job.stdin.close()
    assert job.wait(BUILD_PATIENCE) == 0
    for watching in ended[1:]:
        watching.wait()
    auto, pss = ([row for row in read_csv(paths[mode]) if row["memory"]] for mode in ("auto", "pss"))
    assert max(row["memory"] for row in pss) > 30 * KIB, "too small a compile to tell anything"
    agreed = [agrees(row, pss, tolerance) for row in auto]
    assert agreed.count(True) >= 0.8 * len(agreed), (auto, pss)


# ---- a memory cgroup of the job's own ------------------------------------------------------------

CGROUP_TOLERANCE = 0.05


@pytest.fixture
def own_cgroup():
    """An empty memory cgroup of either version."""
    need_root()
    v1, v2 = Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup")
    group = (v1 if (v1 / "cgroup.procs").exists() else v2) / f"tracker-own-{os.getpid()}"
    try:
        group.mkdir()
    except OSError as reason:
        need(False, f"no memory cgroup can be made: {reason}")
    try:
        need((group / "memory.stat").exists(), "the memory controller is not enabled for new cgroups")
        yield group
    finally:
        wait_until(lambda: removed(group), "the cgroup's end")


def removed(group):
    """A cgroup can't go before the last of its processes has."""
    try:
        group.rmdir()
    except FileNotFoundError:
        pass
    except OSError:
        return False
    return True


def inside(group, *command):
    """The command as `cgexec` would start it."""
    return ["sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', str(group), *command]


def started_shape(command, ended):
    job = popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    ended.append(job)
    assert job.stdout.readline() == "ready\n"
    return job


def attached(folder, pid, user, ended):
    prefix = [] if user == "root" else as_nobody()
    watching = popen(
        [*prefix, binary(), "attach", "-q", "-i", str(INTERVAL), "--rows", "process", "-o", folder / "rows.csv",
         "-s", folder / "summary.json", str(pid)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True)
    ended.append(watching)
    wait_until(lambda: row_count(folder / "rows.csv") > 0, "the first row")
    return watching


def check_phases(folder, job, tolerance):
    """Children that copied parts of their parent's memory; then the parent has written what all had in common."""
    for phase in range(2):
        said, truth = row_after(folder / "rows.csv", time.time()), true_bytes([job.pid, *descendants(job.pid)])
        assert said == pytest.approx(truth, rel=tolerance), (phase, said, truth)
        job.stdin.write("\n")
        job.stdin.flush()
        assert phase == 1 or job.stdout.readline() == "ready\n"


@pytest.mark.parametrize("user", ["root", "nobody"])
def test_a_cgroup_of_the_jobs_own_tells_its_memory(own_cgroup, open_folder, ended, user):
    """Seen from outside, as a container or a unit is. As a user nothing else could tell it: no pages may be sampled."""
    prefix = [] if user == "root" else as_nobody()
    job = started_shape(inside(own_cgroup, *prefix, workload("memory_shapes"), "copies"), ended)
    watching = attached(open_folder, job.pid, user, ended)
    check_phases(open_folder, job, CGROUP_TOLERANCE)
    watching.wait()
    peak = summary_peak(open_folder / "summary.json")
    assert "no_own_cgroup" not in peak["limited_by"], peak
    assert peak["sampled_high"] - peak["sampled_low"] < 0.1 * peak["sampled"], peak


def test_a_job_that_is_started_into_a_cgroup(own_cgroup, open_folder, started):
    rows = open_folder / "rows.csv"
    process = started("-q", "-i", INTERVAL, "--rows", "process", "-o", rows, "--",
                      *inside(own_cgroup, workload("memory_shapes"), "copies"), stdin=subprocess.PIPE)
    assert process.stdout.readline() == "ready\n", process.stderr.read()
    said, truth = row_after(rows, time.time()), true_bytes(descendants(process.pid))
    assert said == pytest.approx(truth, rel=CGROUP_TOLERANCE)
    process.stdin.write("\n\n")
    finish(process, "")
    assert process.returncode == 0


def test_a_cgroup_that_is_not_the_jobs_alone_is_not_used(own_cgroup, open_folder, ended):
    stranger = popen(inside(own_cgroup, "sleep", str(PATIENCE)))
    ended.append(stranger)
    wait_until(lambda: (own_cgroup / "cgroup.procs").read_text(), "the stranger")
    job = started_shape(inside(own_cgroup, workload("memory_shapes"), "copies"), ended)
    watching = attached(open_folder, job.pid, "root", ended)
    check_phases(open_folder, job, TOLERANCE["copies"][0])
    watching.wait()
    assert "no_own_cgroup" in summary_peak(open_folder / "summary.json")["limited_by"]


def test_a_job_that_was_moved_into_a_cgroup_left_its_charges_behind(own_cgroup, open_folder, ended):
    job = started_shape([workload("memory_shapes"), "copies"], ended)
    for pid in [job.pid, *descendants(job.pid)]:
        (own_cgroup / "cgroup.procs").write_text(str(pid))
    watching = attached(open_folder, job.pid, "root", ended)
    check_phases(open_folder, job, TOLERANCE["copies"][0])
    watching.wait()
    assert "no_own_cgroup" in summary_peak(open_folder / "summary.json")["limited_by"]


# ---- what limits it -----------------------------------------------------------------------------


def test_another_users_process_is_estimated_and_said_to_be(open_folder, ended):
    """Neither its memory nor its family can be read: its resident size stands in, and the record says why."""
    need_root()
    summary = open_folder / "summary.json"
    target = popen([workload("memory_shapes"), "growth"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    ended.append(target)
    assert target.stdout.readline() == "ready\n"
    watching = popen(
        [*as_nobody(binary()), "attach", "-q", "-i", "0.1", "-o", open_folder / "rows.csv", "-s", summary,
         str(target.pid)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    ended.append(watching)
    wait_until(lambda: row_count(open_folder / "rows.csv") > 2, "rows")
    target.stdin.close()
    watching.wait()
    peak = summary_peak(summary)
    assert {"reads_refused", "families_hidden"} <= set(peak["limited_by"]), peak
    assert peak["sampled_low"] <= 30.5 * MIB and peak["sampled_high"] >= 30 * MIB


def test_info_tells_whether_pages_can_be_sampled():
    need_root()

    def pages(*prefix):
        said = run([*prefix, binary(), "info"], capture_output=True, text=True, check=True).stdout
        return [line.split()[1] for line in said.splitlines() if line.split()[0] == "pages"]
    assert pages() == ["yes"] or not os.path.exists("/proc/kpagecount")
    assert pages(*as_nobody()) == ["no"]
    assert pages("setpriv", "--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin") == ["no"]


@pytest.mark.parametrize("user", ["root", "nobody"])
def test_a_gigabyte_that_grows_is_hardly_read(open_folder, started, user):
    """Alone in its family: all that it has is its own, however large it gets."""
    rows, summary = open_folder / "rows.csv", open_folder / "summary.json"
    process = started("-q", "-i", INTERVAL, "--rows", "process", "-o", rows, "-s", summary, "--",
                      workload("memory_shapes"), "large", prefix=prefix_of(user), stdin=subprocess.PIPE)
    assert process.stdout.readline() == "ready\n", process.stderr.read()
    row_after(rows, time.time())
    truth = true_bytes(descendants(process.pid))
    finish(process)
    peak = summary_peak(summary)
    assert peak["sampled"] == pytest.approx(truth, rel=0.005)
    assert peak["true_reads"] <= 5  # counted, since the time of a read depends on the machine's load
