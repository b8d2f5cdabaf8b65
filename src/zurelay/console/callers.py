"""The admin API for people: a console session, with the form token in a header for changes.

Knows no endpoint.
"""

import asyncio

from starlette.requests import Request

from zurelay.chat.problems import Problem, Refused
from zurelay.console import cookies
from zurelay.console.hosts import host_is_ours
from zurelay.console.parts import ConsoleParts
from zurelay.office.rights import Actor
from zurelay.office.sessions import good_form_token, resume, where

TOKEN_HEADER = "x-csrf-token"  # noqa: S105 - its name
_READING = ("GET", "HEAD")


async def session_actor(parts: ConsoleParts, request: Request) -> Actor | None:
    """Who acts by the session in a call's cookie; None without a good one.

    Raises:
        Refused: 403 for a change without the token of that session, or from elsewhere.
        StoreError: the store does not answer.
    """
    text = cookies.session(request)
    if not text or not host_is_ours(request.headers.get("host", ""), parts.public_url()):
        return None
    visitor = await asyncio.to_thread(resume, parts.desk, text)
    if visitor is None:
        return None
    if request.method not in _READING and not sent_by_us(request, text):
        message = f"Send the session's token as '{TOKEN_HEADER}' with every change."
        raise Refused(Problem(403, "permission_error", "token_required", message, None))
    chosen = cookies.account(request)
    return visitor.actor(await asyncio.to_thread(where, parts.desk, visitor, chosen))


def sent_by_us(request: Request, secret: str, token: str | None = None) -> bool:
    """Whether a change comes from a page of ours: by its token, and by what the browser says.

    Args:
        request: the call.
        secret: what its token must have been made from.
        token: of a form; else that of the header.
    """
    shown = request.headers.get(TOKEN_HEADER) or token or ""
    site = request.headers.get("sec-fetch-site", "same-origin")
    return site in ("same-origin", "none") and bool(secret) and good_form_token(secret, shown)
