"""The console's cookies: which there are, how they are read, and how they are set.

All but the session's hold nothing secret; what a stranger writes into one is checked or shown as
text. Knows no page.
"""

import base64
import binascii
from collections.abc import Mapping
from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

SESSION: Final = "zurelay_session"
FORM: Final = "zurelay_form"
"""For forms of people who are not signed in."""
LANGUAGE: Final = "zurelay_language"
THEME: Final = "zurelay_theme"
ACCOUNT: Final = "zurelay_account"
NOTICE: Final = "zurelay_notice"
OIDC: Final = "zurelay_oidc"
"""On the way to another provider and back."""

THEMES: Final = ("system", "light", "dark")

_YEAR = 365 * 86_400
_AGES: Final = {
    LANGUAGE: _YEAR,
    THEME: _YEAR,
    ACCOUNT: _YEAR,
    NOTICE: 60,
    OIDC: 600,
    SESSION: 7 * 86_400,
}
_LONGEST = 100


def session(request: Request) -> str:
    """The session's text; empty without one."""
    return _short(request, SESSION)


def form(request: Request) -> str:
    """What forms of this browser are tied to; empty before its first."""
    return _short(request, FORM)


def oidc(request: Request) -> str:
    """What a sign-in that is under way is tied to."""
    return _short(request, OIDC)


def language(request: Request) -> str:
    """The language that was chosen here."""
    return _short(request, LANGUAGE)


def account(request: Request) -> str:
    """The account that is looked at."""
    return _short(request, ACCOUNT)


def theme(request: Request) -> str:
    """One of `THEMES`."""
    found = _short(request, THEME)
    return found if found in THEMES else THEMES[0]


def pack(kind: str, text: str) -> str:
    """A notice for the next page."""
    return base64.urlsafe_b64encode(msgspec.json.encode([kind, text[:500]])).decode()


def notice(request: Request) -> tuple[str, str] | None:
    """What the page before wanted to say: kind and text."""
    try:
        packed = base64.urlsafe_b64decode(request.cookies.get(NOTICE, ""))
        kind, text = msgspec.json.decode(packed, type=tuple[str, str])
    except (ValueError, binascii.Error, msgspec.MsgspecError):
        return None
    return ("bad" if kind == "bad" else "good"), text


def write(response: Response, cookies: Mapping[str, str | None], *, secure: bool) -> None:
    """Set cookies, and delete those that are None."""
    for name, value in cookies.items():
        response.set_cookie(
            name,
            value or "",
            max_age=_AGES.get(name) if value else 0,
            path="/",
            secure=secure,
            httponly=True,
            samesite="lax",
        )


def _short(request: Request, name: str) -> str:
    value = request.cookies.get(name, "")
    return value if len(value) <= _LONGEST and value.isascii() else ""
