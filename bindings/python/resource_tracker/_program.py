"""Where the programs are that were installed with this package."""

from __future__ import annotations

import os

TYPE_CHECKING = False  # typing takes long to import, and only who checks types needs it
if TYPE_CHECKING:
    from typing import Iterator, Optional


def _folders() -> Iterator[str]:
    site = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    yield os.path.join(site, "..", "..", "..", "bin")  # an environment, a prefix, a user's own
    yield os.path.join(site, "bin")  # pip install --target
    import sysconfig

    yield sysconfig.get_path("scripts")


def find_program(name: str) -> Optional[str]:
    """TRACKER_BIN, or beside this installation, or in PATH; None where there is none."""
    asked = os.environ.get("TRACKER_BIN")
    if asked and name == "resource-tracker":
        return asked
    for folder in _folders():
        path = os.path.join(folder, name)
        if os.access(path, os.X_OK):
            return os.path.normpath(path)
    from shutil import which

    return which(name)
