"""Servers and their prices: from the table that is built in, or from Spare Cores Keeper where that is allowed."""

from __future__ import annotations

import os

from . import _native
from ._lazy import dumps, loads

TYPE_CHECKING = False  # typing takes long to import, and only who checks types needs it
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional

_KEEPER = "https://keeper.sparecores.net"


def _is_online(asked: Optional[bool] = None) -> bool:
    words = ("1", "true", "yes", "on")  # as the command line takes them
    return os.environ.get("TRACKER_ONLINE", "").lower() in words if asked is None else asked


def keeper_request(path: str, timeout: int = 2, endpoint: str = "https://keeper.sparecores.net") -> Any:
    """Ask Keeper.

    Args:
        path: What to ask, such as `/servers?limit=1`.
        timeout: Seconds to wait.
        endpoint: Where Keeper is. TRACKER_KEEPER_URL in the environment names another default.

    Returns:
        What it answers; None where it does not.
    """
    from urllib.parse import urljoin
    from urllib.request import Request, urlopen

    if endpoint == _KEEPER:
        endpoint = os.environ.get("TRACKER_KEEPER_URL", endpoint)
    try:
        request = Request(urljoin(endpoint, path), headers={"X-Application-ID": "resource-tracker"})
        with urlopen(request, timeout=timeout) as response:
            return loads(response.read())
    except Exception:
        return None


def get_instance_price(vendor_id: str, region_id: str, instance_type: str) -> Optional[float]:
    """What a server costs an hour on demand.

    Args:
        vendor_id: Its vendor, such as "aws".
        region_id: Where; if it has no price there, that of another region counts.
        instance_type: Its type, such as "t3.micro".

    Returns:
        Dollars an hour; None where no price is known.
    """
    if _is_online():
        answer = keeper_request(f"/server/{vendor_id}/{instance_type}/prices")
        offers = [offer for offer in answer if _is_plain(offer)] if isinstance(answer, list) else []
        for offer in sorted(offers, key=lambda offer: bool(offer.get("region_id") != region_id)):
            price: Optional[float] = offer.get("price")
            return price
    try:
        price = loads(_native.server_price(str(vendor_id), str(instance_type), str(region_id)))["price"]
    except OSError:
        return None
    return price


def _is_plain(offer: Dict[str, Any]) -> bool:
    return bool(offer.get("allocation") == "ondemand" and offer.get("operating_system") == "Linux")


def get_recommended_cloud_servers(
    cpu: int,
    memory: int,
    gpu: Optional[int] = None,
    vram: Optional[int] = None,
    n: int = 10,
    **filters: Any,
) -> List[Dict[str, Any]]:
    """The cheapest servers that have what is needed.

    Args:
        cpu: So many virtual CPUs.
        memory: So much memory in MiB.
        gpu: So many GPUs.
        vram: So much memory of all GPUs in MiB.
        n: So many servers.
        **filters: vendor_id, region, architecture, cpu_allocation, gpu_model, each one value or a list; Keeper knows
            more of them. online: whether Keeper may be asked; TRACKER_ONLINE in the environment where it is not given.

    Returns:
        The servers with Keeper's keys, the cheapest first.
    """
    return _find_servers({"cpu": cpu, "memory": memory, "gpu": gpu, "vram": vram, "n": n}, filters)


def _find_servers(needs: Dict[str, Any], filters: Dict[str, Any], run_seconds: float = 0,
                  cloud_info: Optional[Dict[str, Any]] = None) -> List[Dict[str, Any]]:
    filters = dict(filters)
    online = _is_online(filters.pop("online", None))
    if online:
        answered = _ask_keeper(needs, filters)
        if answered is not None:
            for server in answered:
                price = server.get("min_price_ondemand")
                if price is not None and run_seconds:
                    server["best_ondemand_price_duration"] = price * run_seconds / 3600
            return answered
    words = [f"{name}={value if isinstance(value, str) else ','.join(map(str, _as_list(value)))}".encode()
             for name, value in filters.items()]
    try:
        found = loads(_native.recommend_servers(
            needs["cpu"], needs["memory"], needs["gpu"] or 0, needs["vram"] or 0, needs["n"], words, run_seconds,
            dumps(cloud_info) if cloud_info else None))
    except (OSError, RuntimeError) as error:  # the table has no such vendor; it can't be filtered so
        advice = "Spare Cores Keeper gave no answer" if online else "online=True asks Spare Cores, which may know more"
        if isinstance(error, OSError):
            raise OSError(error.errno, f"{error.strerror}; {advice}") from None
        raise RuntimeError(f"{error}; {advice}") from None
    if found.get("warning"):
        from warnings import warn

        warn(found["warning"], stacklevel=3)
    servers: List[Dict[str, Any]] = found["servers"]
    return servers


def _as_list(value: Any) -> List[Any]:
    return list(value) if isinstance(value, (list, tuple, set)) else [value]


def _ask_keeper(needs: Dict[str, Any], filters: Dict[str, Any]) -> Optional[List[Dict[str, Any]]]:
    """None: no answer. Keeper counts memory and VRAM in GiB: what is needed is rounded up."""
    from urllib.parse import urlencode

    query = {"vcpus_min": needs["cpu"], "memory_min": -(-needs["memory"] // 1024),
             "order_by": "min_price_ondemand", "order_dir": "asc", "limit": needs["n"], **filters}
    if needs["gpu"]:
        query["gpu_min"] = needs["gpu"]
    if needs["vram"]:
        query["gpu_memory_total"] = -(-needs["vram"] // 1024)
    answer = keeper_request(f"/servers?{urlencode(query, doseq=True)}")
    return answer if isinstance(answer, list) else None
