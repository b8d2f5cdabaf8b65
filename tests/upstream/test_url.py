import pytest

from zurelay.upstream.url import Address, parse_url


@pytest.mark.parametrize(
    ("url", "address", "authority"),
    [
        ("https://a.example/v1", Address("https", "a.example", 443, "/v1"), "a.example"),
        ("http://a.example:80", Address("http", "a.example", 80, "/"), "a.example"),
        (
            "http://A.Example:8080/x?b=c#d",
            Address("http", "a.example", 8080, "/x?b=c"),
            "a.example:8080",
        ),
        ("https://[::1]:8443/", Address("https", "::1", 8443, "/"), "[::1]:8443"),
        (
            "https://bücher.example/",
            Address("https", "xn--bcher-kva.example", 443, "/"),
            "xn--bcher-kva.example",
        ),
        ("http://a.example?q=1", Address("http", "a.example", 80, "/?q=1"), "a.example"),
    ],
)
def test_a_url_is_taken_apart(url: str, address: Address, authority: str) -> None:
    assert parse_url(url) == address
    assert parse_url(url).authority == authority


@pytest.mark.parametrize(
    "url",
    [
        "",
        "a.example/secret",
        "ftp://a.example/secret",
        "https:///secret",
        "https://user:secret@a.example/",
        "https://a.example/sec ret",
        "https://a.example/sec\r\nret: 1",
        "https://a.example/secrét",
        "https://a.example:99999/secret",
        "https://a b.example/secret",
        f"https://{'ü' * 80}.example/secret",
    ],
)
def test_what_is_no_url_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(ValueError) as caught:
        parse_url(url)
    assert "secr" not in str(caught.value)
