import pytest

from zurelay.upstream.proxies import Proxy
from zurelay.upstream.request import encode_head, fixed_lines
from zurelay.upstream.url import parse_url

FIXED = fixed_lines(parse_url("http://a.example:81/v1?x=y"), None)


def test_a_head_has_the_callers_headers_and_the_clients_own() -> None:
    head = encode_head(
        "POST", FIXED, (("authorization", "Bearer k"), ("x-y", "z")), 12, "zurelay/1"
    )
    assert head == (
        b"POST /v1?x=y HTTP/1.1\r\nhost: a.example:81\r\n"
        b"accept-encoding: gzip, deflate, br, zstd\r\nconnection: keep-alive\r\n"
        b"authorization: Bearer k\r\nx-y: z\r\nuser-agent: zurelay/1\r\ncontent-length: 12\r\n\r\n"
    )


def test_the_callers_user_agent_replaces_the_default() -> None:
    head = encode_head("GET", FIXED, (("user-agent", "mine"),), 0, "zurelay/1")
    assert b"user-agent: mine\r\n" in head
    assert b"zurelay" not in head


@pytest.mark.parametrize(
    ("method", "length", "expected"),
    [("GET", 0, None), ("GET", 3, 3), ("POST", 0, 0), ("PUT", 5, 5), ("DELETE", 0, None)],
)
def test_a_length_is_sent_where_a_body_is_or_could_be(
    method: str, length: int, expected: int | None
) -> None:
    head = encode_head(method, FIXED, (), length, "a")
    assert (b"content-length" in head) == (expected is not None)
    if expected is not None:
        assert b"content-length: %d\r\n" % expected in head


@pytest.mark.parametrize(
    "header",
    [
        ("x", "secret\r\nevil: 1"),
        ("x", "secret\n"),
        ("x", "secret\r"),
        ("x", "sec\0ret"),
        ("x", "secret €"),
        ("x y", "secret"),
        ("", "secret"),
        ("x:", "secret"),
        ("x\r\nevil", "secret"),
        ("host", "secret"),
        ("content-length", "secret"),
        ("transfer-encoding", "secret"),
        ("connection", "secret"),
        ("Authorization", "secret"),
    ],
)
def test_what_cannot_go_into_a_header_is_refused_without_repeating_it(
    header: tuple[str, str],
) -> None:
    with pytest.raises(ValueError) as caught:
        encode_head("GET", FIXED, (("a", "b"), header), 0, "a")
    assert "secret" not in str(caught.value)
    assert not isinstance(caught.value, UnicodeError)


@pytest.mark.parametrize("method", ["GET /\r\nx: y\r\n", "GÄT€", "G\0"])
def test_a_method_must_be_one(method: str) -> None:
    with pytest.raises(ValueError):
        encode_head(method, FIXED, (), 0, "a")


def test_a_proxy_sees_the_absolute_form_only_of_plain_origins() -> None:
    proxy = Proxy("p", 1, authorization="Basic x")
    plain = fixed_lines(parse_url("http://a.example/v1"), proxy)
    assert plain.startswith(" http://a.example/v1 HTTP/1.1\r\n")
    assert "proxy-authorization: Basic x\r\n" in plain
    secure = fixed_lines(parse_url("https://a.example/v1"), proxy)
    assert secure.startswith(" /v1 HTTP/1.1\r\n")
    assert "proxy-authorization" not in secure


def test_each_call_has_its_own_length_and_bad_headers_are_refused_each_time() -> None:
    assert encode_head("POST", FIXED, (("x-y", "z"),), 12, "a").endswith(b"length: 12\r\n\r\n")
    assert encode_head("POST", FIXED, (("x-y", "z"),), 7, "a").endswith(b"length: 7\r\n\r\n")
    assert b"x-y: other\r\n" in encode_head("POST", FIXED, (("x-y", "other"),), 7, "a")
    for _ in range(2):
        with pytest.raises(ValueError, match="x-y"):
            encode_head("POST", FIXED, (("x-y", "z\r\n"),), 7, "a")
