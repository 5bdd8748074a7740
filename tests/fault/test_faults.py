"""The fault run: every way to a fallible call fails once. TRK_BIN is a tracker that was built with -Dfault=true and the
sanitizers (build-asan/resource-tracker).

Each scenario runs once undisturbed, which shows the ways to its fallible calls; then it runs again and again, each time with one
call failing. The contract, whatever fails:

- The tracker ends in time, by itself, without a report of a sanitizer.
- The job runs from start to end, once, and the exit status is the job's. Or it is not started: then the status is 125 (126 or
  127 where the call is exec), and the folder is as it was before.
- Another command does all its work and exits 0, or says why not and exits 1; `attach` leaves its process alone.
- An output is complete, or a message names it.
- The run is kept and `runs` lists it as what it was, or a message says that it is not.
- Each such message has the text of the error that was injected, behind the thing that failed.
- Nothing else is left behind, neither in the folder nor among the runs that are kept.

Where there are too many calls for the time (TRK_FAULT_SECONDS, 45), every way is tried that no scenario before has tried, then
other calls, spread evenly."""

import concurrent.futures
import contextlib
import errno
import json
import mmap
import os
import re
import shutil
import signal
import sqlite3
import struct
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2]
TRACKER = Path(os.environ.get("TRK_BIN") or SOURCE / "build-asan" / "resource-tracker").absolute()
SECONDS = float(os.environ.get("TRK_FAULT_SECONDS", "45"))
XDIST_WORKERS = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
THREADS = max(1, 2 * os.cpu_count() // XDIST_WORKERS)  # half of the time a run waits for its job
PATIENCE_SECONDS = 30
SANITIZER_EXIT = 99
SANITIZER_REPORT = re.compile(r"AddressSanitizer|LeakSanitizer|runtime error:|UndefinedBehavior")
JOB_CODE = 7
OWN_CODE = 125  # of `run`
VERB_CODE = 1  # of any other command
WORDS = {errno.ENOMEM: ("out of memory", "no memory "), errno.EAGAIN: ("the limit of processes is reached",)}
JOB = f"echo start >>job; sleep 0.06; echo end >>job; exit {JOB_CODE}"


class Page:
    """struct fault_page of injector.c, in a file that both sides map."""

    HEAD = struct.Struct("QQQQ32s")
    RECORDS_MAX = 1 << 16

    def __init__(self, path):
        self.path = path
        with open(path, "wb") as file:
            file.truncate(self.HEAD.size + 8 * self.RECORDS_MAX)

    def read(self):
        """(caller, errno, name) of the call that failed, and the ways of all."""
        with open(self.path, "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as page:
            calls, _, caller, error, name = self.HEAD.unpack_from(page)
            ways = struct.unpack_from(f"{min(calls, self.RECORDS_MAX)}Q", page, self.HEAD.size)
        return caller, error, name.rstrip(b"\0").decode(), ways


# ---- outputs: complete or not --------------------------------------------------------------------


def csv_is_complete(path):
    text = path.read_text()
    lines = text.splitlines()
    return text.endswith("\n") and len(lines) >= 2 and len({line.count(",") for line in lines}) == 1


def jsonl_is_complete(path):
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return bool(rows) and all("timestamp" in row for row in rows)


def sqlite_is_complete(path):
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        return database.execute("SELECT count(*) FROM samples").fetchone()[0] > 0


def summary_is_complete(path):
    summary = json.loads(path.read_text())
    return "totals" in summary and summary["exit_code"] == JOB_CODE


def snapshot_is_complete(path):
    return json.loads(path.read_text())["process_metrics"]


def baseline_is_complete(path):
    return json.loads(path.read_text())["runs"]


def time_is_complete(path):
    return path.read_text().endswith(f"\tExit status: {JOB_CODE}\n")


def html_is_complete(path):
    text = path.read_text()
    return text.startswith("<!doctype html>") and 'id="run-data">{' in text and text.rstrip().endswith("</html>")


def is_complete(path, check):
    try:
        return check(path)
    except (OSError, ValueError, KeyError, sqlite3.Error):
        return False


# ---- scenarios -----------------------------------------------------------------------------------


@dataclass
class Scenario:
    name: str
    words: list
    outputs: dict = field(default_factory=dict)
    prepare: object = None  # fills the folder and returns more variables
    kind: str = "run"  # attach: a process runs already; system: it runs until SIGTERM; verb: it runs by itself
    saves: bool = False
    reasons: tuple = ()  # that it may give in place of the error's text


def make_gpus(work):
    """A machine with an AMD GPU and an NVIDIA one that nvidia-smi alone can read; its proc is the real one."""
    files = {
        "root/dev/nvidiactl": "",
        "root/sys/class/drm/renderD128/device/vendor": "0x1002\n",
        "root/sys/class/drm/renderD128/device/uevent": "PCI_SLOT_NAME=0000:03:00.0\n",
        "root/sys/class/drm/renderD128/device/gpu_busy_percent": "37\n",
        "root/sys/class/drm/renderD128/device/mem_info_vram_used": "1024\n",
        "root/sys/class/drm/renderD128/device/hwmon/hwmon1/temp1_input": "54000\n",
        "devices.head": "index, utilization.gpu [%]\n", "devices.rows": "0, 42\n",
        "processes.head": "# gpu  pid  sm  fb\n", "processes.rows": "0  -  -  -\n",
    }
    folder = work.parent / "machine"
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "root" / "proc").symlink_to("/proc")
    return {"FAKE_SMI": str(folder), "PATH": f"{SOURCE}/tests/gpu:{os.environ['PATH']}"}


kept = {}  # where one run is kept, with its rows


def make_kept_run(work):
    """The same for all, so that what is printed of it is the same."""
    if not kept:
        (work.parents[1] / "kept" / "work").mkdir(parents=True)
        kept["folder"] = work.parents[1] / "kept"
        run_plainly(kept["folder"] / "work", ["-q", "-i", "0.05", "-o", "rows.csv", "sleep", "0.2"])
    shutil.copytree(kept["folder"], work.parent, dirs_exist_ok=True)
    return {}


QUICK = ["-i", "0.02"]
UNSAVED = [*QUICK, "-q", "--no-save"]
RUN = ["--", "sh", "-c", JOB]
SCENARIOS = [
    Scenario("saved", [*QUICK, "-o", "rows.csv", *RUN], {"rows.csv": csv_is_complete}, saves=True),
    Scenario("saved-attach", ["attach", *QUICK, "-o", "rows.jsonl"], {"rows.jsonl": jsonl_is_complete}, kind="attach",
             saves=True),
    Scenario("runs", ["runs"], {"stdout": None}, make_kept_run, kind="verb"),
    Scenario("show", ["show"], {"stdout": None}, make_kept_run, kind="verb"),
    Scenario("recommend", ["recommend", "--json"], {"stdout": None}, make_kept_run, kind="verb"),
    Scenario("report", ["report", "-o", "page.html"], {"page.html": html_is_complete}, make_kept_run, kind="verb"),
    Scenario("export", ["export", "--format", "snapshot", "-o", "run.json"], {"run.json": snapshot_is_complete}, make_kept_run,
             kind="verb"),
    Scenario("compare", ["compare", "sleep", "sleep", "-o", "page.html"], {"page.html": html_is_complete}, make_kept_run,
             kind="verb"),
    Scenario("baseline", ["baseline", "save", "./base.json", "sleep"], {"base.json": baseline_is_complete}, make_kept_run,
             kind="verb"),
    Scenario("convert", ["convert", "rows.csv", "rows.jsonl"], {"rows.jsonl": jsonl_is_complete}, make_kept_run, kind="verb"),
    Scenario("pages", [*QUICK, "--report", "page.html", "--processes", "processes.csv", "--export", "time:time", *RUN],
             {"page.html": html_is_complete, "processes.csv": csv_is_complete, "time": time_is_complete}, saves=True),
    Scenario("jsonl-full", [*UNSAVED, "--schema", "full", "-o", "rows.jsonl", *RUN], {"rows.jsonl": jsonl_is_complete}),
    # The second try of SQLite may go well where the first did not: then it says that the file was not opened.
    Scenario("sqlite", [*UNSAVED, "-o", "rows.sqlite", *RUN], {"rows.sqlite": sqlite_is_complete},
             reasons=("unable to open database file",)),
    Scenario("summary", [*UNSAVED, "--memory", "pss", "--summary", "summary.json", *RUN],
             {"summary.json": summary_is_complete}),
    Scenario("traced", [*UNSAVED, "--trace-exits", "-o", "rows.csv", *RUN], {"rows.csv": csv_is_complete}),
    Scenario("system", ["system", *UNSAVED, "-o", "rows.csv"], {"rows.csv": csv_is_complete}, kind="system"),
    Scenario("gpus", [*UNSAVED, "--root", "../machine/root", "--gpus", "0,1", "--schema", "full", "-o", "rows.csv", *RUN],
             {"rows.csv": csv_is_complete}, make_gpus, reasons=("no GPU is called",)),
]


# ---- running -------------------------------------------------------------------------------------


def environment(work):
    home = work.parent
    return {"PATH": os.environ["PATH"], "HOME": str(home), "XDG_STATE_HOME": f"{home}/state", "LC_ALL": "C",
            "XDG_CONFIG_HOME": f"{home}/config", "XDG_DATA_HOME": f"{home}/data", "TRACKER_CLOUD": "off",
            "ASAN_OPTIONS": f"detect_leaks=1:exitcode={SANITIZER_EXIT}:allocator_may_return_null=1",
            "UBSAN_OPTIONS": f"halt_on_error=1:exitcode={SANITIZER_EXIT}", "LSAN_OPTIONS": f"exitcode={SANITIZER_EXIT}"}


def run_plainly(work, words):
    return subprocess.run([TRACKER, *words], cwd=work, env=environment(work), capture_output=True, text=True,
                          timeout=PATIENCE_SECONDS, check=True).stdout


@dataclass
class Outcome:
    code: int = 0
    text: str = ""  # standard error
    stdout: str = ""
    job: list = field(default_factory=list)  # the lines that it wrote
    job_code: int = JOB_CODE  # where the tracker did not start it
    incomplete: list = field(default_factory=list)  # outputs
    left: set = field(default_factory=set)  # files that should not be there
    runs: str = ""  # what `runs --json` says then
    caller: int = 0
    error: int = 0
    call: str = ""
    ways: tuple = ()


def stop_after_rows(process, path, lines=3, patience_seconds=2):
    """Sends SIGTERM when the file has a header and two rows, or gets none."""
    deadline = time.monotonic() + patience_seconds
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError):
            if path.read_bytes().count(b"\n") >= lines:
                break
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)


def execute(scenario, folder, way=None):
    """`way`: (hash, which of the calls that are reached by it); None: undisturbed."""
    work = folder / "work"
    work.mkdir(parents=True)
    page = Page(folder / "page")
    variables = {**environment(work), **(scenario.prepare(work) if scenario.prepare else {})}
    before = set(os.listdir(work))
    variables["TRK_FAULT_PAGE"] = str(page.path)
    if way:
        variables["TRK_FAULT_AT"] = f"{way[0]:x}:{way[1]}"
    words = list(scenario.words)
    target = None
    if scenario.kind == "attach":
        target = subprocess.Popen(["sh", "-c", JOB], cwd=work)
        words.append(str(target.pid))
    process = subprocess.Popen([TRACKER, *words], cwd=work, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, env=variables, start_new_session=True)
    outcome = Outcome()
    try:
        if scenario.kind == "system":
            stop_after_rows(process, work / "rows.csv")
        stdout, stderr = process.communicate(timeout=PATIENCE_SECONDS)
        outcome.code, outcome.text = process.returncode, stderr.decode(errors="replace")
        outcome.stdout = stdout.decode().replace(str(folder), "FOLDER")
    except subprocess.TimeoutExpired:
        outcome.text = None
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if target:
            outcome.job_code = target.wait()
    if (work / "job").exists():
        outcome.job = (work / "job").read_text().split()
    outcome.incomplete = [name for name, check in scenario.outputs.items() if check and not is_complete(work / name, check)]
    started = outcome.job or scenario.kind != "run"
    outcome.left = set(os.listdir(work)) - before - {"job"} - (scenario.outputs.keys() if started else set())
    store = folder / "state" / "resource-tracker" / "runs"
    if store.exists():
        outcome.runs = run_plainly(work, ["runs", "--json"])
        outcome.left |= {name for name in os.listdir(store) if not re.fullmatch(r"[-0-9a-f]*\.run", name)}
    outcome.caller, outcome.error, outcome.call, outcome.ways = page.read()
    return outcome


def says(scenario, outcome, *things):
    """A message with the error's text and what failed; where things are given, with one of them in it."""
    text = os.strerror(outcome.error)
    messages = [line for line in outcome.text.splitlines() if line.removeprefix("resource-tracker: ") != text and (
        not things or any(name in line for name in things))]
    return any(re.search(reason, line, re.IGNORECASE) for line in messages for reason in
               (text, *WORDS.get(outcome.error, ()), *scenario.reasons))


def kept_run_is_right(scenario, outcome):
    runs = json.loads(outcome.runs)["runs"] if outcome.runs else []
    return len(runs) == 1 and not runs[0].get("damage") and not runs[0]["running"] and (
        scenario.kind != "run" or runs[0]["exit_code"] == JOB_CODE)


def verdict(scenario, outcome, undisturbed):
    """None, or what is wrong."""
    if outcome.text is None:
        return f"no end after {PATIENCE_SECONDS} s"
    if outcome.code == SANITIZER_EXIT or SANITIZER_REPORT.search(outcome.text):
        return "a sanitizer reports"
    if outcome.code < 0:
        return f"killed by signal {-outcome.code}"
    if outcome.left:
        return f"left behind: {' '.join(sorted(outcome.left))}"
    if scenario.kind == "run" and not outcome.job:
        codes = (OWN_CODE, 126, 127) if outcome.call == "execvp" else (OWN_CODE,)
        if outcome.code not in codes:
            return f"the job was not started, and the exit code is {outcome.code}"
        return None if says(scenario, outcome) else "the job was not started, and no message says why"
    if scenario.kind in ("run", "attach") and (outcome.job != ["start", "end"] or outcome.job_code != JOB_CODE):
        return f"the job wrote {outcome.job} and ended with {outcome.job_code}"
    if outcome.code == VERB_CODE and scenario.kind != "run":
        if not says(scenario, outcome):
            return f"exit code {outcome.code}, and no message says why"
        outcome.incomplete = []
    elif outcome.code != undisturbed.code:
        return f"exit code {outcome.code}, not {undisturbed.code}"
    for name in outcome.incomplete:
        if not says(scenario, outcome, name, "the job runs but is not measured"):
            return f"{name} is not complete, and no message says so"
    if "stdout" in scenario.outputs and outcome.stdout != undisturbed.stdout and not says(scenario, outcome) and (
            os.strerror(outcome.error) not in outcome.stdout):
        pairs = enumerate(zip(outcome.stdout, undisturbed.stdout))
        at = next((i for i, (ours, theirs) in pairs if ours != theirs), 0)
        return (f"standard output differs, and no message says why: ...{outcome.stdout[max(0, at - 60):at + 60]!r}, not "
                f"...{undisturbed.stdout[max(0, at - 60):at + 60]!r}")
    if scenario.saves and not kept_run_is_right(scenario, outcome) and not says(scenario, outcome):
        return f"the run is not kept, and no message says so; runs: {outcome.runs or 'none'}"
    if scenario.kind == "verb" and outcome.runs != undisturbed.runs:
        return f"the run that is kept has changed: {outcome.runs}"
    return None


# ---- choosing what to fail -----------------------------------------------------------------------

tried = set()  # ways, in any scenario


def choose(ways, budget):
    """[(way, which)]: the first on each way that is new, then calls spread evenly until the budget is used."""
    seen, calls = {}, []
    for way in ways:
        seen[way] = seen.get(way, 0) + 1
        calls.append((way, seen[way]))
    chosen = [call for call in calls if call[1] == 1 and call[0] not in tried]
    others = [call for call in calls if call not in set(chosen)]
    left = max(0, budget - len(chosen))
    tried.update(ways)
    return chosen + (others[::max(1, -(-len(others) // left))] if left else [])


def place(caller):
    if not shutil.which("addr2line"):
        return hex(caller)
    found = subprocess.run(["addr2line", "-e", TRACKER, hex(caller)], capture_output=True, text=True, check=True).stdout
    return found.split("/../")[-1].split(" (")[0].strip()


@pytest.mark.timeout(PATIENCE_SECONDS * 20 + SECONDS)
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_each_call_fails_once(scenario, tmp_path):
    assert os.access(TRACKER, os.X_OK), f"{TRACKER} does not exist: tools/test fault builds it"
    execute(scenario, tmp_path / "warm")
    started = time.monotonic()
    undisturbed = execute(scenario, tmp_path / "undisturbed")
    run_seconds = time.monotonic() - started
    assert undisturbed.ways, "the injector sees no call: was the command built with -Dfault=true?"
    assert ("-q" not in scenario.words or not undisturbed.text) and not undisturbed.incomplete, undisturbed.text
    assert undisturbed.code == (JOB_CODE if scenario.kind == "run" else 0)
    wrong = verdict(scenario, undisturbed, undisturbed)
    assert not wrong, wrong
    seconds = SECONDS * XDIST_WORKERS / len(SCENARIOS)
    calls = choose(undisturbed.ways, int(seconds * THREADS / run_seconds))

    def try_call(call):
        folder = tmp_path / f"{call[0]:x}-{call[1]}"
        outcome = execute(scenario, folder, call)
        shutil.rmtree(folder)
        return outcome

    failures, missed = [], 0
    with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
        for outcome in pool.map(try_call, calls):
            if not outcome.caller:
                missed += 1
            elif wrong := verdict(scenario, outcome, undisturbed):
                failures.append(f"{outcome.call} from {place(outcome.caller)} fails with {os.strerror(outcome.error)}: {wrong}"
                                + "".join(f"\n    {line}" for line in (outcome.text or "").splitlines()[:40]))
    print(f"{scenario.name}: {len(calls)} of {len(undisturbed.ways)} calls, {len(set(undisturbed.ways))} ways, "
          f"{missed} not reached, {len(failures)} wrong")
    # A way that no other scenario has may be one that only chance leads to; where there are many, some are reached.
    assert missed < max(20, len(calls)), f"none of {len(calls)} calls was reached"
    assert not failures, f"{len(failures)} of {len(calls)} calls:\n" + "\n".join(failures)
