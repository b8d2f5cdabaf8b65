import pytest

from zurelay.live.valkey_address import AddressError, ValkeyAddress, parse


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("redis://cache", ValkeyAddress("cache")),
        ("valkey://10.0.0.1:7000/3", ValkeyAddress("10.0.0.1", 7000, database=3)),
        ("redis://:p%40ss@cache/", ValkeyAddress("cache", password="p@ss")),
        (
            "rediss://me:s3cret@cache",
            ValkeyAddress("cache", user="me", password="s3cret", tls=True),
        ),
        ("valkeys://[::1]:1", ValkeyAddress("::1", 1, tls=True)),
    ],
)
def test_all_the_usual_forms_are_read(url: str, address: ValkeyAddress) -> None:
    assert parse(url) == address


@pytest.mark.parametrize(
    "url",
    [
        "",
        "cache:6379",
        "http://cache",
        "redis://",
        "redis://cache:port",
        "redis://cache:99999",
        "redis://cache/name",
        "redis://cache/5000",
        "redis://cache?db=1",
        "redis:cache",
        "redis://[::1",
    ],
)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(AddressError):
        parse(url)


def test_a_password_is_shown_nowhere() -> None:
    address = parse("rediss://me:s3cret@[::1]:7000/2")
    assert "s3cret" not in f"{address!r} {address}"
    assert str(address) == "valkeys://[::1]:7000/2"
    for wrong in ("http://u:s3cret@h", "redis://u:s3cret@h/x", "redis://u:s3cret@h:x"):
        with pytest.raises(AddressError) as error:
            parse(wrong)
        assert "s3cret" not in str(error.value)
