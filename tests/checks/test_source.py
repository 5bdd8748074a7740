"""Checkers that come from package registries, and what the tree must not contain. clang-tidy is slow and has a command
of its own, make lint."""

import shutil
import subprocess

import pytest
from tree import ROOT, TOOLS, c_paths, git, passes, paths, skip_or_fail

FILE_LINES_MAX = 1000
LONG_FILES = {"include/resource_tracker.h": 1500}  # one public header, read as a tutorial
# Kernel text and expected output are kept byte by byte.
VERBATIM = [":!tests/fixtures", ":!tests/fuzz/corpus", ":!tests/cli/cases", ":!tests/cli/shells/lines", ":!tests/golden",
            ":!tests/data", ":!LICENSE"]


def test_layout_of_c():
    """`make format` lays the files out."""
    passes(TOOLS / "clang-format", "--dry-run", "-Werror", *c_paths())


def test_bad_layout_is_found(tmp_path):
    (tmp_path / "a.c").write_text("int  f( void ) {return 1;}\n")
    with pytest.raises(AssertionError):
        passes(TOOLS / "clang-format", f"--style=file:{ROOT}/.clang-format", "--dry-run", "-Werror", tmp_path / "a.c")


def test_python_rules():
    passes(TOOLS / "ruff", "check", "--no-cache", ".")


def test_python_types():
    passes(TOOLS / "mypy", "--cache-dir=build-python/mypy")


@pytest.mark.parametrize("script", ["lint", "types"])
def test_page(script):
    npm = shutil.which("npm")
    if not npm or not (ROOT / "web/node_modules/eslint").exists():
        skip_or_fail("the page's development packages are not installed: tools/bootstrap browser")
    passes(npm, "run", "--silent", script, cwd=ROOT / "web")


def test_white_space_and_conflicts():
    """As git itself sees them: blanks at the end of a line, conflict markers."""
    empty_tree = git("hash-object", "-t", "tree", "/dev/null").stdout.strip()
    found = git("-c", "core.whitespace=tab-in-indent", "diff", "--check", empty_tree, "--", *VERBATIM, ":!Makefile",
                ":!packaging/debian/rules", ":!*.in")
    assert found.returncode == 0, found.stdout[-4000:]
    found = git("grep", "-nI", "--untracked", "-e", "[[:blank:]]$", "--", *VERBATIM)
    assert found.returncode == 1, found.stdout[-4000:]


@pytest.mark.parametrize("what, pattern", [
    ("unfinished work", r"\b(TO" r"DO|FIX" r"ME|X" r"XX|HA" r"CK)\b"),
    ("a path of one machine", r"(^|[^\w/.*])/(wo" r"rk|ro" r"ot)/\w"),
])
def test_marks(what, pattern):
    """Written in pieces so that this file does not match itself."""
    found = git("grep", "-nIP", "--untracked", "-e", pattern, "--", *VERBATIM)
    assert found.returncode == 1, f"{what}:\n{found.stdout}{found.stderr}"


def test_the_marks_can_be_found(tmp_path):
    (tmp_path / "a.c").write_text("/* TO" "DO: later */\n")
    found = subprocess.run(["git", "grep", "--no-index", "-nP", r"\bTO" r"DO\b"], cwd=tmp_path, capture_output=True,
                           check=False, timeout=60)
    assert found.returncode == 0


def test_files_are_of_readable_length():
    """clang-tidy checks the length of functions."""
    lengths = {path: (ROOT / path).read_text().count("\n") for path in [*c_paths(), *paths("*.py")]}
    too_long = {path: lines for path, lines in lengths.items() if lines > LONG_FILES.get(path, FILE_LINES_MAX)}
    assert not too_long


def test_the_comparison_is_small():
    """Lines of code of src/compare, which is pure; comments do not count."""
    lines = [line.strip() for path in c_paths() if path.startswith("src/compare/")
             for line in (ROOT / path).read_text().splitlines()]
    assert 0 < len([line for line in lines if line and not line.startswith(("/*", "*"))]) < 700
