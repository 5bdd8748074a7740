"""What the checks of the source tree share: which files there are, and how a check reports.

A check is a function from a list of SourceFile to a list of complaints. `main` runs it over the tree;
with --self-test it runs it over samples, each of which must give the complaint it names: a check that
finds nothing anywhere would otherwise look like a clean tree.
"""

import os
import subprocess
import sys
from dataclasses import dataclass

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
C_FOLDERS = ("include/", "src/", "cli/", "tests/", "bench/", "tools/", "bindings/")


@dataclass
class SourceFile:
    path: str  # from the root of the tree
    text: str

    @property
    def lines(self):
        return self.text.splitlines()

    @property
    def is_c(self):
        return self.path.endswith((".c", ".h")) and self.path.startswith(C_FOLDERS)


def list_paths():
    """Tracked files and new ones that are not ignored; the plain tree where there is no git."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, check=False)
    if listing.returncode == 0:
        paths = [p for p in listing.stdout.decode().split("\0") if p]
    else:
        paths = [os.path.relpath(os.path.join(folder, name), ROOT)
                 for folder, _, names in os.walk(ROOT) for name in names]
        paths = [p for p in paths if not p.startswith(("build", ".git/"))]
    return sorted(p for p in paths if os.path.isfile(os.path.join(ROOT, p)))


def read_tree():
    """Every text file; what is not UTF-8 text (fixtures, corpora) is nobody's source."""
    files = []
    for path in list_paths():
        try:
            with open(os.path.join(ROOT, path), encoding="utf-8") as handle:
                files.append(SourceFile(path, handle.read()))
        except (UnicodeDecodeError, FileNotFoundError):
            continue
    return files


def self_test(check, samples):
    """samples: (what, [SourceFile], text that a complaint must hold, or None for no complaint)."""
    wrong = 0
    for what, files, expected in samples:
        complaints = check(files)
        good = not complaints if expected is None else any(expected in c for c in complaints)
        if not good:
            wrong += 1
            print(f"self-test: {what}: expected {expected!r}, got {complaints}")
    return wrong


def main(check, samples, warn=None):
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(1 if self_test(check, samples) else 0)
    files = read_tree()
    for line in warn(files) if warn else []:
        print("warning:", line)
    complaints = check(files)
    for complaint in complaints:
        print(complaint)
    sys.exit(1 if complaints else 0)
