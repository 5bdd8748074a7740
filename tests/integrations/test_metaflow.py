"""The step decorator in flows that run with Metaflow from its registry and its local datastore."""

import glob
import json
import os
import re
import shutil
import subprocess
import tarfile
import time
from concurrent.futures import ThreadPoolExecutor
from statistics import median

import pytest
from conftest import ROOT, skip_or_fail

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = os.path.join(ROOT, "build-python", "metaflow", "bin", "python")
EXAMPLE = os.path.join(ROOT, "docs", "examples", "track_step.py")
ARTIFACT = "resource_tracker_data"
SECONDS_MAX = 480  # for anything that is waited for

# Prints what a run kept, as JSON: tasks by step, each with its artifact.
READ_RUN = """
import json, sys
from metaflow import Run, Task, namespace
namespace(None)
def kept(task, name):
    return task[name].data if name in task else None
run = Run(sys.argv[1])
print(json.dumps({step.id: [{"id": task.id, "artifact": kept(task, sys.argv[2]), "attempts": [
    kept(Task(task.pathspec, attempt=number), sys.argv[2]) for number in range(task.current_attempt + 1)]}
    for task in step] for step in run}))
"""


def flow_file(name):
    return os.path.join(HERE, "flows", name + ".py")


class World:
    """A folder in which flows run, one after the other or side by side."""

    def __init__(self, folder):
        self.folder = folder
        self.env = {**os.environ, "PATH": os.path.dirname(PYTHON) + os.pathsep + os.environ["PATH"],
                    "METAFLOW_DEFAULT_DATASTORE": "local", "METAFLOW_DEFAULT_METADATA": "local",
                    "METAFLOW_DATASTORE_SYSROOT_LOCAL": str(folder), "USERNAME": "tester", "TRACKER_CLOUD": "off"}

    def start(self, path, *arguments, env=None, before=()):
        return subprocess.Popen([*before, PYTHON, path, *(arguments or ["run"])], cwd=self.folder, text=True,
                                env={**self.env, **(env or {})}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def run(self, path, *arguments, **options):
        return FinishedRun(self, path, self.start(path, *arguments, **options))

    def python(self, code, *arguments):
        return subprocess.run([PYTHON, "-c", code, *arguments], cwd=self.folder, env=self.env, check=True,
                              capture_output=True, text=True, timeout=SECONDS_MAX).stdout


class FinishedRun:
    def __init__(self, world, path, process):
        try:
            self.output = process.communicate(timeout=SECONDS_MAX)[0]
        finally:
            process.kill()
        self.exit_code = process.returncode
        self._world, self._path = world, path
        found = re.search(r"executing (\w+) .*run-id (\d+)", self.output, re.DOTALL)
        self.flow, self.run_id = found.groups() if found else (None, None)
        self._kept = {}

    def kept(self, step, artifact=ARTIFACT):
        """What the step's tasks kept, in the order of their numbers."""
        if artifact not in self._kept:
            self._kept[artifact] = json.loads(self._world.python(READ_RUN, f"{self.flow}/{self.run_id}", artifact))
        return sorted(self._kept[artifact][step], key=lambda task: task["id"])

    def card_paths(self, step):
        places = f".metaflow/mf.cards/{self.flow}/runs/{self.run_id}/steps/{step}/tasks/*/cards/tracked_resources-*.html"
        return glob.glob(os.path.join(self._world.folder, places))

    def cards(self, step):
        return [read(path) for path in self.card_paths(step)]


def read(path):
    with open(path, encoding="utf-8") as text:
        return text.read()


def memory_of(artifact):
    return max(row["memory"] for row in artifact["tracker"]["process_metrics"])


def broken_worlds(folder):
    """Worlds in which there is no tracking: how a flow is started there."""
    (folder / "resource_tracker").mkdir()
    (folder / "resource_tracker" / "__init__.py").write_text("raise ImportError('another machine')\n")
    bare = folder / "bare"
    bare.mkdir()
    (bare / "sitecustomize.py").write_text("import sys\nsys.modules['resource_tracker._native'] = None\n")
    full = folder / "full"
    full.mkdir()
    fill = 'mount -t tmpfs -o size=64k none "$0" && { yes >"$0/rubbish" 2>/dev/null; TMPDIR="$0" exec "$@"; }'
    return {"no program": {"env": {"TRACKER_BIN": "/nonexistent/resource-tracker"}},
            "no package": {"env": {"PYTHONPATH": str(folder)}},
            "no native part": {"env": {"PYTHONPATH": str(bare)}},
            "full disk": {"before": ["unshare", "-rm", "sh", "-c", fill, str(full)]}}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    done = subprocess.run([os.path.join(ROOT, "tools", "python_env"), "metaflow"], cwd=ROOT, check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
    if done.returncode:
        skip_or_fail(f"Metaflow can't be had: {done.stdout[-2000:]}")
    return World(tmp_path_factory.mktemp("flows"))


@pytest.fixture(scope="module")
def runs(world, tmp_path_factory):
    """All flows side by side, the longest first; the example twice, because its second run has a history."""
    times, watched = tmp_path_factory.mktemp("times") / "times", tmp_path_factory.mktemp("watched") / "seen"
    package = tmp_path_factory.mktemp("package") / "code.tgz"
    with ThreadPoolExecutor(5) as pool:
        flows = {"shapes": pool.submit(world.run, flow_file("shapes")),
                 "example": pool.submit(lambda: [world.run(EXAMPLE), world.run(EXAMPLE)]),
                 "hook time": pool.submit(world.run, flow_file("hook_time"), env={"TIMES": str(times)}),
                 "card": pool.submit(follow_card, world, watched),
                 "fails": pool.submit(world.run, flow_file("fails")),
                 "own card": pool.submit(world.run, flow_file("own_card"), "run", "--with",
                                         "track_resources:interval=0.1"),
                 "killed": pool.submit(world.run, flow_file("killed")),
                 "package": pool.submit(world.run, flow_file("quick"), "package", "save", str(package))}
        for name, options in broken_worlds(tmp_path_factory.mktemp("broken")).items():
            flows[name] = pool.submit(world.run, flow_file("quick"), **options)
        done = {name: run.result() for name, run in flows.items()}
    done["first"], done["second"] = done.pop("example")
    done["hook time"].times, done["package"].path = times, package
    return done


def test_example_is_green_and_held_what_it_held(runs):
    run = runs["first"]
    assert run.exit_code == 0, run.output
    assert "[@track_resources]" not in run.output
    [task] = run.kept("hold_data")
    artifact = task["artifact"]
    assert "error" not in artifact and artifact["step_failed"] is False and artifact["historical_stats"] == []
    assert 500 * 1024 <= memory_of(artifact) < 700 * 1024  # KiB, with the interpreter
    assert artifact["tracker"]["metadata"]["duration"] >= 3
    assert artifact["tracker"]["totals"]["peak_memory_bytes"]["value"] >= 500 * 1024**2
    assert len(run.cards("hold_data")) == 1 and not run.cards("start")


def test_artifact_loads_as_a_tracker(world, runs):
    code = ("import sys; from metaflow import Task; from resource_tracker import ResourceTracker\n"
            f"kept = Task(sys.argv[1])[{ARTIFACT!r}].data\n"
            "tracker = ResourceTracker.from_snapshot(kept['tracker'])\n"
            "print(tracker.n_samples > 0, tracker.recommend_resources()['memory'])\n")
    run = runs["first"]
    printed = world.python(code, f"{run.flow}/{run.run_id}/hold_data/{run.kept('hold_data')[0]['id']}")
    assert printed.split() == ["True", "1024"]  # 500 MiB and the interpreter, x 1.2


def test_second_run_has_a_history(runs):
    [task] = runs["second"].kept("hold_data")
    [stats] = task["artifact"]["historical_stats"]
    assert stats["process_memory"]["max"] == pytest.approx(memory_of(runs["first"].kept("hold_data")[0]["artifact"]))


def test_failing_step_is_told_as_failed(runs):
    run = runs["fails"]
    assert run.exit_code != 0
    [task] = run.kept("start")
    assert task["artifact"]["step_failed"] is True and "error" not in task["artifact"]
    assert memory_of(task["artifact"]) > 64 * 1024
    assert len(run.cards("start")) == 1


def test_each_task_of_a_foreach_is_its_own(runs):
    run = runs["shapes"]
    assert run.exit_code == 0, run.output
    tasks = run.kept("hold")
    assert len(tasks) == 4 == len(run.cards("hold"))
    memory = [memory_of(task["artifact"]) for task in tasks]
    for small, large in zip(memory, memory[1:]):
        assert large - small == pytest.approx(16 * 1024, abs=8 * 1024)


def test_retry_keeps_every_attempt(runs):
    [task] = runs["shapes"].kept("unsteady")
    assert [attempt["step_failed"] for attempt in task["attempts"]] == [True, False]
    assert len(runs["shapes"].cards("unsteady")) == 2


def test_joins_merge_in_spite_of_what_was_tracked(runs):
    [tracked] = runs["shapes"].kept("together", "use_of_the_join")
    assert tracked["artifact"]["step_failed"] is False
    [plain] = runs["shapes"].kept("plain_join")
    assert plain["artifact"] is None
    assert "from the start" in runs["shapes"].output  # what is merged otherwise still is


def test_caught_failure_is_a_failure_of_the_step(runs):
    [task] = runs["shapes"].kept("caught")
    assert task["artifact"]["step_failed"] is True


def test_parallel_tasks_are_tracked_each(runs):
    tasks = runs["shapes"].kept("side_by_side")
    assert len(tasks) == 2 == len(runs["shapes"].cards("side_by_side"))
    assert all(task["artifact"]["tracker"]["process_metrics"] for task in tasks)


def test_no_card_where_none_is_wanted(runs):
    assert runs["shapes"].kept("start")[0]["artifact"]["tracker"]
    assert not runs["shapes"].cards("start")


def test_step_shorter_than_the_interval(runs):
    [task] = runs["shapes"].kept("end")
    assert "error" not in task["artifact"]
    assert task["artifact"]["tracker"]["totals"]["cpu_seconds"]["value"] >= 0
    assert len(runs["shapes"].cards("end")) == 1


def follow_card(world, watched):
    """Runs a step until its card has been written twice, and lets it end then. Returns the tokens that the pages had one
    after the other, those of pages that had the wrong state, and the data beside the last page."""
    folder = World(watched.parent)  # no other run's cards are there
    pattern = os.path.join(folder.folder, ".metaflow/mf.cards/Quick/runs/*/steps/start/tasks/*/cards/*.html")
    process = folder.start(flow_file("quick"), env={"WATCHED": str(watched)})
    tokens, wrong, end = [], [], time.monotonic() + SECONDS_MAX
    try:
        while process.poll() is None and time.monotonic() < end:
            for path in glob.glob(pattern):
                page = read(path)
                token = re.search(r'METAFLOW_RELOAD_TOKEN = "([\w-]+)"', page).group(1)
                if token not in tokens:
                    tokens.append(token)
                    wrong += [token] if ('"stop_time":null' in page) != (token != "final") else []
            if len(tokens) >= 2:
                watched.touch()
            time.sleep(0.02)
        output = process.communicate(timeout=SECONDS_MAX)[0]
    finally:
        process.kill()
    assert process.returncode == 0, output
    [card] = glob.glob(pattern)
    tokens += [] if "final" in tokens else re.findall(r'METAFLOW_RELOAD_TOKEN = "(final)"', read(card))
    data = card.replace("/cards/tracked", "/runtime/tracked").replace(".html", ".data.json")
    return tokens, wrong, json.loads(read(data))


def test_card_follows_the_step(runs):
    tokens, wrong, data = runs["card"]
    assert tokens[-1] == "final" and len(tokens) >= 3 and not wrong
    assert all(token.startswith("samples-") for token in tokens[:-1])
    assert data["reload_token"] == "final"


def test_card_of_a_busy_machine_follows_too(world):
    """Pauses grow with the work on a page, not with the time that it waits for the CPU or the store."""
    printed = world.python("""
import threading, time
from metaflow_extensions.resource_tracker.plugins import live_card
from resource_tracker import ResourceTracker
class SlowStore:
    def save(self, page, token, data):
        time.sleep(2)
        written.append(token)
class NoHistory:
    def so_far(self):
        return []
written, end = [], time.monotonic() + 60
card = live_card.LiveCard.__new__(live_card.LiveCard)
card._store, card._pathspec, card._over = SlowStore(), "Flow/1/start/1", threading.Event()
with ResourceTracker(interval=0.05, discover_cloud=False) as tracker:
    card.follow(tracker, threading.Lock(), NoHistory())
    while len(written) < 2 and time.monotonic() < end:
        time.sleep(0.05)
    card.stop()
print(len(written))
""")
    assert int(printed) >= 2


def test_from_the_command_line_beside_a_card_of_the_flow(world, runs):
    run = runs["own card"]
    assert run.exit_code == 0, run.output
    assert run.kept("start")[0]["artifact"]["tracker"]["metadata"]["interval"] == 0.1
    code = ("import sys; from metaflow import Task; from metaflow.cards import get_cards\n"
            "cards = {card.type: card.get() for card in get_cards(Task(sys.argv[1]))}\n"
            "print(sorted(cards), 'in Metaflow' in cards['tracked_resources'])")
    printed = world.python(code, f"{run.flow}/{run.run_id}/start/1")
    assert printed.split("\n")[0] == "['default', 'tracked_resources'] True"


# ---- what the card shows ---------------------------------------------------------------------

@pytest.fixture(scope="module")
def shown(runs, tmp_path_factory):
    """What a browser shows of some cards, and of one as it was while its step ran."""
    node, modules = shutil.which("node"), os.path.join(ROOT, "web", "node_modules", "playwright-core")
    if not node or not shutil.which("chromium") or not os.path.isdir(modules):
        skip_or_fail("node, chromium or playwright-core is missing: tools/bootstrap page browser")
    cards = {"first": runs["first"].card_paths("hold_data"), "second": runs["second"].card_paths("hold_data"),
             "fails": runs["fails"].card_paths("start"), "short": runs["shapes"].card_paths("end"),
             "no program": runs["no program"].card_paths("start")}
    paths = [path for [path] in cards.values()]
    done = subprocess.run([node, os.path.join(HERE, "show_cards.mjs"), os.path.join(ROOT, "build-logs"), *paths],
                          capture_output=True, text=True, check=False, timeout=90)
    assert done.returncode == 0, done.stderr
    return dict(zip(cards, json.loads(done.stdout)))


def test_card_has_charts_and_recommendation(runs, shown):
    card, run = shown["first"], runs["first"]
    assert not card["troubles"]
    assert card["brand"] == "resource-tracker in Metaflow"
    assert card["title"] == f"{run.flow}/{run.run_id}/hold_data/{run.kept('hold_data')[0]['id']}"
    assert card["status"] == "Finished"
    assert card["drawn_charts"] >= 3
    assert re.fullmatch(r"@resources\(cpu=1, memory=1024\)", card["paste"])
    assert len(card["servers"]) >= 1 and re.search(r"vCPUs?, .*GiB", card["servers"][0]) and "$" in card["servers"][0]


def test_card_of_the_second_run_shows_the_first(shown):
    assert "1 earlier" in shown["second"]["statistics"] and "earlier" not in shown["first"]["statistics"]


def test_card_of_a_failed_step_says_so(shown):
    assert shown["fails"]["status"].startswith("Failed") and shown["fails"]["drawn_charts"] >= 3


def test_card_of_a_step_without_samples(shown):
    assert not shown["short"]["troubles"] and shown["short"]["status"] == "Finished"


def test_card_of_what_was_not_tracked_tells_why(shown):
    assert "This step was not tracked" in shown["no program"]["text"]


# ---- what goes wrong in the tracking is not the step's business ------------------------------

def check_green_with_error(run, step, words):
    assert run.exit_code == 0, run.output
    assert "[@track_resources]" in run.output
    [task] = run.kept(step)
    assert words in task["artifact"]["error"] and task["artifact"]["step_failed"] is False
    [page] = run.cards(step)
    assert "This step was not tracked" in page and words in page


def test_missing_program_leaves_the_flow_green(runs):
    check_green_with_error(runs["no program"], "start", "resource-tracker")


def test_missing_package_says_what_to_install(runs):
    check_green_with_error(runs["no package"], "start", "pip install resource-tracker-native")


def test_a_flow_starts_without_the_native_part(runs):
    """As on a Mac: the flow runs, and the card says why it has no figures."""
    check_green_with_error(runs["no native part"], "start", "nothing can be tracked here")


def test_full_disk_leaves_the_flow_green(runs):
    check_green_with_error(runs["full disk"], "start", "TMPDIR")


def test_killed_tracker_leaves_the_flow_green(runs):
    """What it had measured until then is kept."""
    run = runs["killed"]
    assert run.exit_code == 0, run.output
    assert "[@track_resources]" in run.output
    [task] = run.kept("start")
    assert "killed (signal 9)" in task["artifact"]["error"] and task["artifact"]["tracker"]
    assert "killed (signal 9)" in run.cards("start")[0]


# ---- elsewhere -------------------------------------------------------------------------------

def test_code_package_carries_the_core(runs, tmp_path):
    """Unpacked where nothing is installed, as on a machine that a task is sent to."""
    saved = runs["package"]
    assert saved.exit_code == 0, saved.output
    with tarfile.open(saved.path) as package:
        package.extractall(tmp_path / "there")
    [core] = glob.glob(str(tmp_path / "there" / "**" / "resource_tracker" / "__init__.py"), recursive=True) \
        + glob.glob(str(tmp_path / "there" / ".*" / "resource_tracker" / "__init__.py"))
    code = ("import metaflow; from metaflow import track_resources; from resource_tracker import ResourceTracker, _program\n"
            "tracker = ResourceTracker(interval=0.05); tracker.wait_for_samples(1); tracker.stop()\n"
            "print(metaflow.__file__, _program.__file__, _program.find_program('resource-tracker'))")
    # Metaflow's own needs are installed there by Metaflow.
    done = subprocess.run([PYTHON, "-c", code], cwd=tmp_path, text=True, check=False, capture_output=True, timeout=60,
                          env={"PATH": "/usr/bin:/bin", "PYTHONPATH": os.path.dirname(os.path.dirname(core)),
                               "HOME": str(tmp_path), "TRACKER_CLOUD": "off"})
    assert done.returncode == 0, done.stderr
    used = done.stdout.split()
    assert len(used) == 3 and all(path.startswith(str(tmp_path)) for path in used), used


def test_hooks_cost_at_most_three_bare_trackers(runs):
    """In CPU time of the step's process, which does not depend on what else the machine does; it is 1.6 to 1.8 times."""
    run = runs["hook time"]
    assert run.exit_code == 0, run.output
    times = {"bare": [], "hooks": []}
    for line in run.times.read_text().splitlines():
        what, seconds = line.split()
        times[what].append(float(seconds))
    assert median(times["hooks"]) <= 3 * median(times["bare"]), times
