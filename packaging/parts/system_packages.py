""".deb by debhelper; .rpm and .apk of the static programs by nfpm."""

import os
import shutil
import subprocess
from datetime import datetime, timezone
from email.utils import format_datetime

from . import common, programs, sbom, sources, toolchain

NFPM = "v2.43.4"  # of the Go proxy
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}  # Go's names


def fill(name, values):
    text = (common.ROOT / "packaging" / name).read_text(encoding="utf-8")
    for key, value in values.items():
        text = text.replace(f"@{key}@", str(value))
    return text


def copy_sources(folder):
    """What is committed, and what is about to be."""
    names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=common.ROOT,
                           capture_output=True, text=True, check=True).stdout.split("\0")
    for name in filter(None, names):
        if (common.ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(common.ROOT / name, folder / name)


def make_deb(output):
    """Of this machine's architecture, against the libraries of its release. lintian must find no error."""
    for program, package in (("dpkg-buildpackage", "dpkg-dev"), ("dh", "debhelper"), ("lintian", "lintian")):
        common.need(program, package)
    folder = common.fresh_folder(common.WORK / "deb")
    source = folder / f"{common.NAME}-{common.version()}"
    copy_sources(source)
    shutil.copytree(source / "packaging" / "debian", source / "debian")
    when = format_datetime(datetime.fromtimestamp(common.commit_time(), timezone.utc))
    (source / "debian" / "changelog").write_text(
        fill("debian/changelog.in", {"VERSION": common.version(), "DATE": when}), encoding="utf-8")
    (source / "debian" / "changelog.in").unlink()
    shutil.copy(common.page(), source / "debian" / "report_page.html")
    sbom.write(source / "debian" / "sbom.spdx.json", sources.LINKED)
    common.run("dpkg-buildpackage", "-b", "-uc", "-us", "-d", cwd=source, env={"DEB_BUILD_OPTIONS": "nocheck"})
    packages = [path for path in sorted(folder.glob("*.deb")) if "-dbgsym" not in path.name]
    common.run("lintian", "--fail-on", "error", "--no-tag-display-limit", *packages)
    for path in packages:
        yield shutil.copy(path, output / path.name)


def nfpm():
    folder = common.WORK / "go"
    program = folder / "bin" / f"nfpm-{NFPM}"
    if not program.exists():
        go = common.need("go", "golang")
        common.run(go, "install", f"github.com/goreleaser/nfpm/v2/cmd/nfpm@{NFPM}", env={"GOBIN": str(folder / "bin")})
        os.rename(folder / "bin" / "nfpm", program)
    return program


def make_static_package(output, kind):
    """Its files are those of the archive of the static programs, so it runs on every distribution of that format."""
    time = datetime.fromtimestamp(common.commit_time(), timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    for cpu, architecture in ARCHITECTURES.items():
        target = toolchain.TARGETS[f"{cpu}-linux-musl"]
        tree = programs.staged(target)
        settings = common.WORK / f"nfpm-{kind}-{cpu}.yaml"
        settings.write_text(fill("nfpm.yaml.in", {"ARCH": architecture, "VERSION": common.version(), "TIME": time,
                                                  "HOMEPAGE": common.HOMEPAGE, "TREE": tree}), encoding="utf-8")
        name = f"{common.NAME}-{common.version()}-1.{cpu}.{kind}"
        common.run(nfpm(), "package", "--packager", kind, "--config", settings, "--target", output / name)
        yield output / name


def make_rpm(output):
    yield from make_static_package(output, "rpm")


def make_apk(output):
    yield from make_static_package(output, "apk")
