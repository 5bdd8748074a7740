"""The tracker's declarations of NVML against NVIDIA's own package, and that package against the library that
the tests play NVML with: neither the tracker nor the fake may have made the ABI up."""

import ctypes
import json
import os
import subprocess
import sys

import pytest
from gpu_world import BUILD, World

STRUCTS = {
    "nvml_pci": "nvmlPciInfo_t",
    "nvml_utilization": "c_nvmlUtilization_t",
    "nvml_memory": "c_nvmlMemory_t",
    "nvml_memory_v2": "c_nvmlMemory_v2_t",
    "nvml_process": "c_nvmlProcessInfo_v2_t",
    "nvml_process_sample": "c_nvmlProcessUtilizationSample_t",
}
FIELDS = {
    "nvml_pci.domain": "domain", "nvml_pci.bus": "bus", "nvml_pci.device": "device",
    "nvml_pci.bus_id": "busId", "nvml_memory.used": "used", "nvml_memory_v2.total": "total",
    "nvml_memory_v2.reserved": "reserved", "nvml_memory_v2.used": "used",
    "nvml_process.used_memory": "usedGpuMemory", "nvml_process.gpu_instance": "gpuInstanceId",
    "nvml_process_sample.timestamp_us": "timeStamp", "nvml_process_sample.sm": "smUtil",
}
VALUES = {
    "NVML_MEMORY_V2": "nvmlMemory_v2",
    "NVML_SUCCESS": "NVML_SUCCESS",
    "NVML_UNINITIALIZED": "NVML_ERROR_UNINITIALIZED",
    "NVML_INVALID_ARGUMENT": "NVML_ERROR_INVALID_ARGUMENT",
    "NVML_NOT_SUPPORTED": "NVML_ERROR_NOT_SUPPORTED",
    "NVML_NO_PERMISSION": "NVML_ERROR_NO_PERMISSION",
    "NVML_NOT_FOUND": "NVML_ERROR_NOT_FOUND",
    "NVML_INSUFFICIENT_SIZE": "NVML_ERROR_INSUFFICIENT_SIZE",
    "NVML_DRIVER_NOT_LOADED": "NVML_ERROR_DRIVER_NOT_LOADED",
    "NVML_FUNCTION_NOT_FOUND": "NVML_ERROR_FUNCTION_NOT_FOUND",
    "NVML_GPU_IS_LOST": "NVML_ERROR_GPU_IS_LOST",
    "NVML_VERSION_MISMATCH": "NVML_ERROR_LIB_RM_VERSION_MISMATCH",
    "NVML_UNKNOWN": "NVML_ERROR_UNKNOWN",
    "NVML_CLOCK_GRAPHICS": "NVML_CLOCK_GRAPHICS",
    "NVML_CLOCK_SM": "NVML_CLOCK_SM",
    "NVML_CLOCK_MEM": "NVML_CLOCK_MEM",
    "NVML_TEMPERATURE_GPU": "NVML_TEMPERATURE_GPU",
    "NVML_MIG_ENABLE": "NVML_DEVICE_MIG_ENABLE",
}


@pytest.fixture(name="numbers", scope="module")
def read_numbers():
    text = subprocess.run([os.path.join(BUILD, "tests", "gpu", "nvml_numbers")], capture_output=True, text=True,
                          check=True).stdout
    return [line.split() for line in text.splitlines()]


def test_every_number_is_nvidias(nvidia_ml, numbers):
    assert len(numbers) > 30
    for kind, name, number in numbers:
        if kind == "sizeof":
            expected = ctypes.sizeof(getattr(nvidia_ml, STRUCTS[name]))
        elif kind == "offsetof":
            struct = getattr(nvidia_ml, STRUCTS[name.split(".")[0]])
            expected = getattr(struct, FIELDS[name]).offset
        elif name == "NVML_NOT_AVAILABLE":
            expected = nvidia_ml.NVML_VALUE_NOT_AVAILABLE_ulonglong.value
        else:
            expected = getattr(nvidia_ml, VALUES[name])
        assert int(number) == expected, f"{kind} {name}"


# What the package finds in the fake, printed as JSON by a process of its own: LD_LIBRARY_PATH is read at start.
PROBE = """
import json, sys
sys.path.insert(0, sys.argv[1])
import pynvml as n
n.nvmlInit()
out = []
for i in range(n.nvmlDeviceGetCount()):
    d = n.nvmlDeviceGetHandleByIndex(i)
    pci = n.nvmlDeviceGetPciInfo(d)
    memory = n.nvmlDeviceGetMemoryInfo(d, version=n.nvmlMemory_v2)
    try:
        busy = n.nvmlDeviceGetUtilizationRates(d).gpu
    except n.NVMLError as error:
        busy = error.value
    try:
        samples = [[s.pid, s.smUtil] for s in n.nvmlDeviceGetProcessUtilization(d, 0)]
    except n.NVMLError as error:
        samples = error.value
    instances = []
    if n.nvmlDeviceGetMigMode(d)[0]:
        for k in range(n.nvmlDeviceGetMaxMigDeviceCount(d)):
            try:
                instances.append(n.nvmlDeviceGetUUID(n.nvmlDeviceGetMigDeviceHandleByIndex(d, k)))
            except n.NVMLError_NotFound:
                break
    out.append(dict(name=n.nvmlDeviceGetName(d), uuid=n.nvmlDeviceGetUUID(d), bus=pci.bus, bus_id=pci.busId,
        memory=[memory.total, memory.reserved, memory.used], busy=busy,
        temperature=n.nvmlDeviceGetTemperature(d, n.NVML_TEMPERATURE_GPU), power=n.nvmlDeviceGetPowerUsage(d),
        energy=n.nvmlDeviceGetTotalEnergyConsumption(d), sm=n.nvmlDeviceGetClockInfo(d, n.NVML_CLOCK_SM),
        mem=n.nvmlDeviceGetClockInfo(d, n.NVML_CLOCK_MEM),
        processes=[[p.pid, p.usedGpuMemory] for p in n.nvmlDeviceGetComputeRunningProcesses(d)],
        graphics=[[p.pid, p.usedGpuMemory] for p in n.nvmlDeviceGetGraphicsRunningProcesses(d)],
        samples=samples, instances=instances))
print(json.dumps(out))
"""

SCRIPT = """devices 2
gpu 0 utilization 42 17
gpu 0 memory 16000000000 500000000 3000000000
gpu 0 board 61 123456 777000
gpu 0 clock 1410 1215
gpu 0 process 4001 1000000000
gpu 0 process 4002 -1
gpu 0 graphics 4003 5
gpu 0 sample 4001 33 10
gpu 1 mig 2
gpu 1 memory 8 1 2
"""


def test_the_fake_speaks_nvml(nvidia_ml, tmp_path):
    world = World(str(tmp_path), SCRIPT)
    folder = os.path.dirname(nvidia_ml.__file__)
    result = subprocess.run([sys.executable, "-c", PROBE, folder], env=world.environment(), capture_output=True,
                            text=True, timeout=60, check=False)
    assert result.returncode == 0, result.stderr
    first, second = json.loads(result.stdout)
    assert first == {
        "name": "NVIDIA Fake 0", "uuid": "GPU-00000000-1111-2222-3333-444455556666", "bus": 0x10,
        "bus_id": "00000000:10:00.0", "memory": [16000000000, 500000000, 3000000000], "busy": 42,
        "temperature": 61, "power": 123456, "energy": 777000, "sm": 1410, "mem": 1215,
        "processes": [[4001, 1000000000], [4002, None]], "graphics": [[4003, 5]], "samples": [[4001, 33]],
        "instances": []}
    assert second["busy"] == nvidia_ml.NVML_ERROR_NOT_SUPPORTED
    assert second["samples"] == nvidia_ml.NVML_ERROR_NOT_SUPPORTED
    assert second["instances"] == [f"MIG-00000001-1111-2222-3333-{i:012}" for i in range(2)]
