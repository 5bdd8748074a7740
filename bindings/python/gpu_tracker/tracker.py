"""The tracker, and the data classes of what it measures."""

import dataclasses
import enum
import os
import typing
from json import loads
from weakref import finalize

from resource_tracker import _native
from resource_tracker._program import find_program

#: Whose form the figures have: that of release 5, or that of the first releases.
_IS_RELEASE_5 = os.environ.get("GPU_TRACKER_COMPAT") == "5"
_DESCENDANTS, _OTHER_SPELLING = ("descendants", "descendents") if _IS_RELEASE_5 else ("descendents", "descendants")


if typing.TYPE_CHECKING:
    from dataclasses import dataclass as _measured
else:
    def _measured(cls):
        """A data class; one with `descendants` has them in the spelling of its release, the other one is an alias."""
        doc = cls.__doc__
        annotations = cls.__dict__["__annotations__"]
        if "descendants" in annotations:
            cls.__annotations__ = {_DESCENDANTS if name == "descendants" else name: kind
                                   for name, kind in annotations.items()}
            if not _IS_RELEASE_5:
                setattr(cls, _DESCENDANTS, cls.__dict__["descendants"])
                delattr(cls, "descendants")
            cls.__setstate__ = _set_state
        cls = dataclasses.dataclass(cls)
        if "descendants" in annotations:
            setattr(cls, _OTHER_SPELLING, property(
                lambda self: getattr(self, _DESCENDANTS), lambda self, value: setattr(self, _DESCENDANTS, value),
                doc=f"Another spelling of {_DESCENDANTS}."))
        cls.__doc__ = doc
        return cls


def _set_state(self: typing.Any, state: typing.Dict[str, typing.Any]) -> None:
    """Files of either spelling are read."""
    if _OTHER_SPELLING in state:
        state = {_DESCENDANTS if name == _OTHER_SPELLING else name: value for name, value in state.items()}
    self.__dict__.update(state)


@_measured
class RSSValues:
    """Resident memory.

    :param total_rss: Both together.
    :param private_rss: What no other process has.
    :param shared_rss: What other processes have too, each piece counted once.
    """

    total_rss: float = 0.0
    private_rss: float = 0.0
    shared_rss: float = 0.0


@_measured
class MaxRAM:
    """The most memory that was used at any time.

    :param unit: The unit, such as gigabytes.
    :param system_capacity: What the machine has.
    :param system: What was used of the whole machine.
    :param main: Of the main process.
    :param descendants: Of its descendants together.
    :param combined: Of all of them.
    """

    unit: str
    system_capacity: float
    system: float = 0.0
    main: RSSValues = dataclasses.field(default_factory=RSSValues)
    descendants: RSSValues = dataclasses.field(default_factory=RSSValues)
    combined: RSSValues = dataclasses.field(default_factory=RSSValues)


if _IS_RELEASE_5:

    @_measured
    class MaxGPURAM:
        """The most GPU memory that was used at any time.

        :param unit: The unit, such as gigabytes.
        :param system_capacity: What all GPUs have.
        :param system: What was used of all GPUs.
        :param main: Of the main process.
        :param descendants: Of its descendants together.
        :param combined: Of all of them.
        """

        unit: str
        system_capacity: float
        system: float = 0.0
        main: float = 0.0
        descendants: float = 0.0
        combined: float = 0.0

else:

    @_measured
    class MaxGPURAM:  # type: ignore[no-redef]
        """The most GPU memory that was used at any time.

        :param unit: The unit, such as gigabytes.
        :param main: Of the main process.
        :param descendents: Of its descendants together.
        :param combined: Of all of them.
        """

        unit: str
        main: float = 0.0
        descendants: float = 0.0
        combined: float = 0.0


@_measured
class ProcessingUnitPercentages:
    """How busy cores or GPUs were, in percent.

    :param max_sum_percent: The most at any time, summed over the units.
    :param max_hardware_percent: The same by the number of units.
    :param mean_sum_percent: On average over time, summed over the units.
    :param mean_hardware_percent: The same by the number of units.
    """

    max_sum_percent: float = 0.0
    max_hardware_percent: float = 0.0
    mean_sum_percent: float = 0.0
    mean_hardware_percent: float = 0.0


@_measured
class CPUUtilization:
    """How busy cores were.

    :param system_core_count: How many the machine has.
    :param n_expected_cores: By how many the processes' hardware percentages go.
    :param system: Of the whole machine.
    :param main: By the main process.
    :param descendants: By its descendants together.
    :param combined: By all of them.
    :param main_n_threads: The most threads of the main process.
    :param descendants_n_threads: The most threads of its descendants together.
    :param combined_n_threads: The most threads of all of them.
    """

    system_core_count: int
    n_expected_cores: int
    system: ProcessingUnitPercentages = dataclasses.field(default_factory=ProcessingUnitPercentages)
    main: ProcessingUnitPercentages = dataclasses.field(default_factory=ProcessingUnitPercentages)
    descendants: ProcessingUnitPercentages = dataclasses.field(default_factory=ProcessingUnitPercentages)
    combined: ProcessingUnitPercentages = dataclasses.field(default_factory=ProcessingUnitPercentages)
    main_n_threads: int = 0
    descendants_n_threads: int = 0
    combined_n_threads: int = 0


@_measured
class GPUUtilization:
    """How busy GPUs were.

    :param system_gpu_count: How many the machine has.
    :param n_expected_gpus: How many are watched.
    :param gpu_percentages: Of those that are watched.
    """

    system_gpu_count: int
    n_expected_gpus: int
    gpu_percentages: ProcessingUnitPercentages = dataclasses.field(default_factory=ProcessingUnitPercentages)


@_measured
class ComputeTime:
    """How long it took.

    :param unit: The unit, such as hours.
    :param time: The time by the clock.
    """

    unit: str
    time: float = 0.0


@_measured
class ResourceUsage:
    """Everything that was measured.

    :param max_ram: The most memory.
    :param max_gpu_ram: The most GPU memory.
    :param cpu_utilization: How busy cores were.
    :param gpu_utilization: How busy GPUs were.
    :param compute_time: How long it took.
    """

    max_ram: MaxRAM
    max_gpu_ram: MaxGPURAM
    cpu_utilization: CPUUtilization
    gpu_utilization: GPUUtilization
    compute_time: ComputeTime


_CLASSES: typing.Dict[str, typing.Any] = {
    "max_ram": MaxRAM, "max_gpu_ram": MaxGPURAM, "cpu_utilization": CPUUtilization,
    "gpu_utilization": GPUUtilization, "compute_time": ComputeTime}
_PARTS: typing.Dict[typing.Any, typing.Any] = {
    MaxRAM: RSSValues, CPUUtilization: ProcessingUnitPercentages, GPUUtilization: ProcessingUnitPercentages}
# What text and JSON of the first releases show.
_SHOWN = tuple(_CLASSES) if _IS_RELEASE_5 else ("max_ram", "max_gpu_ram", "compute_time")


def _usage_of(figures: typing.Dict[str, typing.Any]) -> ResourceUsage:
    """From the library's JSON, which has everything in the spelling of release 5."""
    return ResourceUsage(**{name: _part_of(cls, figures[name]) for name, cls in _CLASSES.items()})


def _part_of(cls: typing.Any, figures: typing.Dict[str, typing.Any]) -> typing.Any:
    names = {field.name for field in dataclasses.fields(cls)}
    values = {}
    for name, value in figures.items():
        name = _DESCENDANTS if name == "descendants" else name
        if name in names:
            values[name] = _PARTS[cls](**value) if isinstance(value, dict) else value
    return cls(**values)


class Tracker:
    """Measures a process from a process of its own: between `start()` and `stop()`, or inside a `with` block.

    :ivar ResourceUsage resource_usage: What was measured; None before `stop()`.
    """

    class State(enum.Enum):
        """Where the tracker is in its life."""

        NEW = 0
        STARTED = 1
        STOPPED = 2

    def __init__(
        self, sleep_time: float = 1.0, ram_unit: str = "gigabytes", gpu_ram_unit: str = "gigabytes",
        time_unit: str = "hours", n_expected_cores: typing.Optional[int] = None,
        gpu_uuids: typing.Optional[typing.Set[str]] = None, disable_logs: bool = False,
        process_id: typing.Optional[int] = None, resource_usage_file: typing.Optional[str] = None,
        n_join_attempts: int = 5, join_timeout: float = 10.0, gpu_brand: typing.Optional[str] = None,
        tracking_file: typing.Optional[str] = None, overwrite: bool = False,
    ) -> None:
        """
        :param sleep_time: Seconds between looks.
        :param ram_unit: 'bytes', 'kilobytes', 'megabytes', 'gigabytes' or 'terabytes', by powers of 1000.
        :param gpu_ram_unit: The same for GPU memory.
        :param time_unit: 'seconds', 'minutes', 'hours' or 'days'.
        :param n_expected_cores: By how many cores the processes' hardware percentages go. Defaults to all.
        :param gpu_uuids: The GPUs whose utilization counts. Defaults to all.
        :param disable_logs: Whether warnings are kept to itself.
        :param process_id: The main process. Defaults to this one.
        :param resource_usage_file: Where a pickle of the figures goes if the program ends before `stop()`. Defaults to
            None: nowhere.
        :param n_join_attempts: Kept for those who pass it: the end of the tracker's process is waited for.
        :param join_timeout: The same.
        :param gpu_brand: 'nvidia' or 'amd'. Defaults to what there is.
        :param tracking_file: Where to write what each look found: a .csv or .sqlite file.
        :param overwrite: Whether a tracking file that is there is replaced.
        :raises ValueError: An argument is not valid.
        :raises FileExistsError: The tracking file is there.
        """
        if gpu_uuids is not None and not gpu_uuids:
            raise ValueError(
                "gpu_uuids is not None but the set is empty. Please provide a set of at least one GPU UUID.")
        self._native: typing.Any = _native.GpuTracker(
            os.getpid() if process_id is None else process_id, sleep_time, ram_unit, gpu_ram_unit, time_unit,
            n_expected_cores or 0, None if gpu_uuids is None else ",".join(sorted(gpu_uuids)), gpu_brand,
            tracking_file, overwrite, find_program("resource-tracker"))
        if tracking_file is not None and not overwrite and os.path.exists(tracking_file):
            raise FileExistsError(
                f"File {tracking_file} already exists. Set overwrite to True to overwrite the existing file.")
        self._units = ram_unit, gpu_ram_unit, time_unit
        self._process_id = process_id
        self._disable_logs = disable_logs
        self._gpu_brand = gpu_brand
        self._backup_file = resource_usage_file
        self._end: typing.Any = None
        self.resource_usage: typing.Optional[ResourceUsage] = None
        self.n_join_attempts = n_join_attempts
        self.join_timeout = join_timeout
        self.state = Tracker.State.NEW

    def __repr__(self) -> str:
        return f"State: {self.state.name}"

    def __enter__(self) -> "Tracker":
        if self.state is Tracker.State.STARTED:
            raise RuntimeError("Cannot start tracking when tracking has already started.")
        if self.state is Tracker.State.STOPPED:
            raise RuntimeError("Cannot start tracking when tracking has already stopped.")
        try:
            self._native.start()
        except ProcessLookupError:
            self._native = None
            self._warn(f"The target process of ID {self._process_id} ended before tracking could begin.")
        self.state = Tracker.State.STARTED
        if self._native:
            self._end = finalize(self, _end, self._native, self._backup_file)
        return self

    def __exit__(self, *_: object) -> None:
        if self.state is Tracker.State.NEW:
            raise RuntimeError("Cannot stop tracking when tracking has not started yet.")
        if self.state is Tracker.State.STOPPED:
            raise RuntimeError("Cannot stop tracking when tracking has already stopped.")
        if self._native:
            self._native.stop()
            self.resource_usage = _usage_of(loads(self._native.json()))
            self._end.detach()
            self._native.close()
        else:
            self.resource_usage = _nothing(*self._units)
        self.state = Tracker.State.STOPPED
        if self._native and not self._gpu_brand and not self.gpu_utilization.system_gpu_count:
            self._warn_without_gpus()

    def start(self) -> None:
        """Begin to measure; the same as to enter a `with` block."""
        self.__enter__()

    def stop(self) -> None:
        """End it; the same as to leave the `with` block."""
        self.__exit__()

    def _warn_without_gpus(self) -> None:
        """At the end: whether there are GPUs is known when the tracker's process has looked for them."""
        from shutil import which

        command = next(filter(which, ("nvidia-smi", "amd-smi")), None)
        if command:
            self._warn(f"The {command} command is installed but cannot connect to a GPU. "
                       "The GPU RAM and GPU utilization values will remain 0.0.")
        else:
            self._warn("Neither the nvidia-smi command nor the amd-smi command is installed. Install one of these to "
                       "profile the GPU. Otherwise the GPU RAM and GPU utilization values will remain 0.0.")

    def _warn(self, text: str) -> None:
        if not self._disable_logs:
            import logging

            logging.warning(text)

    def __getstate__(self) -> typing.Dict[str, typing.Any]:
        """Another process gets the figures of a tracker that was stopped, and not the measuring."""
        if self.state is Tracker.State.STARTED:
            raise TypeError("a tracker that measures can't be pickled: stop it first")
        return {**self.__dict__, "_native": None, "_end": None}

    def __str__(self) -> str:
        """The figures and their units for people."""
        return _text_of(self.to_json())

    def to_json(self) -> typing.Dict[str, typing.Dict[str, typing.Any]]:
        """The figures and their units as a dictionary."""
        usage = self._usage()
        return {name: dataclasses.asdict(getattr(usage, name)) for name in _SHOWN}

    def _usage(self) -> ResourceUsage:
        if self.resource_usage is None:
            raise RuntimeError(
                "Cannot display the tracker in string or JSON format before tracking completes. Exit the content "
                "manager or call the stop() method before calling to_json() or str()")
        return self.resource_usage

    @property
    def max_ram(self) -> MaxRAM:
        """The most memory."""
        return self._usage().max_ram

    @property
    def max_gpu_ram(self) -> MaxGPURAM:
        """The most GPU memory."""
        return self._usage().max_gpu_ram

    @property
    def cpu_utilization(self) -> CPUUtilization:
        """How busy cores were."""
        return self._usage().cpu_utilization

    @property
    def gpu_utilization(self) -> GPUUtilization:
        """How busy GPUs were."""
        return self._usage().gpu_utilization

    @property
    def compute_time(self) -> ComputeTime:
        """How long it took."""
        return self._usage().compute_time


def _end(native: _native.GpuTracker, backup_file: typing.Optional[str]) -> None:
    """The program ends, or lets go of the tracker, without a stop."""
    if backup_file is not None:
        import pickle

        usage = _usage_of(loads(native.json()))
        with open(backup_file, "wb") as file:
            pickle.dump(usage, file)
    native.close()


def _nothing(ram_unit: str, gpu_ram_unit: str, time_unit: str) -> ResourceUsage:
    cores = os.cpu_count() or 0
    capacity: typing.Dict[str, typing.Any] = {} if not _IS_RELEASE_5 else {"system_capacity": 0.0}
    return ResourceUsage(MaxRAM(ram_unit, 0.0), MaxGPURAM(gpu_ram_unit, **capacity), CPUUtilization(cores, cores),
                         GPUUtilization(0, 0), ComputeTime(time_unit))


_WORDS = {"ram": "RAM", "gpu": "GPU", "gpus": "GPUs", "cpu": "CPU", "rss": "RSS", "n": "number of"}


def _label_of(name: str) -> str:
    words = " ".join(_WORDS.get(word, word) for word in name.split("_"))
    words = words.replace("number of expected", "Number of expected")
    return words[0].upper() + words[1:]


def _text_of(figures: typing.Dict[str, typing.Any], indent: str = "") -> str:
    lines = []
    for name, value in figures.items():
        if isinstance(value, dict):
            lines += [f"{indent}{_label_of(name)}:", _text_of(value, indent + "   ")]
        else:
            shown = float(f"{value:.3f}") if isinstance(value, float) else value
            lines.append(f"{indent}{_label_of(name)}: {shown}")
    return "\n".join(lines)
