"""A pytest plugin: tests fail that use more than they may.

    @pytest.mark.peak_memory("512MiB")
    def test_import(): ...

    @pytest.mark.fail_if("cpu_seconds > 10s", "write_bytes > 1GiB")
    def test_export(): ...

The figures are those of the process that runs the tests and of its children, while the test function runs. Memory that
earlier tests left in the process counts: it is what the machine must have. A gate that is uncertain is a warning; with
--resource-strict it is a failure.
"""

from __future__ import annotations

import warnings
from typing import Any, Generator, List

import pytest

INTERVAL_SECONDS = 0.05


class ResourceWarningOfTest(UserWarning):
    """A gate could not be decided."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("resource-tracker").addoption(
        "--resource-strict", action="store_true", help="a gate that is uncertain or cannot be checked fails the test")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "peak_memory(limit): the test may hold no more memory than limit, such as '512MiB'")
    config.addinivalue_line("markers", "fail_if(gate, ...): the test fails where a gate is true, such as 'cpu_seconds > 10s'")


def gates_of(item: pytest.Item) -> List[str]:
    gates = [f"peak_memory > {mark.args[0]}" for mark in item.iter_markers("peak_memory")]
    for mark in item.iter_markers("fail_if"):
        gates.extend(mark.args)
    return gates


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    gates = gates_of(item)
    if not gates:
        return (yield)
    from resource_tracker import ResourceTracker, compare
    from resource_tracker._native import gate_check

    for gate in gates:
        gate_check(gate)
    tracker = ResourceTracker(interval=INTERVAL_SECONDS, discover_server=False, discover_cloud=False)
    try:
        result = yield
    finally:
        tracker.stop()
    for held in compare(None, tracker, gates).gates:
        if held["outcome"] == "failed" or (held["outcome"] != "passed" and item.config.getoption("--resource-strict")):
            pytest.fail(held["words"], pytrace=False)
        if held["outcome"] != "passed":
            warnings.warn(ResourceWarningOfTest(f"{item.nodeid}: {held['words']}"), stacklevel=1)
    return result
