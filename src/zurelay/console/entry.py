"""How people come in and go: signing in, following a link, signing out."""

from urllib.parse import urlsplit

from zurelay.chat.problems import Refused
from zurelay.console import cookies
from zurelay.console.hosts import is_loopback
from zurelay.console.page import ANYBODY, SIGNED_IN, Html, Page, Redirect, Reply, Visit
from zurelay.office import links, sessions
from zurelay.office.passwords import LONGEST, SHORTEST
from zurelay.office.sessions import Visitor

_HOME = "/console"


def sign_in_page(visit: Visit) -> Reply:
    """Asks for address and password."""
    if visit.visitor is not None:
        return Redirect(_next(visit.query.get("next", "")))
    return _sign_in(visit.query.get("next", ""))


def sign_in(visit: Visit) -> Reply:
    """Lets somebody in who knows their password."""
    form = visit.form
    email, goal = form.get("email"), form.get("next")
    address, throttle = asker(visit), visit.parts.throttle
    wait = throttle.wait(email, address)
    if wait:
        form.faults["password"] = too_many(visit, wait)
        return _sign_in(goal, 429)
    try:
        visitor = sessions.sign_in(visit.parts.desk, email, form.get("password"), visit.agent)
    except Refused as refused:
        if refused.problem.code == "no_account":
            form.faults["email"] = visit.gettext("You are no member of any account here.")
            return _sign_in(goal, 403)
        throttle.failed(email, address)
        form.faults["password"] = visit.gettext("Address and password do not match.")
        return _sign_in(goal, 401)
    throttle.succeeded(email, address)
    return _welcome(visit, visitor, goal)


def sign_out(visit: Visit) -> Reply:
    """Ends the session."""
    if visit.visitor is not None:
        sessions.sign_out(visit.parts.desk, visit.visitor)
    visit.cookies[cookies.SESSION] = None
    visit.cookies[cookies.ACCOUNT] = None
    return Redirect(f"{_HOME}/sign-in", visit.gettext("You are signed out."))


def link_page(visit: Visit) -> Reply:
    """What a link is for. One that signs in does so at once on this machine, else it asks.

    Programs that look at links in mails must not use them up.
    """
    text = visit.path["link"]
    try:
        link = links.look(visit.parts.desk, text)
    except Refused as refused:
        return _over(refused)
    if link.kind == "sign-in" and is_loopback(visit.request.headers.get("host", "")):
        return _follow(visit, text)
    return Html("link.html", {"link": link, "shortest": SHORTEST, "longest": LONGEST})


def follow_link(visit: Visit) -> Reply:
    """Uses a link."""
    return _follow(visit, visit.path["link"])


def asker(visit: Visit) -> str:
    """The address a call comes from."""
    peer = visit.request.client.host if visit.request.client else ""
    forwarded = visit.request.headers.get("x-forwarded-for")
    return visit.parts.address(peer, forwarded.encode("latin-1") if forwarded else None)


def too_many(visit: Visit, wait: int) -> str:
    """What whoever tried too often is told; `wait` in seconds."""
    return visit.ngettext(
        "Too many tries. Wait %(num)s minute.",
        "Too many tries. Wait %(num)s minutes.",
        -(-wait // 60),
    )


def _follow(visit: Visit, text: str) -> Reply:
    desk, form = visit.parts.desk, visit.form
    try:
        link = links.look(desk, text)
        if link.kind != "sign-in" and form.get("password") != form.get("again"):
            form.faults["again"] = visit.gettext("This is not the same password.")
        else:
            visitor = links.follow(
                desk,
                text,
                visit.agent,
                name=form.optional("name"),
                password=form.optional("password"),
                language=visit.language.code,
            )
            return _welcome(visit, visitor, "")
    except Refused as refused:
        if refused.problem.status != 400:
            return _over(refused)
        form.failed(refused)
        if "password" in form.faults:
            form.faults["password"] = visit.gettext(
                "Write at least %(shortest)s characters.", shortest=SHORTEST
            )
    values = {"link": link, "shortest": SHORTEST, "longest": LONGEST}
    return Html("link.html", values, 400)


def _sign_in(goal: str, status: int = 200) -> Reply:
    return Html("sign_in.html", {"next": _next(goal) if goal else ""}, status)


def _over(refused: Refused) -> Reply:
    status = refused.problem.status
    return Html("link_over.html", {"nobody": refused.problem.code == "no_account"}, status)


def _welcome(visit: Visit, visitor: Visitor, goal: str) -> Reply:
    """A new session, whatever the browser had before."""
    visit.cookies[cookies.SESSION] = visitor.text
    visit.cookies[cookies.FORM] = None
    return Redirect(_next(goal))


def _next(goal: str) -> str:
    """Where to go after signing in: a path of the console, never another site's."""
    parts = urlsplit(goal)
    plain = not parts.scheme and not parts.netloc and goal.isascii() and goal.isprintable()
    inside = parts.path == _HOME or parts.path.startswith(f"{_HOME}/")
    if plain and inside and "\\" not in goal and "//" not in parts.path and ".." not in parts.path:
        return goal
    return _HOME


PAGES = (
    Page("GET", "/console/sign-in", ANYBODY, sign_in_page),
    Page("POST", "/console/sign-in", ANYBODY, sign_in),
    Page("POST", "/console/sign-out", SIGNED_IN, sign_out),
    Page("GET", "/console/link/{link}", ANYBODY, link_page),
    Page("POST", "/console/link/{link}", ANYBODY, follow_link),
)
