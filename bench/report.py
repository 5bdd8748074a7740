"""Figures beside their limits, as text and as docs/benchmarks.md."""

import os
import platform
import statistics

import peers

SCENARIOS = ["1", "100", "1000", "8 GB", "100 awake", "1000 awake"]
SCENARIO_NAMES = ["1 process", "100", "1000", "one of 8 GB", "100 awake", "1000 awake"]
SUBJECT_NAMES = {
    "none": "no tracker", "floor": "kernel floor", "ours": "resource-tracker (this)",
    "engine": "the same with --sources wait4",
    "python": "Python 0.4.2", "psutil": "Python 0.4.2 with psutil", "python050": "Python 0.5.0",
    "rust": f"Rust {peers.RUST_VERSION}",
}


GPU_TRACKER_TREES = {"workers": "20 Python workers", "sleepers": "20 small C processes"}


def median(values):
    return statistics.median(values) if values else None


def number(value, digits=3):
    """Three significant digits, without an exponent."""
    if value is None:
        return "-"
    if value == 0:
        return "0"
    magnitude = len(str(int(abs(value)))) if abs(value) >= 1 else 0
    return f"{value:,.{max(0, digits - max(magnitude, 1))}f}"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


class Results:
    """What the parts gave, with the medians that tables and limits need."""

    def __init__(self, parts):
        self.parts = parts

    def cost(self, scenario, subject, key="ms_per_minute"):
        runs = self.parts.get("cost", {}).get(scenario, {}).get(subject, [])
        return median([run[key] for run in runs])

    def memory(self, subject, key):
        runs = self.parts.get("cost", {}).get("100", {}).get(subject, [])
        return median([run["memory"][key] for run in runs])

    def stall(self, subject, key):
        return median([run[key] for run in self.parts.get("stall", {}).get(subject, [])])

    def grower(self, subject, key):
        return median([run[key] for run in self.parts.get("memory", {}).get(subject, [])
                       if key in run])

    def fast(self, rows, subject, key):
        runs = self.parts.get("fast", {}).get(rows, {}).get(subject, [])
        return median([run[key] for run in runs])

    def gpu_tracker_cost(self, tree, who):
        return median(self.parts.get("gpu-tracker", {}).get("cost", {}).get(tree, {}).get(who, []))

    def page(self, record, what):
        return median(self.parts.get("report", {}).get(record, {}).get(what, []))

    def repeat_apart(self):
        """How far the medians are apart, in interquartile ranges: below 1 is within the noise."""
        rows = list(self.parts.get("repeat", {}).values())
        if len(rows) < 2:
            return None
        return abs(rows[0]["median"] - rows[1]["median"]) / max(row["third"] - row["first"] for row in rows)

    def gpu_tracker_figures(self):
        return self.parts.get("gpu-tracker", {}).get("figures", [])

    def wrap(self, name):
        return self.parts.get("wrap", {}).get(name)


def ratio(above, below):
    return above / below if above is not None and below else None


def difference(above, below):
    return above - below if above is not None and below is not None else None


def apart_percent(value, other):
    return 100 * abs(value - other) / other if value is not None and other else None


def limits(results):
    """(what, value, "<=" or ">=", limit): value None when it was not measured."""
    ours = {name: results.cost(name, "ours") for name in SCENARIOS}
    python = {name: results.cost(name, "python") for name in SCENARIOS}
    worst, calm = results.stall("ours", "worst_ms"), results.stall("none", "worst_ms")
    gnu_time = results.wrap("/usr/bin/time true")
    rss, anonymous = results.memory("ours", "VmHWM"), results.memory("ours", "Anonymous")
    return [
        *[(f"CPU over the floor, {what} (x)", ratio(ours[name], results.cost(name, "floor")),
           "<=", 1.3)
          for name, what in (("100", "100 processes that sleep"),
                             ("1000", "1000 processes that sleep"),
                             ("100 awake", "100 that wake twice a second"),
                             ("1000 awake", "1000 that wake twice a second"))],
        *[(f"CPU with all sources of exact totals over that without, {name} processes (x)",
           ratio(ours[name], results.cost(name, "engine")), "<=", 1.1)
          for name in ("100", "1000")],
        ("less CPU than Python 0.4.2, 100 processes (x)", ratio(python["100"], ours["100"]),
         ">=", 9),
        ("less CPU than Python 0.4.2, 1000 processes (x)", ratio(python["1000"], ours["1000"]),
         ">=", 14),
        ("less CPU than Python 0.4.2, one 8 GB process (x)", ratio(python["8 GB"], ours["8 GB"]),
         ">=", 200),
        ("growth of an 8 GB target's worst stall (ms)",
         difference(worst, calm), "<=", 3),
        ("growth of a growing 8 GB target's worst stall (ms)",
         difference(results.grower("ours", "worst_ms"), results.grower("none", "worst_ms")), "<=", 3),
        ("true reads of a process that grows to 8 GB", results.grower("ours", "true_reads"), "<=", 5),
        ("error of its peak (%)", results.grower("ours", "peak_error_percent"), "<=", 0.5),
        ("resource-tracker true over GNU time (x)",
         ratio(results.wrap("resource-tracker true"), gnu_time), "<=", 1.25),
        ("resource-tracker --no-save -q true over GNU time (x)",
         ratio(results.wrap("resource-tracker --no-save -q true"), gnu_time), "<=", 1.25),
        ("median of --repeat 20 true apart from hyperfine's (interquartile ranges)", results.repeat_apart(), "<=", 1),
        ("peak RSS with 100 processes (MB)", ratio(rss, 1000 / 1.024), "<=", 3),
        ("anonymous memory with 100 processes (MB)", ratio(anonymous, 1000 / 1.024), "<=", 0.7),
        ("CPU at 1000 Hz over a bare loop, process rows (x)",
         ratio(results.fast("process", "ours", "us_per_row"),
               results.fast("process", "floor", "us_per_row")), "<=", 1.5),
        ("CPU at 1000 Hz over a bare loop, process and system rows (x)",
         ratio(results.fast("both", "ours", "us_per_row"),
               results.fast("both", "floor", "us_per_row")), "<=", 1.5),
        *[(f"less CPU than gpu-tracker 5.0.1, {name} (x)",
           ratio(results.gpu_tracker_cost(tree, "theirs"), results.gpu_tracker_cost(tree, "ours")), ">=", 50)
          for tree, name in GPU_TRACKER_TREES.items()],
        *[(f"gpu-tracker: {row['name']}, apart from {'the truth' if row['truth'] else '5.0.1'} (%)",
           apart_percent(row["ours"], row["truth"] or row.get("theirs")), "<=", 2)
          for row in results.gpu_tracker_figures()],
        ("report of an hour at 1 Hz / loading its snapshot",
         ratio(results.page("hour", "report"), results.page("hour", "load")), "<=", 5),
        ("report of a million rows / loading its snapshot",
         ratio(results.page("million", "report"), results.page("million", "load")), "<=", 5),
        ("page of a million rows / of an hour, until it is drawn",
         ratio(results.page("million", "drawn"), results.page("hour", "drawn")), "<=", 2),
    ]


def verdict(value, sense, limit):
    if value is None:
        return "not measured"
    return "PASS" if (value <= limit if sense == "<=" else value >= limit) else "MISS"


def limit_rows(results):
    return [[what, number(value), f"{'at most' if sense == '<=' else 'at least'} {limit}",
             verdict(value, sense, limit)] for what, value, sense, limit in limits(results)]


def cost_rows(results):
    rows = []
    for key, name in SUBJECT_NAMES.items():
        figures = [results.cost(scenario, key) for scenario in SCENARIOS]
        if any(figure is not None for figure in figures):
            rows.append([name] + [number(figure) for figure in figures])
    return rows


def ratio_rows(results):
    rows = []
    for key, name in SUBJECT_NAMES.items():
        figures = [ratio(results.cost(scenario, key), results.cost(scenario, "ours"))
                   for scenario in SCENARIOS]
        if key != "ours" and any(figure is not None for figure in figures):
            rows.append([name] + [number(figure) for figure in figures])
    return rows


def start_rows(results):
    rows = []
    for key, name in SUBJECT_NAMES.items():
        figures = [results.cost(scenario, key, key="start_ms") for scenario in SCENARIOS]
        if any(figure is not None for figure in figures):
            rows.append([name] + [number(figure) for figure in figures])
    return rows


def stall_rows(results):
    return [[name, number(results.stall(key, "p99_ms")), number(results.stall(key, "worst_ms"))]
            for key, name in SUBJECT_NAMES.items()
            if results.stall(key, "worst_ms") is not None]


def grower_rows(results):
    return [[SUBJECT_NAMES[key]] + [number(results.grower(key, figure)) for figure in (
        "p99_ms", "worst_ms", "true_reads", "longest_read_ms", "peak_error_percent")]
            for key in ("none", "ours") if results.grower(key, "worst_ms") is not None]


def memory_rows(results):
    return [[name] + [number(ratio(results.memory(key, figure), 1000 / 1.024))
                      for figure in ("VmHWM", "Rss", "Pss", "Anonymous")]
            for key, name in SUBJECT_NAMES.items()
            if key != "floor" and results.memory(key, "Rss")]


def fast_rows(results):
    return [[rows, name, number(results.fast(rows, key, "us_per_row")),
             number(results.fast(rows, key, "rows_per_second"))]
            for rows in ("process", "both") for key, name in
            (("floor", "bare loop: waits, reads, one write"), ("ours", SUBJECT_NAMES["ours"]))
            if results.fast(rows, key, "us_per_row") is not None]


def gpu_tracker_rows(results):
    def mib(value):
        return number(ratio(value, 1 << 20))
    return [[f"ms of CPU a minute, {name}", "-",
             *[number(results.gpu_tracker_cost(tree, who)) for who in ("ours", "theirs")]]
            for tree, name in GPU_TRACKER_TREES.items()] + [
        [f"{row['name']} (MiB)", mib(row["truth"]), mib(row.get("ours")), mib(row.get("theirs"))]
        for row in results.gpu_tracker_figures()]


def page_rows(results):
    names = {"hour": "an hour at 1 Hz, every column moving", "million": "a million rows"}
    return [[name, *(number(results.page(record, what)) for what in ("load", "report", "drawn")),
             number(results.parts.get("report", {}).get(record, {}).get("bytes", 0) / 1000)]
            for record, name in names.items() if record in results.parts.get("report", {})]


def wrap_rows(results):
    return [[f"`{name}`", number(value)] for name, value in results.parts.get("wrap", {}).items()]


def repeat_rows(results):
    return [[f"`{name}`", *(number(row[what]) for what in ("median", "first", "third"))]
            for name, row in results.parts.get("repeat", {}).items()]


def machine_facts():
    model = "unknown CPU"
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as cpuinfo:
        for line in cpuinfo:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    with open("/proc/meminfo", encoding="ascii") as meminfo:
        memory_gib = int(meminfo.readline().split()[1]) / 1024 / 1024
    libc = " ".join(platform.libc_ver())
    return [f"{os.cpu_count()} cores of {model}, {memory_gib:.0f} GiB of memory",
            f"Linux {'.'.join(platform.release().split('.')[:2])}, {platform.machine()}, {libc}",
            f"Python {platform.python_version()} for the Python trackers"]


SECTIONS = [
    ("cost", "CPU at 1 Hz", """ms of CPU a minute, process and system rows, one sample a second. Trees
are steady: nobody comes or goes. They sleep, but for those that are awake, where each process wakes up twice a second
and reads a little: then this tracker has to read all of them, as the others do in any case. Each process of a tree
holds about 2 MB; the 8 GB process is resident in 4K pages.""",
     ["tracker", *SCENARIO_NAMES], cost_rows),
    ("cost", "The same as multiples of this tracker", "",
     ["tracker", *SCENARIO_NAMES], ratio_rows),
    ("cost", "CPU to start", """ms of CPU before the window begins: loading, finding the tree, opening,
and this tracker's looks at 2, 4, 8 ... 512 ms.""",
     ["tracker", *SCENARIO_NAMES], start_rows),
    ("stall", "Stall of the target", """What an 8 GB process sees when it maps, touches and unmaps
256 KiB, every 0.2 ms, by its own clock, while it is watched at 1 Hz; ms, of one window.""",
     ["tracker", "p99", "worst"], stall_rows),
    ("memory", "A process that grows to 8 GB", """In 4K pages and some seconds, watched at 10 Hz with
`--memory auto`; it maps and unmaps on its way as above. Stalls and the longest true read in ms, the error of the
peak in percent of a true read at the end.""",
     ["tracker", "p99", "worst", "true reads", "longest", "error of the peak"], grower_rows),
    ("wrap", "Wrapping a command", """Wall time in ms from spawn to wait, commands taking turns;
medians. Python: import, `ResourceTracker`, the command, stop. After a rest the kernel has to switch perf counters on
again, for everybody, before the first process that has one can start: a few milliseconds which the tracker waits for.""",
     ["command", "ms"], wrap_rows),
    ("repeat", "Repeated runs", """Wall time of `true` in ms as each program reports it, 20 runs at a time in turns.""",
     ["command", "median", "first quartile", "third quartile"], repeat_rows),
    ("cost", "Memory of the tracker", """MB with a tree of 100, summed over the tracker's own
processes.""", ["tracker", "peak RSS", "RSS", "PSS", "anonymous"], memory_rows),
    ("fast", "1000 Hz on one process", "us of CPU by row.",
     ["rows", "", "us by row", "rows a second"], fast_rows),
    ("gpu-tracker", "gpu-tracker beside the Python package", """The same calls at the default interval, ours with
`--compat 5`. CPU is that of the tracker's own processes once it has started. Where a figure is known by construction it
stands under truth: 5.0.1 takes two segments of shared memory for one, since both have the same path.""",
     ["figure", "truth", "ours", "gpu-tracker 5.0.1"], gpu_tracker_rows),
    ("report", "The report", """ms of CPU to load a snapshot and to make its report (which loads it), in turns; ms until
Chromium has drawn the page; kB of HTML.""", ["record", "load", "report", "drawn", "kB"], page_rows),
]


def text_report(results, notes):
    parts = []
    for part, title, _, head, rows in SECTIONS:
        if part in results.parts:
            parts.append(f"{title}\n{table(head, rows(results))}")
    measured = [row for row in limit_rows(results) if row[3] != "not measured"]
    parts.append("Limits\n" + table(["figure", "measured", "limit", ""], measured))
    return "\n\n".join(parts + [f"note: {note}" for note in notes])


BUSY_LOAD = 0.5
BUSY = ": **the machine was busy with other work**; take the figures for rough ones"

METHOD = """## How it is measured

- Every subject watches the same tree at the same interval and writes process and system figures: this
  tracker with `attach --rows both`, the Python one with its process and system tracker, as its
  `ResourceTracker` starts them, the Rust one with `--pid`.
- The floor (`bench/floor.c`) reads what a tracker has to read - stat, statm and io of each process, and
  the machine's files - through descriptors that stay open, once a second, and does nothing with it: no
  parsing, no looking for new processes, no rows.
- CPU is read from outside, as the scheduler's nanosecond clock of all processes of the subject, at both
  ends of a window of whole seconds that begins after start-up. A run that wrote fewer rows than the window
  has seconds is repeated.
- The floor and this tracker, with and without its sources, watch side by side, each at its own part of the second,
  over 17 s from their first on: this tracker reads a process that sleeps every 8 to 16 s, and makes most of its true
  reads of memory early. The other trackers do the same work each second, and take turns behind them in shorter
  windows. Figures are medians.
- What others fork on the machine costs this tracker a little, because it is told of every birth and death: how many
  there were is stated above.

Run it again with `make bench` (about 25 minutes; it installs the peers by name below the build folder), or
`bench/run --quick`, or one part with `bench/run --only cost|stall|memory|wrap|repeat|fast|gpu-tracker|report`. The machine should
be idle: on a virtual machine figures move by 30 %, ratios by far less.
"""


def markdown_report(results, notes, rounds, load, forks_per_second):
    lines = ["# Benchmarks", "",
             f"Written by `bench/run`; medians of {rounds} runs.", "",
             *[f"- {fact}" for fact in machine_facts()],
             f"- load average before the start {load:.1f}" + (BUSY if load >= BUSY_LOAD else ""),
             f"- processes born a second on the machine before the start {forks_per_second:.0f}", "",
             "## Limits", "",
             table(["figure", "measured", "limit", ""], limit_rows(results)), ""]
    for part, title, text, head, rows in SECTIONS:
        if part in results.parts:
            lines += [f"## {title}", "", *([text, ""] if text else []),
                      table(head, rows(results)), ""]
    if notes:
        lines += ["## Left out", "", *[f"- {note}" for note in notes], ""]
    return "\n".join(lines) + "\n" + METHOD
