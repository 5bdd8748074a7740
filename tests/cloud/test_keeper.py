"""Spare Cores Keeper: one round trip to a service that speaks its contract, what is made of bad answers, and that nobody is
asked who was not allowed to be."""

import gzip
import json
import os
import shutil
import ssl
import subprocess
import time
from urllib.parse import parse_qs, urlsplit

import pytest
from clouds import RawService, Service
from test_vendors import hang, packets, side_by_side

ROWS = [{"timestamp": 1000.0 + i, "pid": 1, "children": 0, "utime": 2.0, "stime": 0.0, "cpu_usage": 2.0,
         "memory": 5000 * 1024.0, "read_bytes": 0, "write_bytes": 0, "gpu_usage": 0.0, "gpu_vram": 0.0, "gpu_utilized": 0}
        for i in range(60)]


def server(name, usd, vcpus=4, memory=16384, vendor="aws", **more):
    return {"vendor_id": vendor, "server_id": name, "name": name, "api_reference": name, "vcpus": vcpus,
            "memory_amount": memory, "gpu_count": 0, "gpu_memory_min": None, "gpu_memory_total": None, "gpu_model": None,
            "cpu_allocation": "Dedicated", "cpu_architecture": "x86_64", "price": usd, "min_price_ondemand": usd,
            "min_price_spot": None, "vendor": {"vendor_id": vendor, "name": "A vendor"}, **more}


@pytest.fixture
def run(tmp_path):
    path = tmp_path / "run.json"
    path.write_text(json.dumps({
        "metadata": {"version": 1, "interval": 1, "start_time": 1000.0, "stop_time": 1060.0, "duration": 61.0},
        "server_info": None, "cloud_info": {"vendor": "aws", "instance_type": "m5.xlarge", "region": "us-east-1"},
        "process_metrics": ROWS, "system_metrics": []}))
    return str(path)


class Keeper(Service):
    """Any question of /servers gets `answer`: a list, text, bytes, (status, body), or what a function of its parameters
    gives."""

    def __init__(self, answer):
        prices = self.prices = {}

        class Answers(dict):
            def get(self, key, default=None):
                if not key[1].startswith("/servers?"):
                    return prices.get(key[1], default)
                found = answer(parse_qs(urlsplit(key[1]).query)) if callable(answer) else answer
                return json.dumps(found) if isinstance(found, list) else found
        super().__init__("127.0.0.1", Answers(), port=0)
        self.url = f"http://127.0.0.1:{self.port}"

    def questions(self):
        return [parse_qs(urlsplit(path).query) for _, path, _ in self.asked]


def recommend(tracker, run, *options, url=None, expect=0, **env):
    if url:
        env["TRACKER_KEEPER_URL"] = url
    answer = subprocess.run([tracker, "recommend", "--json", *options, run], capture_output=True, text=True, timeout=60,
                            check=False, env={**os.environ, **env})
    assert answer.returncode == expect, answer.stderr
    return json.loads(answer.stdout)["rent"] if expect == 0 else answer.stderr


# ---- the round trip -----------------------------------------------------------------------------

def test_round_trip(tracker, run):
    with Keeper([server("small", 0.01, memory=6000), server("good", 0.02), server("dear", 0.05),
                 server("one", 0.001, vcpus=1)]) as keeper:
        rent = recommend(tracker, run, "--online", "--servers", "2", "--vendor", "aws", "--region", "us-east-1",
                         "--filter", "compliance_framework_id=soc2;countries=US", url=keeper.url)
    assert rent["source"] == "keeper" and rent["note"] is None and "Spare Cores Keeper" in rent["credit"]
    # 6000 MiB are too little for 6144 and a system, one core for two: checked here, whatever it answers.
    assert [found["api_reference"] for found in rent["servers"]] == ["good", "dear"]
    first = rent["servers"][0]
    assert first["source"] == "keeper" and first["date"] == time.strftime("%Y-%m-%d", time.gmtime())
    assert first["vendor"] == {"vendor_id": "aws", "name": "A vendor"}
    assert first["best_ondemand_price_duration"] == round(0.02 / 3600 * 61, 6)
    assert first["cost_savings"] == {"percent": round((0.003253 - 0.02 / 3600 * 61) / 0.003253 * 100, 2),
                                     "amount": round(0.003253 - 0.02 / 3600 * 61, 6)}
    assert len(keeper.asked) == 1
    _, path, headers = keeper.asked[0]
    assert headers["X-Application-ID"] == "resource-tracker" and "gzip" in headers["Accept-Encoding"]
    asked = keeper.questions()[0]
    assert asked["vcpus_min"] == ["2"] and float(asked["memory_min"][0]) == rent["needs"]["memory"] / 1024.0
    assert asked["vendor"] == ["aws"] and asked["vendor_regions"] == ["aws~us-east-1"]
    assert asked["compliance_framework_id"] == ["soc2"] and asked["countries"] == ["US"]
    assert asked["order_by"] == ["min_price_ondemand"] and asked["order_dir"] == ["asc"] and asked["currency"] == ["USD"]
    assert not {"command", "host", "pid", "job_name"} & set(asked) and path.startswith("/servers?")


def test_google_gpu_at_the_higher_price(tracker, run):
    """Keeper's leaves the GPU out; the price table's does not."""
    gpu = server("g2-standard-4", 0.01, vendor="gcp", gpu_count=1, gpu_memory_min=24576, gpu_model="L4")
    with Keeper([gpu, server("good", 0.02)]) as keeper:
        rent = recommend(tracker, run, "--online", "--servers", "2", url=keeper.url)
    assert [found["api_reference"] for found in rent["servers"]] == ["good", "g2-standard-4"]
    assert rent["servers"][1]["min_price_ondemand"] > 0.3 and "price table" in rent["servers"][1]["price_source"]


def test_regions_known_by_number(tracker, run):
    with Keeper([server("good", 0.02)]) as keeper:
        rent = recommend(tracker, run, "--online", "--vendor", "gcp", "--region", "us-central1", url=keeper.url)
    assert rent["source"] == "catalog" and "by number" in rent["note"] and not keeper.asked
    assert rent["servers"][0]["region"] == "us-central1"


def test_the_price_of_the_runs_region(tracker, tmp_path, run):
    """The table knows that of us-east-1 alone."""
    text = (tmp_path / "run.json").read_text().replace("us-east-1", "eu-west-3")
    (tmp_path / "run.json").write_text(text)
    rows = [{"region_id": "us-east-1", "allocation": "ondemand", "unit": "hour", "price": 0.192, "currency": "USD",
             "operating_system": "linux"},
            {"region_id": "eu-west-3", "allocation": "spot", "unit": "hour", "price": 0.05, "currency": "USD"},
            {"region_id": "eu-west-3", "allocation": "ondemand", "unit": "hour", "price": 0.224, "currency": "USD",
             "operating_system": "linux"}]
    assert recommend(tracker, run)["run"]["price_is_of_region"] is False
    with Keeper([server("good", 0.02)]) as keeper:
        keeper.prices["/server/aws/m5.xlarge/prices?currency=USD"] = json.dumps(rows)
        place = recommend(tracker, run, "--online", url=keeper.url)["run"]
    assert place["price"] == 0.224 and place["price_region"] == "eu-west-3" and place["price_is_of_region"] is True
    assert place["run_costs"] == round(0.224 / 3600 * 61, 6) and place["source"] == "keeper"


def test_more_pages_where_few_fit(tracker, run):
    with Keeper([server(f"small{n}", 0.01, vcpus=1) for n in range(25)]) as keeper:
        rent = recommend(tracker, run, "--online", url=keeper.url)
    assert rent["source"] == "keeper" and rent["servers"] == []
    assert [asked["page"] for asked in keeper.questions()] == [["1"], ["2"], ["3"], ["4"]]


# ---- bad answers --------------------------------------------------------------------------------

BAD = {
    "429": ((429, "Rate limit exceeded"), "429"),
    "422": ((422, json.dumps({"detail": [{"loc": ["query", "countries"], "msg": "not a country", "type": "x"}]})),
            "not a country"),
    "404": ((404, json.dumps({"detail": "Not Found"})), "Not Found"),
    "400": ((400, json.dumps({"detail": "bad\x1b[31m"})), "400"),
    "500": ((500, "<html>"), "500"),
    "truncated": (json.dumps([server("good", 0.02)])[:-40], "cut off"),
    "no list": ("{}", "cut off"),
    "numbers": ("[1, 2]", "cut off"),
    "garbage": (bytes(range(256)), "cut off"),
    "too large": ("[" + " " * 9_000_000 + "]", "too large"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_answer(tracker, run, name):
    answer, word = BAD[name]
    with Keeper(answer) as keeper:
        rent = recommend(tracker, run, "--online", url=keeper.url)
    assert rent["source"] == "catalog" and word in rent["note"] and "\x1b" not in rent["note"]
    assert rent["servers"] and rent["servers"][0]["source"] == "catalog"


def test_bad_answer_to_a_filter_of_keeper(tracker, run):
    """Without Keeper it can't be checked, and is not passed over."""
    with Keeper((429, "slow down")) as keeper:
        message = recommend(tracker, run, "--online", "--filter", "compliance_framework_id=soc2", url=keeper.url, expect=1)
    assert "429" in message and "compliance_framework_id" in message
    assert "--online" not in message  # it was asked already


def test_time_limit(tracker, run):
    def ask():
        started = time.monotonic()
        rent = recommend(tracker, run, "--online", url="http://127.0.0.1:80")
        return rent, time.monotonic() - started

    with RawService("127.0.0.1", hang):
        answers = side_by_side(ask)
    assert all(rent["source"] == "catalog" and "time" in rent["note"].lower() for rent, _ in answers)
    assert 1.9 < min(seconds for _, seconds in answers) < 3


def test_nobody_there(tracker, run):
    rent = recommend(tracker, run, "--online", url="http://127.0.0.1:9")
    assert rent["source"] == "catalog" and rent["note"]


@pytest.mark.parametrize("target", ["http://127.0.0.1:%d/elsewhere", "file:///etc/passwd", "ftp://127.0.0.1:%d/"])
def test_redirects_to_other_schemes(tracker, run, target):
    with Service("127.0.0.1", {("GET", "/elsewhere"): json.dumps([server("stolen", 0.0001)])}, port=0) as elsewhere:
        where = target % elsewhere.port if "%d" in target else target
        text = f"HTTP/1.1 302 Found\r\nLocation: {where}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

        def talk(connection):
            connection.recv(4096)
            connection.sendall(text.encode())
        with RawService("127.0.0.1", talk):
            rent = recommend(tracker, run, "--online", url="http://127.0.0.1:80")
    assert rent["source"] == "catalog" and rent["note"] and not elsewhere.asked


# ---- TLS ----------------------------------------------------------------------------------------

@pytest.fixture
def tls(tmp_path):
    key, certificate = str(tmp_path / "key.pem"), str(tmp_path / "cert.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
                   check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    keeper = Keeper([server("good", 0.02)])
    keeper.server.socket = context.wrap_socket(keeper.server.socket, server_side=True)
    keeper.certificate = certificate
    keeper.url = keeper.url.replace("http:", "https:")
    with keeper:
        yield keeper


def test_certificates_are_checked(tracker, run, tls):
    rent = recommend(tracker, run, "--online", url=tls.url)
    assert rent["source"] == "catalog" and "certificate" in rent["note"].lower() and not tls.asked
    rent = recommend(tracker, run, "--online", url=tls.url, SSL_CERT_FILE=tls.certificate)
    assert rent["source"] == "keeper" and rent["servers"][0]["api_reference"] == "good"


# ---- only where it is allowed -------------------------------------------------------------------

def test_offline_asks_nobody(tracker, run):
    with Keeper([server("good", 0.02)]) as keeper:
        before = packets()
        rent = recommend(tracker, run, url=keeper.url)
        assert packets() == before and rent["source"] == "catalog" and not keeper.asked
        assert recommend(tracker, run, url=keeper.url, TRACKER_ONLINE="1")["source"] == "keeper"


def test_without_the_helper(tracker, run, tmp_path):
    alone = shutil.copy(tracker, tmp_path / "resource-tracker")
    rent = recommend(str(alone), run, "--online")
    assert rent["source"] == "catalog" and "resource-tracker-net" in rent["note"] and rent["servers"]


@pytest.mark.parametrize("script, said", [
    ("exit 127", "--version' shows why"),  # the loader's status where libcurl is missing
    ("cat >/dev/null; echo status 200 9; echo short", "gave no answer"),
    ("cat >/dev/null; echo error 110 Connection timed out", "Connection timed out"),
])
def test_a_helper_that_fails(tracker, run, tmp_path, script, said):
    alone = shutil.copy(tracker, tmp_path / "resource-tracker")
    helper = tmp_path / "resource-tracker-net"
    helper.write_text(f"#!/bin/sh\n{script}\n", encoding="ascii")
    helper.chmod(0o755)
    rent = recommend(str(alone), run, "--online")
    assert rent["source"] == "catalog" and said in rent["note"] and rent["servers"]


def test_the_program_needs_libc_alone(tracker):
    needed = subprocess.run(["ldd", tracker], capture_output=True, text=True, check=True).stdout
    names = {line.split()[0].rsplit("/", 1)[-1].split(".so")[0] for line in needed.splitlines()}
    assert names <= {"linux-vdso", "libc", "ld-linux-x86-64", "ld-linux-aarch64", "linux-gate"}


def test_offline_answer_is_quick(tracker, run):
    """At most 15 times the CPU time of --version; the least of interleaved runs, since others use the caches too."""
    def took(*words):
        process = subprocess.Popen([tracker, *words], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
        assert status == 0
        return usage.ru_utime + usage.ru_stime
    pairs = [(took("--version"), took("recommend", "--json", run)) for _ in range(25)]
    assert min(pair[1] for pair in pairs) < 15 * min(pair[0] for pair in pairs)


# ---- a newer table ------------------------------------------------------------------------------

def pages(servers):
    def page(asked):
        first = (int(asked["page"][0]) - 1) * int(asked["limit"][0])
        return servers[first:first + int(asked["limit"][0])]
    return page


def catalog(tracker, *words, url, expect=0):
    answer = subprocess.run([tracker, "catalog", "--json", *words], capture_output=True, text=True, check=False,
                            timeout=60, env={**os.environ, "TRACKER_KEEPER_URL": url})
    assert answer.returncode == expect, answer.stderr
    return json.loads(answer.stdout) if expect == 0 else answer.stderr


def test_update(tracker, run):
    fresh = [server(f"type{n:04}", 0.5 + n / 1e4) for n in range(600)] + [
        server("cheap", 0.001), server("comma,name", 0.0001), server("free", 0), server("noprice", None)]
    with Keeper(pages(fresh)) as keeper:
        facts = catalog(tracker, "update", url=keeper.url)
        assert [asked["page"] for asked in keeper.questions()] == [["1"], ["2"], ["3"]]
    today = time.strftime("%Y-%m-%d", time.gmtime())
    assert facts["servers"] == 601 and facts["date"] == today and facts["path"].endswith("catalog.gz")
    rent = recommend(tracker, run)
    assert rent["servers"][0]["server_id"] == "cheap" and rent["servers"][0]["date"] == today
    assert rent["run"]["run_costs"] == 0.003253 and rent["run"]["date"] == "2026-07-20"  # by region: what is built in
    with gzip.open(facts["path"], "rt") as text:
        assert text.readline().startswith("source,date,")


@pytest.mark.parametrize("answer", [(429, "no"), "[{", "[]", json.dumps([server("only", 0.1)])])
def test_failed_update_changes_nothing(tracker, answer):
    with Keeper(answer) as keeper:
        assert "stays" in catalog(tracker, "update", url=keeper.url, expect=1)
        assert catalog(tracker, url=keeper.url)["servers"] == 4439
