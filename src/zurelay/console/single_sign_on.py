"""Signing in by an OpenID Connect provider: out to it, and back with who came."""

import asyncio
from typing import Final

import structlog
from starlette.responses import HTMLResponse, RedirectResponse, Response

from zurelay.chat.problems import Refused
from zurelay.console import cookies
from zurelay.console.oidc import CALLBACK, Identity, OidcError, Provider
from zurelay.console.page import ANYBODY, Html, Page, Visit
from zurelay.console.rendering import render
from zurelay.office.sessions import Visitor, secret_text, sign_in_as

OUT: Final = "/console/oidc"

log = structlog.get_logger("zurelay.console")


async def out(visit: Visit) -> Response:
    """To the provider."""
    provider = visit.parts.oidc.provider()
    if provider is None:
        return await _failed(visit, None, 404)
    secret = secret_text(visit.parts.desk)
    try:
        goal = await visit.parts.oidc.begin(provider, visit.parts.base_url(), secret)
    except OidcError as error:
        log.warning("oidc_failed", reason=str(error))
        return await _failed(visit, provider, 502)
    visit.cookies[cookies.OIDC] = secret
    return RedirectResponse(goal, 303)


async def back(visit: Visit) -> Response:
    """From the provider."""
    provider = visit.parts.oidc.provider()
    if provider is None:
        return await _failed(visit, None, 404)
    secret = cookies.oidc(visit.request)
    visit.cookies[cookies.OIDC] = None
    try:
        found = await visit.parts.oidc.finish(provider, visit.parts.base_url(), secret, visit.query)
    except OidcError as error:
        log.warning("oidc_failed", reason=str(error))
        return await _failed(visit, provider, 400)
    try:
        visitor = await asyncio.to_thread(_signed_in, visit, found)
    except Refused:
        return await _failed(visit, provider, 403, found.email)
    visit.cookies[cookies.SESSION] = visitor.text
    visit.cookies[cookies.FORM] = None
    return RedirectResponse("/console", 303)


def _signed_in(visit: Visit, found: Identity) -> Visitor:
    return sign_in_as(visit.parts.desk, found.email, found.name, visit.agent)


async def _failed(
    visit: Visit, provider: Provider | None, status: int, email: str = ""
) -> Response:
    name = "" if provider is None else provider.name
    page = Html("single_sign_on_failed.html", {"name": name, "email": email}, status)
    return HTMLResponse(await asyncio.to_thread(render, visit, page), status)


PAGES = (
    Page("GET", OUT, ANYBODY, stream=out),
    Page("GET", CALLBACK, ANYBODY, stream=back),
)
