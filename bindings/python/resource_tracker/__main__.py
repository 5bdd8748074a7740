"""`python -m resource_tracker ...` is the command resource-tracker of this installation."""

import os
import sys

from ._program import find_program


def main() -> None:
    program = find_program("resource-tracker")
    if program is None:
        sys.exit("resource_tracker: the program resource-tracker was not found; set TRACKER_BIN to its path")
    os.execv(program, ["resource-tracker", *sys.argv[1:]])


if __name__ == "__main__":
    main()
