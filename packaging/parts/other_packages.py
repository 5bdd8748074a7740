"""conda, the container's files, and the R source packages."""

import os
import shutil

from . import common, programs, system_packages, toolchain

RATTLER = "py-rattler-build==0.73.0"


def make_conda(output):
    """Of this machine's architecture."""
    environment = common.WORK / "rattler"
    if not (environment / "bin" / "python").exists():
        common.run("python3", "-m", "venv", environment)
        common.run(environment / "bin" / "pip", "install", "-q", RATTLER)
    target = toolchain.TARGETS[f"{os.uname().machine}-linux-glibc"]
    recipe = common.fresh_folder(common.WORK / "conda")
    (recipe / "recipe.yaml").write_text(system_packages.fill("conda/recipe.yaml.in", {
        "VERSION": common.version(), "HOMEPAGE": common.HOMEPAGE, "TREE": programs.staged(target)}), encoding="utf-8")
    built = common.fresh_folder(common.WORK / "conda-output")
    common.run(environment / "bin" / "rattler-build", "build", "--recipe", recipe / "recipe.yaml", "--output-dir", built,
               "--no-build-id")
    for path in built.rglob("*.conda"):
        yield shutil.copy(path, output / f"{path.stem}-{target.cpu}.conda")


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
