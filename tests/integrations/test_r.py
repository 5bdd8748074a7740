"""The R package as its users get it: the source package, R's own check of it, the README's example, the examples."""

import os
import re
import tarfile

import pytest
import r_check
from conftest import ROOT, need_program
from r_check import run

# The limit of tests/pytest.ini is shorter than that of R's check, which each of these tests may have to wait for.
pytestmark = pytest.mark.timeout(r_check.SECONDS_MAX + 60)


@pytest.fixture(scope="module")
def checked():
    need_program("R")
    return r_check.outcome()


def rscript(library, *arguments, **options):
    return run("Rscript", "--vanilla", *arguments, env={"R_LIBS": str(library)}, **options)


def test_source_package_carries_the_core():
    need_program("R")
    with tarfile.open(r_check.source_package()) as package:
        names = package.getnames()
    assert "resource.tracker/src/core/library/tracker/tracker.c" in names
    assert "resource.tracker/src/core/include/resource_tracker.h" in names
    assert not [name for name in names if name.endswith((".o", ".so", ".a", "meson.build"))]


def test_check_without_error_or_warning(checked):
    text, _ = checked
    assert re.search(r"^Status: (OK|\d NOTEs?)$", text, re.MULTILINE), text
    assert "checking tests ..." in text and "checking re-building of vignette outputs ... OK" in text


def test_installs_from_the_repository():
    need_program("R")
    library = r_check.installed()
    program = os.path.join(library, "resource.tracker", "bin", "resource-tracker")
    assert "resource-tracker" in run(program, "--version")
    assert rscript(library, "-e", "cat(resource.tracker::ResourceTracker$new()$running)") == "TRUE"


def test_readme_example(checked, tmp_path):
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as text:
        blocks = re.findall(r"^```r\n(.*?)^```", text.read(), re.MULTILINE | re.DOTALL)
    assert blocks
    for number, block in enumerate(blocks):
        (tmp_path / f"{number}.R").write_text(block)
        rscript(checked[1], f"{number}.R", cwd=tmp_path)


def test_example_program(checked, tmp_path):
    printed = rscript(checked[1], os.path.join(ROOT, "docs", "examples", "track_bootstrap.R"), cwd=tmp_path)
    assert re.search(r"^peak memory: \d+ MiB$", printed, re.MULTILINE), printed
    assert re.search(r"^next time ask for: [1-9]\d* CPU, [1-9]\d* MiB$", printed, re.MULTILINE), printed
    assert (tmp_path / "bootstrap.json.gz").exists()
    assert "bootstrap" in (tmp_path / "bootstrap.html").read_text()  # a phase's name
