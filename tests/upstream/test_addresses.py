"""Only the public internet is reached by URLs from outside."""

import pytest

from zurelay.upstream.addresses import is_public


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0",
        "0.1.2.3",
        "10.1.2.3",
        "100.64.0.1",
        "100.127.255.255",
        "127.0.0.1",
        "127.9.9.9",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.8",
        "192.168.1.1",
        "198.18.0.1",
        "198.19.255.255",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::127.0.0.1",
        "::ffff:127.0.0.1",
        "::ffff:8.8.8.8",
        "64:ff9b::7f00:1",
        "64:ff9b:1::1",
        "fc00::1",
        "fd12:3456::1",
        "fe80::1",
        "fe80::1%eth0",
        "fec0::1",
        "ff02::1",
        "2001::1",
        "2001:db8::1",
        "2002:7f00:1::1",
        "2606:4700:0:0:0:5efe:7f00:1",
        "3fff::1",
        "2606:4700::1111%eth0",
        "",
        "example.com",
        "2130706433",
        "0x7f.1",
        "127.1",
    ],
)
def test_what_is_not_public_is_refused(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "1.1.1.1",
        "8.8.8.8",
        "100.63.255.255",
        "100.128.0.1",
        "172.32.0.1",
        "198.17.255.255",
        "223.255.255.255",
        "2606:4700::1111",
        "2a00:1450:4001::1",
    ],
)
def test_public_addresses_are_taken(address: str) -> None:
    assert is_public(address)
