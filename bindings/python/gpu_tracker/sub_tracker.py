"""Code blocks: when they ran is logged, and held against a tracking file afterwards.

Tables are those of pandas where it is installed, and dictionaries where it is not.
"""

import dataclasses
import functools
import logging
import os
import sys
import time
import typing
from json import dumps, loads

from resource_tracker import _native

_STATISTICS = ("min", "max", "mean", "std")

# Logs that this process has begun: who comes second appends. By path; a child born by fork goes on with them.
_logs: typing.Dict[str, _native.SubTrack] = {}


class SubTracker:
    """Logs when a code block begins and ends, as a `with` block.

    :ivar str code_block_name: The block's name.
    :ivar str sub_tracking_file: The log's path.
    """

    def __init__(
        self, code_block_name: typing.Optional[str] = None, code_block_attribute: typing.Optional[str] = None,
        sub_tracking_file: typing.Optional[str] = None, overwrite: bool = False,
    ) -> None:
        """
        :param code_block_name: The block's name. Defaults to the file that this is called in, a colon and the attribute.
        :param code_block_attribute: Only without a name. Defaults to the number of the line.
        :param sub_tracking_file: The log, .csv or .sqlite. Each process has one of its own. Defaults to the number of
            the process, as .csv.
        :param overwrite: Whether a log that is there is replaced.
        """
        if code_block_name is None:
            caller = sys._getframe(1)
            attribute = caller.f_lineno if code_block_attribute is None else code_block_attribute
            code_block_name = f"{os.path.relpath(caller.f_code.co_filename)}:{attribute}"
        self.code_block_name = code_block_name
        self.process_id = os.getpid()
        self.sub_tracking_file = f"{self.process_id}.csv" if sub_tracking_file is None else sub_tracking_file
        log = _logs.get(os.path.abspath(self.sub_tracking_file))
        self._log = _native.SubTrack(self.sub_tracking_file, overwrite) if log is None else log

    def _write(self, position: int) -> None:
        try:
            self._log.log(self.process_id, self.code_block_name, position, time.time())
        except FileExistsError:
            raise FileExistsError(f"File {self.sub_tracking_file} already exists. Set overwrite to True to overwrite "
                                  "the existing file.") from None
        _logs[os.path.abspath(self.sub_tracking_file)] = self._log

    def __enter__(self) -> "SubTracker":
        self._write(0)
        return self

    def __exit__(self, *_: object) -> None:
        self._write(1)


def sub_track(
    code_block_name: typing.Optional[str] = None, code_block_attribute: typing.Optional[str] = None,
    sub_tracking_file: typing.Optional[str] = None, overwrite: bool = False,
) -> typing.Any:
    """A decorator: every call of the function is a code block.

    :param code_block_name: The block's name. Defaults to the file of the function, a colon and the attribute.
    :param code_block_attribute: Only without a name. Defaults to the function's name.
    :param sub_tracking_file: As that of [gpu_tracker.SubTracker][].
    :param overwrite: The same.
    """

    def decorator(func: typing.Any) -> typing.Any:
        name = code_block_name
        if name is None:
            path = os.path.abspath(sys._getframe(1).f_code.co_filename)
            name = f"{path}:{func.__name__ if code_block_attribute is None else code_block_attribute}"

        @functools.wraps(func)
        def wrapper(*args: typing.Any, **kwargs: typing.Any) -> typing.Any:
            with SubTracker(name, code_block_attribute, sub_tracking_file, overwrite):
                return func(*args, **kwargs)

        return wrapper

    return decorator


# ---- tables ------------------------------------------------------------------------------------


def _pandas() -> typing.Any:
    try:
        import pandas
    except ImportError:
        return None
    return pandas


def _series(values: typing.Dict[str, typing.Any]) -> typing.Any:
    """Values by name."""
    pandas = _pandas()
    return pandas.Series(_with_nan(values)) if pandas else values


def _table(rows: typing.Dict[str, typing.Dict[str, typing.Any]]) -> typing.Any:
    """Rows of values by name."""
    pandas = _pandas()
    if not pandas:
        return rows
    return pandas.DataFrame.from_dict({name: _with_nan(row) for name, row in rows.items()}, orient="index",
                                      columns=list(_STATISTICS))


def _with_nan(values: typing.Dict[str, typing.Any]) -> typing.Dict[str, typing.Any]:
    return {name: float("nan") if value is None else value for name, value in values.items()}


def _plain(value: typing.Any) -> typing.Dict[str, typing.Any]:
    """The dictionary that a table or series stands for; whoever made it, NaN stays NaN."""
    if isinstance(value, dict):
        return {name: _plain(inner) if isinstance(inner, dict) else inner for name, inner in value.items()}
    if hasattr(value, "iterrows"):
        return {name: row.to_dict() for name, row in value.iterrows()}
    return {name: number.item() if hasattr(number, "item") else number for name, number in value.to_dict().items()}


def _number_text(value: typing.Any) -> str:
    if value is None or value != value:
        return "NaN"
    return str(float(f"{value:.8f}"))


def _table_text(headings: typing.Sequence[str], rows: typing.Dict[str, typing.List[typing.Any]], indent: str) -> str:
    """Columns to the right, the rows' names to the left."""
    cells = {name: [_number_text(value) for value in values] for name, values in rows.items()}
    label = max(map(len, cells))
    widths = [max(len(heading) + 1, *(len(row[i]) for row in cells.values())) for i, heading in enumerate(headings)]

    def line(name: str, texts: typing.Sequence[str]) -> str:
        return indent + name.ljust(label) + "".join(" " + text.rjust(width) for text, width in zip(texts, widths)) + "\n"

    return line("", headings) + "".join(line(name, row) for name, row in cells.items())


def _usage_text(usage: typing.Dict[str, typing.Dict[str, typing.Any]], indent: str) -> str:
    return _table_text(_STATISTICS, {name: [row[kind] for kind in _STATISTICS] for name, row in usage.items()}, indent)


def _facts_text(facts: typing.Dict[str, typing.Any]) -> str:
    cells = [_number_text(value) if isinstance(value, float) else str(value) for value in facts.values()]
    widths = [max(len(name), len(cell) + 1) for name, cell in zip(facts, cells)]
    return "".join("\t" + "".join(" " + text.rjust(width) for text, width in zip(texts, widths)) + "\n"
                   for texts in (facts, cells))


# ---- results -----------------------------------------------------------------------------------


@dataclasses.dataclass
class CodeBlockResults:
    """What is known of one code block.

    :param name: The block's name.
    :param num_timepoints: How many looks fell into its calls.
    :param num_calls: How often it ran.
    :param num_non_empty_calls: Into how many calls a look fell.
    :param compute_time: Seconds of a call: min, max, mean, std, and the total of all.
    :param resource_usage: Statistics of what each look into a call found.
    """

    name: str
    num_timepoints: int
    num_calls: int
    num_non_empty_calls: int
    compute_time: typing.Any
    resource_usage: typing.Any


@dataclasses.dataclass
class SubTrackingResults:
    """What is known of a run and of its code blocks.

    :param overall: Statistics of all looks.
    :param static_data: Units and capacities.
    :param code_block_results: The blocks, each a CodeBlockResults.
    """

    overall: typing.Any
    static_data: typing.Any
    code_block_results: typing.List[CodeBlockResults]

    def to_json(self) -> typing.Dict[str, typing.Any]:
        """The results as dictionaries, lists and numbers."""
        return {
            "overall": _plain(self.overall),
            "static_data": _plain(self.static_data),
            "code_block_results": [
                {**{field.name: getattr(block, field.name) for field in dataclasses.fields(block)},
                 "compute_time": _plain(block.compute_time), "resource_usage": _plain(block.resource_usage)}
                for block in self.code_block_results],
        }

    def __str__(self) -> str:
        """The results for people."""
        results = self.to_json()
        text = "Overall:\n" + _usage_text(results["overall"], "\t")
        text += "Static Data:\n" + _facts_text(results["static_data"]) + "Code Block Results:\n"
        for block in results["code_block_results"]:
            times = block["compute_time"]
            text += (f"\tName:                {block['name']}\n"
                     f"\tNum Timepoints:      {block['num_timepoints']}\n"
                     f"\tNum Calls:           {block['num_calls']}\n"
                     f"\tNum Non Empty Calls: {block['num_non_empty_calls']}\n"
                     "\tCompute Time:\n" + _table_text(list(times), {"": list(times.values())}, "\t\t")
                     + "\tResource Usage:\n" + _usage_text(block["resource_usage"], "\t\t") + "\n")
        return text

    @classmethod
    def _of_json(cls, results: typing.Dict[str, typing.Any]) -> "SubTrackingResults":
        blocks = [CodeBlockResults(**{**block, "compute_time": _series(block["compute_time"]),
                                      "resource_usage": _table(block["resource_usage"])})
                  for block in results["code_block_results"]]
        return cls(_table(results["overall"]), _series(results["static_data"]), blocks)


class SubTrackingAnalyzer:
    """Holds the log of code blocks against a tracking file."""

    def __init__(self, tracking_file: typing.Optional[str], sub_tracking_file: str) -> None:
        """
        :param tracking_file: What a [gpu_tracker.Tracker][] has written.
        :param sub_tracking_file: What [gpu_tracker.SubTracker][] has written.
        """
        for path in (tracking_file, sub_tracking_file):
            if path is not None and not path.endswith((".csv", ".sqlite")):
                raise ValueError(f'Invalid file name: "{path}". Valid file extensions are ".csv" and ".sqlite".')
        self._tracking_file: typing.Any = tracking_file  # without one, what needs it raises a TypeError
        self._sub_tracking_file = sub_tracking_file

    def read_static_data(self) -> typing.Any:
        """Units and capacities of the tracking file.

        :return: A series.
        """
        return _series(loads(_native.sub_static(self._tracking_file)))

    def load_code_block_names(self) -> typing.List[str]:
        """The names of the code blocks, in order."""
        names: typing.List[str] = loads(_native.sub_names(self._sub_tracking_file))
        return names

    def combine_sub_tracking_files(self, files: typing.List[str]) -> None:
        """Make the log of several, such as those of the processes of a job.

        :param files: Their paths; all of the same kind.
        """
        if os.path.exists(self._sub_tracking_file):
            raise ValueError(f"Cannot create sub-tracking file {self._sub_tracking_file}. File already exists.")
        extension = os.path.splitext(self._sub_tracking_file)[1]
        for file in files:
            if not file.endswith(extension):
                raise ValueError(f"File {file} does not end with the same extension as {self._sub_tracking_file}. "
                                 f'Must end in "{extension}".')
        _native.sub_combine(self._sub_tracking_file, [os.fsencode(file) for file in files])

    def load_timestamp_pairs(self, code_block_name: str) -> typing.List[typing.Tuple[float, float]]:
        """When each call of a code block began and ended.

        :param code_block_name: The block's name.
        """
        try:
            return [tuple(pair) for pair in loads(_native.sub_calls(self._sub_tracking_file, code_block_name))]
        except RuntimeError as e:
            raise ValueError(str(e)) from None

    def load_timepoints(self, timestamp_pairs: typing.List[typing.Tuple[float, float]]) -> typing.Any:
        """What the looks within such calls found.

        :param timestamp_pairs: When the calls began and ended.
        :return: A table with one row a look.
        """
        columns = loads(_native.sub_rows(self._tracking_file, list(timestamp_pairs)))
        pandas = _pandas()
        return pandas.DataFrame(columns) if pandas else columns

    def overall_timepoint_results(self) -> typing.Any:
        """Statistics of all looks.

        :return: A table with one row a measurement.
        """
        return _table(loads(_native.sub_overall(self._tracking_file)))

    def sub_tracking_results(self) -> SubTrackingResults:
        """Statistics of all looks, and of those within each code block."""
        return SubTrackingResults._of_json(loads(_native.sub_analyze(self._tracking_file, self._sub_tracking_file)))


# ---- comparison --------------------------------------------------------------------------------


@dataclasses.dataclass
class ComparisonResults:
    """Runs beside each other, each time the least first.

    :param overall_resource_usage: By measurement: a series by run.
    :param code_block_resource_usage: By measurement and code block: a series by run.
    :param code_block_compute_time: By code block: a series by run.
    """

    overall_resource_usage: typing.Dict[str, typing.Any]
    code_block_resource_usage: typing.Dict[str, typing.Dict[str, typing.Any]]
    code_block_compute_time: typing.Dict[str, typing.Any]

    def to_json(self) -> typing.Dict[str, typing.Any]:
        """The comparison as dictionaries and numbers."""
        return {
            "overall_resource_usage": _plain_each(self.overall_resource_usage),
            "code_block_resource_usage": {name: _plain_each(blocks)
                                          for name, blocks in self.code_block_resource_usage.items()},
            "code_block_compute_time": _plain_each(self.code_block_compute_time),
        }

    def __str__(self) -> str:
        """The comparison for people."""
        results = self.to_json()
        text = "Overall Resource Usage:\n"
        for name, runs in results["overall_resource_usage"].items():
            text += f"\t{_title(name)}:\n" + _runs_text(runs, "\t\t")
        text += "Code Block Resource Usage:\n"
        for name, blocks in results["code_block_resource_usage"].items():
            text += f"\t{_title(name)}:\n"
            text += "".join(f"\t\t{block}:\n" + _runs_text(runs, "\t\t\t") for block, runs in blocks.items())
        text += "Code Block Compute Time:\n"
        return text + "".join(f"\t{block}:\n" + _runs_text(runs, "\t\t")
                              for block, runs in results["code_block_compute_time"].items())


def _plain_each(comparisons: typing.Dict[str, typing.Any]) -> typing.Dict[str, typing.Any]:
    return {name: _plain(runs) for name, runs in comparisons.items()}


def _title(name: str) -> str:
    return name.replace("_", " ").title()


def _runs_text(runs: typing.Dict[str, typing.Any], indent: str) -> str:
    return _table_text(list(runs), {"": list(runs.values())}, indent)


class TrackingComparison:
    """Several runs beside each other. Code blocks belong together by their names; names that differ in the number of
    the line alone do in their order.

    :ivar dict[str, SubTrackingResults] results_map: The results by the run's name.
    """

    def __init__(self, file_path_map: typing.Dict[str, str]) -> None:
        """
        :param file_path_map: By the run's name: a pickle of its SubTrackingResults, of this package or of the one before
            it, or their JSON. A pickle runs code: open those alone that you trust.
        :raises ValueError: The runs have other code blocks.
        """
        self.results_map = {name: _load_results(path) for name, path in file_path_map.items()}
        for results in self.results_map.values():
            results.code_block_results = sorted(results.code_block_results, key=lambda block: _place(block.name))
        warnings = self._compare("mean")[1]
        for warning in (warnings or "").splitlines():
            logging.warning(warning)

    def _compare(self, statistic: str) -> typing.Any:
        texts = [dumps(_without_nan(results.to_json())).encode() for results in self.results_map.values()]
        return _native.sub_compare([name.encode() for name in self.results_map], texts, statistic)

    def compare(self, statistic: str = "mean") -> ComparisonResults:
        """Compare.

        :param statistic: Which one: 'min', 'max', 'mean' or 'std'.
        """
        if statistic not in _STATISTICS:
            raise ValueError(f"Invalid summary statistic '{statistic}'. Valid values are {' '.join(_STATISTICS)}.")
        compared = loads(self._compare(statistic)[0])
        return ComparisonResults(
            {name: _series(runs) for name, runs in compared["overall_resource_usage"].items()},
            {name: {block: _series(runs) for block, runs in blocks.items()}
             for name, blocks in compared["code_block_resource_usage"].items()},
            {block: _series(runs) for block, runs in compared["code_block_compute_time"].items()})


def _load_results(path: str) -> SubTrackingResults:
    with open(path, "rb") as file:
        data = file.read()
    if data.lstrip()[:1] == b"{":
        try:
            return SubTrackingResults._of_json(loads(data))
        except (ValueError, KeyError, TypeError) as e:
            raise ValueError(f"{path}: no results of sub-tracking: {e!r}") from e
    import pickle

    try:
        results: SubTrackingResults = pickle.loads(data)
    except Exception as e:  # damaged bytes make pickle raise nearly anything
        raise pickle.UnpicklingError(f"{path}: no pickle of results, or a damaged one: {e!r}") from e
    return results


def _place(name: str) -> typing.Tuple[str, int]:
    path, colon, line = name.rpartition(":")
    return (path, int(line)) if colon and line.isdigit() else (name, -1)


def _without_nan(value: typing.Any) -> typing.Any:
    if isinstance(value, dict):
        return {name: _without_nan(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_without_nan(inner) for inner in value]
    return None if value != value else value
