"""Work to try a tracker on."""

from os import cpu_count
from random import random
from time import time


def cpu_single(duration: float = 1) -> None:
    """Keep one core busy.

    Args:
        duration: For so many seconds.
    """
    end = time() + duration
    while time() < end:
        random() * random()


def cpu_multi(duration: float = 1, ncores: int = cpu_count() or 1) -> None:
    """Keep several cores busy, each by a process of its own.

    Args:
        duration: For so many seconds.
        ncores: So many cores. Defaults to all that there are.
    """
    from multiprocessing import Pool

    with Pool(ncores) as pool:
        pool.map(cpu_single, [duration] * ncores)
