"""The calls that users of the packages before were shown, with the same arguments.

Trackers that never end are stopped after three rows; the cloud's answers and Keeper's come from a server of the test.
"""

import csv
import http.server
import io
import json
import os
import subprocess
import sys
import textwrap
import threading
import time

import pytest
from conftest import run_python, wait_until
from test_tracker_samples import PROCESS, SYSTEM

from resource_tracker import ProcessTracker, ResourceTracker, SystemTracker, get_cloud_info, get_server_info, keeper
from resource_tracker.dummy_workloads import cpu_multi


def three_rows(code, timeout=60):
    """Runs a program that writes CSV to standard output for ever, until it has written a header and three rows."""
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True) as program:
        limit = threading.Timer(timeout, program.kill)
        limit.start()
        lines = [program.stdout.readline() for _ in range(4)]
        limit.cancel()
        program.terminate()
    return list(csv.DictReader(io.StringIO("".join(lines))))


# ---- resource_tracker, the first README ----


def test_the_machine_to_standard_output():
    began = time.time()
    rows = three_rows("""
        from resource_tracker import SystemTracker
        tracker = SystemTracker()
        """)
    assert list(rows[0]) == SYSTEM and len(rows) == 3
    times = [float(row["timestamp"]) for row in rows]
    # No row is early; how late one is depends on the machine.
    assert all(moment >= began + second - 0.001 for second, moment in enumerate(times, 1))
    assert times[2] - times[0] < 3.9
    assert all(float(row["memory_used"]) > 0 for row in rows)


def test_the_old_name_to_standard_output_and_to_a_file(tmp_path):
    rows = three_rows("""
        from resource_tracker import PidTracker
        tracker = PidTracker(interval=0.1)
        """)
    assert list(rows[0]) == PROCESS
    path = tmp_path / "rows.csv"
    run_python("""
        import os, sys, threading, time, _thread
        from resource_tracker import SystemTracker
        def interrupt():
            while not os.path.exists(sys.argv[1]) or open(sys.argv[1]).read().count("\\n") < 4:
                time.sleep(0.02)
            _thread.interrupt_main()
        threading.Thread(target=interrupt, daemon=True).start()
        try:
            SystemTracker(csv_file_path=sys.argv[1], interval=0.1)
        except KeyboardInterrupt:
            pass
        """, path)
    assert len(path.read_text().splitlines()) >= 4


def test_memory_of_a_process():
    from resource_tracker.tracker import get_pid_pss_rollup, get_pid_rss

    assert 0 < get_pid_pss_rollup(os.getpid()) <= get_pid_rss(os.getpid()) * 1.05


def test_server_and_cloud():
    cloud = get_cloud_info()
    assert list(cloud)[:3] == ["vendor", "instance_type", "region"]
    assert cloud["vendor"] == "unknown" and isinstance(cloud["discovery_time"], float)
    server = get_server_info()
    assert server["vcpus"] == os.cpu_count() and server["memory_mb"] > 100
    assert (server["gpu_count"], server["gpu_names"], server["gpu_memory_mb"]) == (0, [], 0.0)


# ---- resource_tracker.tracker, the later reference ----


def test_trackers_with_every_parameter(tmp_path):
    with subprocess.Popen(["sleep", "30"]) as sleeper:
        rows = tmp_path / "process.csv"
        threading.Thread(target=lambda: (wait_until(rows.exists), sleeper.kill()), daemon=True).start()
        process = ProcessTracker(pid=sleeper.pid, start_time=time.time(), interval=0.1, children=True, autostart=True,
                                 output_file=str(tmp_path / "process.csv"))
    assert process.status == "exited" and process() is None
    process = ProcessTracker(autostart=False)
    assert list(process.diff_stats()) == PROCESS
    machine = SystemTracker(start_time=time.time(), interval=0.1, autostart=False, output_file=None)
    assert machine() is None and list(machine.diff_stats()) == SYSTEM


def test_the_background_tracker():
    """In an interpreter of its own, which has loaded nothing else."""
    done = run_python("""
        from resource_tracker import ResourceTracker
        from resource_tracker.dummy_workloads import cpu_single
        tracker = ResourceTracker()
        cpu_single()
        print(tracker.recommend_resources())
        """)
    assert done.stdout == "{'cpu': 1, 'memory': 128, 'gpu': 0, 'vram': 0}\n"


def test_the_background_tracker_with_two_workers():
    tracker = ResourceTracker(interval=0.2)
    while tracker.n_samples == 0:
        cpu_multi(duration=0.25, ncores=2)
    needs = tracker.recommend_resources()
    tracker.stop()
    assert needs["cpu"] in (1, 2) and needs["gpu"] == 0


def test_the_background_tracker_with_every_parameter(tmp_path):
    tracker = ResourceTracker(pid=os.getpid(), children=True, interval=0.1, method=None, autostart=False,
                              track_processes=True, track_system=True, discover_server=True, discover_cloud=True)
    tracker.start()
    assert tracker.running
    tracker.wait_for_samples(n=1, timeout=5)
    tracker.stop()
    assert tracker.process_metrics.columns == PROCESS and tracker.system_metrics.columns == SYSTEM
    assert tracker.server_info["os"] == "Linux"
    assert tracker.cloud_info is None or tracker.cloud_info["vendor"] == "unknown"  # it is not asked here
    combined = tracker.get_combined_metrics(bytes=True, human_names=True, system_prefix=None, process_prefix=None)
    assert combined.columns[0] == "Timestamp"
    assert tracker.stats()["timestamp"]["duration"] > 0
    again = ResourceTracker.from_snapshot(tracker.snapshot())
    tracker.dump(str(tmp_path / "run.json.gz"))
    for copy in (again, ResourceTracker.loads(tracker.dumps()), ResourceTracker.load(str(tmp_path / "run.json.gz"))):
        assert copy.stats() == tracker.stats()
    assert tracker.recommend_resources(historical_stats=[]) == again.recommend_resources(historical_stats=[])
    report = tracker.report(integration="standalone", historical_stats=[], status_failed=False)
    assert report.save(tmp_path / "report.html") is report
    assert (tmp_path / "report.html").read_text() == report and report.startswith("<!doctype html>")


def test_the_report_in_a_browser_and_in_a_notebook(monkeypatch):
    import webbrowser

    shown = []
    monkeypatch.setattr(webbrowser, "open", shown.append)
    with ResourceTracker(interval=0.1) as tracker:
        tracker.wait_for_samples(timeout=60)
    report = tracker.report("metaflow", [tracker.stats()], True)
    assert report.browse() is report
    path = shown[0][len("file://"):]
    assert open(path, encoding="utf-8").read() == report
    os.unlink(path)
    assert tracker._repr_html_().startswith("<iframe srcdoc=") and "sandbox" in tracker._repr_html_()
    assert "without samples" in ResourceTracker(autostart=False)._repr_html_()
    assert repr(tracker) == f"<ResourceTracker of process {os.getpid()}: stopped, {tracker.n_samples} samples>"
    with pytest.raises(ValueError, match="standalone or metaflow"):
        tracker.report(integration="paper")


# ---- servers ----


@pytest.fixture(scope="module")
def sampled():
    os.environ["TRACKER_CLOUD"] = "off"
    with ResourceTracker(interval=0.1) as tracker:
        tracker.wait_for_samples(timeout=60)
    return tracker


def test_the_cheapest_server_without_a_network(sampled):
    server = sampled.recommend_server()
    assert server["vcpus"] >= 1 and server["min_price_ondemand"] > 0 and server["source"] == "catalog"
    assert sampled.recommend_server(vendor_id="aws")["vendor_id"] == "aws"
    earlier = json.loads(json.dumps(sampled.stats()))
    earlier["process_memory"]["max"] = 60 * 1024**2
    larger = sampled.recommend_server(historical_stats=[earlier])
    assert larger["memory_amount"] >= 60 * 1024 and larger["min_price_ondemand"] > server["min_price_ondemand"]
    with pytest.raises(RuntimeError, match="compliance_framework_id, only by vendor, .*; online=True asks"):
        sampled.recommend_server(compliance_framework_id="hipaa")
    with pytest.raises(FileNotFoundError, match="no server of vendor ibm; online=True asks"):
        sampled.recommend_server(vendor_id="ibm")
    with pytest.raises(IndexError, match="no server has"):
        huge = json.loads(json.dumps(sampled.stats()))
        huge["process_memory"]["max"] = 1024.0**4
        sampled.recommend_server(historical_stats=[huge])


def test_who_asked_keeper_is_not_told_to_ask_it(sampled, monkeypatch):
    monkeypatch.setenv("TRACKER_KEEPER_URL", "http://127.0.0.1:9")  # discard: nobody listens
    with pytest.raises(RuntimeError, match="compliance_framework_id, .*; Spare Cores Keeper gave no answer$"):
        sampled.recommend_server(compliance_framework_id="hipaa", online=True)


def test_servers_by_their_needs():
    servers = keeper.get_recommended_cloud_servers(cpu=4, memory=9000, n=5)
    prices = [server["min_price_ondemand"] for server in servers]
    assert len(servers) == 5 and prices == sorted(prices)
    assert all(server["vcpus"] >= 4 and server["memory_amount"] >= 9000 for server in servers)
    assert keeper.get_recommended_cloud_servers(1, 512, gpu=1, vram=8000, n=1)[0]["gpu_count"] >= 1
    assert keeper.get_instance_price("aws", "us-east-1", "t3.micro") > 0
    assert keeper.get_instance_price("aws", "mars-1", "t3.micro") > 0
    assert keeper.get_instance_price("aws", "us-east-1", "no-such-type") is None


class Keeper(http.server.BaseHTTPRequestHandler):
    asked = []

    def do_GET(self):
        Keeper.asked.append((self.path, self.headers["X-Application-ID"]))
        if self.path.startswith("/servers?"):
            body = [{"vendor_id": "aws", "api_reference": "x1.tiny", "min_price_ondemand": 0.36}]
        elif self.path == "/server/aws/x1.tiny/prices":
            body = [{"region_id": "eu", "allocation": "ondemand", "operating_system": "Linux", "price": 2.0},
                    {"region_id": "us", "allocation": "spot", "operating_system": "Linux", "price": 0.1},
                    {"region_id": "us", "allocation": "ondemand", "operating_system": "Linux", "price": 1.0}]
        else:
            return self.send_error(404)
        self.send_response(200)
        self.end_headers()
        return self.wfile.write(json.dumps(body).encode())

    def log_message(self, *_):
        pass


@pytest.fixture
def online(monkeypatch):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Keeper)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    Keeper.asked.clear()
    monkeypatch.setenv("TRACKER_KEEPER_URL", f"http://127.0.0.1:{server.server_port}")
    yield server
    server.shutdown()
    server.server_close()


def test_keeper_is_asked_only_when_it_may_be(sampled, online, monkeypatch):
    assert sampled.recommend_server()["source"] == "catalog" and not Keeper.asked
    server = sampled.recommend_server(online=True, vendor_id=["aws", "gcp"], compliance_framework_id="hipaa")
    assert server["api_reference"] == "x1.tiny" and server["best_ondemand_price_duration"] > 0
    path, application = Keeper.asked[-1]
    assert application == "resource-tracker"
    for part in ("vcpus_min=1", "memory_min=1&", "order_by=min_price_ondemand", "order_dir=asc", "limit=1",
                 "vendor_id=aws&vendor_id=gcp", "compliance_framework_id=hipaa"):
        assert part in path + "&", path
    monkeypatch.setenv("TRACKER_ONLINE", "false")
    assert sampled.recommend_server()["source"] == "catalog"
    monkeypatch.setenv("TRACKER_ONLINE", "true")  # the words of the command line
    assert sampled.recommend_server()["api_reference"] == "x1.tiny"
    monkeypatch.setenv("TRACKER_ONLINE", "1")
    assert keeper.get_recommended_cloud_servers(2, 4097, gpu=1, vram=8193)[0]["api_reference"] == "x1.tiny"
    assert "memory_min=5&" in Keeper.asked[-1][0] and "gpu_memory_total=9" in Keeper.asked[-1][0]
    assert keeper.get_instance_price("aws", "us", "x1.tiny") == 1.0
    assert keeper.get_instance_price("aws", "mars", "x1.tiny") == 2.0
    assert keeper.keeper_request("/no/such/path") is None
    assert keeper.keeper_request("/x", timeout=1, endpoint="http://127.0.0.1:9") is None


def test_a_keeper_that_does_not_answer_is_done_without(sampled, monkeypatch):
    monkeypatch.setenv("TRACKER_KEEPER_URL", "http://127.0.0.1:9")
    assert sampled.recommend_server(online=True)["source"] == "catalog"


def test_a_price_table_that_can_not_be_used_is_told(sampled, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    table = tmp_path / "resource-tracker" / "catalog.gz"
    table.parent.mkdir()
    table.write_text("no table")
    with pytest.warns(UserWarning, match=r"catalog\.gz is passed over: it is no price table, or damaged"):
        assert sampled.recommend_server()["source"] == "catalog"


# ---- gpu_tracker's tutorial ----


def test_the_tutorial():
    import gpu_tracker as gput

    tracker = gput.Tracker()
    tracker.start()
    sum(range(1000))
    tracker.stop()
    assert str(tracker).startswith("Max RAM:\n   Unit: gigabytes\n")
    with gput.Tracker() as tracker:
        pass
    assert "Compute time:\n   Unit: hours\n   Time: 0.0" in str(tracker)
    with gput.Tracker(ram_unit="megabytes", gpu_ram_unit="kilobytes", time_unit="seconds") as tracker:
        pass
    text = str(tracker)
    assert "Unit: megabytes" in text and "Unit: kilobytes" in text and "Unit: seconds" in text
    assert json.dumps(tracker.to_json(), indent=1).startswith('{\n "max_ram": {\n  "unit": "megabytes",\n')
    assert repr(tracker.max_ram).startswith("MaxRAM(unit='megabytes', system_capacity=")
    assert repr(tracker.max_gpu_ram) == "MaxGPURAM(unit='kilobytes', main=0.0, descendents=0.0, combined=0.0)"
    assert repr(tracker.compute_time).startswith("ComputeTime(unit='seconds', time=")
