"""Which addresses the console answers at: its public one and this machine's own.

Others may be made to point here by whoever owns their names.
"""

import ipaddress
from urllib.parse import urlsplit


def host_is_ours(host: str, public_url: str) -> bool:
    """Whether a `Host` is the public one or this machine's own.

    Args:
        host: the header's value.
        public_url: as configured; empty where it is not.
    """
    if public_url and host.lower() == urlsplit(public_url).netloc.lower():
        return True
    return is_loopback(host)


def is_loopback(host: str) -> bool:
    """Whether a `Host` names this machine, with or without a port."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
        return name == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
