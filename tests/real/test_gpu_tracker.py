"""gpu-tracker: the calls of its tutorial with what they print, line by line; units; wrong calls; exit codes."""

import json
import math
import os
import re
import signal
import subprocess
import sys
import time

import helpers
import pytest

GPU_TRACKER = os.path.join(os.path.dirname(os.path.abspath(os.environ.get(
    "TRK_BIN", helpers.REPOSITORY / "build" / "resource-tracker"))), "gpu-tracker")
STATUS = "Resource tracking complete. Process completed with status code: "

RAM_UNITS = {"bytes": 1, "kilobytes": 1e3, "megabytes": 1e6, "gigabytes": 1e9, "terabytes": 1e12}
TIME_UNITS = {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86400}
LEAST_RAM_OF_A_SYSTEM = 20e6  # an idle one has no share of its memory in use that could be relied on

# What stands on each line: depth, label, key and kind. A key of None closes nothing: sections are found by depth.
RSS = [("Total RSS", "total_rss"), ("Private RSS", "private_rss"), ("Shared RSS", "shared_rss")]
PERCENT = [("Max sum percent", "max_sum_percent"), ("Max hardware percent", "max_hardware_percent"),
           ("Mean sum percent", "mean_sum_percent"), ("Mean hardware percent", "mean_hardware_percent")]


def section(depth, label, key, items, kind):
    return [(depth, label, key, "section")] + [(depth + 1, *item, kind) for item in items]


def table(compat):
    others = ("Descendents", "descendents") if compat == 1 else ("Descendants", "descendants")
    lines = [(0, "Max RAM", "max_ram", "section"), (1, "Unit", "unit", "ram_unit"),
             (1, "System capacity", "system_capacity", "ram"), (1, "System", "system", "ram"),
             *section(1, "Main", "main", RSS, "ram"), *section(1, *others, RSS, "ram"),
             *section(1, "Combined", "combined", RSS, "ram"),
             (0, "Max GPU RAM", "max_gpu_ram", "section"), (1, "Unit", "unit", "gpu_ram_unit")]
    if compat == 5:
        lines += [(1, "System capacity", "system_capacity", "gpu_ram"), (1, "System", "system", "gpu_ram")]
    lines += [(1, "Main", "main", "gpu_ram"), (1, *others, "gpu_ram"), (1, "Combined", "combined", "gpu_ram")]
    if compat == 5:
        lines += [(0, "CPU utilization", "cpu_utilization", "section"),
                  (1, "System core count", "system_core_count", "count"),
                  (1, "Number of expected cores", "n_expected_cores", "count"),
                  *section(1, "System", "system", PERCENT, "percent"), *section(1, "Main", "main", PERCENT, "percent"),
                  *section(1, *others, PERCENT, "percent"), *section(1, "Combined", "combined", PERCENT, "percent"),
                  (1, "Main number of threads", "main_n_threads", "count"),
                  (1, "Descendants number of threads", "descendants_n_threads", "count"),
                  (1, "Combined number of threads", "combined_n_threads", "count"),
                  (0, "GPU utilization", "gpu_utilization", "section"),
                  (1, "System GPU count", "system_gpu_count", "count"),
                  (1, "Number of expected GPUs", "n_expected_gpus", "count"),
                  *section(1, "GPU percentages", "gpu_percentages", PERCENT, "percent")]
    return [*lines, (0, "Compute time", "compute_time", "section"), (1, "Unit", "unit", "time_unit"),
            (1, "Time", "time", "time")]


def call(*arguments, env=None, **options):
    return helpers.run([GPU_TRACKER, *arguments], capture_output=True, text=True,
                       env={**os.environ, **(env or {})}, **options)


def put_at(figures, path, value):
    for key in path[:-1]:
        figures = figures.setdefault(key, {})
    assert path[-1] not in figures
    figures[path[-1]] = value


def read_text(text, compat=1):
    """The figures of a text, whose every line must be the table's."""
    figures, path = {}, []
    lines = text.splitlines()
    assert len(lines) == len(table(compat)), text
    for line, (depth, label, key, kind) in zip(lines, table(compat)):
        path = [*path[:depth], key]
        if kind == "section":
            assert line == "   " * depth + label + ":"
            continue
        match = re.fullmatch(re.escape("   " * depth + label) + ": (.*)", line)
        assert match, (line, label)
        value = match[1]
        if kind == "count":
            assert re.fullmatch(r"\d+", value), line
            put_at(figures, path, int(value))
        elif kind.endswith("unit"):
            put_at(figures, path, value)
        else:  # as Python prints a float of three decimals
            assert repr(round(float(value), 3)) == value, line
            put_at(figures, path, float(value))
    return figures


def read_json(text, compat=1):
    """The same of JSON: keys in order, one blank a level, floats as Python has them."""
    figures = json.loads(text)
    assert json.dumps(figures, indent=1) == text.rstrip("\n")
    flat = []

    def walk(node, depth):
        for key, value in node.items():
            flat.append((depth, key, value))
            if isinstance(value, dict):
                walk(value, depth + 1)
    walk(figures, 0)
    assert [(depth, key) for depth, key, _ in flat] == [(depth, key) for depth, _, key, _ in table(compat)]
    for (_, key, value), (_, _, _, kind) in zip(flat, table(compat)):
        expected = {"section": dict, "count": int, "ram_unit": str, "gpu_ram_unit": str, "time_unit": str}.get(kind, float)
        assert type(value) is expected, key
    return figures


def mem_total():
    with open("/proc/meminfo", encoding="ascii") as file:
        return int(file.readline().split()[1]) * 1024


def check_sleep(tutorial, figures, ram="gigabytes", time_unit="hours", decimals=None):
    """What two seconds of sleep must have used: a small process that waits. All calls together took some time, and each
    at most that."""
    took_seconds = tutorial[2]
    ram_size, time_size = RAM_UNITS[ram], TIME_UNITS[time_unit]
    slack = 10 ** -decimals if decimals else 0
    max_ram = figures["max_ram"]
    assert max_ram["unit"] == ram and figures["compute_time"]["unit"] == time_unit
    assert max_ram["system_capacity"] == pytest.approx(mem_total() / ram_size, rel=1e-9, abs=slack)
    assert LEAST_RAM_OF_A_SYSTEM / ram_size - slack < max_ram["system"] < max_ram["system_capacity"]
    main = max_ram["main"]
    assert 0.5e6 - slack * ram_size <= main["total_rss"] * ram_size <= 20e6
    parts = main["private_rss"], main["shared_rss"]
    assert max(parts) <= main["total_rss"] <= sum(parts) * (1 + 1e-9) + 2 * slack
    others = max_ram.get("descendents", max_ram.get("descendants"))
    assert others == {"total_rss": 0.0, "private_rss": 0.0, "shared_rss": 0.0}
    assert max_ram["combined"] == main
    gpu = figures["max_gpu_ram"]
    if not os.path.exists("/proc/driver/nvidia"):
        assert {gpu["main"], gpu["combined"], gpu.get("descendents", gpu.get("descendants"))} == {0.0}
    assert 2.0 / time_size - slack <= figures["compute_time"]["time"] <= took_seconds / time_size + slack


# ---- the tutorial's calls: each sleeps for two seconds, so they run beside each other ------------


CALLS = {
    "plain": [], "units": ["--tu=seconds", "--ru=megabytes"], "output": ["-o", "out.txt"], "json": ["-f", "json"],
    "json_output": ["-f", "json", "-o", "out.json"], "five": ["--compat", "5"],
    "five_json": ["--compat", "5", "-f", "json", "--nec=1"],
}


@pytest.fixture(scope="module")
def tutorial(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tutorial")
    begin = time.monotonic()
    running = {name: helpers.popen([GPU_TRACKER, "-e", "sleep 2", *words], cwd=folder, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True) for name, words in CALLS.items()}
    results = {name: (*process.communicate(), process.returncode)
               for name, process in running.items()}
    return folder, results, time.monotonic() - begin


def status_and_rest(result):
    out, err, code = result
    assert (code, err) == (0, "")
    line, _, rest = out.partition("\n")
    assert line == STATUS + "0"
    return rest


def test_plain(tutorial):
    check_sleep(tutorial, read_text(status_and_rest(tutorial[1]["plain"])), decimals=3)


def test_units_of_the_tutorial(tutorial):
    figures = read_text(status_and_rest(tutorial[1]["units"]))
    check_sleep(tutorial, figures, "megabytes", "seconds", decimals=3)
    assert figures["max_gpu_ram"]["unit"] == "gigabytes"


def test_output_to_a_file(tutorial):
    folder, results, _ = tutorial
    assert status_and_rest(results["output"]) == ""
    check_sleep(tutorial, read_text((folder / "out.txt").read_text()), decimals=3)


def test_json(tutorial):
    check_sleep(tutorial, read_json(status_and_rest(tutorial[1]["json"])))


def test_json_to_a_file(tutorial):
    folder, results, _ = tutorial
    assert status_and_rest(results["json_output"]) == ""
    check_sleep(tutorial, read_json((folder / "out.json").read_text()))


def test_later_releases_form(tutorial):
    figures = read_text(status_and_rest(tutorial[1]["five"]), 5)
    check_sleep(tutorial, figures, decimals=3)
    cpu = figures["cpu_utilization"]
    assert cpu["system_core_count"] == cpu["n_expected_cores"] == os.cpu_count()
    assert (cpu["main_n_threads"], cpu["descendants_n_threads"], cpu["combined_n_threads"]) == (1, 0, 1)
    assert cpu["main"]["max_sum_percent"] < 20 and cpu["system"]["max_hardware_percent"] <= 100.001


def test_later_releases_json(tutorial):
    figures = read_json(status_and_rest(tutorial[1]["five_json"]), 5)
    check_sleep(tutorial, figures)
    assert figures["cpu_utilization"]["n_expected_cores"] == 1


def test_help():
    done = call("-h")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert "Usage:" in lines and "Options:" in lines
    for name in ("-h --help", "-e --execute=<", "-o --output=<", "-f --format=<", "--st=<", "--ru=<", "--gru=<", "--tu=<"):
        assert any(line.startswith("    " + name) for line in lines), name
    assert "--tf" not in done.stdout and "--tf=<" in call("-h", "--compat=5").stdout
    assert all(len(line) <= 80 for line in lines + call("--help", "--compat", "5").stdout.splitlines())


# ---- all units ----------------------------------------------------------------------------------


def rows_of(path, column):
    """Of a tracking file that is being written: its third line names the columns."""
    lines = open(path, encoding="ascii", newline="").read().split("\r\n")[2:-1] if os.path.exists(path) else []
    return [float(line.split(",")[lines[0].split(",").index(column)]) for line in lines[1:]]


def track_until(command, is_enough, *arguments):
    """Figures and standard error of a command that reads its input, which ends when the rows are enough: a command that
    ends by the clock may be over before a loaded machine has let the tracker look at it."""
    process = helpers.popen([GPU_TRACKER, "--compat=5", "-e", command, "-f", "json", "--st=0.02", "--tf=rows.csv", *arguments],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    helpers.wait_until(is_enough, "rows")
    out = helpers.finish(process, "")
    assert process.returncode == 0
    return read_json(out.partition("\n")[2], 5), process.stderr.read()


@pytest.mark.parametrize("ram", RAM_UNITS)
def test_ram_units(ram):
    unit = RAM_UNITS[ram]
    figures, said = track_until("cat", lambda: any(value * unit > 0.5e6 for value in rows_of("rows.csv", "main_ram")),
                                f"--ru={ram}", f"--gru={ram}")
    assert said == ""
    assert figures["max_ram"]["system_capacity"] == pytest.approx(mem_total() / unit, rel=1e-12)
    assert figures["max_ram"]["unit"] == figures["max_gpu_ram"]["unit"] == ram
    assert 0.5e6 < figures["max_ram"]["main"]["total_rss"] * unit < 20e6
    assert figures["max_ram"]["main"]["total_rss"] >= max(rows_of("rows.csv", "main_ram"))


@pytest.mark.parametrize("ram", RAM_UNITS)
def test_ram_units_of_the_first_release(ram):
    figures = read_json(call("-e", "true", f"--ru={ram}", f"--gru={ram}", "-f", "json").stdout.partition("\n")[2])
    assert figures["max_ram"]["system_capacity"] == pytest.approx(mem_total() / RAM_UNITS[ram], rel=1e-12)
    assert figures["max_ram"]["unit"] == figures["max_gpu_ram"]["unit"] == ram


@pytest.mark.parametrize("unit", TIME_UNITS)
def test_time_units(unit):
    begin = time.monotonic()
    done = call("-e", "sleep 0.2", f"--tu={unit}", "-f", "json")
    took = time.monotonic() - begin
    seconds = read_json(done.stdout.partition("\n")[2])["compute_time"]["time"] * TIME_UNITS[unit]
    assert 0.2 <= seconds <= took


# ---- what is wrong is said before the command starts ---------------------------------------------


WRONG = {
    "unit of RAM": (["-e", "touch ran", "--ru=gibibytes"], '"gibibytes" is not a valid RAM unit'),
    "unit of GPU RAM": (["-e", "touch ran", "--gru", "x"], '"x" is not a valid GPU RAM unit'),
    "unit of time": (["-e", "touch ran", "--tu=years"], '"years" is not a valid time unit'),
    "format": (["-e", "touch ran", "-f", "xml"], '"xml" is not a valid format'),
    "pickle": (["-e", "touch ran", "-f", "pickle"], "use -f json"),
    "sleep time": (["-e", "touch ran", "--st=often"], "--st often is no number"),
    "sleep time of nothing": (["-e", "touch ran", "--st=0"], "--st 0 is no number"),
    "output folder": (["-e", "touch ran", "-o", "no/such/out.txt"], "can't write no/such/out.txt"),
    "output is a folder": (["-e", "touch ran", "-o", "."], "is a directory"),
    "output without a name": (["-e", "touch ran", "-o", ""], "-o: the name is empty"),
    "no command": ([], "put it in quotes behind -e"),
    "no command but options": (["--tu=hours"], "put it in quotes behind -e"),
    "empty command": (["-e", "  "], "Empty command provided."),
    "open quote": (["-e", "touch 'ran"], "ends within quotes"),
    "unknown option": (["-e", "touch ran", "--nonesuch"], "there is no option --nonesuch"),
    "ambiguous option": (["-e", "touch ran", "--st1=2"], "there is no option"),
    "missing value": (["-e"], "-e needs a value"),
    "bare words": (["sleep", "2"], "stands alone"),
    "later option": (["-e", "touch ran", "--tf=x.csv"], "add --compat 5"),
    "release": (["--compat=4", "-e", "touch ran"], "there are 1 and 5"),
    "suffix": (["--compat=5", "-e", "touch ran", "--tf=x.txt"], 'Valid file extensions are ".csv" and ".sqlite"'),
    "brand": (["--compat=5", "-e", "touch ran", "--gb=acme"], '"acme" is not a valid GPU brand'),
    "cores": (["--compat=5", "-e", "touch ran", "--nec=1.5"], "no whole number of cores"),
    "config": (["--compat=5", "-e", "touch ran", "--tconfig=none.json"], "can't read none.json"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_calls(name):
    arguments, message = WRONG[name]
    done = call(*arguments)
    assert done.returncode == 125 and done.stdout == ""
    assert message in done.stderr and "gpu-tracker: " in done.stderr
    assert os.listdir(".") == []


def test_tracking_file_that_exists():
    with open("t.csv", "w", encoding="ascii") as file:
        file.write("mine\n")
    done = call("--compat=5", "-e", "touch ran", "--tf=t.csv")
    assert done.returncode == 125 and "--overwrite" in done.stderr
    assert open("t.csv", encoding="ascii").read() == "mine\n" and not os.path.exists("ran")
    assert call("--compat=5", "-e", "sleep 0.1", "--tf=t.csv", "--overwrite").returncode == 0
    assert open("t.csv", encoding="ascii").readline().startswith("ram_unit,gpu_ram_unit,time_unit")


@pytest.mark.parametrize("command, code, word", [("nonesuch", 127, "command not found"), ("./plain", 126, "not executable"),
                                                 ("./no/such", 127, "No such file")])
def test_commands_that_can_not_run(command, code, word):
    with open("plain", "w", encoding="ascii"):
        pass
    done = call("--compat=5", "-e", command, "-o", "out.txt", "--tf=t.csv")
    assert (done.returncode, done.stdout) == (code, "") and word in done.stderr
    assert os.listdir(".") == ["plain"]


# ---- the command ---------------------------------------------------------------------------------


def test_command_is_split_as_a_shell_does():
    done = call("-e", 'sh -c "echo a  b; exit 3"')
    assert done.returncode == 3
    assert done.stdout.splitlines()[:2] == ["a b", STATUS + "3"]
    show = [sys.executable, "-c", "import json, sys; print(json.dumps(sys.argv[1:]))"]
    words = r"""a'b c'd "x \"y\" \z" \ \\ '' "" $HOME * ~ ; | 'it'\''s'  """
    expected = ["ab cd", 'x "y" \\z', " \\", "", "", "$HOME", "*", "~", ";", "|", "it's"]
    with open("show", "w", encoding="ascii") as file:
        file.write(f"#!{show[0]}\n{show[2]}\n")
    os.chmod("show", 0o755)
    done = call("-e", f"./show {words}")
    assert json.loads(done.stdout.splitlines()[0]) == expected


def test_end_by_a_signal():
    done = call("-e", "sh -c 'kill -9 $$'")
    assert done.returncode == -signal.SIGKILL
    assert done.stdout.splitlines()[0] == STATUS + "-9"


def test_signals_reach_the_command():
    process = helpers.popen([GPU_TRACKER, "-e", "sleep 30"], stdout=subprocess.PIPE, text=True)
    helpers.wait_until(lambda: "sleep" in map(helpers.name_of, helpers.children_of(process.pid)), "the command")
    process.send_signal(signal.SIGTERM)
    out = process.stdout.read()
    assert process.wait() == -signal.SIGTERM and out.splitlines()[0] == STATUS + "-15"


# ---- figures -------------------------------------------------------------------------------------

HOLD = """
import mmap, os, sys
def touch(memory):
    for i in range(0, len(memory), 4096): memory[i] = 1
private = bytearray(120 << 20)
shared = mmap.mmap(-1, 60 << 20)
touch(private); touch(shared)
ready, goes_on = os.pipe(), os.pipe()
children = []
for _ in range(2):
    pid = os.fork()
    if pid == 0:
        os.close(goes_on[1])
        own = bytearray(40 << 20)
        touch(own); touch(shared)
        os.write(ready[1], b"x")
        os.read(goes_on[0], 1)
        os._exit(0)
    children.append(pid)
for _ in children: os.read(ready[0], 1)
open("in place", "w").close()
sys.stdin.read()
os.close(goes_on[1])
for pid in children: os.waitpid(pid, 0)
"""


def test_ram_of_a_family():
    """Each child has 40 MiB of its own; 60 MiB of shared memory and what was inherited count once."""
    with open("hold.py", "w", encoding="ascii") as file:
        file.write(HOLD)
    before = []

    def is_enough():
        if not before and os.path.exists("in place"):
            before.append(len(rows_of("rows.csv", "main_ram")))
        return before and len(rows_of("rows.csv", "main_ram")) > before[0] + 2
    ram = track_until(f"{sys.executable} hold.py", is_enough, "--ru=bytes")[0]["max_ram"]
    mib = 1 << 20
    assert 80 * mib <= ram["descendants"]["private_rss"] <= 90 * mib
    assert 180 * mib <= ram["descendants"]["shared_rss"] <= 200 * mib
    assert 120 * mib <= ram["main"]["private_rss"] <= 190 * mib
    assert 180 * mib <= ram["main"]["shared_rss"] <= 200 * mib
    assert 260 * mib <= ram["combined"]["total_rss"] <= 290 * mib
    assert max(rows_of("rows.csv", "combined_ram")) <= ram["combined"]["total_rss"]


def max_ram_of(program, *words, options=()):
    command = " ".join([str(helpers.workload(program)), *map(str, words)])
    done = call("--compat=5", "-e", command, "--ru=bytes", "-f", "json", *options)
    return read_json(done.stdout.partition("\n")[2], 5)["max_ram"]


ATTEMPTS = 10


@pytest.mark.parametrize("options", [(), ("--tf=t.csv",)], ids=["maxima", "rows"])
def test_who_ends_while_the_family_is_read_is_not_counted_twice(options):
    """One of two who share 40 MiB ends at any moment of many readings; there are never more than 40 MiB."""
    held = 40 << 20
    bare = max_ram_of("heirs", 1, 0.01, 0.5, options=["--st=0.003"])["combined"]["total_rss"]
    for _ in range(ATTEMPTS):  # on a loaded machine no reading may have met the full 40 MiB; more is wrong in any
        ram = max_ram_of("heirs", 1, 40, 2.5, options=["--st=0.003", "--overwrite", *options])
        assert max(ram[part]["total_rss"] for part in ("descendants", "combined")) <= (held + bare) * 1.02
        if min(ram[part]["total_rss"] for part in ("descendants", "combined")) >= held:
            break
    else:
        pytest.fail(f"no reading has met the memory in {ATTEMPTS} runs: {ram}")
    if options:
        rows = open("t.csv", encoding="ascii", newline="").read().split("\r\n")[3:-1]
        assert len(rows) > 50 and max(float(row.split(",")[2]) for row in rows) <= (held + bare) * 1.02


def test_a_child_in_its_parents_memory_holds_nothing():
    ram = max_ram_of("borrowed", 40, 1, options=["--st=0.05"])
    assert ram["descendants"]["total_rss"] == 0
    assert 40 << 20 <= ram["combined"]["total_rss"] == ram["main"]["total_rss"] <= 43 << 20


def test_ram_that_could_not_be_read_is_told():
    """Whether a command of half a millisecond is caught alive is chance; that 0.0 is explained is not."""
    for _ in range(10):
        done = call("-e", "true", "--ru=bytes", "-f", "json")
        is_unread = read_json(done.stdout.partition("\n")[2])["max_ram"]["combined"]["total_rss"] == 0
        assert ("before its memory could be read" in done.stderr) == is_unread
    assert call("--compat=5", "--disable-logs", "-e", "true").stderr == ""
    _, said = track_until("cat", lambda: any(rows_of("rows.csv", "main_ram")))
    assert said == ""


def test_cpu_of_main_and_descendants():
    spin = f"{sys.executable} -c 'import time\nend = time.process_time() + 1\nwhile time.process_time() < end: pass'"
    with open("both.sh", "w", encoding="ascii") as file:
        file.write(f"{spin} & wait\n")
    done = call("--compat=5", "-e", "sh both.sh", "-f", "json", "--tu=seconds", "--nec=4")
    figures = read_json(done.stdout.partition("\n")[2], 5)
    cpu, seconds = figures["cpu_utilization"], figures["compute_time"]["time"]
    assert cpu["descendants"]["mean_sum_percent"] * seconds / 100 == pytest.approx(1, rel=0.15)
    assert cpu["main"]["mean_sum_percent"] * seconds / 100 < 0.1
    for part in ("mean", "max"):
        assert cpu["combined"][f"{part}_hardware_percent"] == pytest.approx(cpu["combined"][f"{part}_sum_percent"] / 4)
        assert cpu["combined"][f"{part}_sum_percent"] <= 100 * os.cpu_count() + 1e-6


def test_config_file_and_environment():
    with open("config.json", "w", encoding="ascii") as file:
        json.dump({"sleep_time": 0.1, "ram_unit": "kilobytes", "time_unit": "days", "n_expected_cores": 7,
                   "tracking_file": "t.sqlite", "gpu_uuids": None, "join_timeout": 3}, file)
    done = call("-e", "sleep 0.3", "--tconfig=config.json", "--tu=seconds", "-f", "json", env={"GPU_TRACKER_COMPAT": "5"})
    figures = read_json(done.stdout.partition("\n")[2], 5)
    assert figures["max_ram"]["unit"] == "kilobytes" and figures["compute_time"]["unit"] == "seconds"
    assert figures["cpu_utilization"]["n_expected_cores"] == 7 and os.path.getsize("t.sqlite") > 0
    with open("config.json", "w", encoding="ascii") as file:
        file.write('{"sleep_tme": 1}')
    done = call("--compat=5", "-e", "true", "--tconfig=config.json")
    assert done.returncode == 125 and "no argument of a tracker" in done.stderr


def test_uuid_that_is_not_there():
    done = call("--compat=5", "-e", "touch ran", "--guuids=GPU-00000000-nonesuch")
    assert done.returncode == 125 and "no GPU is called GPU-00000000-nonesuch" in done.stderr
    assert os.listdir(".") == []


# ---- files of code blocks -------------------------------------------------------------------------


def write_tracking(path, rows):
    names = ["main_ram", "combined_ram", "timestamp"]
    with open(path, "w", encoding="ascii") as file:
        file.write("ram_unit,gpu_ram_unit,time_unit,ram_system_capacity,gpu_ram_system_capacity,system_core_count,"
                   "n_expected_cores,system_gpu_count,n_expected_gpus\ngigabytes,gigabytes,hours,67.25,0.0,8,8,0,0\n")
        file.write(",".join(names) + "\n")
        for row in rows:
            file.write(",".join(map(repr, row)) + "\n")


def write_log(path, rows):
    with open(path, "w", encoding="utf-8") as file:
        file.write("process_id,code_block_name,position,timestamp\n")
        for pid, name, position, stamp in rows:
            file.write(f'{pid},"{name}",{position},{stamp!r}\n')


def test_analyze_and_compare():
    write_tracking("t.csv", [(1.0, 2.0, 10.0), (3.0, 4.0, 11.0), (5.0, 6.0, 12.0)])
    write_log("a.csv", [(7, "f.py:9", 0, 9.5), (7, "f.py:9", 1, 11.5), (7, "f.py:12", 0, 20.0), (7, "f.py:12", 1, 20.25),
                        (7, "f.py:12", 0, 30.0)])
    done = call("sub-track", "analyze", "--tf=t.csv", "--stf=a.csv", "-f", "json", "-o", "a.json")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    result = json.load(open("a.json", encoding="utf-8"))
    assert result["overall"]["main_ram"] == {"min": 1.0, "max": 5.0, "mean": 3.0, "std": pytest.approx(math.sqrt(8 / 3))}
    assert result["static_data"]["system_core_count"] == 8 and result["static_data"]["ram_unit"] == "gigabytes"
    twelve, nine = result["code_block_results"]
    assert (nine["name"], nine["num_timepoints"], nine["num_calls"], nine["num_non_empty_calls"]) == ("f.py:9", 2, 1, 1)
    assert nine["compute_time"] == {"min": 2.0, "max": 2.0, "mean": 2.0, "std": 0.0, "total": 2.0}
    assert nine["resource_usage"]["combined_ram"]["max"] == 4.0
    assert (twelve["num_calls"], twelve["num_timepoints"]) == (1, 0)
    assert twelve["resource_usage"]["main_ram"] == {"min": None, "max": None, "mean": None, "std": None}
    text = call("sub-track", "analyze", "--tf=t.csv", "--stf=a.csv").stdout
    assert text.startswith("Overall:\n\t              min  max  mean        std\n\tmain_ram      1.0  5.0   3.0 1.63299316\n")
    # Other line numbers of the same file match, and it is said.
    write_log("b.csv", [(7, "f.py:10", 0, 9.5), (7, "f.py:10", 1, 10.5), (7, "f.py:13", 0, 20.0), (7, "f.py:13", 1, 21.0)])
    call("sub-track", "analyze", "--tf=t.csv", "--stf=b.csv", "-f", "json", "-o", "b.json")
    done = call("sub-track", "compare", "-m", "new=b.json", "old=a.json", "--stat=max", "-f", "json")
    assert done.returncode == 0 and "differ by line number" in done.stderr
    result = json.loads(done.stdout)
    assert result["code_block_compute_time"] == {"f.py:10 -> f.py:9": {"new": 1.0, "old": 2.0},
                                                 "f.py:12 -> f.py:13": {"old": 0.25, "new": 1.0}}
    assert list(result["code_block_compute_time"]["f.py:12 -> f.py:13"]) == ["old", "new"]
    with open("c.json", "w", encoding="ascii") as file:
        json.dump({"file_path_map": {"old": "a.json"}, "statistic": "min"}, file)
    done = call("sub-track", "compare", "--cconfig=c.json", "-m", "new=b.json")
    assert done.returncode == 0 and "Main Ram:\n\t\t  old  new\n\t\t  1.0  1.0" in done.stdout


def test_compare_reads_pipes():
    """A pipe has no size, so only its end says how long the text is."""
    write_tracking("t.csv", [(1.0, 2.0, 10.0), (3.0, 4.0, 11.0)])
    write_log("a.csv", [(7, "f.py:9", 0, 9.5), (7, "f.py:9", 1, 11.5)])
    text = call("sub-track", "analyze", "--tf=t.csv", "--stf=a.csv", "-f", "json", "-o", "a.json")
    assert text.returncode == 0, text.stderr
    with open("a.json", encoding="utf-8") as file:
        done = call("sub-track", "compare", "-m", "old=a.json", "new=/dev/stdin", "-f", "json", input=file.read())
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["code_block_compute_time"] == {"f.py:9": {"old": 2.0, "new": 2.0}}


def test_combine():
    os.mkdir("parts")
    write_log("parts/1.csv", [(1, "a, b", 0, 1.5)])
    write_log("parts/2.csv", [(2, "c", 0, 2.25)])
    assert call("sub-track", "combine", "--stf=all.csv", "-p", "parts").returncode == 0
    assert open("all.csv", encoding="utf-8", newline="").read() == (
        'process_id,code_block_name,position,timestamp\r\n1,"a, b",0,1.5\r\n2,c,0,2.25\r\n')
    done = call("sub-track", "combine", "--stf=all.csv", "-p", "parts/1.csv", "-p", "parts/2.csv")
    assert done.returncode == 125 and "already exists" in done.stderr
    done = call("sub-track", "combine", "--stf=two.sqlite", "-p", "parts/1.csv", "parts/2.csv")
    assert done.returncode == 125 and "same extension" in done.stderr and not os.path.exists("two.sqlite")


SUB_WRONG = {
    "which": (["sub-track"], "combine, analyze and compare"),
    "no tracking file": (["sub-track", "analyze", "--stf=a.csv"], "--tf=FILE"),
    "nothing to compare": (["sub-track", "compare"], "-m NAME=FILE"),
    "not a pair": (["sub-track", "compare", "-m", "a.json"], "not of the form NAME=FILE"),
    "statistic": (["sub-track", "compare", "-m", "a=empty.json", "--stat=median"], "Valid values are min max mean std"),
    "no such file": (["sub-track", "compare", "-m", "a=none.json"], "can't read none.json"),
    "pickle": (["sub-track", "compare", "-m", "a=r.pkl"], "analyze -f json"),
    "not an analysis": (["sub-track", "compare", "-m", "a=empty.json"], "no result of sub-track analyze"),
    "stop without start": (["sub-track", "analyze", "--tf=t.csv", "--stf=bad.csv"], "stop without a start"),
    "option of tracking": (["sub-track", "compare", "--ru=bytes"], "--ru has no meaning here"),
}


@pytest.mark.parametrize("name", SUB_WRONG)
def test_wrong_sub_track_calls(name):
    write_tracking("t.csv", [(1.0, 2.0, 10.0)])
    write_log("bad.csv", [(1, "a", 1, 1.0)])
    with open("empty.json", "w", encoding="ascii") as file:
        file.write("{}")
    with open("r.pkl", "wb") as file:
        file.write(b"\x80\x04\x95")
    arguments, message = SUB_WRONG[name]
    done = call(*arguments)
    assert done.returncode == 125 and done.stdout == "" and message in done.stderr
