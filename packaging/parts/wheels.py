"""Python wheels from the same builds as the programs, and the source package.

pip and cibuildwheel build through meson-python. Here the installed files are put into wheels directly: one build for each target
makes programs and extension, and meson-python cannot name another platform than that of its interpreter."""

import base64
import email
import hashlib
import re
import shutil
import tarfile
import zipfile
from datetime import datetime, timezone

import tomllib

from . import common, programs, sources, toolchain

DISTRIBUTION = "resource_tracker_native"
WHEEL = """Wheel-Version: 1.0
Generator: packaging/build
Root-Is-Purelib: {is_pure}
Tag: {tag}
"""


def metadata(output):
    """The METADATA file: what meson-python wrote into the source package."""
    with tarfile.open(next(iter(make_sdist(output)))) as archive:
        name = next(name for name in archive.getnames() if re.fullmatch(r"[^/]+/PKG-INFO", name))
        return archive.extractfile(name).read()


def make_sdist(output):
    found = list(output.glob(f"{DISTRIBUTION}-{common.version()}.tar.gz"))
    if not found:
        common.run("tools/bootstrap", "page", cwd=common.ROOT)
        common.run("tools/python_env", "sdist", cwd=common.ROOT)
        made = next((common.ROOT / "build-python" / "sdist").glob("*.tar.gz"))
        found = [shutil.copy(made, output / made.name)]
    yield found[0]


def entry_points():
    """The text of entry_points.txt: meson-python writes it into wheels alone."""
    project = tomllib.loads((common.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = (f"[{group}]\n" + "".join(f"{name} = {place}\n" for name, place in sorted(points.items()))
              for group, points in sorted(project["entry-points"].items()))
    return "\n".join(groups).encode()


def contents(target, info):
    """{path in the wheel: bytes} of a target; None: of the wheel without a native part."""
    files = {}
    tree = programs.installed(target or toolchain.TARGETS["x86_64-linux-glibc"])
    for path in sorted((tree / "python").rglob("*")):
        is_native = path.suffix == ".so"
        if path.is_file() and "__pycache__" not in path.parts and not (is_native and not target):
            name = path.relative_to(tree / "python")
            files[str(name.with_name("_native.abi3.so") if is_native else name)] = path.read_bytes()
    if target:
        for name in ("resource-tracker", "gpu-tracker"):
            files[f"{DISTRIBUTION}-{common.version()}.data/scripts/{name}"] = (tree / "usr" / "bin" / name).read_bytes()
    licences = common.fresh_folder(common.WORK / "wheel-licences")
    programs.put_licences(licences, sources.LINKED if target else ())
    for path in licences.iterdir():
        place = "sboms" if path.suffix == ".json" else "licenses"
        relative = "data/LICENSE-data" if path.name == "LICENSE-data" else path.name
        files[f"{info}/{place}/{relative}"] = path.read_bytes()
    return files


def record_line(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"


def write_wheel(output, target, text):
    tag = f"cp39-abi3-{target.wheel}" if target else "py3-none-any"
    info = f"{DISTRIBUTION}-{common.version()}.dist-info"
    files = contents(target, info)
    files[f"{info}/METADATA"] = text
    files[f"{info}/entry_points.txt"] = entry_points()
    files[f"{info}/WHEEL"] = WHEEL.format(tag=tag, is_pure=str(not target).lower()).encode()
    files[f"{info}/RECORD"] = ("".join(record_line(name, data) for name, data in sorted(files.items())) +
                               f"{info}/RECORD,,\n").encode()
    path = output / f"{DISTRIBUTION}-{common.version()}-{tag}.whl"
    path.unlink(missing_ok=True)
    when = datetime.fromtimestamp(common.commit_time(), timezone.utc).timetuple()[:6]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        # The files of dist-info come last, as the format recommends.
        for name in sorted(files, key=lambda name: (name.startswith(info), name)):
            entry = zipfile.ZipInfo(name, when)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if "/scripts/" in name or name.endswith(".so") else 0o100644) << 16
            archive.writestr(entry, files[name])
    return path


def check(path, target):
    """auditwheel reads the symbols that the files need; the platform of the name must be one that it allows."""
    if target and "manylinux" in target.wheel:
        shown = common.run(common.tools_python().parent / "auditwheel", "show", path)
        oldest = re.search(r'platform tag:\s+"manylinux_2_(\d+)_', shown)
        if not oldest or int(oldest[1]) > 28:
            raise common.Failure(f"{path.name} needs a newer glibc than its name says:\n{shown}")


def make(output):
    """One for each target, and one without a native part: it lets a flow be launched where nothing can be tracked."""
    text = metadata(output)
    if email.message_from_bytes(text)["Version"] != common.version():
        raise common.Failure(f"the source package in {output} is of another version: remove it")
    for target in (*toolchain.TARGETS.values(), None):
        path = write_wheel(output, target, text)
        check(path, target)
        yield path
