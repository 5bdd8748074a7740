"""Known truths: what a workload did by its own clocks and counters, against what we say it did."""

import os

import pytest
from helpers import (
    HERE,
    Track,
    binary,
    finish,
    need,
    need_command,
    need_namespace,
    need_root,
    parse_csv,
    python,
    run,
    tracker,
    workload,
)

SLOW_FILE_SYSTEMS = {"tmpfs", "overlay", "9p", "ramfs"}


def test_half_a_core(tmp_path):
    """2.5 s of CPU over 5 s or, on a busy machine, over whatever the job's own clock says."""
    track = Track(tmp_path, workload("burn"), "2.5", "5", interval=0.5).check()
    cpu, wall = track.said["cpu_seconds"], track.said["wall_seconds"]
    assert track.row_cpu_seconds() == pytest.approx(cpu, rel=0.02)
    assert track.summary["totals"]["cpu_seconds"]["value"] == pytest.approx(cpu, rel=0.02)
    assert track.summary["wall_seconds"] == pytest.approx(wall, rel=0.02)
    average = track.summary["averages"]["process_cpu_usage_cores"]
    assert average == pytest.approx(cpu / wall, rel=0.02)


def file_system_of(path):
    done = run(["stat", "-f", "-c", "%T", path], capture_output=True, text=True)
    return done.stdout.strip()


def test_direct_writes(tmp_path):
    """Past the page cache, so storage sees exactly what was written."""
    kind = file_system_of(tmp_path)
    need(kind not in SLOW_FILE_SYSTEMS, f"O_DIRECT on {kind} does not reach a disk")
    target = tmp_path / "data"
    track = Track(tmp_path, workload("direct_write"), target, "100", interval=0.1, rows="both")
    need(track.returncode != 77, f"{kind} has no O_DIRECT")
    track.check()
    target.unlink()
    written = track.said["bytes"]
    assert sum(track.column("process_write_bytes")) == pytest.approx(written, rel=0.01)
    assert track.summary["totals"]["write_bytes"]["value"] == pytest.approx(written, rel=0.01)
    assert sum(track.column("system_disk_write_bytes")) >= 0.99 * written


def test_cached_reads_are_not_read_bytes(tmp_path):
    data = tmp_path / "data"
    data.write_bytes(os.urandom(1 << 22))
    track = Track(tmp_path, "cat", data, interval=0.1, text=False).check()
    assert track.summary["totals"]["read_bytes"]["value"] < 1 << 21


DATAGRAMS = 20000
PAYLOAD = 1400
HEADERS = 14 + 20 + 8  # Ethernet, IP, UDP
SENDER = f"""
import socket, time
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
data = bytes({PAYLOAD})
for i in range({DATAGRAMS}):
    out.sendto(data, ("10.99.0.2", 9))
    if i % 100 == 0:
        time.sleep(0.002)  # the other side's queue holds a thousand
"""


@pytest.fixture
def linked_namespaces():
    """Two network namespaces with a veth pair between them."""
    need_root()
    need_command("ip")
    names = [f"trk{os.getpid()}{side}" for side in "ab"]
    made = run(["ip", "netns", "add", names[0]], capture_output=True, text=True)
    need(made.returncode == 0, f"ip netns add: {made.stderr.strip()}")
    try:
        a, b = names
        for line in (f"netns add {b}", f"-n {a} link add left type veth peer name right netns {b}",
                     f"-n {a} addr add 10.99.0.1/24 dev left",
                     f"-n {b} addr add 10.99.0.2/24 dev right",
                     f"-n {a} link set left up", f"-n {b} link set right up",
                     f"-n {b} link set lo up", f"-n {a} link set lo up"):
            run(["ip", *line.split()], check=True)
        yield names
    finally:
        for name in names:
            run(["ip", "netns", "del", name], capture_output=True)


def test_known_bytes_over_a_veth_pair(linked_namespaces, started):
    inside = [["ip", "netns", "exec", name] for name in linked_namespaces]
    trackers = [started("system", "-i", "0.1", prefix=prefix) for prefix in inside]
    texts = [process.stdout.readline() + process.stdout.readline() for process in trackers]
    run([*inside[0], *python(SENDER)], check=True)
    for process in trackers:
        process.terminate()
    sent, received = (parse_csv(text + finish(process)) for text, process in zip(texts, trackers))
    truth = DATAGRAMS * (PAYLOAD + HEADERS)
    assert sum(row["net_sent_bytes"] for row in sent) == pytest.approx(truth, rel=0.01)
    assert sum(row["net_recv_bytes"] for row in received) == pytest.approx(truth, rel=0.01)


def test_loopback_is_not_the_network(linked_namespaces):
    """Nobody listens there; unconnected datagrams do not mind."""
    talk = ("import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
            "for i in range(2000): s.sendto(bytes(1000), ('127.0.0.1', 9))")
    inside = ["ip", "netns", "exec", linked_namespaces[0]]
    done = tracker("-q", "--rows", "system", "-o", "-", *python(talk), prefix=inside)
    assert done.returncode == 0
    rows = parse_csv(done.stdout)
    assert sum(row["net_sent_bytes"] for row in rows) < 100000


def test_space_of_a_mount(open_folder):
    """In a mount namespace of its own, where nobody else mounts."""
    need_namespace("-m")
    done = run(["unshare", "-m", "python3", "-I", HERE / "space_of_mounts.py", binary(), open_folder],
               capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
