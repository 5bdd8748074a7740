"""Modules of the standard library that are loaded when they are needed: they take longer to import than all the rest."""

from __future__ import annotations

TYPE_CHECKING = False  # typing takes long to import, and only who checks types needs it
if TYPE_CHECKING:
    from typing import Any, Union


def loads(text: Union[str, bytes]) -> Any:
    """json.loads"""
    from json import loads

    return loads(text)


def dumps(value: Any) -> str:
    """json.dumps"""
    from json import dumps

    return dumps(value)


class LazyLogger:
    """Stands for logging.getLogger(name)."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        from logging import NullHandler, getLogger

        package = getLogger("resource_tracker")
        if not package.handlers:
            package.addHandler(NullHandler())  # a library says nothing by itself
        return getattr(getLogger(self._name), attribute)
