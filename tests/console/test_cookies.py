from starlette.requests import Request
from starlette.responses import Response

from zurelay.console import cookies


def asked(**values: str) -> Request:
    line = "; ".join(f"{name}={value}" for name, value in values.items())
    return Request({"type": "http", "headers": [(b"cookie", line.encode("latin-1"))]})


def test_only_short_plain_values_are_taken() -> None:
    assert cookies.session(asked(zurelay_session="abc")) == "abc"
    assert cookies.session(asked(zurelay_session="x" * 101)) == ""
    assert cookies.session(asked(zurelay_session="é")) == ""
    assert cookies.session(asked()) == ""


def test_a_theme_is_one_of_three() -> None:
    assert cookies.theme(asked(zurelay_theme="dark")) == "dark"
    assert cookies.theme(asked(zurelay_theme="pink")) == "system"


def test_a_notice_goes_to_the_next_page_whatever_it_says() -> None:
    packed = cookies.pack("bad", 'Ann; "Bob" é <b>')
    assert cookies.notice(asked(zurelay_notice=packed)) == ("bad", 'Ann; "Bob" é <b>')
    assert cookies.notice(asked(zurelay_notice=cookies.pack("x", "y"))) == ("good", "y")
    for nonsense in ("", "e30=", "!!!", "W10=", "bnVsbA=="):
        assert cookies.notice(asked(zurelay_notice=nonsense)) is None


def test_cookies_are_set_with_their_age_and_deleted() -> None:
    response = Response()
    cookies.write(response, {cookies.SESSION: "abc", cookies.FORM: None}, secure=True)
    first, second = response.headers.getlist("set-cookie")
    assert first.startswith("zurelay_session=abc; HttpOnly; Max-Age=604800; Path=/; SameSite=lax")
    assert "Secure" in first
    assert 'zurelay_form=""' in second
    assert "Max-Age=0" in second
