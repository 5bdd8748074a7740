"""Run by test_truths.py inside a mount namespace of its own: BINARY MOUNT. The space that the tracker reports must be the
sum of statvfs over the mounts that count, each device once, and the test's mounts must be in it."""

import csv
import os
import subprocess
import sys
import threading

OUTSIDE = ("/proc", "/sys", "/dev", "/run")
ROUND = 16 << 20  # what others may write to the root between two looks at it, and a part of what the test writes
LIMIT_SECONDS = 30


def mounts():
    """(point, device) of the mounts outside of the kernel's own places."""
    with open("/proc/self/mountinfo") as lines:
        for line in lines:
            _, _, device, _, point, *_ = line.split()
            point = point.encode().decode("unicode_escape")
            if not any(point == place or point.startswith(place + "/") for place in OUTSIDE):
                yield point, device


def drop_mounts_of_others():
    """A mount that came with the namespace vanishes from it when another process removes its folder outside. The root
    stays, and what this test mounts."""
    for point, _ in reversed(list(mounts())):
        if point != "/":
            subprocess.run(["umount", "-l", point], check=True, timeout=LIMIT_SECONDS)


def space():
    total = free = 0
    for point in {device: point for point, device in mounts()}.values():
        data = os.statvfs(point)
        total += data.f_blocks * data.f_frsize
        free += data.f_bavail * data.f_frsize
    return total, free


class Watched:
    """The least and the most that was free from beginning to end: others write to the root all the time."""

    def __enter__(self):
        self.seen = [space()]
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.look)
        self.thread.start()
        return self

    def look(self):
        while not self.over.wait(0.002):
            self.seen.append(space())

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()
        self.seen.append(space())


def reported(binary):
    done = subprocess.run([binary, "-q", "--no-save", "--rows", "system", "--schema", "full", "-o", "-", "true"],
                          capture_output=True, text=True, check=True, timeout=LIMIT_SECONDS)
    row = list(csv.DictReader(done.stdout.splitlines()))[-1]
    return [int(row[f"disk_space_{part}_bytes"]) for part in ("total", "used", "free")]


def compare(binary):
    with Watched() as watched:
        total, used, free = reported(binary)
    assert {total} == {seen[0] for seen in watched.seen}, (total, watched.seen)
    assert used + free == total, (used, free, total)
    frees = [seen[1] for seen in watched.seen]
    assert min(frees) - ROUND <= free <= max(frees) + ROUND, (min(frees), free, max(frees))
    return total


def mount(*words):
    subprocess.run(["mount", *words], check=True, timeout=LIMIT_SECONDS)


def main(binary, folder):
    drop_mounts_of_others()
    bare = compare(binary)
    points = [os.path.join(folder, name) for name in ("first", "second", "again")]
    for point in points:
        os.mkdir(point)
    mount("-t", "tmpfs", "-o", "size=512m", "none", points[0])
    mount("-t", "tmpfs", "-o", "size=64m", "none", points[1])
    mount("--bind", points[0], points[2])  # the same device once more
    total = compare(binary)
    assert total - bare == (512 + 64) << 20, (total, bare)
    with open(os.path.join(points[0], "data"), "wb") as data:
        data.write(bytes(4 * ROUND))
    compare(binary)
    for point in reversed(points):
        subprocess.run(["umount", point], check=True, timeout=LIMIT_SECONDS)
    assert compare(binary) == bare


main(*sys.argv[1:])
