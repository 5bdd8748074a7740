"""The native part, or what stands for it where it cannot be loaded: the packages import everywhere, and tracking says why it
cannot start. So a flow can be launched on a machine whose steps run on another one."""

from __future__ import annotations

import os
import sys
from types import ModuleType

TYPE_CHECKING = False  # typing takes long to import, and only who checks types needs it
if TYPE_CHECKING:
    from typing import Any, NoReturn

DISTRIBUTION = "resource-tracker-native"
_ORIGINALS = {"resource_tracker": "resource-tracker", "gpu_tracker": "gpu-tracker"}  # files of theirs have the names of ours


class BackEndMissing(RuntimeError):
    """Nothing can be measured here; the message says why and what to do."""


class _Missing:
    """Stands for a function or a class of the native part."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise BackEndMissing(self._reason)

    __call__ = _refuse

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._refuse


class _MissingModule(ModuleType):
    def __init__(self, name: str, reason: str) -> None:
        super().__init__(name, "Stands for the native part, which cannot be loaded here.")
        self.reason = reason

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name == "version":
            return _installed_version()
        return _Missing(self.reason)


def _installed_version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(DISTRIBUTION)
    except PackageNotFoundError:  # a copy without its metadata, as in Metaflow's code package
        return "0"


def _why(fault: ImportError) -> str:
    import platform

    here = f"{platform.system()} {platform.machine()}, Python {sys.version_info.major}.{sys.version_info.minor}"
    todo = (f"install {DISTRIBUTION} on this machine (pip install --force-reinstall {DISTRIBUTION})"
            if sys.platform.startswith("linux") else "track on Linux, on a virtual machine or in a container")
    return f"nothing can be tracked here ({here}), because the native part of {DISTRIBUTION} cannot be loaded: {fault}; {todo}"


def load(package: str) -> None:
    """Makes PACKAGE._native importable, as itself or as what says that it is missing."""
    name = f"{package}._native"
    try:
        __import__(name)
    except ImportError as fault:
        missing = _MissingModule(name, _why(fault))
        sys.modules[name] = missing
        setattr(sys.modules[package], "_native", missing)  # noqa: B010  # the module's type has no such attribute


def refuse_originals() -> None:
    """The originals have folders of the same names. Where both are installed in one place, files of one lie over those of the
    other, and either may be in use. Looked for by the folders that pip leaves, because importlib.metadata takes long."""
    site = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    try:
        names = os.listdir(site)
    except OSError:
        return
    for name in names:
        if not name.endswith((".dist-info", ".egg-info")):
            continue
        original = _ORIGINALS.get(name.partition("-")[0].lower().replace(".", "_"))
        if original:
            raise ImportError(
                f"{original} is installed in {site} together with {DISTRIBUTION}, and both have the package "
                f"{original.replace('-', '_')}. Keep one of them: pip uninstall -y {original} {DISTRIBUTION}, "
                f"then pip install {DISTRIBUTION}")
