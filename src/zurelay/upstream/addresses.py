"""Which IP addresses a URL from outside may lead to: public ones alone.

Rules over address texts; resolves nothing and connects to nothing. The ranges are those of the IANA
special-purpose registries (as of 2026-11), written out because Python's own notion of a global
address changes between its versions.
"""

import ipaddress

_REFUSED_4 = tuple(
    ipaddress.IPv4Network(text)
    for text in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",
        "100.64.0.0/10",  # shared by carriers, and clouds' own services
        "127.0.0.0/8",
        "169.254.0.0/16",  # link-local, clouds' metadata
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # relays of 6to4
        "192.168.0.0/16",
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, broadcast
    )
)
_GLOBAL_6 = ipaddress.IPv6Network("2000::/3")
"""Everything else of IPv6 is local, mapped, translated (64:ff9b::/96), multicast or unused."""
_REFUSED_6 = tuple(
    ipaddress.IPv6Network(text)
    for text in (
        "2001::/23",  # protocols of their own, Teredo among them
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4: holds an IPv4 address
        "3fff::/20",  # documentation
    )
)
_ISATAP = (0x5EFE, 0x2005EFE)
"""Upper half of an interface id that holds an IPv4 address."""


def is_public(text: str) -> bool:
    """Whether `text` is an address on the public internet; False for what is no address."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in network for network in _REFUSED_4)
    if address.scope_id is not None or address not in _GLOBAL_6:
        return False
    if (int(address) >> 32) & 0xFFFFFFFF in _ISATAP:
        return False
    return not any(address in network for network in _REFUSED_6)
