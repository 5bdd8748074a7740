"""Packages do not depend on the folder in which they are built. Not among the tests of each change, because it builds all of them
again."""

import subprocess

import helpers


def test_packages_of_two_folders_are_identical():
    done = subprocess.run([helpers.REPOSITORY / "packaging" / "build", "--check"], capture_output=True, text=True, timeout=3500,
                          check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "byte-identical" in done.stdout
