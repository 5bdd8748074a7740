"""What a package shows: run by an interpreter that has it, prints JSON."""

import dataclasses
import enum
import importlib
import inspect
import json
import sys


def plain(value):
    """A default, so that two packages' compare: functions by name, lists by their members."""
    if value is inspect.Parameter.empty:
        return "(required)"
    if value is dataclasses.MISSING:
        return "(none)"
    if isinstance(value, (list, tuple)):
        return [plain(member) for member in value]
    if isinstance(value, enum.Enum):
        return value.value
    return getattr(value, "__name__", value) if callable(value) else value


def parameters(function):
    return [[name, str(p.kind), plain(p.default)] for name, p in inspect.signature(function).parameters.items()
            if name != "self"]


def describe_class(cls):
    about = {"bases": [base.__name__ for base in cls.__mro__[1:-1]], "members": {}}
    if not issubclass(cls, (enum.Enum, tuple, str, Exception)):
        about["parameters"] = parameters(cls)
    if dataclasses.is_dataclass(cls):
        about["fields"] = [[field.name, plain(field.default)] for field in dataclasses.fields(cls)]
    if hasattr(cls, "_fields"):
        about["tuple"] = [list(cls._fields), {k: plain(v) for k, v in cls._field_defaults.items()}]
    for name, member in inspect.getmembers(cls):
        if name.startswith("_") and name not in ("__call__", "__len__", "__getitem__", "__setitem__", "__iter__",
                                                 "__enter__", "__exit__", "__str__", "__repr__"):
            continue
        if getattr(member, "__qualname__", "").startswith("object."):
            continue
        if inspect.isfunction(member) or inspect.ismethod(member):
            about["members"][name] = parameters(member)
        elif isinstance(member, property):
            about["members"][name] = "property"
        elif inspect.isclass(member):
            about["members"][name] = describe_class(member)
    return about


def describe(module_name):
    module = importlib.import_module(module_name)
    about = {"functions": {}, "classes": {}, "constants": {}, "all": list(getattr(module, "__all__", []))}
    for name, member in vars(module).items():
        if name.startswith("_"):
            continue
        inner = inspect.unwrap(member) if callable(member) else member
        if inspect.isclass(inner):
            if inner.__module__.split(".")[0] == module_name.split(".")[0]:
                about["classes"][name] = describe_class(inner)
        elif inspect.isfunction(inner):
            if inner.__module__.split(".")[0] == module_name.split(".")[0]:
                about["functions"][name] = parameters(inner)
        elif name.isupper():
            about["constants"][name] = member
    return about


if __name__ == "__main__":
    print(json.dumps({name: describe(name) for name in sys.argv[1:]}, default=repr))
