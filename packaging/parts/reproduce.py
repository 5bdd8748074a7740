"""Whether two builds of one tree, in different folders, are byte-identical."""

import shutil
import subprocess

from . import common, system_packages

PARTS = ("programs", "wheels", "rpm", "apk")


def check(folder):
    """Builds a copy of the tree in `folder` and compares its packages with those of this tree."""
    copy = common.fresh_folder(folder) / "a-folder-with-another-name"
    system_packages.copy_sources(copy)
    shutil.copytree(common.ROOT / ".git", copy / ".git", symlinks=True)  # the source package is made of what is committed
    for tree in (common.ROOT, copy):
        done = subprocess.run([tree / "packaging" / "build", *PARTS], env=common.environment(), check=False)
        if done.returncode:
            raise common.Failure(f"the build in {tree} failed")
    first, second = ({path.name: common.checksum(path) for path in (tree / "build-packages" / "dist").iterdir()}
                     for tree in (common.ROOT, copy))
    different = sorted(name for name in second if name != "SHA256SUMS" and first.get(name) != second[name])
    if different or not second:
        raise common.Failure("packages depend on the folder in which they are built: " + ", ".join(different))
    print(f"{len(second) - 1} packages are byte-identical in both folders")
