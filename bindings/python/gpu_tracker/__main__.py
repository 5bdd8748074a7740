"""`python -m gpu_tracker ...` is the command gpu-tracker of this installation.

What the command leaves to Python is done here: results as pickle files (`-f pickle`), and `sub-track compare` of them.
"""

from __future__ import annotations

import os
import sys

from resource_tracker._program import find_program

TYPE_CHECKING = False  # typing takes long to import, and only who checks types needs it
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Optional


def _option(words: List[str], *names: str) -> Optional[str]:
    """The value of an option: `-f pickle`, `--format=pickle`."""
    for place, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name in names:
            return value if equals else (words[place + 1] if place + 1 < len(words) else None)
    return None


def _pairs(words: List[str]) -> Dict[str, str]:
    """The values of `-m NAME=FILE...`."""
    pairs: Dict[str, str] = {}
    taking = False
    for word in words:
        if word == "-m":
            taking = True
        elif word.startswith("-"):
            taking = False
        elif taking:
            name, equals, path = word.partition("=")
            if not equals:
                raise ValueError(f"-m takes NAME=FILE, not {word}")
            pairs[name] = path
    return pairs


def _put(results: Any, words: List[str]) -> None:
    from json import dumps

    form, output = _option(words, "-f", "--format") or "text", _option(words, "-o", "--output")
    if form == "pickle":
        import pickle

        if output is None:
            raise ValueError("a pickle goes to a file: name it with -o")
        with open(output, "wb") as file:
            pickle.dump(results, file)
        return
    text = dumps(results.to_json(), indent=1) if form == "json" else str(results)
    if output is None:
        print(text)
    else:
        with open(output, "w", encoding="utf-8") as file:
            file.write(text)


def _compare(words: List[str]) -> None:
    from json import load

    from .sub_tracker import TrackingComparison

    config = {}
    path = _option(words, "--cconfig")
    if path:
        with open(path, encoding="utf-8") as file:
            config = load(file)
        if not isinstance(config, dict):
            raise ValueError(f"{file.name}: not a JSON object")
    files = {**config.get("file_path_map", {}), **_pairs(words)}
    if not files:
        raise ValueError("name what is compared: -m NAME=FILE..., or file_path_map in the file of --cconfig")
    statistic = _option(words, "--stat") or config.get("statistic") or "mean"
    _put(TrackingComparison(files).compare(statistic), words)


def _analyze(words: List[str]) -> None:
    from .sub_tracker import SubTrackingAnalyzer

    tracking_file, log = _option(words, "--tf"), _option(words, "--stf")
    if not tracking_file or not log:
        raise ValueError("name the tracking file with --tf and the sub-tracking file with --stf")
    _put(SubTrackingAnalyzer(tracking_file, log).sub_tracking_results(), words)


def _do(work: Callable[[List[str]], None], words: List[str]) -> None:
    from pickle import UnpicklingError

    try:
        work(words)
    except (OSError, ValueError, RuntimeError, EOFError, UnpicklingError) as e:
        sys.exit(f"gpu-tracker: {e}")


def main() -> None:
    """Hand over to the program, or do what it leaves to Python."""
    words = sys.argv[1:]
    wants_help = "-h" in words or "--help" in words
    if words[:2] == ["sub-track", "compare"] and not wants_help:
        return _do(_compare, words[2:])
    if words[:2] == ["sub-track", "analyze"] and _option(words, "-f", "--format") == "pickle" and not wants_help:
        return _do(_analyze, words[2:])
    program = find_program("gpu-tracker")
    if program is None:
        sys.exit("gpu_tracker: the program gpu-tracker was not found; install it, or put it in PATH")
    os.execv(program, ["gpu-tracker", *words])


if __name__ == "__main__":
    main()
