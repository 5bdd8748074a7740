"""The core where a task runs on another machine."""

from __future__ import annotations

import os
import platform
import sys
from importlib.util import find_spec
from typing import Any, Iterator, Tuple


def kind_of_content() -> Tuple[Any, ...]:
    """Metaflow before 2.16 knew one kind, and asked for none."""
    try:
        from metaflow.packaging_sys import ContentType
    except ImportError:
        return ()
    return (ContentType.CODE_CONTENT,)


def core_files() -> Iterator[Tuple[Any, ...]]:
    """(path, path in the package, kind) of the Python package and the program that tracks."""
    from resource_tracker._program import find_program

    spec = find_spec("resource_tracker")
    if spec is None or spec.origin is None:
        raise ImportError("resource_tracker has no folder")
    folder = os.path.dirname(spec.origin)
    for place, _, names in os.walk(folder):
        if os.path.basename(place) == "__pycache__":
            continue
        for name in names:
            path = os.path.join(place, name)
            yield (path, os.path.join("resource_tracker", os.path.relpath(path, folder)), *kind_of_content())
    program = find_program("resource-tracker")
    if program:
        yield (program, "bin/resource-tracker", *kind_of_content())


def why_not_here(fault: Exception) -> str:
    """What to do where the core cannot be loaded: another system or architecture, or another C library."""
    here = f"{platform.system()} {platform.machine()}, Python {sys.version_info.major}.{sys.version_info.minor}"
    return (f"the tracker cannot be loaded here ({here}): {fault}. Install it where the step runs, with "
            "@pypi(packages={'resource-tracker-native': 'VERSION'}) or `pip install resource-tracker-native` in the image.")
