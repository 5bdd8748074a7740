"""conda, the container's files, and the R source packages."""

import shutil

from . import common, programs, system_packages, toolchain

RATTLER = "0.73.0"  # py-rattler-build of PyPI
BUILD_RECIPE = """
import sys
import rattler_build
recipe, output, platform = sys.argv[1:]
rattler_build.build_recipes([recipe], channel=[], no_build_id=True, test="skip", output_dir=output, target_platform=platform)
"""


def make_conda(output):
    """Both architectures. The recipe needs no other package, so no channel is asked."""
    python = common.WORK / "rattler" / "bin" / "python"
    if not python.exists():
        common.run("python3", "-m", "venv", python.parent.parent)
        common.run(python, "-m", "pip", "install", "-q", f"py-rattler-build=={RATTLER}")
    for cpu, platform in (("x86_64", "linux-64"), ("aarch64", "linux-aarch64")):
        tree = programs.staged(toolchain.TARGETS[f"{cpu}-linux-glibc"])
        recipe = common.fresh_folder(common.WORK / f"conda-{cpu}") / "recipe.yaml"
        recipe.write_text(system_packages.fill("conda/recipe.yaml.in", {
            "VERSION": common.version(), "HOMEPAGE": common.HOMEPAGE, "TREE": tree}), encoding="utf-8")
        built = common.fresh_folder(common.WORK / f"conda-output-{cpu}")
        common.run(python, "-c", BUILD_RECIPE, recipe, built, platform)
        for path in (built / platform).glob("*.conda"):
            yield shutil.copy(path, output / f"{path.stem}-{platform}.conda")


def make_container(output):
    """The folder that `docker build` or `podman build` is run in, as an archive."""
    name = f"{common.NAME}-{common.version()}-container"
    folder = common.fresh_folder(common.WORK / name)
    shutil.copy(common.ROOT / "packaging" / "Containerfile", folder)
    for cpu, architecture in system_packages.ARCHITECTURES.items():
        shutil.copytree(programs.staged(toolchain.TARGETS[f"{cpu}-linux-musl"]), folder / architecture)
    yield common.write_tar(output / f"{name}.tar.gz", folder, name)


def make_r(output):
    """The drop-in, resource.tracker, and the same under a name of our own for CRAN."""
    common.need("R", "r-base-dev")
    for name in ("resource.tracker", "resource.tracker.native"):
        common.run("tools/r_package", "--name", name, cwd=common.ROOT)
        made = f"{name}_{common.version()}.tar.gz"
        yield shutil.copy(common.ROOT / "build" / made, output / made)
