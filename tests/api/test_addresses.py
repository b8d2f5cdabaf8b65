import pytest

from zurelay.api.addresses import client_address, networks

TRUSTED = networks(["10.0.0.0/8", "127.0.0.1", "fd00::/8"])


@pytest.mark.parametrize(
    ("peer", "forwarded", "address"),
    [
        ("203.0.113.9", b"1.1.1.1", "203.0.113.9"),  # no proxy of ours
        ("10.0.0.1", None, "10.0.0.1"),
        ("10.0.0.1", b"", "10.0.0.1"),
        ("10.0.0.1", b"203.0.113.9", "203.0.113.9"),
        ("10.0.0.1", b"6.6.6.6, 203.0.113.9", "203.0.113.9"),  # the first was written by anybody
        ("10.0.0.1", b"6.6.6.6, 203.0.113.9 , 10.9.9.9", "203.0.113.9"),
        ("10.0.0.1", b"10.0.0.2", "10.0.0.2"),
        ("10.0.0.1", b"nonsense", "10.0.0.1"),
        ("10.0.0.1", b"203.0.113.9, \xff\xff", "10.0.0.1"),
        ("10.0.0.1", b"203.0.113.9:4711", "203.0.113.9"),
        ("fd00::1", b"[2001:db8::7]:4711", "2001:db8::7"),
        ("::ffff:10.0.0.1", b"2001:db8::7", "2001:db8::7"),
        ("", b"203.0.113.9", ""),
        ("unix", b"203.0.113.9", "unix"),
    ],
)
def test_an_address_is_believed_only_as_far_as_trusted_proxies_wrote_it(
    peer: str, forwarded: bytes | None, address: str
) -> None:
    assert client_address(peer, forwarded, TRUSTED) == address


def test_without_trusted_proxies_nobody_is_believed() -> None:
    assert client_address("10.0.0.1", b"203.0.113.9", ()) == "10.0.0.1"


def test_what_is_no_network_is_refused() -> None:
    with pytest.raises(ValueError, match="nowhere"):
        networks(["nowhere"])
