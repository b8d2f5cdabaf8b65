import pytest

from zurelay.console.hosts import host_is_ours, is_loopback


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:8000", "127.0.0.1:9", "127.1.2.3", "[::1]:80"]
)
def test_this_machine_is_ours(host: str) -> None:
    assert is_loopback(host)
    assert host_is_ours(host, "https://ai.example.com")


@pytest.mark.parametrize(
    "host",
    [
        "",
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "192.168.1.5:8000",
        "a b",
        "[::1",
        "0.0.0.0",
    ],
)
def test_others_are_not(host: str) -> None:
    assert not host_is_ours(host, "")
    assert not host_is_ours(host, "https://ai.example.com")


def test_the_public_address_is_ours_with_its_port() -> None:
    assert host_is_ours("AI.example.com", "https://ai.example.com/")
    assert host_is_ours("ai.example.com:8443", "https://ai.example.com:8443")
    assert not host_is_ours("ai.example.com:8443", "https://ai.example.com")
