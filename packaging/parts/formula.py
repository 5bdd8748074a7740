"""The Homebrew formula: static programs, with their checksums. Homebrew on Linux has both architectures."""

from . import common, programs, system_packages


def make(output):
    values = {"VERSION": common.version(), "HOMEPAGE": common.HOMEPAGE}
    for cpu in ("x86_64", "aarch64"):
        archive = output / f"{common.NAME}-{common.version()}-{cpu}-linux-musl.tar.gz"
        if not archive.exists():
            list(programs.make(output))
        values[f"SHA256_{cpu.upper()}"] = common.checksum(archive)
    path = output / f"{common.NAME}.rb"
    path.write_text(system_packages.fill("homebrew/formula.rb.in", values), encoding="utf-8")
    yield path
