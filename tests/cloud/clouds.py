"""Metadata services as the vendors document them, on loopback, and what their machines' firmware says."""

import json
import socket
import socketserver
import threading
import time
from http.server import BaseHTTPRequestHandler

M = "169.254.169.254"


class Vendor:
    """`answers`: {(method, path): body or function(headers) -> (status, body)}; else 404."""

    def __init__(self, name, dmi, answers, expected, address=M):
        self.name, self.dmi, self.answers, self.expected, self.address = name, dmi, answers, expected, address


def with_token(header, token, body):
    """A service that wants the token that it gave."""
    return lambda headers: (200, body) if headers.get(header) == token else (401, "Unauthorized")


def with_header(header, value, body):
    return lambda headers: (200, body) if headers.get(header) == value else (403, "Forbidden")


def token(header, value, text):
    return lambda headers: (200, text) if headers.get(header) == value else (400, "Bad Request")


AWS_TOKEN, AWS = "AQAEAGsecret==", "X-aws-ec2-metadata-token"
ALI_TOKEN, ALI = "YWxpY2xvdWQ=", "X-aliyun-ecs-metadata-token"
LINODE_TOKEN = "f09d5e8a71"

VENDORS = [
    Vendor("aws", {"sys_vendor": "Amazon EC2", "board_asset_tag": "i-0123456789abcdef0", "product_name": "m5.large"}, {
        ("PUT", "/latest/api/token"): token(AWS + "-ttl-seconds", "21600", AWS_TOKEN),
        ("GET", "/latest/meta-data/services/domain"): with_token(AWS, AWS_TOKEN, "amazonaws.com"),
        ("GET", "/latest/meta-data/placement/region"): with_token(AWS, AWS_TOKEN, "eu-central-1"),
        ("GET", "/latest/meta-data/placement/availability-zone"): with_token(AWS, AWS_TOKEN, "eu-central-1b"),
        ("GET", "/latest/meta-data/instance-type"): with_token(AWS, AWS_TOKEN, "m5.large"),
    }, ("m5.large", "eu-central-1", "eu-central-1b")),
    Vendor("gcp", {"product_name": "Google Compute Engine", "sys_vendor": "Google"}, {
        ("GET", "/computeMetadata/v1/instance/zone"):
            with_header("Metadata-Flavor", "Google", "projects/123456/zones/us-central1-f"),
        ("GET", "/computeMetadata/v1/instance/machine-type"):
            with_header("Metadata-Flavor", "Google", "projects/123456/machineTypes/n2-standard-8"),
    }, ("n2-standard-8", "us-central1", "us-central1-f")),
    Vendor("azure", {"chassis_asset_tag": "7783-7084-3265-9085-8269-3286-77", "sys_vendor": "Microsoft Corporation",
                     "product_name": "Virtual Machine"}, {
        ("GET", "/metadata/instance?api-version=2021-02-01"): with_header("Metadata", "true", json.dumps(
            {"compute": {"vmSize": "Standard_D2s_v5", "location": "westeurope", "zone": "2", "tags": ""}})),
    }, ("Standard_D2s_v5", "westeurope", "2")),
    Vendor("hcloud", {"sys_vendor": "Hetzner", "product_name": "vServer"}, {
        ("GET", "/hetzner/v1/metadata"): "availability-zone: fsn1-dc14\nhostname: box\ninstance-id: 42\nregion: eu-central\n",
    }, ("unknown", "eu-central", "fsn1-dc14")),
    Vendor("upcloud", {"sys_vendor": "UpCloud", "product_name": "Server"}, {
        ("GET", "/metadata/v1.json"): json.dumps({"cloud_name": "upcloud", "region": "de-fra1", "instance_id": "00a1"}),
    }, ("unknown", "de-fra1", "unknown")),
    Vendor("vultr", {"sys_vendor": "Vultr", "product_name": "VC2"}, {
        ("GET", "/v1.json"): json.dumps({"instanceid": "93", "instance-v2-id": "a-b", "region": {"regioncode": "EWR"}}),
    }, ("unknown", "EWR", "unknown")),
    Vendor("alicloud", {"sys_vendor": "Alibaba Cloud", "product_name": "Alibaba Cloud ECS"}, {
        ("PUT", "/latest/api/token"): token(ALI + "-ttl-seconds", "21600", ALI_TOKEN),
        ("GET", "/latest/meta-data/region-id"): with_token(ALI, ALI_TOKEN, "cn-hangzhou"),
        ("GET", "/latest/meta-data/zone-id"): with_token(ALI, ALI_TOKEN, "cn-hangzhou-i"),
        ("GET", "/latest/meta-data/instance/instance-type"): with_token(ALI, ALI_TOKEN, "ecs.g6.large"),
    }, ("ecs.g6.large", "cn-hangzhou", "cn-hangzhou-i"), "100.100.100.200"),
    Vendor("ovh", {"sys_vendor": "OpenStack Foundation", "product_name": "OpenStack Nova"}, {
        ("GET", "/openstack/latest/network_data.json"): json.dumps(
            {"services": [{"type": "dns", "address": "1.1.1.1"}, {"type": "dns", "address": "213.186.33.99"}]}),
        ("GET", "/openstack/latest/meta_data.json"): json.dumps({"availability_zone": "eu-west-par-b", "uuid": "x"}),
        ("GET", "/latest/meta-data/instance-type"): "b3-8",
    }, ("b3-8", "eu-west-par", "eu-west-par-b")),
    Vendor("digitalocean", {"sys_vendor": "DigitalOcean", "product_name": "Droplet"}, {
        ("GET", "/metadata/v1.json"): json.dumps({"droplet_id": 2756294, "region": "nyc3"}),
    }, ("unknown", "nyc3", "unknown")),
    Vendor("oracle", {"chassis_asset_tag": "OracleCloud.com", "sys_vendor": "QEMU",
                      "product_name": "Standard PC (i440FX + PIIX, 1996)"}, {
        ("GET", "/opc/v2/instance/"): with_header("Authorization", "Bearer Oracle", json.dumps(
            {"shape": "VM.Standard.E4.Flex", "canonicalRegionName": "us-phoenix-1",
             "availabilityDomain": "Uocm:PHX-AD-1"})),
    }, ("VM.Standard.E4.Flex", "us-phoenix-1", "Uocm:PHX-AD-1")),
    Vendor("scaleway", {"sys_vendor": "Scaleway", "product_name": "SCW-DEV1-S"}, {
        ("GET", "/conf?format=json"): json.dumps({"commercial_type": "DEV1-S", "zone": "fr-par-1"}),
    }, ("DEV1-S", "fr-par", "fr-par-1"), "169.254.42.42"),
    Vendor("linode", {"sys_vendor": "Akamai", "product_name": "Compute Instance"}, {
        ("PUT", "/v1/token"): token("Metadata-Token-Expiry-Seconds", "300", LINODE_TOKEN),
        ("GET", "/v1/instance"): lambda headers: (200, json.dumps({"type": "g6-standard-2", "region": "us-iad", "id": 1}))
            if headers.get("Metadata-Token") == LINODE_TOKEN and headers.get("Accept") == "application/json"
            else (401, "no"),
    }, ("g6-standard-2", "us-iad", "unknown")),
]
BY_NAME = {vendor.name: vendor for vendor in VENDORS}


class Server(socketserver.ThreadingTCPServer):
    """Not http.server's own, which looks its name up: nothing here asks a name server."""
    allow_reuse_address = daemon_threads = True
    request_queue_size = 64  # all vendors' questions come at once


class Service:
    """A service on an address; what it was asked is in `asked`."""

    def __init__(self, address, answers, port=80):
        service, self.asked, self.times = self, [], []

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self):
                service.times.append(time.monotonic())
                service.asked.append((self.command, self.path, dict(self.headers)))
                found = answers.get((self.command, self.path), (404, "not found"))
                status, body = found(self.headers) if callable(found) else found if isinstance(found, tuple) else (200, found)
                data = body if isinstance(body, bytes) else body.encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                try:
                    self.wfile.write(data)
                except OSError:
                    pass  # it has heard enough

            do_GET = do_PUT = answer

            def log_message(self, *words):
                pass

        self.server = Server((address, port), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        self.server.shutdown()
        self.server.server_close()


class RawService:
    """Whatever `talk(connection)` does, once for each connection."""

    def __init__(self, address, talk):
        self.listener = socket.create_server((address, 80), backlog=64)
        self.talk, self.connections = talk, 0
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self.meet, args=(connection,), daemon=True).start()

    def meet(self, connection):
        with connection:
            try:
                self.talk(connection)
            except OSError:
                pass

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


def serve(vendor):
    return Service(vendor.address, vendor.answers)
