"""A pytest plugin: tests fail that use more than they may.

    @pytest.mark.peak_memory("512MiB")
    def test_import(): ...

    @pytest.mark.fail_if("cpu_seconds > 10s", "write_bytes > 1GiB")
    def test_export(): ...

The figures are those of the process that runs the tests and of its children, while the test function runs. Memory that
earlier tests left in the process counts: it is what the machine must have. A gate that is uncertain is a warning; with
--resource-strict it is a failure. Marks of a function stand in place of those of its class and module.
"""

from __future__ import annotations

import warnings
from typing import Callable, List, Tuple

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


def nearest_marks(item: pytest.Item, name: str) -> List[Tuple[object, ...]]:
    """The arguments of the marks of the function, else of its class, else of its module."""
    found = list(item.iter_markers_with_node(name))
    return [mark.args for node, mark in found if node is found[0][0]]


def gates_of(item: pytest.Item) -> List[str]:
    from resource_tracker._native import gate_check

    gates: List[str] = []
    for arguments in nearest_marks(item, "peak_memory"):
        if len(arguments) != 1:
            pytest.fail("peak_memory takes one limit: @pytest.mark.peak_memory('512MiB')", pytrace=False)
        gates.append(f"peak_memory > {arguments[0]}")
    for arguments in nearest_marks(item, "fail_if"):
        gates.extend(str(gate) for gate in arguments)
    for gate in gates:
        if gate_check(gate):
            pytest.fail(f"gate '{gate}' needs a base, which a test does not have", pytrace=False)
    return gates


def measure(item: pytest.Item, runtest: Callable[[], None], gates: List[str]) -> None:
    from resource_tracker import ResourceTracker, compare

    tracker = ResourceTracker(interval=INTERVAL_SECONDS, discover_server=False, discover_cloud=False)
    try:
        runtest()
    finally:
        tracker.stop()
    for held in compare(None, tracker, gates).gates:
        if held["outcome"] == "failed" or (held["outcome"] != "passed" and item.config.getoption("--resource-strict")):
            pytest.fail(held["words"], pytrace=False)
        if held["outcome"] != "passed":
            warnings.warn(ResourceWarningOfTest(f"{item.nodeid}: {held['words']}"), stacklevel=1)


# No wrapper: the forms of these differ between releases of pluggy, and what one raises after the test ends the others.
@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    if not any(item.iter_markers("peak_memory")) and not any(item.iter_markers("fail_if")):
        return
    gates, runtest = gates_of(item), item.runtest

    def measured() -> None:
        del item.runtest  # for a plugin that runs the test again
        measure(item, runtest, gates)

    item.runtest = measured  # type: ignore[method-assign]
