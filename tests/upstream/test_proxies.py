import pytest

from zurelay.upstream.proxies import Proxies, Proxy, parse_proxy


def test_each_scheme_has_its_proxy_and_the_rest_share_one() -> None:
    proxies = Proxies({"HTTPS_PROXY": "http://p:3128", "ALL_PROXY": "q:1"})
    assert proxies.lookup("https", "a.example", 443) == Proxy("p", 3128)
    assert proxies.lookup("http", "a.example", 80) == Proxy("q", 1)


def test_without_settings_connections_are_direct() -> None:
    assert Proxies({"HTTP_PROXY": ""}).lookup("http", "a.example", 80) is None


def test_the_lower_case_name_wins() -> None:
    proxies = Proxies({"HTTP_PROXY": "http://upper", "http_proxy": "http://lower"})
    assert proxies.lookup("http", "a.example", 80) == Proxy("lower", 80)


def test_credentials_become_a_header() -> None:
    proxy = parse_proxy("https://us%40er:p%3Aw@proxy.example")
    assert proxy == Proxy("proxy.example", 443, True, "Basic dXNAZXI6cDp3")


@pytest.mark.parametrize(
    "url", ["socks5://secret:1", "http://secret:99999", "http://", "http://u:secret@:80"]
)
def test_what_is_no_http_proxy_is_refused_naming_the_variable(url: str) -> None:
    with pytest.raises(ValueError) as caught:
        Proxies({"ALL_PROXY": url})
    assert "ALL_PROXY" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_general_proxy_nobody_uses_is_not_looked_at() -> None:
    settings = {"ALL_PROXY": "socks5://s:1", "HTTP_PROXY": "http://p", "HTTPS_PROXY": "http://p"}
    assert Proxies(settings).lookup("https", "a.example", 443) == Proxy("p", 80)


@pytest.mark.parametrize(
    ("exceptions", "host", "port", "direct"),
    [
        ("*", "a.example", 443, True),
        ("a.example", "a.example", 443, True),
        ("A.EXAMPLE", "a.example", 443, True),
        ("a.example", "b.a.example", 443, True),
        (".a.example", "a.example", 443, True),
        ("*.a.example", "b.a.example", 443, True),
        ("a.example", "ba.example", 443, False),
        ("x, a.example", "a.example", 443, True),
        ("x a.example", "a.example", 443, True),
        ("a.example:443", "a.example", 443, True),
        ("a.example:80", "a.example", 443, False),
        ("127.0.0.1", "127.0.0.1", 443, True),
        ("127.0.0.1:443", "127.0.0.1", 443, True),
        ("127.0.0.1:80", "127.0.0.1", 443, False),
        ("10.0.0.0/8", "10.1.2.3", 443, True),
        ("10.0.0.0/8", "11.1.2.3", 443, False),
        ("0.0.1", "127.0.0.1", 443, False),
        ("::1", "::1", 443, True),
        ("[::1]:443", "::1", 443, True),
        ("[::1]:80", "::1", 443, False),
        ("fe80::/10", "fe80::1", 443, True),
        ("", "a.example", 443, False),
        (",", "a.example", 443, False),
    ],
)
def test_exceptions_are_honoured(exceptions: str, host: str, port: int, direct: bool) -> None:
    proxies = Proxies({"HTTPS_PROXY": "http://p", "no_proxy": exceptions})
    assert (proxies.lookup("https", host, port) is None) == direct
