"""The programs for each target, and archives of them."""

import functools
import shutil

from . import common, sbom, sources, toolchain

LICENCES = ("LICENSE", "NOTICE", "data/LICENSE-data")
CONTENTS = {  # in an archive, and where `meson install` puts it
    "bin/resource-tracker": "usr/bin/resource-tracker",
    "bin/gpu-tracker": "usr/bin/gpu-tracker",
    "share/man/man1": "usr/share/man/man1",
    "share/bash-completion": "usr/share/bash-completion",
    "share/zsh": "usr/share/zsh",
    "share/fish": "usr/share/fish",
}


@functools.lru_cache(maxsize=None)
def installed(target):
    """Builds the programs and the Python packages for a target; the folder in which they are installed."""
    folder = common.WORK / f"meson-{target.name}"
    meson = [common.tools_python(), "-m", "mesonbuild.mesonmain"]
    settings = ["-Dbuildtype=release", "-Dtests=false", "-Dpython=true", "-Dprefix=/usr",
                "-Dpython.purelibdir=/python", "-Dpython.platlibdir=/python",
                f"-Dreport_template={common.page()}", f"--cross-file={toolchain.cross_file(target)}"]
    given = folder / ".options-given"
    if not (folder / "build.ninja").exists() or given.read_text(encoding="utf-8") != "\n".join(settings):
        shutil.rmtree(folder, ignore_errors=True)
        common.run(*meson, "setup", *settings, folder, common.ROOT, env=toolchain.zig_environment())
        given.write_text("\n".join(settings), encoding="utf-8")
    common.run(common.tools_python().parent / "ninja", "-C", folder, env=toolchain.zig_environment())
    target_folder = common.fresh_folder(common.WORK / f"installed-{target.name}")
    common.run(*meson, "install", "-C", folder, "--no-rebuild", "--destdir", target_folder, env=toolchain.zig_environment())
    return target_folder


def put_licences(folder, linked):
    """Licences of ours and of what is linked in, and the list of both."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in LICENCES:
        shutil.copy(common.ROOT / name, folder)
    found = sources.fetch()
    for source in linked:
        if source.licence_file:
            shutil.copy(found[source] / source.licence_file, folder / f"LICENSE-{source.name}")
    sbom.write(folder / "sbom.spdx.json", linked)


def staged(target):
    """The files of a package, with the layout of a prefix such as /usr/local."""
    name = f"{common.NAME}-{common.version()}-{target.name}"
    folder = common.fresh_folder(common.WORK / "archives" / name)
    tree = installed(target)
    for inside, path in CONTENTS.items():
        (folder / inside).parent.mkdir(parents=True, exist_ok=True)
        if (tree / path).is_dir():
            shutil.copytree(tree / path, folder / inside)
        else:
            shutil.copy(tree / path, folder / inside)
    put_licences(folder / "share" / "doc" / common.NAME, sources.LINKED)
    return folder


def make(output, is_wanted=lambda target: True):
    """One archive for each target."""
    for target in filter(is_wanted, toolchain.TARGETS.values()):
        folder = staged(target)
        yield common.write_tar(output / f"{folder.name}.tar.gz", folder, folder.name)


def make_static(output):
    return make(output, lambda target: target.name.endswith("-musl"))
