"""Everything that the packages before had, by introspection: names, order, kinds and defaults."""

import json
import os
import subprocess
import sys

from conftest import python_of

DESCRIBE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "describe_api.py")

TRACKER_MODULES = ["resource_tracker", "resource_tracker.tracker", "resource_tracker.tracker_procfs",
                   "resource_tracker.tiny_data_frame", "resource_tracker.helpers", "resource_tracker.cloud_info",
                   "resource_tracker.server_info", "resource_tracker.keeper", "resource_tracker.report",
                   "resource_tracker.dummy_workloads", "resource_tracker.column_maps"]
GPU_MODULES = ["gpu_tracker", "gpu_tracker.tracker", "gpu_tracker.sub_tracker"]
# Frozen at import in the original, "now" here.
NOW = {"pid", "start_time"}
# Modules that nobody was told of: how the original asks nvidia-smi and fills in its page.
FROM_ELSEWHERE = {"start_nvidia_smi", "process_nvidia_smi", "start_nvidia_smi_pmon", "process_nvidia_smi_pmon",
                  "render_template"}


def describe(python, modules, **environment):
    done = subprocess.run([python, DESCRIBE, *modules], capture_output=True, text=True, check=False,
                          env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def compare_parameters(where, theirs, ours, wrong):
    for place, (name, kind, default) in enumerate(theirs):
        if place >= len(ours):
            wrong.append(f"{where}: no parameter {name}")
            continue
        own_name, own_kind, own_default = ours[place]
        if (name, kind) != (own_name, own_kind):
            wrong.append(f"{where}: parameter {place} is {own_name} ({own_kind}), not {name} ({kind})")
        if default != own_default and name not in NOW and not (isinstance(default, str) and "<lambda>" in default):
            wrong.append(f"{where}: {name}={own_default!r}, not {default!r}")
    for name, kind, default in ours[len(theirs):]:
        if default == "(required)" and "VAR" not in kind:
            wrong.append(f"{where}: {name} is asked for in addition")


def compare_class(where, theirs, ours, wrong):
    if "parameters" in theirs:
        compare_parameters(where, theirs["parameters"], ours["parameters"], wrong)
    for part in ("fields", "tuple"):
        if theirs.get(part) != ours.get(part):
            wrong.append(f"{where}: {part} are {ours.get(part)}, not {theirs.get(part)}")
    for base in theirs["bases"]:
        if base not in ours["bases"] and not base.startswith("_"):
            wrong.append(f"{where}: no {base}")
    for name, member in theirs["members"].items():
        own = ours["members"].get(name)
        if own is None or isinstance(own, str) != isinstance(member, str):
            wrong.append(f"{where}.{name}: {own}")
        elif isinstance(member, dict):
            compare_class(f"{where}.{name}", member, own, wrong)
        elif isinstance(member, list):
            compare_parameters(f"{where}.{name}", member, own, wrong)


def compare(theirs, ours):
    wrong = []
    for module, about in theirs.items():
        own = ours[module]
        for name in set(about["all"]) - set(own["all"]):
            wrong.append(f"{module}.__all__ lacks {name}")
        for name, parameters in about["functions"].items():
            if name in FROM_ELSEWHERE:
                continue
            if name not in own["functions"]:
                wrong.append(f"{module}.{name} is missing")
            else:
                compare_parameters(f"{module}.{name}", parameters, own["functions"][name], wrong)
        for name, cls in about["classes"].items():
            if name not in own["classes"]:
                wrong.append(f"{module}.{name} is missing")
            else:
                compare_class(f"{module}.{name}", cls, own["classes"][name], wrong)
        for name, value in about["constants"].items():
            if own["constants"].get(name) != value and name not in NOT_OURS:
                wrong.append(f"{module}.{name} is {own['constants'].get(name)!r}, not {value!r}")
    return wrong


# Of csv, signal and other modules, which the original happens to import, and how long it waits for a cloud.
NOT_OURS = {"QUOTE_NONNUMERIC", "QUOTE_MINIMAL", "PIPE", "SIGINT", "SIGTERM", "FIRST_COMPLETED",
            "METADATA_REQUEST_TIMEOUT", "REPORT_CSV_MAPPING", "BYTE_MAPPING", "HUMAN_NAMES_MAPPING",
            "SERVER_ALLOCATION_CHECKS"}


def test_resource_tracker_0_4_2():
    theirs = describe(python_of("original-resource-tracker-0.4.2"), TRACKER_MODULES)
    ours = describe(sys.executable, TRACKER_MODULES)
    assert len(theirs["resource_tracker.tracker"]["classes"]) >= 4
    assert compare(theirs, ours) == []
    maps = ("REPORT_CSV_MAPPING", "BYTE_MAPPING", "HUMAN_NAMES_MAPPING", "SERVER_ALLOCATION_CHECKS")
    for name in maps:
        assert (ours["resource_tracker.column_maps"]["constants"][name]
                == theirs["resource_tracker.column_maps"]["constants"][name])


def test_resource_tracker_0_5_0_has_nothing_more_that_users_call():
    """Its columns have other names (schema v3) and it does not start by itself; the names to call are the same."""
    theirs = describe(python_of("original-resource-tracker-0.5.0"), ["resource_tracker", "resource_tracker.tracker"])
    ours = describe(sys.executable, ["resource_tracker", "resource_tracker.tracker"])
    for name in ("ProcessTracker", "SystemTracker", "ResourceTracker"):
        members = theirs["resource_tracker.tracker"]["classes"][name]["members"]
        members = set(members) - {"sentinel_result"}  # of a service of its vendor
        assert members <= set(ours["resource_tracker.tracker"]["classes"][name]["members"]), name


def test_gpu_tracker_5_0_1():
    theirs = describe(python_of("original-gpu-tracker-5.0.1"), GPU_MODULES)
    ours = describe(sys.executable, GPU_MODULES, GPU_TRACKER_COMPAT="5")
    assert len(theirs["gpu_tracker.tracker"]["classes"]) >= 8
    assert compare(theirs, ours) == []


def test_the_form_of_the_first_releases():
    classes = describe(sys.executable, GPU_MODULES)["gpu_tracker.tracker"]["classes"]
    assert [name for name, _ in classes["MaxRAM"]["fields"]] == ["unit", "system_capacity", "system", "main",
                                                                 "descendents", "combined"]
    assert [name for name, _ in classes["MaxGPURAM"]["fields"]] == ["unit", "main", "descendents", "combined"]
    assert classes["MaxRAM"]["members"]["descendants"] == "property"


def test_the_comparison_can_fail():
    theirs = {"m": {"all": ["a"], "functions": {"f": [["x", "k", 1]]}, "constants": {},
                    "classes": {"C": {"bases": [], "parameters": [["y", "k", 2]], "members": {"g": "property"}}}}}
    ours = {"m": {"all": [], "functions": {"f": [["x", "k", 2]]}, "constants": {},
                  "classes": {"C": {"bases": [], "parameters": [["z", "k", 2]], "members": {}}}}}
    assert len(compare(theirs, ours)) == 4
