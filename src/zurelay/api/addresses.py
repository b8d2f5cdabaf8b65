"""Who called, where proxies stand in between: an address for the log and for nothing else.

Anybody can write `X-Forwarded-For`: it is believed only as far as trusted proxies wrote it, and no
right and no limit depends on it.
"""

import ipaddress
from collections.abc import Iterable, Sequence

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def networks(texts: Iterable[str]) -> tuple[Network, ...]:
    """Addresses and networks as `[server] trusted_proxies` names them.

    Raises:
        ValueError: a text that is neither.
    """
    return tuple(ipaddress.ip_network(text, strict=False) for text in texts)


def client_address(peer: str, forwarded: bytes | None, trusted: Sequence[Network]) -> str:
    """The caller's address.

    Args:
        peer: the address the connection came from; empty if unknown.
        forwarded: `X-Forwarded-For`, nearest hop last.
        trusted: proxies whose word is taken.
    """
    address = peer
    hops = forwarded.decode("latin-1").split(",") if forwarded and trusted else []
    while hops and _within(address, trusted):
        hop = _parsed(hops.pop())
        if hop is None:
            break
        address = hop
    return address


def _within(address: str, trusted: Sequence[Network]) -> bool:
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return any((mapped or found) in network for network in trusted)


def _parsed(hop: str) -> str | None:
    """One entry of the header, its port removed; None for what is no address."""
    text = hop.strip()
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        return None
