"""The measurements. CPU is the scheduler's nanosecond clock of each process of a tracker, read from
outside at both ends of a window; the 10 ms ticks of /proc/PID/stat would hide what is measured."""

import json
import os
import subprocess
import threading
import time

CPUCLOCK_SCHED = 2
BIG_MIB = 8192
BIG_NEEDS_MIB = 12288
CHURN_SETTLE_SECONDS = 0.1
GROW_INTERVAL_SECONDS = 0.1


def cpu_seconds(pids):
    """CPU time of these processes, and of what they started and reaped."""
    total = 0.0
    for pid in pids:
        try:
            total += time.clock_gettime((~pid << 3) | CPUCLOCK_SCHED)
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
                fields = stat.read().rpartition(")")[2].split()
            total += (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")
        except OSError:
            pass
    return total


def available_mib():
    with open("/proc/meminfo", encoding="ascii") as meminfo:
        for line in meminfo:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) // 1024
    return 0


def count_forks():
    with open("/proc/stat", encoding="ascii") as stat:
        return next(int(line.split()[1]) for line in stat if line.startswith("processes "))


def forks_per_second(seconds=3):
    before = count_forks()
    time.sleep(seconds)
    return (count_forks() - before) / seconds


class Target:
    """A process that trees.c makes; ends with the `with` block."""

    def __init__(self, program, kind, amount):
        self.process = subprocess.Popen([program, kind, str(amount)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline().split()
        if line[:1] != ["ready"]:
            raise RuntimeError(f"trees {kind} {amount} did not start")
        self.pid = int(line[1])

    def ask(self):
        """Ends a churn window: (steps, p99 in ns, worst in ns)."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return [int(word) for word in self.process.stdout.readline().split()]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()


def memory_of(pids):
    """Sums over the tracker's processes, in kB."""
    sums = {"Rss": 0, "Pss": 0, "Anonymous": 0, "VmHWM": 0}
    for pid in pids:
        for name in ("smaps_rollup", "status"):
            try:
                with open(f"/proc/{pid}/{name}", encoding="utf-8", errors="replace") as lines:
                    for line in lines:
                        key, _, value = line.partition(":")
                        if key in sums:
                            sums[key] += int(value.split()[0])
            except OSError:
                pass
    return sums


def sleep_until(moment):
    time.sleep(max(0.0, moment - time.monotonic()))


def window(running, seconds):
    """What a tracker used and wrote in so many seconds; starts when it has settled."""
    sleep_until(running.window_begin)
    pids = running.pids()
    rows, start = running.rows(), cpu_seconds(pids)
    sleep_until(running.window_begin + seconds)
    cpu = cpu_seconds(pids) - start
    rows = None if rows is None else running.rows() - rows
    return {"cpu_ms": cpu * 1000, "start_ms": start * 1000, "rows": rows,
            "memory": memory_of(pids)}


def cost_of(subject, pid, ticks):
    """One run of a subject at 1 Hz: ms of CPU a minute, and its memory."""
    running = subject.start(pid)
    try:
        seen = window(running, ticks)
    finally:
        running.stop()
    if seen["rows"] is not None and seen["rows"] != ticks:
        raise RuntimeError(f"{subject.name} wrote {seen['rows']} rows in {ticks} s")
    return {"ms_per_minute": seen["cpu_ms"] * 60 / ticks, "start_ms": seen["start_ms"],
            "memory": seen["memory"]}


def retried(measure, problems):
    """A run that lost its pace is repeated once; twice lost is left out and told."""
    for _ in range(2):
        try:
            return measure()
        except RuntimeError as problem:
            last = str(problem)
    problems.append(last)
    return None


def side_by_side(jobs):
    """Runs each job in a thread, spread over a second, and gives their results."""
    results = [None] * len(jobs)

    def call(index):
        time.sleep(index / len(jobs))
        results[index] = jobs[index]()

    threads = [threading.Thread(target=call, args=(index,)) for index in range(len(jobs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def groups_of_targets(problems):
    """[[(name, kind, amount), ...], ...]: what stands together is watched in one go, each by its own tracker and at
    its own part of the second: what sleeps does not disturb the others."""
    small = [("1", "tree", 1), ("100", "tree", 100), ("100 awake", "awake", 100)]
    if available_mib() >= BIG_NEEDS_MIB:
        small.append(("8 GB", "big", BIG_MIB))
    else:
        problems.append(f"8 GB process: less than {BIG_NEEDS_MIB} MiB of memory free")
    return [small, [("1000", "tree", 1000)], [("1000 awake", "awake", 1000)]]


def cost(trees_program, own, peers_of, rounds, ticks, peer_ticks, say):
    """{scenario: {subject: [run, ...]}} and what went wrong. The floor and this tracker watch side by side, long
    enough for what this tracker does once in a while; the others take turns behind them."""
    results, problems = {}, []
    for group in groups_of_targets(problems):
        targets = {name: Target(trees_program, kind, amount) for name, kind, amount in group}
        for number in range(rounds):
            say(f"cost of {', '.join(targets)}: round {number + 1} of {rounds}")
            turns = [[(name, subject, ticks) for name in targets for subject in own]]
            for peer in dict.fromkeys(peer for name in targets for peer in peers_of(name)):
                turns.append([(name, peer, peer_ticks) for name in targets
                              if peer in peers_of(name)])
            for turn in turns:
                runs = side_by_side([lambda watch=watch: retried(
                    lambda: cost_of(watch[1], targets[watch[0]].pid, watch[2]), problems)  # noqa: B023  # called at once
                                     for watch in turn])
                for (name, subject, _), run in zip(turn, runs):
                    if run:
                        results.setdefault(name, {}).setdefault(subject.key, []).append(run)
        for target in targets.values():
            target.__exit__()
    return results, problems


def stall(trees_program, subjects, rounds, seconds, say):
    """{subject: [{"p99_ms", "worst_ms"}, ...]}: what an 8 GB process that maps and unmaps feels."""
    if available_mib() < BIG_NEEDS_MIB:
        return {}, [f"stall: less than {BIG_NEEDS_MIB} MiB of memory free"]
    results = {}
    with Target(trees_program, "churn", BIG_MIB) as target:
        for number in range(rounds):
            say(f"stall: round {number + 1} of {rounds}")
            for subject in [None, *subjects]:
                running = subject.start(target.pid) if subject else None
                sleep_until(running.window_begin if running
                            else time.monotonic() + CHURN_SETTLE_SECONDS)
                target.ask()
                time.sleep(seconds)
                _, p99_ns, worst_ns = target.ask()
                if running:
                    running.stop()
                results.setdefault(subject.key if subject else "none", []).append(
                    {"p99_ms": p99_ns / 1e6, "worst_ms": worst_ns / 1e6})
    return results, []


def grow(trees_program, ours, scratch):
    """One process on its way to 8 GB, by its own clock, and what is said of its memory in the end."""
    with Target(trees_program, "grow", BIG_MIB) as target:
        path = os.path.join(scratch, "grower.json")
        running = ours.start(target.pid, interval=GROW_INTERVAL_SECONDS, summary=path) if ours else None
        sleep_until(running.window_begin if running else time.monotonic())
        _, p99_ns, worst_ns = target.ask()
        seen = {"p99_ms": p99_ns / 1e6, "worst_ms": worst_ns / 1e6}
        if not running:
            return seen
        time.sleep(3 * GROW_INTERVAL_SECONDS)
        running.stop()
        true_bytes = memory_of([target.pid])["Pss"] * 1024
    with open(path, encoding="utf-8") as text:
        peak = json.load(text)["totals"]["peak_memory_bytes"]
    return {**seen, "true_reads": peak["true_reads"],
            "longest_read_ms": peak["longest_read_seconds"] * 1000,
            "peak_error_percent": abs(peak["value"] / true_bytes - 1) * 100}


def memory(trees_program, ours, rounds, scratch, say):
    """{subject: [what grow gives, ...]}"""
    if available_mib() < BIG_NEEDS_MIB:
        return {}, [f"memory: less than {BIG_NEEDS_MIB} MiB of memory free"]
    results = {}
    for number in range(rounds):
        say(f"memory: round {number + 1} of {rounds}")
        for subject in (None, ours):
            results.setdefault(subject.key if subject else "none", []).append(
                grow(trees_program, subject, scratch))
    return results, []


def fast(trees_program, floor, ours, rounds, seconds, say):
    """{rows: {subject: [us of CPU by row, ...]}} at 1000 Hz on one process."""
    results = {}
    with Target(trees_program, "tree", 1) as target:
        for number in range(rounds):
            say(f"1000 Hz: round {number + 1} of {rounds}")
            for rows, system in (("process", False), ("both", True)):
                for subject in (floor, ours):
                    extra = {"recorder": True} if subject is floor else {}
                    running = subject.start(target.pid, interval=0.001, system=system, **extra)
                    seen = window(running, seconds)
                    running.stop()
                    if seen["rows"]:
                        results.setdefault(rows, {}).setdefault(subject.key, []).append(
                            {"us_per_row": seen["cpu_ms"] * 1000 / seen["rows"],
                             "rows_per_second": seen["rows"] / seconds})
    return results, []


def wrap(program, commands, rounds, scratch, rest_ms=0):
    """{name: median ms} of commands that run one after the other in each round, after a rest."""
    words = [program, str(rounds), str(rest_ms)]
    for _, command in commands:
        words += ["::", *command]
    environment = dict(os.environ, XDG_STATE_HOME=os.path.join(scratch, "state"))
    output = subprocess.run(words, check=True, capture_output=True, text=True, env=environment,
                            timeout=300)
    medians = [int(line.split()[0]) / 1e6 for line in output.stdout.splitlines()]
    return {name: median for (name, _), median in zip(commands, medians)}
