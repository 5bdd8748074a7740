"""Run by test_truths.py inside a mount namespace: BINARY MOUNT. The space that the tracker reports
must be the sum of statvfs over the mounts that count, and the test mount must be in it."""

import csv
import os
import subprocess
import sys

OUTSIDE = ("/proc", "/sys", "/dev", "/run")
MOVING = 64 << 20  # what others may write to the disk meanwhile


def mount_points():
    """Each device once, without the kernel's own places."""
    seen = {}
    with open("/proc/self/mountinfo") as lines:
        for line in lines:
            _, _, device, _, point, *_ = line.split()
            point = point.encode().decode("unicode_escape")
            if not any(point == place or point.startswith(place + "/") for place in OUTSIDE):
                seen.setdefault(device, point)
    return seen.values()


def space():
    total = free = 0
    for point in mount_points():
        data = os.statvfs(point)
        total += data.f_blocks * data.f_frsize
        free += data.f_bavail * data.f_frsize
    return total, free


def reported(binary):
    done = subprocess.run([binary, "-q", "--rows", "system", "--schema", "full", "-o", "-", "true"],
                          capture_output=True, text=True, check=True)
    row = list(csv.DictReader(done.stdout.splitlines()))[-1]
    return [int(row[f"disk_space_{part}_bytes"]) for part in ("total", "used", "free")]


def compare(binary):
    before = space()
    total, used, free = reported(binary)
    after = space()
    assert total == before[0], (total, before)
    assert used + free == total, (used, free, total)
    low, high = sorted((before[1], after[1]))
    assert low - MOVING <= free <= high + MOVING, (low, free, high)
    return total, free


def main(binary, mount):
    compare(binary)
    with open(os.path.join(mount, "data"), "wb") as data:
        data.write(bytes(256 << 20))
    compare(binary)
    with_mount, _ = compare(binary)
    own = os.statvfs(mount)
    subprocess.run(["umount", mount], check=True)
    without, _ = compare(binary)
    assert with_mount - without == own.f_blocks * own.f_frsize


main(*sys.argv[1:])
