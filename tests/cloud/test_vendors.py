"""Which cloud this is, end to end: the program, its sockets, and services that behave as documented or badly."""

import json
import os
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from clouds import BY_NAME, VENDORS, M, RawService, Service, serve

HANG_SECONDS = 20  # longer than all that the program waits for
UNKNOWN = {"vendor": "unknown", "instance_type": "unknown", "region": "unknown", "zone": "unknown"}
GENERIC = {"sys_vendor": "QEMU", "product_name": "Standard PC (Q35 + ICH9, 2009)"}
LOCAL = {"sys_vendor": "Dell Inc.", "product_name": "PowerEdge R740", "chassis_asset_tag": "", "board_asset_tag": "none"}


def make_root(folder, dmi, route=False, cpus="0-1", memory_kib=4000000, boot=None):
    for name, text in (dmi or {}).items():
        path = folder / "sys/class/dmi/id" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    files = {"proc/meminfo": f"MemTotal: {memory_kib} kB\n", "sys/devices/system/cpu/online": cpus + "\n",
             "proc/net/route": "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\n"
                               + ("eth0\t00000000\t0102000A\t0003\t0\t0\t0\t00000000\n" if route else
                                  "eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\n")}
    if boot:
        files["proc/sys/kernel/random/boot_id"] = boot + "\n"
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def ask(tracker, root, *options, env=None):
    answer = subprocess.run([tracker, "info", "--json", "--root", str(root), *options], capture_output=True, text=True,
                            timeout=60, check=True, env={**os.environ, **(env or {})})
    return json.loads(answer.stdout)["cloud_info"]


def facts(cloud):
    return cloud["vendor"], cloud["instance_type"], cloud["region"], cloud["zone"]


def packets():
    """Connections that were tried in this namespace, and datagrams that were sent: what a question begins with. Bytes
    would also count the end of an earlier test's."""
    with open("/proc/self/net/snmp", encoding="ascii") as file:
        lines = [line.split() for line in file]
    counts = {(names[0], name): int(value) for names, values in zip(lines[::2], lines[1::2])
              for name, value in zip(names[1:], values[1:])}
    return counts["Tcp:", "ActiveOpens"] + counts["Udp:", "OutDatagrams"] + counts["Icmp:", "OutEchos"]


# ---- who it is ----------------------------------------------------------------------------------

def found(vendor):
    """The type that is told; one that is inferred is another test's business."""
    return (vendor.name, *vendor.expected)


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)
def test_by_firmware(tracker, tmp_path, vendor):
    with serve(vendor):
        cloud = ask(tracker, make_root(tmp_path / "root", vendor.dmi, memory_kib=1234))
    assert facts(cloud) == found(vendor)
    assert not cloud["instance_type_inferred"] and 0 < cloud["discovery_time"] < 1


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)
def test_by_asking_all(tracker, tmp_path, vendor):
    with serve(vendor):
        generic = ask(tracker, make_root(tmp_path / "generic", GENERIC, memory_kib=1234))
        hidden = ask(tracker, make_root(tmp_path / "hidden", None, route=True, memory_kib=1234))
    assert facts(generic) == facts(hidden) == found(vendor)


@pytest.mark.parametrize("mine", [vendor for vendor in VENDORS if vendor.name != "ovh"], ids=lambda vendor: vendor.name)
def test_never_taken_for_another(tracker, tmp_path, mine):
    """Its firmware, and the service of each other vendor: of that nothing is taken."""
    root = make_root(tmp_path / "root", mine.dmi, memory_kib=1234)
    for other in VENDORS:
        if other is mine:
            continue
        with serve(other):
            cloud = ask(tracker, root)
        assert cloud["vendor"] == mine.name, other.name
        assert (cloud["region"], cloud["zone"]) == ("unknown", "unknown"), other.name
        assert cloud["instance_type"] in ("unknown", mine.dmi["product_name"]), other.name


def test_openstack_of_somebody_else(tracker, tmp_path):
    """Speaks as EC2 and OpenStack do, and is neither Amazon nor OVH."""
    answers = {**BY_NAME["ovh"].answers, **BY_NAME["aws"].answers,
               ("GET", "/latest/meta-data/services/domain"): "openstack.local",
               ("GET", "/openstack/latest/network_data.json"): json.dumps({"services": [{"type": "dns", "address": "9.9.9.9"}]})}
    with Service(M, answers):
        assert facts(ask(tracker, make_root(tmp_path / "root", BY_NAME["ovh"].dmi))) == tuple(UNKNOWN.values())


def test_ovh_without_zones(tracker, tmp_path):
    answers = {**BY_NAME["ovh"].answers,
               ("GET", "/openstack/latest/meta_data.json"): json.dumps({"availability_zone": "nova"})}
    with Service(M, answers):
        cloud = ask(tracker, make_root(tmp_path / "root", BY_NAME["ovh"].dmi))
    assert facts(cloud) == ("ovh", "b3-8", "unknown", "unknown")


def test_google_by_the_hosts_file(tracker, tmp_path):
    hosts = tmp_path / "hosts"
    hosts.write_text("127.0.0.1 localhost\n# 127.0.0.8 metadata.google.internal\n127.0.0.9 other metadata.google.internal # x\n")
    subprocess.run(["mount", "--bind", str(hosts), "/etc/hosts"], check=True)
    try:
        with Service("127.0.0.9", BY_NAME["gcp"].answers) as service:
            cloud = ask(tracker, make_root(tmp_path / "root", BY_NAME["gcp"].dmi))
    finally:
        subprocess.run(["umount", "/etc/hosts"], check=True)
    assert facts(cloud) == found(BY_NAME["gcp"])
    assert {headers["Host"] for _, _, headers in service.asked} == {"metadata.google.internal"}


# ---- tokens -------------------------------------------------------------------------------------

@pytest.mark.parametrize("name, refusal", [("aws", 403), ("aws", 404), ("alicloud", 404)])
def test_without_tokens(tracker, tmp_path, name, refusal):
    """An older service knows no PUT, and wants no token."""
    vendor = BY_NAME[name]
    plain = {key: answer({"X-aws-ec2-metadata-token": "AQAEAGsecret==", "X-aliyun-ecs-metadata-token": "YWxpY2xvdWQ="})
             if callable(answer) else answer for key, answer in vendor.answers.items()}
    plain["PUT", "/latest/api/token"] = (refusal, "no")
    with Service(vendor.address, plain) as service:
        cloud = ask(tracker, make_root(tmp_path / "root", vendor.dmi))
    assert facts(cloud) == found(vendor)
    assert not any("token" in header.lower() for method, _, headers in service.asked if method == "GET" for header in headers)


def test_a_token_that_would_be_a_header(tracker, tmp_path):
    vendor = BY_NAME["aws"]
    answers = {**vendor.answers, ("PUT", "/latest/api/token"): "abc\r\nX-Evil: 1"}
    with Service(M, answers) as service:
        ask(tracker, make_root(tmp_path / "root", vendor.dmi))
    assert not any("X-Evil" in headers for _, _, headers in service.asked)


def test_no_proxy(tracker, tmp_path):
    with serve(BY_NAME["azure"]):
        cloud = ask(tracker, make_root(tmp_path / "root", BY_NAME["azure"].dmi),
                    env={"http_proxy": "http://127.0.0.1:9", "ALL_PROXY": "http://127.0.0.1:9"})
    assert facts(cloud) == found(BY_NAME["azure"])


# ---- bad services -------------------------------------------------------------------------------

def hang(connection):
    """Until the other side gives up, which it does long before the limit."""
    connection.settimeout(HANG_SECONDS)
    while connection.recv(4096):
        pass


def drip(connection):
    connection.recv(4096)
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 600\r\n\r\n{")
    for _ in range(10 * HANG_SECONDS):
        time.sleep(0.1)
        connection.sendall(b" ")


def side_by_side(function, count=3):
    """What several calls at once return. Where a time has an upper limit the least of them counts: a busy machine only
    adds to it."""
    with ThreadPoolExecutor(count) as pool:
        return [call.result() for call in [pool.submit(function) for _ in range(count)]]


def sends(data):
    def talk(connection):
        connection.recv(4096)
        connection.sendall(data)
    return talk


BODY = json.dumps({"compute": {"vmSize": "Standard_D2s_v5", "location": "westeurope", "zone": "2"}}).encode()
BAD = {
    "ten megabytes": sends(b"HTTP/1.1 200 OK\r\n\r\n" + b"{" + b" " * 10_000_000 + BODY[1:]),
    "a length of ten megabytes": sends(b"HTTP/1.1 200 OK\r\nContent-Length: 10000000\r\n\r\n" + BODY),
    "endless chunks": sends(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"400\r\n" + b"x" * 1024 + b"\r\n" * 9000),
    "garbage": sends(bytes(range(256)) * 40),
    "no JSON": sends(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"),
    "JSON cut off": sends(b"HTTP/1.1 200 OK\r\n\r\n" + BODY[:40]),
    "less than it says": sends(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n" + BODY),
    "redirect": sends(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/steal\r\nContent-Length: 0\r\n\r\n"),
    "an error with a body": sends(b"HTTP/1.1 500 Oops\r\nContent-Length: %d\r\n\r\n%s" % (len(BODY), BODY)),
    "nothing": lambda connection: None,
    "control characters": sends(b"HTTP/1.1 200 OK\r\n\r\n"
                                b'{"compute": {"vmSize": "a\\u001b[31mb", "location": "x y", "zone": "' + b"z" * 300 + b'"}}'),
    "hang": hang,
    "drip": drip,
}


@pytest.mark.parametrize("name", BAD)
def test_bad_service(tracker, tmp_path, name):
    root = make_root(tmp_path / "root", BY_NAME["azure"].dmi, memory_kib=1234)
    with Service("127.0.0.1", {("GET", "/steal"): BODY}) as elsewhere, RawService(M, BAD[name]):
        clouds = side_by_side(lambda: ask(tracker, root))
    assert {facts(cloud) for cloud in clouds} == {("azure", "unknown", "unknown", "unknown")}
    assert not elsewhere.asked
    least = min(cloud["discovery_time"] for cloud in clouds)
    assert least < 1.1
    assert (least > 0.9) == (name in ("hang", "drip"))


def test_all_hang(tracker, tmp_path):
    root = make_root(tmp_path / "root", GENERIC)
    with RawService(M, hang), RawService("169.254.42.42", hang), RawService("100.100.100.200", hang):
        clouds = side_by_side(lambda: ask(tracker, root))
    assert {facts(cloud) for cloud in clouds} == {tuple(UNKNOWN.values())}
    assert 0.9 < min(cloud["discovery_time"] for cloud in clouds) < 1.2


# ---- nobody is asked ----------------------------------------------------------------------------

@pytest.mark.parametrize("dmi, route, options, env", [
    (LOCAL, True, [], {}), (None, False, [], {}), (BY_NAME["aws"].dmi, True, ["--cloud=off"], {}),
    (BY_NAME["aws"].dmi, True, ["--cloud", "off"], {}), (BY_NAME["aws"].dmi, True, [], {"TRACKER_CLOUD": "off"}),
], ids=["own machine", "no firmware, no route", "--cloud=off", "--cloud off", "TRACKER_CLOUD"])
def test_no_packet_leaves(tracker, tmp_path, dmi, route, options, env):
    root = make_root(tmp_path / "root", dmi, route)
    with serve(BY_NAME["aws"]) as service:
        before = packets()
        cloud = ask(tracker, root, *options, env=env)
        assert packets() == before
    assert facts(cloud) == tuple(UNKNOWN.values()) and not service.asked


def test_packets_are_seen(tracker, tmp_path):
    """That the count above is not blind."""
    with serve(BY_NAME["aws"]):
        before = packets()
        ask(tracker, make_root(tmp_path / "root", BY_NAME["aws"].dmi))
        assert packets() > before


# ---- kept for the boot --------------------------------------------------------------------------

def test_asked_once_a_boot(tracker, tmp_path):
    vendor = BY_NAME["azure"]
    root = make_root(tmp_path / "root", vendor.dmi, boot="0a0b-1")
    with serve(vendor) as service:
        first = ask(tracker, root)
        asked = len(service.asked)
        assert asked and ask(tracker, root) == first and len(service.asked) == asked
        make_root(root, None, boot="0a0b-2")
        assert facts(ask(tracker, root)) == found(vendor) and len(service.asked) > asked


def test_silence_of_its_vendor_is_not_kept(tracker, tmp_path):
    vendor = BY_NAME["azure"]
    root = make_root(tmp_path / "root", vendor.dmi, boot="0a0b-3", memory_kib=1234)
    assert facts(ask(tracker, root)) == ("azure", "unknown", "unknown", "unknown")
    with serve(vendor):
        assert facts(ask(tracker, root)) == found(vendor)


# ---- types that are not told --------------------------------------------------------------------

@pytest.mark.parametrize("name, cpus, memory_kib, expected", [
    ("hcloud", "0-1", 3915000, "cx23"), ("upcloud", "0-3", 8130000, None), ("hcloud", "0-1", 3000000, "unknown"),
    ("digitalocean", "0-1", 3915000, "unknown")])
def test_type_by_size(tracker, tmp_path, name, cpus, memory_kib, expected):
    vendor = BY_NAME[name]
    with serve(vendor):
        cloud = ask(tracker, make_root(tmp_path / "root", vendor.dmi, cpus=cpus, memory_kib=memory_kib))
    if expected:
        assert cloud["instance_type"] == expected
    assert cloud["instance_type_inferred"] == (cloud["instance_type"] != "unknown")
    assert cloud["region"] == vendor.expected[1]


# ---- beside a job -------------------------------------------------------------------------------

def run_job(tracker, command, *options):
    """The record of a run, which has a store of its own."""
    with tempfile.TemporaryDirectory() as state:
        subprocess.run([tracker, "-q", *options, *command], check=True, timeout=60,
                       env={**os.environ, "XDG_STATE_HOME": state})
        done = subprocess.run([tracker, "export", "--format", "snapshot"], check=True, timeout=60, capture_output=True,
                              env={**os.environ, "XDG_STATE_HOME": state})
        return json.loads(done.stdout)


# Lasts until what the cloud said is kept for the boot, at the latest half a minute.
UNTIL_KNOWN = ["sh", "-c", """n=0
while [ $n -lt 600 ] && [ -z "$(find "$XDG_CACHE_HOME" -type f 2>/dev/null)" ]; do n=$((n + 1)); sleep 0.05; done"""]


@pytest.fixture
def no_firmware():
    """The machine's own, which may name a vendor, is hidden: all are asked. A default route makes it worth it."""
    subprocess.run(["ip", "route", "add", "default", "dev", "lo"], check=True)
    hidden = os.path.isdir("/sys/class/dmi/id")
    if hidden:
        subprocess.run(["mount", "-t", "tmpfs", "none", "/sys/class/dmi/id"], check=True)
    yield
    if hidden:
        subprocess.run(["umount", "/sys/class/dmi/id"], check=True)
    subprocess.run(["ip", "route", "del", "default"], check=True)


def test_in_the_record(tracker, no_firmware):
    with serve(BY_NAME["linode"]) as service:
        record = run_job(tracker, UNTIL_KNOWN)
        assert facts(record["cloud_info"]) == found(BY_NAME["linode"])
        asked = len(service.asked)
        record = run_job(tracker, ["sleep", "0.2"])  # too short to ask; the answer is kept from before
        assert facts(record["cloud_info"]) == found(BY_NAME["linode"]) and len(service.asked) == asked
    assert record["metadata"]["discover_cloud"] is True and record["server_info"]["vcpus"] >= 1


def test_a_second_after_the_start(tracker, no_firmware):
    with serve(BY_NAME["linode"]) as service:
        started = time.monotonic()
        run_job(tracker, UNTIL_KNOWN)
        assert service.asked and min(service.times) - started >= 1


def test_a_short_job_asks_nobody(tracker, no_firmware):
    with serve(BY_NAME["linode"]):
        before = packets()
        record = run_job(tracker, ["sleep", "0.1"])
        assert packets() == before and record["cloud_info"] is None


def test_end_is_not_delayed(tracker, no_firmware):
    """The answer would take a second from when it is asked for, which is a second after the start."""
    def run():
        started = time.monotonic()
        record = run_job(tracker, ["sleep", "1.2"])
        return record, time.monotonic() - started

    with RawService(M, hang), RawService("169.254.42.42", hang), RawService("100.100.100.200", hang):
        runs = side_by_side(run)
    assert all(facts(record["cloud_info"]) == tuple(UNKNOWN.values()) for record, _ in runs)
    assert min(elapsed for _, elapsed in runs) < 1.6


def test_no_cloud_in_a_run(tracker, no_firmware):
    before = packets()
    record = run_job(tracker, ["sleep", "1.3"], "--cloud=off")
    assert packets() == before
    assert record["cloud_info"] is None and record["metadata"]["discover_cloud"] is False
