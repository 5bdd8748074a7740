"""The examples of the manual and of the docstrings run, and show what they say that they show."""

import doctest
import importlib
import os
import re

import pytest
from conftest import ROOT, run_python

BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
MODULES = ["resource_tracker", "resource_tracker.tracker", "resource_tracker.tiny_data_frame", "resource_tracker.helpers",
           "resource_tracker.report", "gpu_tracker"]


def examples(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as page:
        return BLOCK.findall(page.read())


def test_the_manual(tmp_path):
    """One after the other, as somebody types them."""
    blocks = examples("docs/python.md")
    assert len(blocks) >= 9
    done = run_python("\n".join(blocks), cwd=tmp_path)
    assert "{'cpu': 1, 'memory': 128, 'gpu': 0, 'vram': 0}" in done.stdout
    assert (tmp_path / "run.html").read_text().startswith("<!doctype html>")


def test_the_readme(tmp_path):
    for block in examples("README.md"):
        if "metaflow" not in block:
            run_python(block, cwd=tmp_path)


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    found = doctest.testmod(importlib.import_module(name))
    assert found.failed == 0
    if name not in ("resource_tracker.server_info",):
        assert found.attempted > 0


def test_everything_public_is_documented():
    for name in [*MODULES, "gpu_tracker.tracker", "gpu_tracker.sub_tracker", "resource_tracker.keeper",
                 "resource_tracker.cloud_info", "resource_tracker.server_info"]:
        module = importlib.import_module(name)
        assert module.__doc__
        for attribute, member in vars(module).items():
            if attribute.startswith("_") or getattr(member, "__module__", None) != name:
                continue
            assert getattr(member, "__doc__", None), f"{name}.{attribute}"
            for inner, method in vars(member).items() if isinstance(member, type) else ():
                if not inner.startswith("_") and callable(method):
                    assert method.__doc__, f"{name}.{attribute}.{inner}"
