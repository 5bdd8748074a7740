"""`python -m gpu_tracker ...` is the command gpu-tracker of this installation.

What the command leaves to Python is done here: results as pickle files (`-f pickle`), and `sub-track compare` of them.
"""

import os
import sys

from resource_tracker._program import find_program


def _option(words, *names):
    """The value of an option: `-f pickle`, `--format=pickle`."""
    for place, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name in names:
            return value if equals else (words[place + 1] if place + 1 < len(words) else None)
    return None


def _pairs(words):
    """The values of `-m NAME=FILE...`."""
    pairs, taking = {}, False
    for word in words:
        if word == "-m":
            taking = True
        elif word.startswith("-"):
            taking = False
        elif taking:
            name, _, path = word.partition("=")
            pairs[name] = path
    return pairs


def _put(results, words):
    from json import dumps

    form, output = _option(words, "-f", "--format") or "text", _option(words, "-o", "--output")
    if form == "pickle":
        import pickle

        if output is None:
            sys.exit("gpu-tracker: a pickle goes to a file: name it with -o")
        with open(output, "wb") as file:
            pickle.dump(results, file)
        return
    text = dumps(results.to_json(), indent=1) if form == "json" else str(results)
    if output is None:
        print(text)
    else:
        with open(output, "w", encoding="utf-8") as file:
            file.write(text)


def _compare(words):
    from json import load

    from .sub_tracker import TrackingComparison

    config = {}
    if _option(words, "--cconfig"):
        with open(_option(words, "--cconfig"), encoding="utf-8") as file:
            config = load(file)
    files = {**config.get("file_path_map", {}), **_pairs(words)}
    if not files:
        sys.exit("gpu-tracker: name what is compared: -m NAME=FILE..., or file_path_map in the file of --cconfig")
    statistic = _option(words, "--stat") or config.get("statistic") or "mean"
    try:
        _put(TrackingComparison(files).compare(statistic), words)
    except (OSError, ValueError) as e:
        sys.exit(f"gpu-tracker: {e}")


def _analyze(words):
    from .sub_tracker import SubTrackingAnalyzer

    try:
        results = SubTrackingAnalyzer(_option(words, "--tf"), _option(words, "--stf")).sub_tracking_results()
    except (OSError, ValueError, RuntimeError) as e:
        sys.exit(f"gpu-tracker: {e}")
    _put(results, words)


def main():
    """Hand over to the program, or do what it leaves to Python."""
    words = sys.argv[1:]
    if words[:2] == ["sub-track", "compare"]:
        return _compare(words[2:])
    if words[:2] == ["sub-track", "analyze"] and _option(words, "-f", "--format") == "pickle":
        return _analyze(words[2:])
    program = find_program("gpu-tracker")
    if program is None:
        sys.exit("gpu_tracker: the program gpu-tracker was not found; install it, or put it in PATH")
    return os.execv(program, ["gpu-tracker", *words])


if __name__ == "__main__":
    main()
